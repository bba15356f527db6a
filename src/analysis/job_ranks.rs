//! The ranks of a job: the processes of each together, and what a rank does that most do not.

use super::{
    evidence::{Evidence, observations::complete},
    session::{KernelId, Process, Session},
    table::Cell,
    traits::{Trait, TraitKind, differing, of_kernel},
};
use rocshim_reader::End;
use rocshim_trace::{Record, file_name, launcher};
use serde::Serialize;
use std::collections::BTreeSet;

/// A rank: the processes to which a launcher gave its number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobRankRow {
    /// The id of its job, with the step of Slurm; absent where the launcher gives none.
    pub job: Option<String>,
    /// Its number in the job.
    pub rank: u32,
    /// Its number among those of its host.
    pub local_rank: Option<u32>,
    /// The number of its host in the job.
    pub node: Option<u32>,
    /// The number of ranks in the job.
    pub world: Option<u32>,
    /// The machine's name.
    pub host: String,
    /// Its processes: itself, and workers that inherited its number.
    pub processes: u64,
    /// Kernel launches, failed ones among them.
    pub launches: u64,
    /// Different kernels, of launches that succeeded.
    pub kernels: u64,
    /// Matrix products, each counted once.
    pub gemms: u64,
    /// Convolution calls.
    pub convolutions: u64,
    /// Launches out of Tensile's fallback library.
    pub fallback_launches: u64,
    /// Events that were lost.
    pub lost: u64,
    /// From the first call of its processes to the return of the last.
    pub span_ns: u64,
    /// How the trace of its first process ends, in the words of `processes`.
    pub end: String,
    /// What it does and most other ranks of the job do not, or the other way round; where the ranks
    /// form classes, the ranks of its class. Absent: it does what most others do.
    pub differs: Option<String>,
    /// How certain that is.
    pub evidence: Option<Evidence>,
    /// Why it is not confirmed.
    pub why: Option<String>,
    /// The times of its first call and last return, Unix ns.
    #[serde(skip)]
    times: (u64, u64),
    /// What its processes launched and loaded.
    #[serde(skip)]
    pub(crate) traits: BTreeSet<Trait>,
    /// Why its traces may not have all that it did.
    #[serde(skip)]
    limit: Option<String>,
    /// Why it may have made calls that no trace would show.
    #[serde(skip)]
    bypass: Option<String>,
}

crate::table! {
    /// The ranks of jobs.
    JOB_RANKS: JobRankRow = "ranks", "Ranks", "a rank of a job: its processes together";
    |row|
    words("job", "job", "the id of its job").if_differs() => row.job.clone();
    number("rank", "rank", "its number in the job").name() => row.rank;
    number("local_rank", "local rank", "its number among those of its host").on_page() => row.local_rank;
    number("node", "node", "the number of its host in the job").on_page() => row.node;
    number("world", "of", "the number of ranks in the job").on_page() => row.world;
    words("host", "host", "the machine's name") => &row.host;
    count("processes", "processes", "its processes, workers among them").if_differs() => row.processes;
    count("launches", "launches", "kernel launches, failed ones among them") => row.launches;
    count("kernels", "kernels", "different kernels").no_sum() => row.kernels;
    count("gemms", "GEMMs", "GEMMs, each once").if_any() => row.gemms;
    count("convolutions", "convs", "convolution calls").if_any() => row.convolutions;
    count("fallback_launches", "fallback", "launches out of Tensile's fallback library").if_any()
        => row.fallback_launches;
    count("lost", "lost", "events that were lost").if_any() => row.lost;
    time("span_ns", "span", "from the first call to the return of the last").no_sum().optional()
        => row.span_ns;
    words("end", "end", "how the trace of its first process ends") => &row.end;
    sentence("differs", "what differs", "what it does and most other ranks do not, or its class").on_page()
        => row.differs.clone();
    evidence("evidence", "evidence", "how certain that is").on_page()
        => row.evidence.map(|evidence| Cell::Evidence(evidence, row.why.clone()));
}

/// What a process of a rank has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) launches: u64,
    pub(crate) gemms: u64,
    pub(crate) convolutions: u64,
    pub(crate) fallback_launches: u64,
    /// Launches whose kernels are not known.
    pub(crate) unknown: u64,
}

/// Gathers ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobRanks {
    rows: Vec<JobRankRow>,
    /// Of the process that is read, if it is one of a rank.
    open: Option<BTreeSet<Trait>>,
}

impl JobRanks {
    pub(crate) fn begin_process(&mut self, process: &Process) {
        self.open = rank_of(process).map(|_| BTreeSet::new());
    }

    pub(crate) fn record(&mut self, record: &Record) {
        let Some(traits) = &mut self.open else { return };
        match record {
            Record::Library(library) => {
                let build = library.build_id.as_ref().map_or(String::new(), |id| format!(" build {id}"));
                traits.insert((TraitKind::Library, format!("{}{build}", file_name(&library.path))));
            }
            Record::Device(device) => {
                traits.insert((TraitKind::Device, format!("{} {}", device.gfx, device.name)));
            }
            _ => {}
        }
    }

