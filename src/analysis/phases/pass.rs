//! A pass, which evaluates a model once: while it is open, and when it is complete.

use super::{
    PhaseKind,
    gpu::{Command, PassGpu},
};
use crate::session::FunctionId;
use foldhash::{HashMap, HashSet};
use rocshim_trace::ggml::Columns;

/// Launches and calls of a pass: numbers of kernels and functions with their counts, sorted, so
/// that equal passes compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Content {
    pub(super) kernels: Vec<(usize, Launches)>,
    pub(super) functions: Vec<(FunctionId, Launches)>,
}

/// Executed launches of a kernel, or calls of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Launches {
    /// By calls.
    pub(super) direct: u64,
    /// By graph launches.
    pub(super) by_graphs: u64,
}

impl Launches {
    pub(super) fn all(self) -> u64 {
        self.direct + self.by_graphs
    }

    pub(super) fn add(&mut self, other: Launches, times: u64) {
        self.direct += other.direct * times;
        self.by_graphs += other.by_graphs * times;
    }
}

/// A number of columns, known to be between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl From<Columns> for Range {
    fn from(columns: Columns) -> Range {
        Range { least: columns.least, most: columns.most }
    }
}

/// A complete pass.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// Number of its process, and of its stream group.
    pub(super) process: usize,
    pub(super) stream_group: usize,
    /// Entry of its first launch and return of its last call, in Unix ns.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// From the end of the previous pass in its stream group to its begin, in ns.
    pub(super) before: u64,
    /// Host time in calls that do not wait, and in calls that wait, in ns.
    pub(super) host: u64,
    pub(super) wait: u64,
    /// Columns of most of its GEMMs; number of GEMMs with these; number of GEMMs with known
    /// columns.
    pub(super) columns: Option<Range>,
    pub(super) agreeing: u64,
    pub(super) products: u64,
    /// Columns of its last GEMM.
    pub(super) outputs: Option<Range>,
    /// True when something was copied to the host after its last launch.
    pub(super) delivered: bool,
    /// True when nothing was copied to the host after the previous pass in its stream group, which
    /// had GEMMs.
    pub(super) continues: bool,
    /// True for the first pass of its stream group with at most two columns, followed by a memory
    /// set; and for the next one with as many columns.
    pub(super) warms_up: bool,
    /// True for that next one.
    pub(super) is_second: bool,
    /// True when the trace ends with it, before anything was copied.
    pub(super) unfinished: bool,
    /// Number of events lost in it.
    pub(super) lost: u64,
    /// Number of failed launches, which are not counted as launches.
    pub(super) failed: u64,
    /// Number of graph launches with unknown kernels.
    pub(super) unlisted: u64,
    /// Number of executed GEMMs with unknown columns.
    pub(super) opaque: u64,
    /// Number of GEMMs whose weights an earlier GEMM of the pass had.
    pub(super) repeated: u64,
    /// Number of the program's label.
    pub(super) label: Option<usize>,
    pub(super) role: Role,
    /// Number of its content.
    pub(super) content: usize,
    /// Its kind; set after everything was read.
    pub(super) kind: PhaseKind,
    /// Its GPU reports, and whether they may be incomplete.
    pub(super) gpu: Option<Box<(PassGpu, bool)>>,
}

/// Presumed purpose of a training program's launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Role {
    #[default]
    Forward,
    Backward,
    Optimiser,
}

/// An open pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenPass {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) host: u64,
    pub(super) wait: u64,
    pub(super) kernels: HashMap<usize, Launches>,
    pub(super) functions: HashMap<FunctionId, Launches>,
    /// Its calls that ask for commands on the GPU, while the runtime is asked for reports.
    pub(super) commands: Vec<Command>,
    /// GEMMs by their columns.
    columns: HashMap<Range, u64>,
    pub(super) outputs: Option<Range>,
    /// Weights of its first GEMM, and of all.
    pub(super) first_weights: Option<u64>,
    pub(super) weights: HashSet<u64>,
    pub(super) graphs: Vec<u32>,
    pub(super) delivered: bool,
    pub(super) cleared: bool,
    pub(super) lost: u64,
    pub(super) failed: u64,
    pub(super) unlisted: u64,
    pub(super) opaque: u64,
    repeated: u64,
    pub(super) label: Option<usize>,
    pub(super) role: Role,
    launched: bool,
    /// True when the host has waited since its last launch or copy.
    waited: bool,
}

/// Limit in ns of what a program does between its last launch and the wait for it.
const SHORT: u64 = 1_000_000;

impl OpenPass {
    /// Adds a launch at `t`.
    pub(super) fn launch(&mut self, t: u64) {
        if !self.launched {
            self.begin = t;
        }
        self.launched = true;
        self.work_until(t);
    }

    /// Extends the pass until `end`, which is not waited for.
    pub(super) fn work_until(&mut self, end: u64) {
        self.end = self.end.max(end);
        self.waited = false;
    }

