//! `rocshim export`: writes traces in the formats of other programs.

use super::summary::read_all;
use crate::args::{self, To};
use anyhow::{Context, Result, bail};
use rocshim_analysis::{Analysis, Event, PhasesBuilder, Session, SummaryBuilder, Tracks};
use rocshim_export::{Chrome, Csv, Dataset, Exporter, Parquet, Perfetto};
use rocshim_reader as reader;
use rocshim_reader::{Reading, TraceFile};
use rocshim_report as report;
use rocshim_report::{FilePlace, FolderPlace};
use rocshim_trace::{Kernel, Record};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    low_level::emulate_default_handler,
};
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

pub(crate) fn export(args: &args::Export) -> Result<ExitCode> {
    let stopped = Stopped::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_usize(signal, stopped.clone(), signal as usize)
            .context("cannot wait for signals")?;
    }
    let exported = exported(args, &stopped);
    match stopped.load(Ordering::Relaxed) {
        0 => exported,
        // The unfinished file was removed: ends by the signal, as other programs do.
        signal => emulate_default_handler(signal as i32).context("cannot end").and(exported),
    }
}

/// The signal that ended the export; 0 for none.
type Stopped = Arc<AtomicUsize>;

fn exported(args: &args::Export, stopped: &Stopped) -> Result<ExitCode> {
    let (Some(to), Some(path)) = (args.to, &args.out) else {
        report::print(&rocshim_export::columns())?;
        return Ok(ExitCode::SUCCESS);
    };
    if to == To::Dataset {
        return added(args, path, stopped);
    }
    if args.run.is_some() {
        bail!("only a dataset has runs: --run needs --to dataset");
    }
    let export = Out { args, path, stopped };
    let notes = match to {
        To::Perfetto => export.to_file(|_, out| Perfetto::new(out)),
        To::Chrome => export.to_file(|traces, out| Chrome::new(out, reader::earliest_epoch(traces))),
        To::Csv => export.to_folder(Csv::new),
        To::Parquet => export.to_folder(Parquet::new),
        To::Dataset => unreachable!("it was exported above"),
    }?;
    notes.iter().for_each(|note| report::print_error(note));
    Ok(ExitCode::SUCCESS)
}

/// Adds the traces to a dataset.
fn added(args: &args::Export, folder: &Path, stopped: &Stopped) -> Result<ExitCode> {
    let traces = reader::find_traces(&args.traces)?;
    reader::check_once(&traces)?;
    let files: Vec<PathBuf> = traces.into_iter().map(|trace| trace.path).collect();
    let dataset = Dataset::open(folder, args.run.as_deref())?;
    let added = dataset.add(&files, &|| stopped.load(Ordering::Relaxed) != 0);
    if stopped.load(Ordering::Relaxed) != 0 {
        bail!("the export was stopped: {} processes are in {}", added.processes, folder.display());
    }
    added.failed.iter().for_each(|why| report::print_error(why));
    let all_failed = added.processes == 0 && !added.failed.is_empty();
    Ok(if all_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Destination of an export.
struct Out<'a> {
    args: &'a args::Export,
    path: &'a Path,
    stopped: &'a Stopped,
}

impl Out<'_> {
    /// Writes a format that is one file; returns notes about the traces.
    fn to_file<E: Exporter>(
        &self,
        exporter: impl FnOnce(&[TraceFile], Box<dyn Write>) -> E,
    ) -> Result<Vec<String>> {
        FilePlace::check(self.path, self.args.force)?;
        let traces = reader::find_traces(&self.args.traces)?;
        let (place, out) = FilePlace::open(self.path)?;
        let notes = written(&traces, exporter(&traces, out), self.path, self.stopped)?;
        place.finish()?;
        Ok(notes)
    }

    /// Writes a format that is a folder of files; returns notes about the traces.
    fn to_folder<E: Exporter>(
        &self,
        exporter: impl FnOnce(&Rc<FolderPlace>) -> Result<E>,
    ) -> Result<Vec<String>> {
        let traces = reader::find_traces(&self.args.traces)?;
        let place = Rc::new(FolderPlace::open(self.path, self.args.force)?);
        let notes = written(&traces, exporter(&place)?, self.path, self.stopped)?;
        // The process that wrote to it has ended.
        Rc::into_inner(place).map_or(Ok(()), FolderPlace::finish)?;
        Ok(notes)
    }
}

/// Writes everything in the traces; returns notes about them.
fn written(
    traces: &[TraceFile],
    exporter: impl Exporter,
    out: &Path,
    stopped: &Stopped,
) -> Result<Vec<String>> {
    let (mut phases, mut summary) = (PhasesBuilder::new(Vec::new()), SummaryBuilder::default());
    let mut export = Export { tracks: Tracks::default(), exporter, failed: None, stopped };
    let cannot = || format!("the export to {} failed and was removed", out.display());
    let analyses: Vec<&mut dyn Analysis> = vec![&mut export, &mut phases, &mut summary];
    let session = read_all(traces, Session::default(), analyses)?;
    let Export { mut tracks, mut exporter, failed, .. } = export;
    if stopped.load(Ordering::Relaxed) != 0 {
        bail!("the export to {} was stopped and removed", out.display());
    }
    if let Some(error) = failed {
        return Err(error).with_context(cannot);
    }
    let phases = phases.finish(&session, &summary.finish(&session), false);
    tracks
        .finish(&phases, |row, processes| exporter.row(&row, &processes[row.process]))
        .with_context(cannot)?;
    exporter.finish().with_context(cannot)?;
    Ok(session.unread().to_vec())
}

/// Passes the rows of a reading to an exporter.
struct Export<'a, E> {
    tracks: Tracks,
    exporter: E,
    /// Returns why no more can be written.
    failed: Option<anyhow::Error>,
    stopped: &'a Stopped,
}

impl<E: Exporter> Export<'_, E> {
    fn write(&mut self) {
        for row in self.tracks.take_rows() {
            if self.failed.is_none() {
                self.failed = self.exporter.row(&row, &self.tracks.processes()[row.process]).err();
            }
        }
    }
}

impl<E: Exporter> Analysis for Export<'_, E> {
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
        self.failed.is_some() || self.stopped.load(Ordering::Relaxed) != 0
    }
}
