//! Passes the rows of a reading to an exporter, as they become known.

use super::Exporter;
use anyhow::{Error, Result};
use rocshim_analysis::{Analysis, CallKey, Event, Phases, Session, Tracks};
use rocshim_reader::Reading;
use rocshim_trace::{Gpu, Kernel, Record};

/// The analysis that passes the rows of a reading to an exporter.
pub struct ExportPass<'a> {
    tracks: Tracks,
    exporter: Box<dyn Exporter>,
    /// The error after which nothing more is written.
    failed: Option<Error>,
    /// True when the export is to stop.
    is_stopped: &'a dyn Fn() -> bool,
}

impl ExportPass<'_> {
    /// Creates a pass to this exporter. It stops reading once `is_stopped`.
    pub fn new(exporter: Box<dyn Exporter>, is_stopped: &dyn Fn() -> bool) -> ExportPass<'_> {
        ExportPass { tracks: Tracks::default(), exporter, failed: None, is_stopped }
    }

    /// Writes the rows that are known only after the reading, and completes the export.
    ///
    /// # Errors
    /// When a row could not be written, then or earlier.
    pub fn finish(mut self, phases: &Phases) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let exporter = &mut self.exporter;
        self.tracks.finish(phases, |row, processes| exporter.row(&row, &processes[row.process]))?;
        exporter.finish()
    }

    fn write(&mut self) {
        for row in self.tracks.take_rows() {
            if self.failed.is_none() {
                self.failed = self.exporter.row(&row, &self.tracks.processes()[row.process]).err();
            }
        }
    }
}

impl Analysis for ExportPass<'_> {
    fn begin_process(&mut self, session: &Session) {
        self.tracks.begin_process(session);
    }

    fn record(&mut self, session: &Session, record: &Record) {
        self.tracks.record(session, record);
        self.write();
    }

    fn event(&mut self, session: &Session, event: &Event) {
        self.tracks.event(session, event);
        self.write();
    }

    fn report(&mut self, session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.tracks.report(session, gpu, call);
        self.write();
    }

    fn in_flight(&mut self, session: &Session, event: &Event) {
        self.tracks.in_flight(session, event);
        self.write();
    }

    fn end_process(&mut self, session: &Session, reading: &Reading) {
        self.tracks.end_process(session, reading);
        self.write();
    }

    fn wants_arguments(&self, kernel: Option<&Kernel>) -> bool {
        self.tracks.wants_arguments(kernel)
    }

    fn is_done(&self) -> bool {
        self.failed.is_some() || (self.is_stopped)()
    }
}