    /// Handles a wait of the host from `begin` to `end`. Returns true when it is for this pass,
    /// which then extends until `end`.
    pub(super) fn wait_for(&mut self, begin: u64, end: u64) -> bool {
        let pause = begin.saturating_sub(self.end);
        let is_own = !self.waited && pause <= self.end.saturating_sub(self.begin).max(SHORT);
        self.waited = true;
        if is_own {
            self.end = self.end.max(end);
        }
        is_own
    }

    pub(super) fn has_launched(&self) -> bool {
        self.launched
    }

    /// Returns true when it has GEMMs, or graphs that may have some.
    pub(super) fn has_products(&self) -> bool {
        !self.columns.is_empty() || !self.weights.is_empty() || !self.graphs.is_empty()
    }

    pub(super) fn product(&mut self, columns: Option<Range>, weights: Option<u64>) {
        if let Some(columns) = columns {
            *self.columns.entry(columns).or_default() += 1;
            self.outputs = Some(columns);
        }
        if let Some(weights) = weights {
            self.first_weights.get_or_insert(weights);
            self.repeated += u64::from(!self.weights.insert(weights));
        }
    }

    /// Returns the columns of most GEMMs; on a tie, the larger number.
    fn most_columns(&self) -> Option<(Range, u64)> {
        let most = self.columns.iter().max_by_key(|(range, times)| (**times, **range));
        most.map(|(range, times)| (*range, *times))
    }

    /// Merges the launches of a tentative pass that belongs to it.
    pub(super) fn merge(&mut self, later: OpenPass) {
        if !self.launched {
            self.begin = later.begin;
        }
        self.launched |= later.launched;
        self.end = self.end.max(later.end);
        self.host += later.host;
        self.wait += later.wait;
        later.kernels.iter().for_each(|(kernel, launches)| {
            self.kernels.entry(*kernel).or_default().add(*launches, 1);
        });
        add(&mut self.functions, &later.functions);
        self.commands.extend(&later.commands);
        later.columns.iter().for_each(|(range, times)| *self.columns.entry(*range).or_default() += times);
        self.outputs = later.outputs.or(self.outputs);
        self.first_weights = self.first_weights.or(later.first_weights);
        self.repeated += later.repeated + self.weights.intersection(&later.weights).count() as u64;
        self.weights.extend(&later.weights);
        self.graphs.extend(&later.graphs);
        self.delivered = later.delivered;
        self.waited = later.waited;
        self.lost += later.lost;
        self.failed += later.failed;
        self.unlisted += later.unlisted;
        self.opaque += later.opaque;
    }

    pub(super) fn content(&self) -> Content {
        let mut kernels: Vec<(usize, Launches)> = self.kernels.iter().map(|(k, l)| (*k, *l)).collect();
        let mut functions: Vec<(FunctionId, Launches)> =
            self.functions.iter().map(|(f, c)| (*f, *c)).collect();
        kernels.sort_by_key(|(kernel, _)| *kernel);
        functions.sort_by_key(|(function, _)| *function);
        Content { kernels, functions }
    }

    /// Returns the complete pass; `content` is the number of its launches and calls. Times are
    /// unchanged.
    pub(super) fn close(
        self,
        process: usize,
        stream_group: usize,
        content: usize,
        last: Option<&Last>,
    ) -> Pass {
        let most = self.most_columns();
        let columns = most.map(|(range, _)| range);
        let is_first = last.is_none() && self.cleared && columns.is_some_and(|columns| columns.most <= 2);
        // llama-server evaluates two tokens twice before it listens.
        let is_second = last.is_some_and(|last| last.warmed_up.is_some() && last.warmed_up == columns);
        Pass {
            process,
            stream_group,
            begin: self.begin,
            end: self.end,
            before: last.map_or(0, |last| self.begin.saturating_sub(last.end)),
            host: self.host,
            wait: self.wait,
            columns,
            agreeing: most.map_or(0, |(_, times)| times),
            products: self.columns.values().sum(),
            outputs: self.outputs,
            delivered: self.delivered,
            continues: last.is_some_and(|last| last.goes_on && last.place == (self.label, self.role)),
            warms_up: self.delivered && (is_first || is_second),
            is_second,
            unfinished: false,
            lost: self.lost,
            failed: self.failed,
            unlisted: self.unlisted,
            opaque: self.opaque,
            repeated: self.repeated,
            label: self.label,
            role: self.role,
            content,
            kind: PhaseKind::Step,
            gpu: None,
        }
    }
}

/// What the previous pass of a stream group passes on to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    end: u64,
    /// True when it had GEMMs, and nothing was copied to the host after it.
    goes_on: bool,
    /// Columns of the first warm-up pass.
    warmed_up: Option<Range>,
    place: (Option<usize>, Role),
}

impl Last {
    pub(super) fn of(pass: &Pass) -> Last {
        let goes_on = pass.columns.is_some() && !pass.delivered;
        let warmed_up = pass.columns.filter(|_| pass.warms_up && !pass.is_second);
        Last { end: pass.end, goes_on, warmed_up, place: (pass.label, pass.role) }
    }
}

/// Adds counts.
pub(super) fn add(to: &mut HashMap<FunctionId, Launches>, counts: &HashMap<FunctionId, Launches>) {
    counts.iter().for_each(|(key, count)| to.entry(*key).or_default().add(*count, 1));
}
