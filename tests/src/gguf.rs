//! Generates a tiny llama model in a GGUF file: two layers, random weights, a vocabulary of single
//! letters.
//!
//! The real llama.cpp loads and evaluates it, so that its kernels are launched in their real order;
//! its output is meaningless. The file is the same on every run.

mod metadata;

use metadata::{Metadata, text};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The storage format of the matrices; the norms are always f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantisation {
    /// 4 bits per weight: GEMMs use ggml's own quantised kernels.
    Q4_0,
    /// 8 bits per weight.
    Q8_0,
    /// Half precision: GEMMs with many columns use the BLAS library.
    F16,
}

impl Quantisation {
    /// All formats.
    pub const ALL: [Quantisation; 3] = [Quantisation::Q4_0, Quantisation::Q8_0, Quantisation::F16];

    /// The name of a model's file.
    pub fn file(self) -> &'static str {
        match self {
            Quantisation::Q4_0 => "q4_0.gguf",
            Quantisation::Q8_0 => "q8_0.gguf",
            Quantisation::F16 => "f16.gguf",
        }
    }
}

const LAYERS: u32 = 2;
const WIDTH: u32 = 256;
const HEADS: u32 = 4;
const FEED_FORWARD: u32 = 512;
/// A multiple of 256; unused entries are padding.
const VOCABULARY: u32 = 512;
const CONTEXT: u32 = 2048;
const ALIGNMENT: u64 = 32;

/// Writes the model to `path`.
///
/// # Errors
/// Those of the system: the file cannot be created or written.
pub fn write_model(path: &Path, quantisation: Quantisation) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&model(quantisation))?;
    out.flush()
}

/// A prompt that the model reads as `tokens` tokens: begin of text, the space before the text, and
/// one per letter.
///
/// # Panics
/// If `tokens` is less than 3.
pub fn prompt(tokens: usize) -> String {
    assert!(tokens >= 3, "a prompt has at least three tokens");
    "why did it take that path ".chars().cycle().take(tokens - 2).collect()
}

fn model(quantisation: Quantisation) -> Vec<u8> {
    let metadata = Metadata::of(quantisation);
    let tensors = tensors(quantisation);
    let mut file = Vec::new();
    file.extend(b"GGUF");
    file.extend(3u32.to_le_bytes());
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend(metadata.count.to_le_bytes());
    file.extend(metadata.bytes);
    let mut offset = 0;
    for tensor in &tensors {
        tensor.describe(offset, &mut file);
        offset = (offset + tensor.bytes()).next_multiple_of(ALIGNMENT);
    }
    let mut random = Random(0x0072_6f63_7368_696d);
    for tensor in &tensors {
        file.resize((file.len() as u64).next_multiple_of(ALIGNMENT) as usize, 0);
        tensor.fill(&mut random, &mut file);
    }
    file
}

/// A tensor with rows of `columns` weights; a vector has a single row.
struct Tensor {
    name: String,
    columns: u32,
    rows: Option<u32>,
    kind: Kind,
}

/// Storage formats, by ggml's numbers.
#[derive(Clone, Copy)]
enum Kind {
    F32 = 0,
    F16 = 1,
    /// Blocks: a scale of two bytes, then four bits per weight.
    Q4_0 = 2,
    /// Blocks: a scale of two bytes, then eight bits per weight.
    Q8_0 = 8,
}

/// Weights per block of `Q4_0` and `Q8_0`.
const BLOCK: u64 = 32;

