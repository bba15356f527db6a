//! Exports traces of many runs, hosts and ranks to a dataset: Parquet files that SQL engines read
//! as tables, `DIR/launches/run=RUN/host=HOST/rank=RANK/PID-EPOCH.parquet`.
//!
//! A process has one file in each table, even without rows, sorted by time. Each file is written
//! under a name that engines ignore and renamed when it is complete; that of the table `ranks`
//! comes last. Exporting a process again replaces its files and touches nothing else.
//!
//! Layers, lowest first: `tables` (columns), `write` (a file), `rows` (records to rows), and this
//! module, which reads processes in parallel. Memory: 150 bytes for each launch of the processes
//! that are read at a time.

mod rows;
mod tables;
mod write;

pub use tables::dataset_columns;

use crate::escaped;
use anyhow::{Context, Result, bail};
use rocshim_analysis::{
    Analysis, CollectiveRow, Phases, PhasesBuilder, RanksBuilder, Session, Spine, SummaryBuilder,
};
use rocshim_reader::{format_error, name_of, read_trace};
use rocshim_trace::TracePath;
use rows::{Passes, Rows};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};
use tables::{COLLECTIVES, CONVOLUTIONS, GEMMS, LAUNCHES, PHASES, RANKS, Table};
use write::{Cells, TableFile, Value};

/// Name of the file that marks a folder as a dataset; engines ignore such names.
const MARK: &str = "_rocshim.json";

/// A dataset that receives traces.
pub struct Dataset<'a> {
    folder: &'a Path,
    /// The run's name; absent: of each process the number of its Slurm job, else its trace's
    /// folder.
    run: Option<&'a str>,
}

/// The result of an export to a dataset.
#[derive(Debug, Default)]
pub struct Added {
    /// Number of processes added.
    pub processes: usize,
    /// Why traces were not added, a sentence each.
    pub failed: Vec<String>,
}

