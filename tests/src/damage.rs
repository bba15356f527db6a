//! Feeds foreign bytes to every parser of untrusted data, and makes the seeds they are mutated
//! from.
//!
//! The short form mutates seeds pseudo-randomly, always the same way; the long form
//! (`scripts/fuzz`) uses libFuzzer.

mod dead;
mod seeds;

pub use dead::{WhenFull, remains};
pub use rocshim_drain::Remains;
pub use seeds::seeds;

/// A parser of untrusted data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// A trace, as `summary` and `verify` read it.
    Trace,
    /// The ring file of a killed process.
    Ring,
    /// The chunks of its ring memory.
    Chunks,
    /// Its definition log.
    Definitions,
    /// Its control page.
    Control,
    /// An image of device code: ELF, bundle, compressed bundle.
    Code,
    /// Responses of an LLM server, raw or as the prompt ladder writes them.
    Responses,
}

/// All of them, with their names as fuzz targets.
pub const PARSERS: [(&str, Parser); 7] = [
    ("trace", Parser::Trace),
    ("ring", Parser::Ring),
    ("chunks", Parser::Chunks),
    ("definitions", Parser::Definitions),
    ("control", Parser::Control),
    ("code", Parser::Code),
    ("responses", Parser::Responses),
];

/// Passes `bytes` to `parser`; the other files of a process come from `remains`. It must return in
/// reasonable time, without a panic.
pub fn feed(parser: Parser, bytes: &[u8], remains: &Remains) {
    let (remains, bytes_of_it) = (remains.clone(), || bytes.to_vec());
    match parser {
        // An error is as good as a result.
        Parser::Trace => drop(rocshim_cli::read_bytes(bytes)),
        Parser::Responses => drop(rocshim_cli::read_response_bytes(bytes)),
        Parser::Code => look_at(bytes),
        Parser::Ring => recover(&Remains { ring: bytes_of_it(), ..remains }),
        Parser::Chunks => recover(&Remains { chunks: bytes_of_it(), ..remains }),
        Parser::Definitions => recover(&Remains { definitions: bytes_of_it(), ..remains }),
        Parser::Control => recover(&Remains { control: bytes_of_it(), ..remains }),
    }
}

/// Recovers the remains of a process: an error, or lines that are records.
fn recover(remains: &Remains) {
    remains.lines().iter().for_each(|lines| assert_records(lines));
}

/// Every line must be a record.
pub fn assert_records(lines: &[u8]) {
    for line in lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.len() > 1) {
        rocshim_trace::parse_line(line).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&line[..line.len().min(400)]))
        });
    }
}

/// Runs every query on an image.
fn look_at(image: &[u8]) {
    let image = &image;
    let _ = (rocshim_drain::length(image), rocshim_drain::describe(image));
    for found in rocshim_drain::metadata::<&str>(image, &[]) {
        let symbols: Vec<String> = found.kernels().map(|(symbol, _)| symbol.to_owned()).collect();
        symbols.iter().for_each(|symbol| drop(found.find(symbol)));
    }
}

/// A deterministic pseudo-random generator.
pub struct Chance(u64);

impl Chance {
    /// A generator whose sequence depends on `seed`.
    pub fn new(seed: u64) -> Chance {
        Chance(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// A number from 0 to `below` - 1.
    pub fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    /// Changes `bytes` in a few places: changes bytes or words, moves, duplicates or cuts pieces.
    pub fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(6) {
            if bytes.is_empty() {
                return;
            }
            // File headers are changed more often than the rest.
            let at =
                if self.below(2) == 0 { self.below(bytes.len().min(1024)) } else { self.below(bytes.len()) };
            match self.below(12) {
                0 => bytes.truncate(at),
                1 => {
                    let length = self.below(64).min(bytes.len() - at);
                    let piece = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                2 => {
                    let length = self.below(64).min(bytes.len() - at);
                    bytes.drain(at..at + length);
                }
                3 => {
                    let word = [0, 1, u64::MAX, 1 << 31, 1 << 63, self.below(1 << 30) as u64][self.below(6)];
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
                }
                _ => bytes[at] = [0, 0xff, 0x7f, 0x80, b'"', b'{', self.below(256) as u8][self.below(7)],
            }
        }
    }
}
