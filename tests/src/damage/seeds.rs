//! Small valid inputs for each parser, so that mutations soon reach every part of them.

use super::Parser;
use super::dead::{WhenFull, remains};
use crate::artifacts;
use rocshim_trace::{Record, parse_line, write_record};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words per list in a seed.
const LIST: usize = 4;

/// Valid inputs for `parser`.
pub fn seeds(parser: Parser) -> Vec<Vec<u8>> {
    let root = artifacts::root();
    match parser {
        Parser::Trace => traces(&root.join("samples/traces")),
        Parser::Ring => [WhenFull::Drop, WhenFull::Overwrite].map(|when_full| remains(when_full).ring).into(),
        Parser::Chunks => {
            [WhenFull::Drop, WhenFull::Overwrite].map(|when_full| remains(when_full).chunks).into()
        }
        Parser::Definitions => vec![remains(WhenFull::Drop).definitions],
        Parser::Control => vec![remains(WhenFull::Drop).control],
        Parser::Code => images(&root.join("tests/programs/real")),
        Parser::Responses => responses(&root.join("samples/responses")),
    }
}

/// Every shape of record in the samples, once: each seed is a trace with the shapes that one sample
/// has and none before it had.
fn traces(folder: &Path) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let samples = files_in(folder, &["ndjson"]).into_iter().map(|path| fs::read(path).expect("a sample"));
    let dead = remains(WhenFull::Drop).lines().expect("what a process left");
    let seed = |text: Vec<u8>| {
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let header = lines.next().expect("a header").to_vec();
        lines
            .filter(|line| seen.insert(shape(line)))
            .map(shortened)
            .fold(header, |seed, line| [seed, line].concat())
    };
    std::iter::once(dead).chain(samples).map(seed).collect()
}

/// The structure of a line without its values.
fn shape(line: &[u8]) -> String {
    let record: serde_json::Value = serde_json::from_slice(line).expect("a record");
    let keys: Vec<&String> = record.as_object().expect("an object").keys().collect();
    format!("{} {keys:?}", record["type"])
}

/// The line with long lists shortened.
fn shortened(line: &[u8]) -> Vec<u8> {
    let Ok(Record::HookTable(mut table)) = parse_line(line) else { return line.to_vec() };
    let mut shorter = Vec::new();
    table.names.truncate(LIST);
    write_record(&mut shorter, &Record::HookTable(table));
    shorter
}

/// Images made by compilers, and their bundles in compressed form.
fn images(folder: &Path) -> Vec<Vec<u8>> {
    let read = |end| files_in(folder, &[end]).into_iter().map(|path| fs::read(path).expect("an image"));
    let compressed = read("hipfb").flat_map(|bundle| {
        let zstd = zstd::bulk::compress(&bundle, 3).expect("memory");
        let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&bundle, 6);
        [(1, zstd), (0, zlib)].map(|(method, packed)| compressed_bundle(method, bundle.len(), &packed))
    });
    read("co").chain(read("hipfb")).chain(compressed).collect()
}

/// A compressed bundle of version 2: lengths in 32 bits, a hash that is not checked.
fn compressed_bundle(method: u16, unpacked: usize, packed: &[u8]) -> Vec<u8> {
    let mut bytes = b"CCOB\x02\0".to_vec();
    bytes.extend(method.to_le_bytes());
    bytes.extend([24 + packed.len(), unpacked].iter().flat_map(|length| (*length as u32).to_le_bytes()));
    bytes.extend([0; 8]);
    bytes.extend(packed);
    bytes
}

/// Every sample of a server response.
fn responses(folder: &Path) -> Vec<Vec<u8>> {
    let files = files_in(folder, &["ndjson", "json", "txt"]);
    files.into_iter().map(|path| fs::read(path).expect("a sample")).collect()
}

fn files_in(folder: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the seeds").flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| ends.iter().any(|end| path.extension().is_some_and(|found| found == *end));
    let mut files: Vec<_> = entries.filter(is_one).collect();
    files.sort();
    assert!(!files.is_empty(), "no seed in {}", folder.display());
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::damage::PARSERS;

    #[test]
    fn every_parser_takes_its_seeds_well_and_they_are_small() {
        for (name, parser) in PARSERS {
            // Two chunks of ring memory, of which the last is cut where its events end.
            let most = if parser == Parser::Chunks { 64 << 10 } else { 20 << 10 };
            for seed in seeds(parser) {
                assert!(seed.len() <= most, "{name}: {} bytes", seed.len());
            }
        }
        assert!(seeds(Parser::Trace).iter().all(|seed| rocshim_cli::read_bytes(seed).is_ok()));
        assert!(seeds(Parser::Responses).iter().all(|seed| rocshim_cli::read_response_bytes(seed).is_ok()));
        assert!(
            seeds(Parser::Code).iter().all(|seed| rocshim_drain::describe(&&seed[..]).format != "opaque")
        );
    }
}
