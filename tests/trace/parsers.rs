//! Untrusted data are parsed without a panic, in bounded time and memory, whatever they are.

use rocshim_tests::damage::{
    Chance, PARSERS, Parser, Remains, WhenFull, assert_records, feed, remains, seeds,
};
use rocshim_trace::{Record, parse_line, write_record};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::time::{Duration, Instant};

/// How many mutated inputs each parser gets.
const ROUNDS: usize = 2000;

fn changed_seeds(parser: Parser) {
    let remains = remains(WhenFull::Drop);
    let (seeds, mut chance) = (seeds(parser), Chance::new(parser as u64));
    seeds.iter().for_each(|seed| feed(parser, seed, &remains));
    for round in 0..ROUNDS {
        let mut bytes = seeds[round % seeds.len()].clone();
        chance.change(&mut bytes);
        let begun = Instant::now();
        feed(parser, &bytes, &remains);
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{parser:?}, round {round}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn a_changed_trace_is_read_or_refused() {
    changed_seeds(Parser::Trace);
}

#[test]
fn a_changed_ring_file_is_read_or_refused() {
    changed_seeds(Parser::Ring);
}

#[test]
fn a_changed_chunk_is_read_or_refused() {
    changed_seeds(Parser::Chunks);
}

#[test]
fn a_changed_log_of_definitions_is_read_or_refused() {
    changed_seeds(Parser::Definitions);
}

#[test]
fn a_changed_control_page_is_read_or_refused() {
    changed_seeds(Parser::Control);
}

#[test]
fn a_changed_image_of_device_code_is_read_or_refused() {
    changed_seeds(Parser::Code);
}

#[test]
fn a_changed_file_of_responses_is_read_or_refused() {
    changed_seeds(Parser::Responses);
}

/// The files are parsed like their bytes, and paths inside them are not followed.
#[test]
fn changed_files_are_parsed_like_their_bytes() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (folder, trace) = (scratch.path().join("rocshim-dead"), scratch.path().join("p-7.ndjson"));
    fs::DirBuilder::new().mode(0o700).create(&folder).expect("a folder");
    let whole = remains(WhenFull::Drop);
    let first =
        whole.lines().expect("whole remains").split_inclusive(|byte| *byte == b'\n').next().map(parse_line);
    let Some(Ok(Record::Header(mut header))) = first else { panic!("no header") };
    // Of no running process.
    (header.pid, header.rings) = (0, folder.display().to_string());
    let mut line = Vec::new();
    write_record(&mut line, &Record::Header(header));
    fs::write(&trace, line).expect("a trace");
    let mut chance = Chance::new(99);
    let mut recovered = 0;
    for round in 0..300 {
        let mut changed = whole.clone();
        let file = [&mut changed.chunks, &mut changed.definitions, &mut changed.control];
        file.into_iter().skip(round % 3).take(1).for_each(|bytes| chance.change(bytes));
        let Remains { control, definitions, ring, chunks } = &changed;
        let files = [("control", control), ("defs-0", definitions), ("ring-0", ring), ("chunks", chunks)];
        for (name, bytes) in files {
            fs::write(folder.join(name), bytes).expect("a file");
        }
        let Ok(Some((_, left))) = rocshim_drain::leftover(&trace) else { continue };
        assert_records(&left.lines);
        // A missing clock is measured, and the events before a commit are omitted.
        if round % 3 == 0 {
            let expected = changed.lines().expect("the same");
            assert_eq!(
                String::from_utf8_lossy(&left.lines),
                String::from_utf8_lossy(&expected),
                "round {round}"
            );
            recovered += 1;
        }
    }
    assert!(recovered > 20, "only {recovered} of 100 changed chunks were read");
}

#[test]
fn every_parser_has_its_test_and_its_name() {
    let source = include_str!("parsers.rs");
    for (name, parser) in PARSERS {
        assert!(source.contains(&format!("changed_seeds(Parser::{parser:?})")), "{name}");
    }
}
