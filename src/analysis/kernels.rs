//! Kernels by name, over all processes: launches, times, host durations, shapes.

use super::{
    durations::Durations,
    host_times::{HostTimes, HostTimesBuilder},
    interner::{Interner, PerId},
    nesting::Launches,
    session::{ProcessId, Session, Symbol, SymbolId},
    table::Cell,
    time_range::{Epoch, TimeRange},
    units::dims,
};
use rocshim_trace::{Launch, Tensile};
use serde::Serialize;

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelRow {
    /// The symbol, as the compiler named it.
    pub name: String,
    /// The demangled name, if the symbol is mangled.
    pub demangled: Option<String>,
    /// Launches, including failed ones: direct ones, and those by graph launches.
    pub launches: u64,
    /// Those of them by graph launches.
    pub by_graphs: u64,
    /// Those of them that were trials: made while a library searched for the fastest solution.
    pub trials: u64,
    /// Those of them that seem to be trials by the program itself: made in sweeps.
    pub swept: u64,
    /// Launch calls recorded into a graph instead of executed, including failed ones.
    pub captured: u64,
    /// Launches that returned an error.
    pub failed: u64,
    /// Successful launches.
    #[serde(skip)]
    pub ran: u64,
    /// Host time of all launch calls, captured ones among them.
    pub total_ns: u64,
    /// Those of the first call in each process, and median, p99 and maximum of the later ones that
    /// launched it.
    #[serde(flatten)]
    pub times: HostTimes,
    /// Entry of its first launch in ns since the summary's `epoch`; absent if only graphs launched
    /// it.
    pub first_ns: Option<u64>,
    /// When the last of them returned.
    pub last_ns: Option<u64>,
    /// The lengths of the later calls that launched it.
    #[serde(skip)]
    pub(crate) durations: Durations,
    /// Host time of the later calls as a part of that of all kernels, 0 to 1; absent without one.
    pub share: Option<f64>,
    /// The most common shape.
    pub shape: Shape,
    /// Launches in that shape.
    pub(crate) shape_launches: u64,
    /// Number of different shapes.
    pub shapes: u64,
    /// The decoded symbol, where it is one of Tensile's.
    pub tensile: Option<Tensile>,
}

crate::table! {
    /// The kernels, longest host time without first calls first.
    KERNELS: KernelRow = "kernels", "Kernels (host time of the launch calls, not GPU time)",
        "a kernel, over all processes";
    |row|
    count("launches", "calls", "launches, failed ones among them").called("launches", "by_graphs")
        => row.launches;
    count("by_graphs", "by graphs", "those that launched graphs made").if_any() => row.by_graphs;
    count("trials", "trials", "those that a library made to find its fastest kernel").if_any() => row.trials;
    count("swept", "in a row", "those that seem to be trials by the program itself").if_any() => row.swept;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any() => row.captured;
    count("failed", "failed", "launches that returned an error").if_any() => row.failed;
    time("total_ns", "total", "host time of all launch calls") => row.total_ns;
    time("first_calls_ns", "first calls", "that of the first call in each process, which may load code")
        => row.times.first_calls_ns;
    share("share", "share", "the later calls' host time as a part of all kernels'") => row.share;
    time("median_ns", "median", "median of the later calls").no_sum().if_any() => row.times.median_ns;
    time("p99_ns", "p99", "what 99 of 100 later calls did not exceed").no_sum().if_any().optional()
        => row.times.p99_ns;
    time("max_ns", "longest", "the longest later call").no_sum().if_any().optional()
        => row.times.max_ns;
    words("shape", "grid x block", "the most common shape, and how many others").right()
        => row.shape_in_words();
    time("first_ns", "begins", "when the first call began").no_sum().on_page() => row.first_ns;
    time("last_ns", "ends", "when the last call returned").no_sum().on_page() => row.last_ns;
    kernel("name", "kernel", "its symbol; in text as people write it").name()
        => Cell::Kernel(row.name.clone(), row.demangled.clone());
}

impl KernelRow {
    fn shape_in_words(&self) -> String {
        let shape = format!("{} x {}", dims(self.shape.grid), dims(self.shape.block));
        if self.shapes > 1 { format!("{shape} +{}", self.shapes - 1) } else { shape }
    }
}

/// Grid and block of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Shape {
    /// The grid in blocks.
    pub grid: [u32; 3],
    /// The block in work-items.
    pub block: [u32; 3],
}

