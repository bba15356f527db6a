//! `rocshim export`: writes traces in the formats of other programs.

use super::summary::read_all;
use crate::args::{self, To};
use anyhow::{Context, Result, bail};
use rocshim_analysis::units::counted;
use rocshim_analysis::{Analysis, PhasesBuilder, Session, SummaryBuilder};
use rocshim_export::{Chrome, Csv, Dataset, ExportPass, Exporter, Parquet, Perfetto};
use rocshim_reader as reader;
use rocshim_reader::TraceFile;
use rocshim_report as report;
use rocshim_report::{FilePlace, FolderPlace};
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
        To::Perfetto => export.to_file(|_, out| Box::new(Perfetto::new(out))),
        To::Chrome => {
            export.to_file(|traces, out| Box::new(Chrome::new(out, reader::earliest_epoch(traces))))
        }
        To::Csv => export.to_folder(|place| Ok(Box::new(Csv::new(place)?))),
        To::Parquet => export.to_folder(|place| Ok(Box::new(Parquet::new(place)?))),
        To::Dataset => unreachable!("it was exported above"),
    }?;
    notes.iter().for_each(|note| report::print_error(note));
    if path != Path::new("-") {
        report::print_status(&format!("rocshim: the export is {}\n", path.display()));
    }
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
    let processes = counted(added.processes as u64, "process");
    report::print_status(&format!("rocshim: added {processes} to {}\n", folder.display()));
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
    fn to_file(
        &self,
        exporter: impl FnOnce(&[TraceFile], Box<dyn Write>) -> Box<dyn Exporter>,
    ) -> Result<Vec<String>> {
        FilePlace::check(self.path, self.args.force)?;
        let traces = reader::find_traces(&self.args.traces)?;
        let (place, out) = FilePlace::open(self.path)?;
        let notes = written(&traces, exporter(&traces, out), self.path, self.stopped)?;
        place.finish()?;
        Ok(notes)
    }

    /// Writes a format that is a folder of files; returns notes about the traces.
    fn to_folder(
        &self,
        exporter: impl FnOnce(&Rc<FolderPlace>) -> Result<Box<dyn Exporter>>,
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
    exporter: Box<dyn Exporter>,
    out: &Path,
    stopped: &Stopped,
) -> Result<Vec<String>> {
    let (mut phases, mut summary) = (PhasesBuilder::new(Vec::new()), SummaryBuilder::default());
    let is_stopped = || stopped.load(Ordering::Relaxed) != 0;
    let mut export = ExportPass::new(exporter, &is_stopped);
    let cannot = || format!("the export to {} failed and was removed", out.display());
    let analyses: Vec<&mut dyn Analysis> = vec![&mut export, &mut phases, &mut summary];
    let session = read_all(traces, Session::default(), analyses)?;
    if is_stopped() {
        bail!("the export to {} was stopped and removed", out.display());
    }
    let phases = phases.finish(&session, &summary.finish(&session), false);
    export.finish(&phases).with_context(cannot)?;
    Ok(session.unread().to_vec())
}
