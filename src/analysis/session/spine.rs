//! The pass over the records of a reading, and the trait of an analysis.

use super::{CallKey, Event, Session, scope::is_within};
use rocshim_reader::{End, Reading, RecordVisitor};
use rocshim_trace::{Gpu, Header, Kernel, Record};

/// Computes something from the records of a reading.
///
/// These methods are called through a vtable for millions of events. Marking one `#[inline]` would
/// compile it in the crate of the command, which is not optimised.
///
/// Calls come in the order of the files, each file from its first line to its last; the records of
/// a thread in the order in which its calls returned. The segments of a trace are one process.
#[allow(unused_variables)]
pub trait Analysis {
    /// Begins a file, which is a whole trace or a segment of one.
    fn begin_file(&mut self, file: &str) {}

    /// Begins a process, whose header was read.
    fn begin_process(&mut self, session: &Session) {}

    /// Handles a header: that of a new process, or of its next segment.
    fn header(&mut self, session: &Session, header: &Header) {}

    /// Handles a record that is neither an event nor a header: a definition, which the session has
    /// processed, a gap, a device, a thread's counters, the footer …
    fn record(&mut self, session: &Session, record: &Record) {}

    /// Handles a call that has returned, or, in a reading without a scope, a GPU report
    /// ([`Record::Gpu`]).
    fn event(&mut self, session: &Session, event: &Event) {}

    /// Handles a GPU report that `call` caused; `None`: no recorded call did. Called after
    /// [`Analysis::event`], possibly much later, once the call is known.
    fn report(&mut self, session: &Session, gpu: &Gpu, call: Option<CallKey>) {}

    /// Handles a call that had not returned when the process died.
    fn in_flight(&mut self, session: &Session, event: &Event) {}

    /// Ends a process; `reading` states how its last file ended. Its definitions are still
    /// available.
    fn end_process(&mut self, session: &Session, reading: &Reading) {}

    /// Ends a file. Its process has ended before, unless the trace continues in another segment.
    fn end_file(&mut self, session: &Session, reading: &Reading) {}

    /// Returns true if the analysis reads the arguments of this kernel's launches; `None`: of
    /// launches of undefined kernels. Launches come without arguments that no analysis reads.
    fn wants_arguments(&self, kernel: Option<&Kernel>) -> bool {
        false
    }

    /// Returns true if nothing more is needed: the rest is not read.
    fn is_done(&self) -> bool {
        false
    }
}

/// The analyses of a reading.
pub type Analyses<'a, 'b> = &'a mut [&'b mut dyn Analysis];

impl Session {
    /// Begins a file.
    pub fn begin_file(&mut self, file: impl Into<String>, analyses: Analyses) {
        self.file = file.into();
        self.wants_unknown = analyses.iter().any(|analysis| analysis.wants_arguments(None));
        analyses.iter_mut().for_each(|analysis| analysis.begin_file(&self.file));
    }

    /// Resolves the next record of the file, and passes it to all analyses.
    pub fn visit(&mut self, record: &Record, analyses: Analyses) {
        if let Some(ids) = self.resolve(record) {
            let Some(call) = record.call() else { return };
            let event = Event { record, call, ids };
            return match record {
                Record::Gpu(gpu) => self.report(gpu, &event, analyses),
                _ => self.call(&event, analyses),
            };
        }
        match record {
            Record::Header(header) => self.header(header.clone(), analyses),
            Record::InFlight(_) if self.scope.is_some() => {}
            Record::InFlight(in_flight) => {
                let Some(ids) = self.resolve(&in_flight.event) else { return };
                let Some(call) = in_flight.event.call() else { return };
                let event = Event { record: &in_flight.event, call, ids };
                analyses.iter_mut().for_each(|analysis| analysis.in_flight(self, &event));
            }
            record => {
                let wants =
                    |kernel: &Kernel| analyses.iter().any(|analysis| analysis.wants_arguments(Some(kernel)));
                if self.define(record, wants) {
                    analyses.iter_mut().for_each(|analysis| analysis.record(self, record));
                }
            }
        }
    }

    fn call(&mut self, event: &Event, analyses: Analyses) {
        let is_in_scope = self.count(event.record, &event.ids);
        if is_in_scope {
            analyses.iter_mut().for_each(|analysis| analysis.event(self, event));
        }
        if self.scope.is_some() {
            let key = (event.call.tid, event.call.id);
            for report in self.scoped_reports.call(key, is_in_scope) {
                self.count_scoped(&report, Some(key), is_in_scope, analyses);
            }
        }
    }

    fn report(&mut self, gpu: &Gpu, event: &Event, analyses: Analyses) {
        if self.scope.is_none() {
            self.count(event.record, &event.ids);
            analyses.iter_mut().for_each(|analysis| analysis.event(self, event));
        }
        let mut ties = std::mem::take(&mut self.ties);
        ties.tie(gpu, |gpu, call| self.tied(gpu, call, analyses));
        let is_ambiguous = ties.is_ambiguous;
        self.ties = ties;
        if let Some(process) = self.process.as_deref_mut() {
            process.reports_are_ambiguous = is_ambiguous;
        }
    }