impl Dataset<'_> {
    /// Opens the dataset in `folder`, or creates one.
    ///
    /// # Errors
    /// When the folder holds something else.
    pub fn open<'a>(folder: &'a Path, run: Option<&'a str>) -> Result<Dataset<'a>> {
        let name = folder.display();
        if run.is_some_and(str::is_empty) {
            bail!("the run has no name: give one with --run");
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {name}"))?;
        let mark = folder.join(MARK);
        if !mark.exists() {
            let mut entries = folder.read_dir().with_context(|| format!("cannot list the folder {name}"))?;
            if entries.next().is_some() {
                bail!("{name} is no dataset and not empty: name another folder with -o");
            }
            let text = format!("{{\"format\":1,\"rocshim\":\"{}\"}}\n", env!("CARGO_PKG_VERSION"));
            fs::write(&mark, text).with_context(|| format!("cannot write {}", mark.display()))?;
        }
        Ok(Dataset { folder, run })
    }

    /// Adds the traces, on all cores, until `stopped`.
    pub fn add(&self, traces: &[PathBuf], stopped: &(dyn Fn() -> bool + Sync)) -> Added {
        let processes = processes(traces);
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let done = AtomicUsize::new(0);
        let work = || {
            while let Some(files) = processes.get(next.fetch_add(1, Relaxed)) {
                if stopped() {
                    return;
                }
                match self.process(files) {
                    Ok(()) => drop(done.fetch_add(1, Relaxed)),
                    Err(error) => failed.lock().unwrap_or_else(|e| e.into_inner()).push(format_error(&error)),
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(processes.len());
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        let mut failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
        failed.sort();
        Added { processes: done.into_inner(), failed }
    }

    /// Adds the process whose trace these files are.
    fn process(&self, files: &[PathBuf]) -> Result<()> {
        let (mut rows, mut ranks) = (Rows::default(), RanksBuilder::default());
        let (mut phases, mut summary) = (PhasesBuilder::new(Vec::new()), SummaryBuilder::default());
        let analyses: Vec<&mut dyn Analysis> = vec![&mut rows, &mut ranks, &mut phases, &mut summary];
        let mut spine = Spine::new(Session::default(), analyses);
        for file in files {
            spine.begin_file(name_of(file));
            let reading = read_trace(file, &mut spine)?;
            spine.end_file(&reading);
        }
        let session = spine.finish();
        let name = name_of(&files[0]);
        if rows.processes != 1 {
            bail!("{name} has the traces of {} processes: split it into one file each", rows.processes);
        }
        let phases = phases.finish(&session, &summary.finish(&session), false);
        let run = match self.run {
            Some(run) => run.to_owned(),
            None => run_of(&files[0], &rows),
        };
        self.write(&run, rows, &phases, &ranks).with_context(|| format!("cannot export {name}"))
    }

    fn write(&self, run: &str, mut rows: Rows, phases: &Phases, ranks: &RanksBuilder) -> Result<()> {
        let (number, world, in_flight) = ranks.only_rank().unwrap_or_default();
        let every = [
            Value::text(run),
            Value::text(&rows.host),
            Value::integer(number),
            Value::Integer(rows.pid.into()),
        ];
        let file = |table: &Table| {
            let rank = number.map_or("none".to_owned(), |number| number.to_string());
            let folder = format!("run={}/host={}/rank={rank}", escaped(run), escaped(&rows.host));
            let name = format!("{}-{}.parquet", rows.pid, rows.epoch);
            TableFile::create(table, self.folder.join(table.name).join(folder).join(name))
        };
        let passes = Passes::new(phases);
        let with = |cells: Vec<Value>| every.iter().cloned().chain(cells);
        let mut launches = std::mem::take(&mut rows.launches);
        launches.sort_by_key(|launch| launch.begin);
        launches.iter_mut().for_each(|launch| launch.pass = passes.of(launch.begin));
        let columns: Vec<_> = every.iter().map(Cells::constant).chain(rows.columns(&passes)).collect();
        let mut to = file(&LAUNCHES)?;
        to.rows(&launches, &columns)?;
        to.finish()?;
        drop((columns, launches));
        for (table, rows) in [(&GEMMS, &rows.gemms), (&CONVOLUTIONS, &rows.convolutions)] {
            let mut sorted: Vec<&rows::TableRow> = rows.iter().collect();
            sorted.sort_by_key(|(begin, _)| *begin);
            let mut to = file(table)?;
            for (begin, cells) in sorted {
                to.row(with(cells.clone()).chain(passes.at(*begin)))?;
            }
            to.finish()?;
        }
        let mut to = file(&COLLECTIVES)?;
        let mut collectives = ranks.collectives();
        collectives.sort_by_key(|collective| collective.begin);
        for collective in &collectives {
            to.row(with(collective_cells(collective)))?;
        }
        to.finish()?;
        let mut to = file(&PHASES)?;
        for (pass, moment) in (1..).zip(phases.moments()) {
            let phase = &phases.phases[moment.phase];
            let [least, most] =
                moment.columns.map_or([None, None], |[least, most]| [Some(least), Some(most)]);
            let number = |value: Option<u64>| value.map_or(Value::Absent, Value::count);
            to.row(with(vec![
                Value::count(pass),
                Value::text(phase.name()),
                Value::count(moment.begin),
                Value::count(moment.end.saturating_sub(moment.begin)),
                number(least),
                number(most),
                Value::text(&phase.evidence.to_string()),
            ]))?;
        }
        to.finish()?;
        let mut to = file(&RANKS)?;
        let mut cells = vec![Value::integer(world)];
        let version = rows.process.pop();
        cells.extend(rows.process);
        cells.push(Value::texts(in_flight));
        cells.extend(version);
        to.row(every.iter().cloned().chain(cells))?;
        to.finish()
    }
}

fn collective_cells(of: &CollectiveRow) -> Vec<Value> {
    let (group, members, member) = match &of.group {
        Some((group, members, member)) => (Some(group), Some(*members), Some(*member)),
        None => (None, None, None),
    };
    let (step, place) = of.step.unzip();
    let number = |value: Option<usize>| value.map_or(Value::Absent, |value| Value::count(value as u64));
    vec![
        Value::count(of.begin),
        if of.returned == 0 { Value::Absent } else { Value::count(of.returned - of.begin) },
        Value::unless_0(of.done),
        Value::text(&of.function),
        of.count.map_or(Value::Absent, Value::count),
        Value::texts(of.datatype.as_deref()),
        Value::texts(of.op.as_deref()),
        Value::integer(of.root),
        Value::count(of.communicator as u64),
        Value::texts(group),
        Value::integer(members),
        Value::integer(member),
        Value::count(of.sequence as u64),
        number(step),
        number(place),
        Value::unless_0(of.gpu.0),
        Value::unless_0(of.gpu.1),
    ]
}

/// Returns the files of each process; the segments of a trace are consecutive.
fn processes(traces: &[PathBuf]) -> Vec<Vec<PathBuf>> {
    let first = |path: &PathBuf| TracePath::of(path).map_or_else(|| path.clone(), |trace| trace.first);
    traces.chunk_by(|a, b| first(a) == first(b)).map(<[PathBuf]>::to_vec).collect()
}

/// Returns the default name of a process's run.
fn run_of(file: &Path, rows: &Rows) -> String {
    let folder = || {
        let absolute = std::path::absolute(file).ok()?;
        Some(absolute.parent()?.file_name()?.to_string_lossy().into_owned())
    };
    rows.job.clone().or_else(folder).unwrap_or_else(|| "run".to_owned())
}