fn tensors(quantisation: Quantisation) -> Vec<Tensor> {
    let matrix_kind = match quantisation {
        Quantisation::F16 => Kind::F16,
        Quantisation::Q4_0 => Kind::Q4_0,
        Quantisation::Q8_0 => Kind::Q8_0,
    };
    let matrix = |name: &str, columns, rows| Tensor {
        name: format!("{name}.weight"),
        columns,
        rows: Some(rows),
        kind: matrix_kind,
    };
    let norm =
        |name: &str| Tensor { name: format!("{name}.weight"), columns: WIDTH, rows: None, kind: Kind::F32 };
    let mut tensors = vec![
        matrix("token_embd", WIDTH, VOCABULARY),
        norm("output_norm"),
        matrix("output", WIDTH, VOCABULARY),
    ];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("blk.{layer}.{part}");
        let attention = ["attn_q", "attn_k", "attn_v", "attn_output"];
        tensors.push(norm(&name("attn_norm")));
        tensors.extend(attention.map(|part| matrix(&name(part), WIDTH, WIDTH)));
        tensors.push(norm(&name("ffn_norm")));
        tensors.extend(["ffn_gate", "ffn_up"].map(|part| matrix(&name(part), WIDTH, FEED_FORWARD)));
        tensors.push(matrix(&name("ffn_down"), FEED_FORWARD, WIDTH));
    }
    tensors
}

impl Tensor {
    fn weights(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows.unwrap_or(1))
    }

    fn bytes(&self) -> u64 {
        match self.kind {
            Kind::F32 => 4 * self.weights(),
            Kind::F16 => 2 * self.weights(),
            Kind::Q4_0 => self.weights() / BLOCK * (2 + BLOCK / 2),
            Kind::Q8_0 => self.weights() / BLOCK * (2 + BLOCK),
        }
    }

    fn describe(&self, offset: u64, file: &mut Vec<u8>) {
        let dimensions: Vec<u32> = [self.columns].into_iter().chain(self.rows).collect();
        file.extend(text(&self.name));
        file.extend((dimensions.len() as u32).to_le_bytes());
        dimensions.iter().for_each(|&length| file.extend(u64::from(length).to_le_bytes()));
        file.extend((self.kind as u32).to_le_bytes());
        file.extend(offset.to_le_bytes());
    }

    fn fill(&self, random: &mut Random, file: &mut Vec<u8>) {
        let block = if matches!(self.kind, Kind::Q4_0 | Kind::Q8_0) { BLOCK } else { 1 };
        for _ in 0..self.weights() / block {
            match self.kind {
                Kind::F32 => file.extend((1.0 + random.fraction() / 64.0).to_le_bytes()),
                Kind::F16 => file.extend(random.small_half().to_le_bytes()),
                Kind::Q4_0 | Kind::Q8_0 => {
                    file.extend(random.small_half().to_le_bytes());
                    let bytes = if matches!(self.kind, Kind::Q4_0) { BLOCK / 2 } else { BLOCK };
                    (0..bytes).for_each(|_| file.push(random.next() as u8));
                }
            }
        }
    }
}

/// A deterministic pseudo-random generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    /// A number from 0 to 1.
    fn fraction(&mut self) -> f32 {
        (self.next() & 0xffff) as f32 / 65536.0
    }

    /// The bits of a half-precision number between 2^-9 and 2^-5, of either sign.
    fn small_half(&mut self) -> u16 {
        const EXPONENT_OF_2_TO_MINUS_9: u16 = 6;
        let [sign, exponent, fraction] = [1, 3, 0x3ff].map(|mask| self.next() as u16 & mask);
        sign << 15 | (EXPONENT_OF_2_TO_MINUS_9 + exponent) << 10 | fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_model_comes_out_every_time() {
        assert_eq!(model(Quantisation::Q4_0), model(Quantisation::Q4_0));
    }

    #[test]
    fn the_file_ends_where_the_last_tensor_does() {
        for quantisation in Quantisation::ALL {
            let file = model(quantisation);
            let last = tensors(quantisation).pop().map_or(0, |tensor| tensor.bytes());
            assert_eq!(&file[..4], b"GGUF");
            assert_eq!((file.len() as u64 - last) % ALIGNMENT, 0);
        }
    }

    #[test]
    fn a_prompt_has_a_letter_less_than_tokens_for_its_beginning_and_its_first_space() {
        assert_eq!(prompt(17), "why did it take");
        assert_eq!(prompt(290).len(), 288);
    }
}