/// A kernel launched inside another call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inside {
    /// The kernel's symbol.
    pub kernel: String,
    /// Its demangled name, if that differs.
    pub demangled: Option<String>,
    /// Launches of it inside such calls that succeeded.
    pub launches: u64,
    /// Those that returned an error.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Those of the launches that were trials of a search.
    pub trials: u64,
    /// Launches of it inside such calls that were recorded into a graph instead of being executed.
    pub captured: u64,
    /// The decoded symbol, where it is one of Tensile's.
    pub tensile: Option<Tensile>,
}

#[derive(Clone, Default)]
struct Stats {
    launches: u64,
    by_graphs: u64,
    trials: u64,
    swept: u64,
    captured: u64,
    failed: u64,
    ran: u64,
    times: HostTimesBuilder,
    span: TimeRange,
    shapes: Interner<Shape, u64>,
    /// Cache: the last shape and its number, because most kernels are launched in one shape many
    /// times in a row.
    last: Option<(Shape, usize)>,
}

/// All kernels, by symbol.
#[derive(Clone, Default)]
pub(crate) struct Kernels {
    all: PerId<SymbolId, Stats>,
    epoch: Epoch,
}

impl Kernels {
    /// Times are those of a process with this epoch from now on.
    pub(crate) fn begin_process(&mut self, epoch: &str) {
        self.epoch.begin(epoch);
    }

    /// Returns the epoch of the times in `rows`.
    pub(crate) fn epoch(&self) -> Option<String> {
        self.epoch.earliest()
    }

    /// Counts a launch call of a kernel.
    pub(crate) fn count(&mut self, process: ProcessId, kernel: SymbolId, launch: &Launch) {
        let stats = self.all.of(kernel);
        stats.span.add(&self.epoch, &launch.call);
        let is_failed = launch.call.status != 0 || launch.call.unwound;
        stats.failed += u64::from(is_failed);
        stats.ran += u64::from(!is_failed && launch.capture.is_none());
        stats.times.add(process, launch.call.dur, launch.capture.is_none() && !is_failed);
        match launch.capture {
            Some(_) => stats.captured += 1,
            None => stats.launch(Shape { grid: launch.grid, block: launch.block }, 1),
        }
    }

    /// Counts launches of a kernel by graph launches.
    pub(crate) fn count_by_graphs(&mut self, kernel: SymbolId, shape: Shape, launches: u64) {
        let stats = self.all.of(kernel);
        stats.by_graphs += launches;
        stats.ran += launches;
        stats.launch(shape, launches);
    }

    /// Counts launches of a kernel that were made in a sweep; they are counted as launches already.
    pub(crate) fn count_swept(&mut self, kernel: SymbolId, launches: u64) {
        self.all.of(kernel).swept += launches;
    }

    /// Counts launches of a kernel that were trials; they are counted as launches already.
    pub(crate) fn count_trials(&mut self, kernel: SymbolId, trials: u64) {
        self.all.of(kernel).trials += trials;
    }

    /// The kernels that were launched or captured, longest host time without first calls first;
    /// where graphs launched some, which takes no calls, most launches first.
    pub(crate) fn rows(&self, session: &Session) -> Vec<KernelRow> {
        let called = || self.all.iter().filter(|(_, stats)| stats.launches + stats.captured > 0);
        let all: u64 = called().map(|(_, stats)| stats.times.later_ns()).sum();
        let row = |(id, stats): (_, &Stats)| stats.row(session.symbol(id), all, &self.epoch);
        let mut rows: Vec<KernelRow> = called().map(row).collect();
        let by_graphs = rows.iter().any(|row| row.by_graphs > 0);
        let weight = |row: &KernelRow| {
            let later = row.total_ns - row.times.first_calls_ns;
            (if by_graphs { row.launches } else { 0 }, later, row.total_ns)
        };
        rows.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.name.cmp(&b.name)));
        rows
    }
}

impl Stats {
    fn launch(&mut self, shape: Shape, launches: u64) {
        self.launches += launches;
        let number = match self.last {
            Some((last, number)) if last == shape => number,
            _ => self.shapes.number(shape, || 0),
        };
        self.last = Some((shape, number));
        *self.shapes.get_mut(number) += launches;
    }