    /// Adds the process that was read, which launched these kernels with success.
    pub(crate) fn end_process(
        &mut self,
        session: &Session,
        end: End,
        counts: Counts,
        kernels: impl Iterator<Item = KernelId>,
    ) {
        let process = session.process();
        let Some((mut traits, rank)) = self.open.take().zip(rank_of(process)) else { return };
        traits.extend(kernels.flat_map(|kernel| of_kernel(session, kernel)));
        let variable = |name: &str| process.header.env.get(name);
        let number = |names: &[&str]| names.iter().find_map(|name| variable(name)?.parse().ok());
        let world = launcher::rank(variable).and_then(|(_, _, size)| variable(size)?.parse().ok());
        let (first, last) = process.first_and_last();
        let of = JobRankRow {
            job: job_of(process),
            rank,
            local_rank: number(&launcher::LOCAL_RANKS),
            node: number(&launcher::NODES),
            world,
            host: process.header.host.clone(),
            processes: 1,
            launches: counts.launches,
            kernels: 0,
            gemms: counts.gemms,
            convolutions: counts.convolutions,
            fallback_launches: counts.fallback_launches,
            lost: process.lost,
            span_ns: 0,
            end: process.end_word(end),
            differs: None,
            evidence: None,
            why: None,
            times: (process.epoch.saturating_add(first), process.epoch.saturating_add(last)),
            traits,
            limit: limit(process, end, counts.unknown),
            bypass: process.possible_bypass("libamdhip64.so"),
        };
        match self.rows.iter_mut().find(|row| (&row.job, row.rank) == (&of.job, of.rank)) {
            Some(row) => row.add(of),
            None => self.rows.push(of),
        }
    }

    /// All ranks, by job and number.
    pub(crate) fn finish(mut self) -> Vec<JobRankRow> {
        self.rows.sort_by(|a, b| (&a.job, a.rank).cmp(&(&b.job, b.rank)));
        for row in &mut self.rows {
            row.kernels = row.traits.iter().filter(|(kind, _)| *kind == TraitKind::Kernel).count() as u64;
            row.span_ns = row.times.1.saturating_sub(row.times.0);
        }
        self.rows.chunk_by_mut(|a, b| a.job == b.job).for_each(compare);
        self.rows
    }
}

impl JobRankRow {
    /// True where its traces may not have all that it did.
    pub fn is_limited(&self) -> bool {
        self.limits().is_some()
    }

    /// Why its traces may not have all that it did.
    pub(crate) fn limits(&self) -> Option<String> {
        self.limit.clone().or_else(|| self.bypass.clone())
    }

    /// Adds another process of the rank.
    fn add(&mut self, of: JobRankRow) {
        if of.times.0 < self.times.0 {
            (self.end, self.host) = (of.end, of.host);
        }
        self.processes += 1;
        self.launches += of.launches;
        self.gemms += of.gemms;
        self.convolutions += of.convolutions;
        self.fallback_launches += of.fallback_launches;
        self.lost += of.lost;
        self.times = (self.times.0.min(of.times.0), self.times.1.max(of.times.1));
        self.traits.extend(of.traits);
        self.limit = self.limit.take().or(of.limit);
        self.bypass = self.bypass.take().or(of.bypass);
    }
}

/// Finds what ranks of one job differ in.
fn compare(rows: &mut [JobRankRow]) {
    let compared: Vec<_> = rows.iter().map(|row| (&row.traits, row.limit.is_none())).collect();
    let found: Vec<(usize, String)> = match differing(&compared) {
        Ok(found) => found
            .into_iter()
            .flat_map(|of| of.ranks.into_iter().map(move |rank| (rank, of.what.clone())))
            .collect(),
        Err(classes) => {
            let all = classes.len();
            let sentence = |class: &[usize]| {
                let ranks: Vec<u32> = class.iter().map(|at| rows[*at].rank).collect();
                format!("one of {all} classes by what they launch: {}", ranges(&ranks))
            };
            let of_class = |class: Vec<usize>| {
                let sentence = sentence(&class);
                class.into_iter().map(move |rank| (rank, sentence.clone()))
            };
            classes.into_iter().flat_map(of_class).collect()
        }
    };
    // That a rank does not do something holds if its trace would show it.
    let bypass = rows.iter().find_map(|row| row.bypass.clone());
    let (evidence, why) = complete(bypass.map(|why| format!("calls may be in no trace: {why}")));
    for (rank, what) in found {
        let row = &mut rows[rank];
        (row.differs, row.evidence, row.why) = (Some(what), Some(evidence), why.clone());
    }
}

/// `0–3, 8`: rising numbers, neighbours as ranges.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |run: &[u32]| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}–{last}"),
        [] => String::new(),
    };
    runs.map(text).collect::<Vec<_>>().join(", ")
}

fn rank_of(process: &Process) -> Option<u32> {
    launcher::rank(|name| process.header.env.get(name)).map(|(rank, ..)| rank)
}

/// `4711`, `4711.0`: the job, and the step of Slurm.
fn job_of(process: &Process) -> Option<String> {
    let env = &process.header.env;
    let job = launcher::JOBS.iter().find_map(|name| env.get(*name))?;
    Some(env.get("SLURM_STEP_ID").map_or_else(|| job.clone(), |step| format!("{job}.{step}")))
}

/// Why a trace that ends so may not have all that its process did.
fn limit(process: &Process, end: End, unknown: u64) -> Option<String> {
    let gaps = process.visibility_gaps(end);
    let late = process.footer.as_ref().is_some_and(|footer| footer.late > 0);
    let found = |condition: bool, why: &str| condition.then(|| why.to_owned());
    found(process.lost > 0, "events were lost")
        .or_else(|| found(gaps.lossy, "a trace has no end"))
        .or_else(|| found(gaps.running, "a process still runs"))
        .or_else(|| found(late, "calls came after recording had ended"))
        .or_else(|| found(unknown > 0, "the kernels of some launches are not known"))
        .or(gaps.unrecorded)
}
