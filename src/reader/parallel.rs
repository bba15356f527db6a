//! Parses the records of a file on all cores, and delivers them in the file's order.
//!
//! Worker threads parse blocks of lines; block N goes to worker N modulo their number, and its
//! records are taken from there in turn. So the visitor, which runs on the calling thread, sees the
//! records in the file's order whatever the number of workers, and a bounded number of blocks is in
//! memory.

use super::{
    BadLines, End, Reading, RecordVisitor,
    blocks::{Blocks, lines},
    record_of,
};
use rocshim_trace::Record;
use std::{
    collections::HashSet,
    io,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{Scope, available_parallelism, scope},
};

/// Limit of the workers: more would wait for the visitor.
const WORKERS: usize = 8;
/// Limit of the blocks per worker that wait, or are parsed and not taken.
const DEPTH: usize = 2;

/// Kernels whose launch arguments no analysis reads, as far as known when a block is parsed.
/// Parsing more than that is harmless.
#[derive(Clone, Default)]
struct Unwanted {
    kernels: HashSet<u32>,
    /// Whether the same holds for launches without a kernel.
    without_kernel: bool,
}

impl Unwanted {
    fn wants(&self, kernel: Option<u32>) -> bool {
        kernel.map_or(!self.without_kernel, |id| !self.kernels.contains(&id))
    }
}

/// A line's record, or `None` if it is not one.
type Line = Option<Record>;

struct Job {
    block: Vec<u8>,
    unwanted: Arc<Unwanted>,
}

struct Parsed {
    block: Vec<u8>,
    lines: Vec<Line>,
}

struct Worker {
    jobs: SyncSender<Job>,
    parsed: Receiver<Parsed>,
}

impl Worker {
    fn spawn<'scope>(scope: &'scope Scope<'scope, '_>) -> Worker {
        let (jobs, to_do) = sync_channel::<Job>(DEPTH);
        let (done, parsed) = sync_channel(DEPTH);
        scope.spawn(move || {
            for Job { block, unwanted } in to_do {
                let lines = lines(&block).map(|line| parse(line, &unwanted)).collect();
                if done.send(Parsed { block, lines }).is_err() {
                    break;
                }
            }
        });
        Worker { jobs, parsed }
    }
}

#[inline(always)] // so that a record is not moved from place to place
fn parse(line: &[u8], unwanted: &Unwanted) -> Line {
    record_of(line, |kernel| unwanted.wants(kernel)).ok()
}

/// Passes records to a visitor, and collects what else there is to report about the file.
pub(super) struct Visit<'a> {
    visitor: &'a mut dyn RecordVisitor,
    reading: &'a mut Reading,
    bad: BadLines,
    /// Number of lines taken.
    number: u64,
    unwanted: Arc<Unwanted>,
}

