//! Small traces for the tests of this crate and of those above it, and their analyses.

pub mod compared;
mod text;
pub mod tracked;

pub use crate::evidence::made::{AS_SAID, CONFIRMED, CONFIRMED_ABSENT, CONTRADICTED};
pub use text::Text;

use crate::{Analyses, Analysis, Session, Summary, SummaryBuilder};
use rocshim_reader::{End, Reading};
use rocshim_trace::Record;

/// The summary of one process whose trace is this text.
pub fn summary_of_text(text: &str, end: End) -> Summary {
    let mut builder = SummaryBuilder::default();
    let records = text.lines().map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line));
    let session = read_records(Session::default(), records, end, &mut [&mut builder]);
    builder.finish(&session)
}

/// Runs analyses over a whole trace, `t/prog-7.ndjson`, that ends so; returns the session.
pub fn read_records(
    mut session: Session,
    records: impl Iterator<Item = Record>,
    end: End,
    analyses: Analyses,
) -> Session {
    session.begin_file("t/prog-7.ndjson", analyses);
    records.for_each(|record| session.visit(&record, analyses));
    session.end_file(&Reading { end, notes: Vec::new() }, analyses);
    session.end(analyses);
    session
}

/// The summary of a job of `world` ranks of which these have traces: each with the kernels that it
/// launches, once each.
pub fn ranks_of(ranks: &[(u32, &[&str])], world: u32) -> Summary {
    let mut builder = SummaryBuilder::default();
    let mut session = Session::default();
    for (rank, kernels) in ranks {
        let analyses: Analyses = &mut [&mut builder];
        let env = format!(r#""env":{{"RANK":"{rank}","WORLD_SIZE":"{world}"}}"#);
        let begin = compared::BEGIN
            .replace(r#""env":{}"#, &env)
            .replace("\"pid\":7", &format!("\"pid\":{}", 70 + rank));
        let lines = (1..).zip(*kernels).map(|(id, name)| {
            compared::kernel(id, name) + &compared::launches(id, u64::from(id) * 100, 1, &[7])
        });
        let events = kernels.len();
        let account =
            format!(r#"{{"type":"thread","tid":7,"produced":{events},"written":{events},"lost":0}}"#);
        let text = format!("{begin}{}{account}\n{}", lines.collect::<String>(), compared::END);
        session.begin_file(format!("t/prog-{}.ndjson", 70 + rank), analyses);
        text.lines().for_each(|line| {
            let record = rocshim_trace::parse_line(line.as_bytes()).expect(line);
            session.visit(&record, analyses);
        });
        session.end_file(&Reading { end: End::Footer, notes: Vec::new() }, analyses);
    }
    session.end(&mut [&mut builder]);
    builder.finish(&session)
}

/// Runs an analysis over the lines of a whole trace; returns the session.
pub fn read_lines<'a>(analysis: &mut dyn Analysis, lines: impl Iterator<Item = &'a str>) -> Session {
    let records = lines.map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line));
    read_records(Session::default(), records, End::Footer, &mut [analysis])
}