    fn row(&self, symbol: &Symbol, all_ns: u64, epoch: &Epoch) -> KernelRow {
        let (shape, shape_launches) = self.shapes.most_common();
        let (first_ns, last_ns) = self.span.since(epoch).unzip();
        KernelRow {
            name: symbol.name.clone(),
            demangled: symbol.demangled.clone(),
            launches: self.launches,
            by_graphs: self.by_graphs,
            trials: self.trials,
            swept: self.swept,
            captured: self.captured,
            failed: self.failed,
            ran: self.ran,
            total_ns: self.times.total_ns(),
            times: self.times.finish(),
            first_ns,
            last_ns,
            durations: self.times.durations().clone(),
            share: (self.times.later_ns() > 0).then(|| self.times.later_ns() as f64 / all_ns as f64),
            shape,
            shape_launches,
            shapes: self.shapes.values().len() as u64,
            tensile: symbol.tensile.clone(),
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns the kernels inside a kind of call, most launches first.
pub(crate) fn inside(session: &Session, counts: &[(SymbolId, Launches)]) -> Vec<Inside> {
    let row = |(kernel, counts): &(SymbolId, Launches)| {
        let (symbol, Launches { launches, failed, trials, captured }) = (session.symbol(*kernel), *counts);
        let (kernel, demangled) = (symbol.name.clone(), symbol.demangled.clone());
        Inside { kernel, demangled, launches, failed, trials, captured, tensile: symbol.tensile.clone() }
    };
    let mut rows: Vec<Inside> = counts.iter().map(row).collect();
    let all = |row: &Inside| row.launches + row.captured;
    rows.sort_by(|a, b| all(b).cmp(&all(a)).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

impl Interner<Shape, u64> {
    /// Returns the shape with most launches; on a tie the smaller one.
    fn most_common(&self) -> (Shape, u64) {
        self.pairs()
            .map(|(shape, launches)| (*shape, *launches))
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interner::Id;
    use rocshim_trace::Call;

    fn launch(dur: u64, grid_x: u32, status: i32) -> Launch {
        let call = Call { dur, status, ..Call::default() };
        Launch { call, grid: [grid_x, 1, 1], block: [64, 1, 1], ..Launch::default() }
    }

    #[test]
    fn a_row_counts_times_failures_and_shapes() {
        let (mut kernels, mut session) = (Kernels::default(), Session::default());
        let process = ProcessId::at(0);
        let mut symbol = |name: &str, demangled| session.intern_symbol(name.into(), demangled);
        let (a, b) = (symbol("a", None), symbol("b", Some("void b(int)")));
        symbol("defined, never launched", None);
        assert_eq!(symbol("a", None), a, "a kernel of another process with the same name is the same");
        for (dur, grid) in [(100, 4), (300, 8), (200, 4)] {
            kernels.count(process, a, &launch(dur, grid, 0));
        }
        kernels.count(process, b, &launch(400, 1, 9));

        let rows = kernels.rows(&session);
        assert_eq!(rows.len(), 2);
        // a: 100 + 300 + 200 = 600 ns, of which the first call took 100; twice with grid 4, once
        // with 8. b has one call, which is no part of the shares.
        let a = &rows[0];
        assert_eq!((a.name.as_str(), a.launches, a.failed), ("a", 3, 0));
        assert_eq!((a.total_ns, a.times.first_calls_ns, a.share), (600, 100, Some(1.0)));
        assert_eq!((a.times.median_ns, a.times.max_ns), (Some(200), Some(300)), "right to 0.8 %");
        assert_eq!((a.shape.grid, a.shape.block), ([4, 1, 1], [64, 1, 1]));
        assert_eq!((a.shape_launches, a.shapes), (2, 2));
        let b = &rows[1];
        assert_eq!((b.name.as_str(), b.demangled.as_deref(), b.failed), ("b", Some("void b(int)"), 1));
        assert_eq!((b.total_ns, b.share, b.shapes), (400, None, 1));
    }

    #[test]
    fn what_was_captured_is_not_launched_and_what_graphs_launch_is() {
        let (mut kernels, mut session) = (Kernels::default(), Session::default());
        let process = ProcessId::at(0);
        let [replayed, direct] = ["replayed", "direct"].map(|name| session.intern_symbol(name.into(), None));
        kernels.count(process, replayed, &Launch { capture: Some(3), ..launch(100, 4, 0) });
        kernels.count(process, direct, &launch(900, 4, 0));
        kernels.count_by_graphs(replayed, Shape { grid: [8, 1, 1], block: [64, 1, 1] }, 20);
        let rows = kernels.rows(&session);
        let counts: Vec<_> =
            rows.iter().map(|row| (row.name.as_str(), row.launches, row.by_graphs, row.captured)).collect();
        assert_eq!(counts, [("replayed", 20, 20, 1), ("direct", 1, 0, 0)], "most launches first");
        assert_eq!((rows[0].shape.grid, rows[0].total_ns), ([8, 1, 1], 100));
    }
}