impl<'a> Visit<'a> {
    /// Starts after the header, which was visited.
    pub(super) fn new(visitor: &'a mut dyn RecordVisitor, reading: &'a mut Reading) -> Visit<'a> {
        let without_kernel = !visitor.wants_arguments(None);
        let unwanted = Arc::new(Unwanted { without_kernel, ..Unwanted::default() });
        Visit { visitor, reading, bad: BadLines::default(), number: 1, unwanted }
    }

    /// Visits the lines of the first block after the header, and all other blocks.
    pub(super) fn read(mut self, first: &[u8], blocks: &mut Blocks) -> io::Result<()> {
        self.lines(first);
        let workers = available_parallelism().map_or(1, |cores| cores.get()).min(WORKERS);
        if blocks.is_at_end() || workers == 1 {
            while !self.visitor.is_done()
                && let Some(block) = blocks.next()?
            {
                self.lines(&block);
            }
        } else {
            scope(|scope| self.parallel(blocks, (0..workers).map(|_| Worker::spawn(scope)).collect()))?;
        }
        self.reading.notes.extend(self.bad.note());
        Ok(())
    }

    fn parallel(&mut self, blocks: &mut Blocks, workers: Vec<Worker>) -> io::Result<()> {
        let (mut sent, mut taken, mut failed) = (0, 0, None);
        // Blocks before this one were parsed with another process's definitions.
        let mut stale = 0;
        loop {
            while failed.is_none() && sent < taken + DEPTH * workers.len() {
                match blocks.next() {
                    Ok(Some(block)) => {
                        let job = Job { block, unwanted: self.unwanted.clone() };
                        workers[sent % workers.len()].jobs.send(job).expect("the worker runs");
                        sent += 1;
                    }
                    Ok(None) => break,
                    Err(error) => failed = Some(error),
                }
            }
            if taken == sent || self.visitor.is_done() {
                return failed.map_or(Ok(()), Err);
            }
            let Parsed { block, lines } = workers[taken % workers.len()].parsed.recv().expect("it runs");
            taken += 1;
            if taken <= stale || lines.iter().any(|line| matches!(line, Some(Record::Header(_)))) {
                // Concatenated files: from here on ids mean other kernels.
                self.lines(&block);
                stale = sent;
                continue;
            }
            let ends = block.last() == Some(&b'\n');
            let last = lines.len() - 1;
            for (at, line) in lines.iter().enumerate() {
                self.line(line.as_ref(), ends || at < last);
            }
        }
    }

    fn lines(&mut self, block: &[u8]) {
        for line in lines(block) {
            if self.visitor.is_done() {
                return;
            }
            let record = parse(line, &self.unwanted);
            self.line(record.as_ref(), line.last() == Some(&b'\n'));
        }
    }

    /// Visits a line; `ends`: it has a newline.
    fn line(&mut self, line: Option<&Record>, ends: bool) {
        self.number += 1;
        match line {
            Some(record) => self.visit(record),
            None if !ends => self.reading.notes.push("the last line is cut".into()),
            None => self.bad.count(self.number),
        }
    }

    #[inline]
    fn visit(&mut self, record: &Record) {
        let kernel = match record {
            Record::Kernel(kernel) => Some(kernel.id),
            Record::Header(_) => {
                Arc::make_mut(&mut self.unwanted).kernels.clear();
                None
            }
            Record::Footer(footer) => {
                self.reading.end = match (self.reading.end, footer.end.as_str()) {
                    (End::Leftover, _) => End::Leftover,
                    (_, "rotated") => End::Rotated,
                    _ => End::Footer,
                };
                None
            }
            _ => None,
        };
        self.visitor.visit(record);
        if let Some(id) = kernel
            && !self.visitor.wants_arguments(Some(id))
        {
            Arc::make_mut(&mut self.unwanted).kernels.insert(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes;
    use std::path::Path;

    const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;

    /// Keeps the ids of launches with the number of their arguments; reads those of kernel 1 only,
    /// or in the second process those of kernel 2.
    #[derive(Default)]
    struct Ids {
        processes: usize,
        seen: Vec<(u64, usize)>,
    }

    impl RecordVisitor for Ids {
        fn visit(&mut self, record: &Record) {
            match record {
                Record::Header(_) => self.processes += 1,
                Record::Launch(launch) => self.seen.push((launch.call.id, launch.args.len())),
                _ => {}
            }
        }

        fn wants_arguments(&self, kernel: Option<u32>) -> bool {
            kernel == Some(self.processes as u32)
        }
    }

    fn launch(id: u64, kernel: u32) -> String {
        format!(
            r#"{{"type":"launch","tid":7,"id":{id},"t":{id},"dur":1,"hook":0,"kernel":{kernel},"block":[1,1,1],"args":[1,2]}}"#
        )
    }

    #[test]
    fn records_come_in_the_order_of_the_file_and_with_the_arguments_that_are_wanted() {
        const LAUNCHES: u64 = 12_000;
        let kernels = [1, 2].map(|id| format!(r#"{{"type":"kernel","id":{id},"name":"k"}}"#));
        let mut lines = Vec::new();
        for process in 0..2 {
            lines.push(HEADER.to_string());
            lines.extend(kernels.clone());
            lines.extend((0..LAUNCHES).map(|n| launch(process * LAUNCHES + n, 1 + (n % 2) as u32)));
        }
        lines.insert(9_000, "no record".into());
        let mut ids = Ids::default();
        let reading = read_bytes(lines.join("\n").as_bytes(), Path::new("t"), &mut ids).expect("a trace");
        assert_eq!(reading.notes, ["1 line is no record and was passed over: line 9001"]);
        assert!(ids.seen.iter().map(|(id, _)| *id).eq(0..2 * LAUNCHES));
        let lacks = |(id, arguments): &&(u64, usize)| {
            let kernel = 1 + id % 2;
            let process = 1 + id / LAUNCHES;
            kernel == process && *arguments != 2
        };
        assert_eq!(ids.seen.iter().find(lacks), None);
    }
}
