//! A tiny llama model in a GGUF file, made here: two layers, random weights, a vocabulary of single letters.
//!
//! It is no good for talking; it is for the real llama.cpp to load and evaluate, so that its kernels are launched in their
//! true order. The same file comes out every time.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How the matrices are stored; the norms are always f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantisation {
    /// 4 bits a weight: products go through ggml's own quantised kernels.
    Q4_0,
    /// Half precision: products of many columns go through the BLAS library.
    F16,
}

const LAYERS: u32 = 2;
const WIDTH: u32 = 256;
const HEADS: u32 = 4;
const FEED_FORWARD: u32 = 512;
/// A whole number of 256; what the vocabulary does not need is padding.
const VOCABULARY: u32 = 512;
const CONTEXT: u32 = 2048;
const ALIGNMENT: u64 = 32;

/// Writes the model to `path`.
///
/// # Errors
/// As the system says: the file cannot be made or written.
pub fn write_model(path: &Path, quantisation: Quantisation) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&model(quantisation))?;
    out.flush()
}

/// A prompt that the model takes as `tokens` tokens: its beginning, the space before the text, and one for each letter.
///
/// # Panics
/// When `tokens` is less than 3.
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

// ---- metadata ----

/// Key-value pairs as GGUF writes them.
struct Metadata {
    count: u64,
    bytes: Vec<u8>,
}

// Types of values.
const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

impl Metadata {
    fn of(quantisation: Quantisation) -> Metadata {
        let mut data = Metadata { count: 0, bytes: Vec::new() };
        data.string("general.architecture", "llama");
        data.string("general.name", "tiny");
        data.number("general.file_type", if quantisation == Quantisation::F16 { 1 } else { 2 });
        data.number("llama.context_length", CONTEXT);
        data.number("llama.embedding_length", WIDTH);
        data.number("llama.block_count", LAYERS);
        data.number("llama.feed_forward_length", FEED_FORWARD);
        data.number("llama.attention.head_count", HEADS);
        data.number("llama.attention.head_count_kv", HEADS);
        data.number("llama.rope.dimension_count", WIDTH / HEADS);
        data.number("llama.vocab_size", VOCABULARY);
        data.pair("llama.attention.layer_norm_rms_epsilon", F32, &1e-5f32.to_le_bytes());
        let tokens = tokens();
        data.string("tokenizer.ggml.model", "llama");
        data.array("tokenizer.ggml.tokens", STRING, tokens.iter().map(|token| text(&token.text)));
        data.array(
            "tokenizer.ggml.scores",
            F32,
            tokens.iter().map(|token| token.score.to_le_bytes().to_vec()),
        );
        data.array(
            "tokenizer.ggml.token_type",
            I32,
            tokens.iter().map(|token| token.kind.to_le_bytes().to_vec()),
        );
        data.number("tokenizer.ggml.unknown_token_id", 0);
        data.number("tokenizer.ggml.bos_token_id", 1);
        data.number("tokenizer.ggml.eos_token_id", 2);
        data
    }

    fn pair(&mut self, key: &str, kind: u32, value: &[u8]) {
        self.count += 1;
        self.bytes.extend(text(key));
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(value);
    }

    fn number(&mut self, key: &str, value: u32) {
        self.pair(key, U32, &value.to_le_bytes());
    }

    fn string(&mut self, key: &str, value: &str) {
        self.pair(key, STRING, &text(value));
    }

