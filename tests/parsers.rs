//! What others may have written is read without a panic, in bounded time and memory, whatever it is.

use rocshim_tests::damage::{Chance, PARSERS, Parser, Remains, feed};
use std::time::{Duration, Instant};

/// How often each parser is given changed bytes.
const ROUNDS: usize = 500;

fn changed_seeds(parser: Parser) {
    let remains = Remains::new();
    let (seeds, mut chance) = (remains.seeds(parser), Chance::new(parser as u64));
    seeds.iter().for_each(|seed| feed(parser, seed, &remains));
    remains.restore();
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

#[test]
fn every_parser_has_its_test_and_its_name() {
    let source = include_str!("parsers.rs");
    for (name, parser) in PARSERS {
        assert!(source.contains(&format!("changed_seeds(Parser::{parser:?})")), "{name}");
    }
}