    /// Passes on a report whose call is known; in a reading with a scope, once that call was read.
    fn tied(&mut self, gpu: &Gpu, call: Option<CallKey>, analyses: Analyses) {
        if self.scope.is_none() {
            return analyses.iter_mut().for_each(|analysis| analysis.report(self, gpu, call));
        }
        match call.map(|call| (call, self.scoped_reports.is_in_scope(call))) {
            Some((call, None)) => {
                for given_up in self.scoped_reports.wait(call, gpu.clone()) {
                    self.count_uncalled(&given_up, analyses);
                }
            }
            Some((call, Some(is_in_scope))) => self.count_scoped(gpu, Some(call), is_in_scope, analyses),
            None => self.count_uncalled(gpu, analyses),
        }
    }

    /// Passes on a report whose call is not in the trace: it is in scope if its command began in
    /// scope.
    fn count_uncalled(&mut self, gpu: &Gpu, analyses: Analyses) {
        self.count_scoped(gpu, None, is_within(&self.windows, gpu.begin), analyses);
    }

    fn count_scoped(&mut self, gpu: &Gpu, call: Option<CallKey>, is_in_scope: bool, analyses: Analyses) {
        let Some(process) = self.process.as_deref_mut() else { return };
        process.count_report(gpu.call.hook, is_in_scope);
        if is_in_scope {
            analyses.iter_mut().for_each(|analysis| analysis.report(self, gpu, call));
        }
    }

    /// Passes on the reports that still wait.
    fn end_reports(&mut self, analyses: Analyses) {
        let mut ties = std::mem::take(&mut self.ties);
        ties.end(|gpu| self.tied(gpu, None, analyses));
        for report in std::mem::take(&mut self.scoped_reports).end() {
            self.count_uncalled(&report, analyses);
        }
    }

    /// Ends the file whose records were visited.
    pub fn end_file(&mut self, reading: &Reading, analyses: Analyses) {
        if reading.end == End::Rotated {
            // Its next segment may follow.
            self.continues = true;
            if let Some(process) = &mut self.process {
                process.note(reading.notes.clone());
            }
        } else {
            self.end_process(reading, analyses);
        }
        analyses.iter_mut().for_each(|analysis| analysis.end_file(self, reading));
    }

    /// Ends the reading, and with it the process being read.
    pub fn end(&mut self, analyses: Analyses) {
        let end = if self.continues { End::Rotated } else { End::Cut };
        self.end_process(&Reading { end, notes: Vec::new() }, analyses);
    }

    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.unread.push(why);
    }

    /// Returns true if an analysis reads the arguments of this kernel's launches.
    pub fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        let process = self.process.as_deref();
        let known = process.zip(kernel).and_then(|(process, id)| process.kernel(id));
        known.map_or(self.wants_unknown, |kernel| kernel.wants_arguments)
    }

    fn header(&mut self, header: Header, analyses: Analyses) {
        match self.process.as_mut().filter(|process| process.continues_in(&header)) {
            Some(process) => process.continue_in(header),
            None => {
                // A second header without an end before it: files were concatenated.
                self.end(analyses);
                self.begin_process(header);
                analyses.iter_mut().for_each(|analysis| analysis.begin_process(self));
            }
        }
        self.continues = false;
        analyses.iter_mut().for_each(|analysis| analysis.header(self, &self.process().header));
    }

    fn end_process(&mut self, reading: &Reading, analyses: Analyses) {
        self.continues = false;
        self.end_reports(analyses);
        let Some(process) = self.process.as_deref_mut() else { return };
        if self.scope.is_some() {
            process.disarm_out_of_scope();
        }
        analyses.iter_mut().for_each(|analysis| analysis.end_process(self, reading));
        self.process = None;
    }
}

/// A session with the analyses of its reading: the visitor that is given to the reader.
pub struct Spine<'a> {
    session: Session,
    analyses: Vec<&'a mut dyn Analysis>,
}

impl<'a> Spine<'a> {
    /// Creates a reading for these analyses.
    pub fn new(session: Session, analyses: Vec<&'a mut dyn Analysis>) -> Spine<'a> {
        Spine { session, analyses }
    }

    /// Begins a file.
    pub fn begin_file(&mut self, file: impl Into<String>) {
        self.session.begin_file(file, &mut self.analyses);
    }

    /// Ends the file whose records were visited.
    pub fn end_file(&mut self, reading: &Reading) {
        self.session.end_file(reading, &mut self.analyses);
    }

    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.session.pass_over(why);
    }

    /// Ends the reading.
    pub fn finish(mut self) -> Session {
        self.session.end(&mut self.analyses);
        self.session
    }
}

impl RecordVisitor for Spine<'_> {
    fn visit(&mut self, record: &Record) {
        self.session.visit(record, &mut self.analyses);
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        self.session.wants_arguments(kernel)
    }

    fn is_done(&self) -> bool {
        self.analyses.iter().any(|analysis| analysis.is_done())
    }
}
