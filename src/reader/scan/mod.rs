//! Scans event lines, the bulk of every trace, without a JSON parser if they are written as rocshim
//! writes them: members in the order of the record's fields.
//!
//! Anything unexpected (another order, a new key, white space) gives `None`, and the JSON parser
//! decides.

mod cursor;
mod members;
mod number;

use cursor::Cursor;
use members::Fill;
use rocshim_trace::Record;

/// Declares `event` from the event types, and their names for the tests.
macro_rules! events {
    ($($name:literal $kind:ident)*) => {
        /// Returns the event of a line in rocshim's own form; `None` for every other line. Skips
        /// the arguments of launches of a kernel for which `wants_arguments` is false.
        #[inline(always)]
        pub(super) fn event(line: &[u8], wants_arguments: &dyn Fn(Option<u32>) -> bool) -> Option<Record> {
            let line = line.strip_prefix(br#"{"type":""#)?;
            let name = line.iter().take(16).position(|byte| *byte == b'"')?;
            let mut at = Cursor::new(&line[name + 1..], wants_arguments);
            let mut event = match &line[..name] {
                $(name if name == $name.as_bytes() => Record::$kind(Default::default()),)*
                _ => return None,
            };
            // Scanned in place: a launch is large, and moving it would cost as much as scanning it.
            match &mut event {
                $(Record::$kind(it) => it.fill(&mut at)?,)*
                _ => return None,
            }
            at.is_at_end().then_some(event)
        }

        #[cfg(test)]
        const EVENTS: &[&str] = &[$($name),*];
    };
}

// The most frequent first.
events! {
    "launch"       Launch
    "gpu"          Gpu
    "copy"         Copy
    "sync"         Sync
    "gemm"         Gemm
    "matmul"       Matmul
    "blas"         Blas
    "conv"         Conv
    "span"         Span
    "mark"         Mark
    "load"         Load
    "graph_call"   GraphCall
    "graph_launch" GraphLaunch
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_trace::{Arg, Call, Hex, Launch, OF_KERNEL, StreamRef, parse_line, write_launch};
    use std::collections::BTreeSet;

    fn launch_of(line: &[u8]) -> Option<Launch> {
        match event(line, &|_| true)? {
            Record::Launch(launch) => Some(launch),
            other => panic!("{other:?}"),
        }
    }

    fn launches() -> Vec<Launch> {
        let call = Call { tid: 4711, id: 12, t: 99, dur: 5, hook: 3, ..Call::default() };
        let plain =
            Launch { call, kernel: Some(8), grid: [4, 1, 1], block: [256, 1, 1], ..Launch::default() };
        let mut full = plain.clone();
        full.call.parent = Some(11);
        full.call.status = -9;
        full.call.unwound = true;
        full.function = Some(Hex(0));
        full.items = Some([1024, 2, u32::MAX]);
        full.lds = u64::MAX;
        full.stream = StreamRef::Id(u32::MAX);
        full.events = Some([Hex(0x10), Hex(u64::MAX)]);
        full.flags = 1;
        full.cooperative = true;
        full.capture = Some(u32::MAX);
        full.args_cut = 2;
        let numbers = [0.0, -0.5, 1e-30, f64::MAX, f64::INFINITY].map(Arg::Float);
        let integers = [-3, 0, 123_456_789_012_345, (1 << 53) - 1, -(1 << 53)].map(Arg::Integer);
        let others = [Arg::Hex(Hex(0)), Arg::Hex(Hex(u64::MAX)), Arg::Bytes([0, 0xf1].into())];
        full.args = numbers.into_iter().chain(integers).chain(others).collect();
        let mut raw = plain.clone();
        raw.args_raw = "00ff".into();
        raw.call.hook = OF_KERNEL;
        (raw.grid, raw.block) = ([1; 3], [32, 4, 1]);
        vec![Launch::default(), raw, plain, full]
    }

    #[test]
    fn what_rocshim_writes_is_read_as_the_parser_reads_it() {
        for launch in launches() {
            let mut line = Vec::new();
            write_launch(&mut line, &launch);
            assert_eq!(launch_of(&line), Some(launch.clone()));
            assert_eq!(parse_line(&line).unwrap(), Record::Launch(launch));
        }
    }

    #[test]
    fn any_other_line_is_left_to_the_parser() {
        let mut line = Vec::new();
        write_launch(&mut line, &launches()[3]);
        let line = String::from_utf8(line).unwrap();
        for changed in [
            line.replace("\"flags\":1", "\"flags\":1,\"new\":2"),
            line.replace("\"tid\":4711", "\"tid\": 4711"),
            line.replace("\"tid\":4711", "\"tid\":04711"),
            line.replace("\"tid\":4711", "\"tid\":99999999999"),
            line.replace("\"lds\":18446744073709551615", "\"lds\":18446744073709551616"),
            line.replace("launch", "gemm"),
            line.replace("[0.0,", "[00,"),
            line.replace("[0.0,", "[0.0,null,"),
            line.replace("[0.0,", "[0.0,,"),
            line.replace("\"00f1\"", "\"00f\""),
        ] {
            assert_ne!(changed, line);
            assert_eq!(event(changed.as_bytes(), &|_| true), None, "{changed}");
        }
        // A truncated line is never accepted, wherever it is cut.
        for length in 0..line.len() - 2 {
            assert_eq!(event(&line.as_bytes()[..length], &|_| true), None, "{length}");
        }
    }

    #[test]
    fn every_kind_of_event_is_read_as_the_parser_reads_it() {
        let examples = include_str!("../../trace/examples.ndjson");
        let sample = include_str!("../../../samples/traces/demo.ndjson");
        let mut kinds = BTreeSet::new();
        for line in examples.lines().chain(sample.lines()) {
            let kind = line.split('"').nth(3).unwrap();
            let scanned = event(line.as_bytes(), &|_| true);
            assert_eq!(scanned.is_some(), EVENTS.contains(&kind), "{line}");
            if let Some(record) = scanned {
                assert_eq!(record, parse_line(line.as_bytes()).unwrap(), "{line}");
                kinds.insert(kind);
            }
        }
        assert_eq!(kinds, EVENTS.iter().copied().collect());
    }

    #[test]
    fn arguments_that_no_analysis_wants_are_passed_over() {
        for launch in launches() {
            let mut line = Vec::new();
            write_launch(&mut line, &launch);
            let read = event(&line, &|_| false);
            assert_eq!(read, Some(Record::Launch(Launch { args: Vec::new(), ..launch })));
        }
    }

    #[test]
    fn a_line_that_was_filled_up_is_read_as_it_was() {
        let mut line = Vec::new();
        write_launch(&mut line, &launches()[3]);
        let filled = [&line[..line.len() - 1], b"   \n"].concat();
        assert_eq!(launch_of(&filled), launch_of(&line));
    }
}