    fn array(&mut self, key: &str, kind: u32, values: impl ExactSizeIterator<Item = Vec<u8>>) {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        values.for_each(|value| bytes.extend(value));
        self.pair(key, ARRAY, &bytes);
    }
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

struct Token {
    text: String,
    score: f32,
    kind: i32,
}

// Kinds of tokens.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

/// The vocabulary: no token is made of two others, so every letter of a text stays a token of its own.
fn tokens() -> Vec<Token> {
    let token = |text: String, score, kind| Token { text, score, kind };
    let mut tokens = vec![
        token("<unk>".into(), 0.0, UNKNOWN),
        token("<s>".into(), 0.0, CONTROL),
        token("</s>".into(), 0.0, CONTROL),
    ];
    tokens.extend((0..=255u8).map(|byte| token(format!("<0x{byte:02X}>"), 0.0, BYTE)));
    tokens.extend(('a'..='z').chain(['\u{2581}']).map(|letter| token(letter.into(), -1.0, NORMAL)));
    tokens.extend((tokens.len()..VOCABULARY as usize).map(|id| token(format!("<unused{id}>"), -1e4, UNUSED)));
    tokens
}

// ---- tensors ----

/// A tensor: rows of `columns` weights; a vector has no rows of its own.
struct Tensor {
    name: String,
    columns: u32,
    rows: Option<u32>,
    quantisation: Quantisation,
}

/// Weights in a block of `Q4_0`: a scale of two bytes, then four bits a weight.
const BLOCK: u64 = 32;

fn tensors(quantisation: Quantisation) -> Vec<Tensor> {
    let tensor = |name: String, columns, rows| Tensor { name, columns, rows, quantisation };
    let mut tensors = vec![
        tensor("token_embd.weight".into(), WIDTH, Some(VOCABULARY)),
        tensor("output_norm.weight".into(), WIDTH, None),
        tensor("output.weight".into(), WIDTH, Some(VOCABULARY)),
    ];
    for layer in 0..LAYERS {
        let part = |name: &str, columns, rows| tensor(format!("blk.{layer}.{name}.weight"), columns, rows);
        tensors.extend([
            part("attn_norm", WIDTH, None),
            part("attn_q", WIDTH, Some(WIDTH)),
            part("attn_k", WIDTH, Some(WIDTH)),
            part("attn_v", WIDTH, Some(WIDTH)),
            part("attn_output", WIDTH, Some(WIDTH)),
            part("ffn_norm", WIDTH, None),
            part("ffn_gate", WIDTH, Some(FEED_FORWARD)),
            part("ffn_up", WIDTH, Some(FEED_FORWARD)),
            part("ffn_down", FEED_FORWARD, Some(WIDTH)),
        ]);
    }
    tensors
}

impl Tensor {
    fn weights(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows.unwrap_or(1))
    }

    fn bytes(&self) -> u64 {
        match (self.rows, self.quantisation) {
            (None, _) => 4 * self.weights(),
            (Some(_), Quantisation::F16) => 2 * self.weights(),
            (Some(_), Quantisation::Q4_0) => self.weights() / BLOCK * (2 + BLOCK / 2),
        }
    }

    fn describe(&self, offset: u64, file: &mut Vec<u8>) {
        let dimensions = [Some(self.columns), self.rows];
        file.extend(text(&self.name));
        file.extend((dimensions.iter().flatten().count() as u32).to_le_bytes());
        dimensions.iter().flatten().for_each(|&length| file.extend(u64::from(length).to_le_bytes()));
        let kind = match (self.rows, self.quantisation) {
            (None, _) => 0u32,
            (Some(_), Quantisation::F16) => 1,
            (Some(_), Quantisation::Q4_0) => 2,
        };
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
    }

    fn fill(&self, random: &mut Random, file: &mut Vec<u8>) {
        match (self.rows, self.quantisation) {
            (None, _) => {
                (0..self.weights()).for_each(|_| file.extend((1.0 + random.fraction() / 64.0).to_le_bytes()));
            }
            (Some(_), Quantisation::F16) => {
                (0..self.weights()).for_each(|_| file.extend(random.small_half().to_le_bytes()));
            }
            (Some(_), Quantisation::Q4_0) => {
                for _ in 0..self.weights() / BLOCK {
                    file.extend(random.small_half().to_le_bytes());
                    (0..BLOCK / 2).for_each(|_| file.push(random.next() as u8));
                }
            }
        }
    }
}

/// Numbers that look random and are the same every time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    /// From 0 to 1.
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
        for quantisation in [Quantisation::Q4_0, Quantisation::F16] {
            let file = model(quantisation);
            let last = tensors(quantisation).pop().map_or(0, |tensor| tensor.bytes());
            assert_eq!(&file[..4], b"GGUF");
            assert_eq!((file.len() as u64 - last) % ALIGNMENT, 0);
        }
    }

    #[test]
    fn the_vocabulary_has_its_size_and_no_token_twice() {
        let mut texts: Vec<String> = tokens().into_iter().map(|token| token.text).collect();
        assert_eq!(texts.len(), VOCABULARY as usize);
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), VOCABULARY as usize);
    }

    #[test]
    fn a_prompt_has_a_letter_less_than_tokens_for_its_beginning_and_its_first_space() {
        assert_eq!(prompt(17), "why did it take");
        assert_eq!(prompt(290).len(), 288);
    }
}
