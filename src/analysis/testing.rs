//! Small traces for the tests of this crate and of those above it: what they say, and what the analyses make of them.

pub mod compared;
mod text;
pub mod tracked;

pub use text::Text;

use crate::{Analysis, Session, Summary, SummaryBuilder};
use rocshim_reader::{End, Reading, Taker};

/// The summary of one process whose trace is this text.
pub fn summary_of_text(text: &str, end: End) -> Summary {
    let mut builder = SummaryBuilder::default();
    builder.begin_file("t/prog-7.ndjson".into());
    for line in text.lines() {
        builder.take(rocshim_trace::parse_line(line.as_bytes()).expect(line));
    }
    builder.end_file(Reading { end, notes: Vec::new() });
    builder.finish()
}

/// Runs an analysis over the lines of a whole trace; returns the session.
pub fn read_lines<'a>(analysis: &mut dyn Analysis, lines: impl Iterator<Item = &'a str>) -> Session {
    let mut session = Session::default();
    let analyses: &mut [&mut dyn Analysis] = &mut [analysis];
    session.begin_file("t/prog-7.ndjson", analyses);
    for line in lines {
        session.visit(&rocshim_trace::parse_line(line.as_bytes()).expect(line), analyses);
    }
    session.end_file(&Reading { end: End::Footer, notes: Vec::new() }, analyses);
    session
}
