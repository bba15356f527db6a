//! Foreign bytes: everything that reads what others may have written, given bytes, and the seeds from which they are made.
//!
//! The short form changes seeds by chance, the same each time; the long form (`scripts/fuzz`) lets libFuzzer choose.

use crate::{Outcome, Traced, artifacts};
use std::fs;
use std::path::{Path, PathBuf};

/// What reads foreign bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// A trace, as `summary` and `verify` read it.
    Trace,
    /// A killed process's ring file.
    Ring,
    /// Its log of definitions.
    Definitions,
    /// Its control page.
    Control,
    /// An image of device code: ELF, bundle, compressed bundle.
    Code,
    /// What an LLM server answered, as it came or as the prompt ladder wrote it.
    Responses,
}

/// All of them, with the names under which they are fuzzed.
pub const PARSERS: [(&str, Parser); 6] = [
    ("trace", Parser::Trace),
    ("ring", Parser::Ring),
    ("definitions", Parser::Definitions),
    ("control", Parser::Control),
    ("code", Parser::Code),
    ("responses", Parser::Responses),
];

/// Gives `bytes` to `parser`. Whatever they are, it must come back in good time, without a panic.
pub fn feed(parser: Parser, bytes: &[u8], remains: &Remains) {
    match parser {
        // A refusal is a sentence, which is as good as any answer.
        Parser::Trace => drop(rocshim_cli::read_bytes(bytes)),
        Parser::Responses => drop(rocshim_cli::read_response_bytes(bytes)),
        Parser::Code => look_at(bytes),
        Parser::Ring => remains.with("ring-0", bytes),
        Parser::Definitions => remains.with("defs-0", bytes),
        Parser::Control => remains.with("control", bytes),
    }
}

/// Everything that can be asked of an image.
fn look_at(image: &[u8]) {
    let image = &image;
    let _ = (rocshim_drain::length(image), rocshim_drain::describe(image));
    for found in rocshim_drain::metadata::<&str>(image, &[]) {
        let symbols: Vec<String> = found.kernels().map(|(symbol, _)| symbol.to_owned()).collect();
        symbols.iter().for_each(|symbol| drop(found.find(symbol)));
    }
}

/// What a killed process has left: its trace, and a copy of its ring files that can be changed one at a time.
pub struct Remains {
    outcome: Outcome,
    rings: PathBuf,
    whole: Vec<(PathBuf, Vec<u8>)>,
}

impl Remains {
    /// Of a process that was killed in the middle of launches, products and copies.
    pub fn new() -> Remains {
        // On a busy machine the trace may not have begun by then.
        let (outcome, rings) = (0..20).find_map(|_| killed()).expect("a trace that has begun");
        let files = fs::read_dir(&rings).expect("ring files").flatten().map(|entry| entry.path());
        let whole = files.map(|path| (path.clone(), fs::read(&path).expect("a ring file"))).collect();
        Remains { outcome, rings, whole }
    }

    /// Reads what is left with `bytes` in place of the file `name`.
    fn with(&self, name: &str, bytes: &[u8]) {
        let path = self.rings.join(name);
        fs::write(&path, bytes).expect("a ring file can be written");
        // Errors are sentences; the lines must be records.
        if let Ok(Some((_, left))) = rocshim_drain::leftover(&self.trace()) {
            for line in left.lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.len() > 1) {
                rocshim_trace::parse_line(line).unwrap_or_else(|error| {
                    panic!("{name}: {error}: {}", String::from_utf8_lossy(&line[..line.len().min(400)]))
                });
            }
        }
    }

    /// Puts the files back as they were.
    pub fn restore(&self) {
        self.whole
            .iter()
            .for_each(|(path, bytes)| fs::write(path, bytes).expect("a ring file can be written"));
    }

    fn trace(&self) -> PathBuf {
        self.outcome.trace_files().remove(0)
    }

    /// Bytes that `parser` takes well.
    pub fn seeds(&self, parser: Parser) -> Vec<Vec<u8>> {
        let file = |name: &str| {
            let found = self.whole.iter().find(|(path, _)| path.ends_with(name));
            vec![found.expect("a ring file of that name").1.clone()]
        };
        match parser {
            Parser::Trace => traces(&artifacts::root().join("samples/traces")),
            Parser::Ring => file("ring-0"),
            Parser::Definitions => file("defs-0"),
            Parser::Control => file("control"),
            Parser::Code => images(&artifacts::root().join("tests/programs/real")),
            Parser::Responses => responses(&artifacts::root().join("samples/responses")),
        }
    }
}

/// A killed process whose trace has begun, and its ring files.
fn killed() -> Option<(Outcome, PathBuf)> {
    let program = Traced::program("busy").args(["2", "20000", "kill"]).env("ROCSHIM_RING_KIB", "64");
    let outcome = program.env_remove("STANDIN_LOG").with_shim();
    let header = rocshim_drain::header_of(&outcome.trace_files()[0]).expect("a trace")?;
    Some((outcome, PathBuf::from(header.rings)))
}

impl Default for Remains {
    fn default() -> Self {
        Self::new()
    }
}

/// The first lines of every sample.
fn traces(folder: &Path) -> Vec<Vec<u8>> {
    let begin = |path: PathBuf| {
        let text = fs::read_to_string(path).expect("a sample");
        text.split_inclusive('\n').take(150).collect::<String>().into_bytes()
    };
    files_in(folder, "ndjson").into_iter().map(begin).collect()
}

/// Images as compilers make them.
fn images(folder: &Path) -> Vec<Vec<u8>> {
    let files = [files_in(folder, "co"), files_in(folder, "hipfb")].concat();
    files.into_iter().map(|path| fs::read(path).expect("an image")).collect()
}

/// Every sample of what servers answer.
fn responses(folder: &Path) -> Vec<Vec<u8>> {
    let files = [files_in(folder, "ndjson"), files_in(folder, "json"), files_in(folder, "txt")].concat();
    files.into_iter().map(|path| fs::read(path).expect("a sample")).collect()
}

fn files_in(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the seeds").flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|found| found == end)).collect();
    files.sort();
    assert!(!files.is_empty(), "no seed in {}", folder.display());
    files
}

/// Numbers by chance, the same each time.
pub struct Chance(u64);

impl Chance {
    /// Its own row of numbers for each `seed`.
    pub fn new(seed: u64) -> Chance {
        Chance(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// One of 0 to `below` - 1.
    pub fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    /// Changes `bytes` in a few places: bytes, words, pieces moved, doubled or cut off.
    pub fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(6) {
            if bytes.is_empty() {
                return;
            }
            // The heads of files matter more than what follows.
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
