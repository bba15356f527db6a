//! Kernels by name, over all processes: how often they were launched, how long that took the host, in which shapes.

use super::interner::Interner;
use rocshim_trace::{Launch, Tensile};
use serde::Serialize;

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct KernelRow {
    /// The symbol, as the compiler named it.
    pub(crate) name: String,
    /// The name as people write it, where the symbol is a mangled one.
    pub(crate) demangled: Option<String>,
    /// Launches, failed ones among them.
    pub(crate) launches: u64,
    /// Launches that returned an error.
    pub(crate) failed: u64,
    /// Host time of all launch calls.
    pub(crate) total_ns: u64,
    /// The shortest of them.
    pub(crate) min_ns: u64,
    /// The longest of them.
    pub(crate) max_ns: u64,
    /// `total_ns` as a part of that of all kernels, 0 to 1.
    pub(crate) share: f64,
    /// The most common shape.
    pub(crate) shape: Shape,
    /// Launches in that shape.
    pub(crate) shape_launches: u64,
    /// Number of different shapes.
    pub(crate) shapes: u64,
    /// What the symbol says, where it is one of Tensile's.
    pub(crate) tensile: Option<Tensile>,
}

/// How a kernel was launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub(crate) struct Shape {
    /// The grid in blocks.
    pub(crate) grid: [u32; 3],
    /// The block in work-items.
    pub(crate) block: [u32; 3],
}

/// A kernel launched inside another call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Inside {
    /// The kernel's symbol.
    pub(crate) kernel: String,
    /// Its name as people write it, where that differs.
    pub(crate) demangled: Option<String>,
    /// Launches of it inside such calls.
    pub(crate) launches: u64,
    /// What the symbol says, where it is one of Tensile's.
    pub(crate) tensile: Option<Tensile>,
}

struct Stats {
    name: String,
    demangled: Option<String>,
    tensile: Option<Tensile>,
    launches: u64,
    failed: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
    shapes: Interner<Shape, u64>,
    /// The last shape and its number: most kernels are launched in one shape many times in a row.
    last: (Shape, usize),
}

/// All kernels, numbered in the order in which they were first defined.
pub(crate) struct Kernels(Interner<String, Stats>);

impl Kernels {
    pub(crate) fn new() -> Self {
        Kernels(Interner::new())
    }

    /// The number of the kernel with this symbol.
    pub(crate) fn number(&mut self, name: &str, demangled: Option<&str>) -> usize {
        let number = self.0.number(name.to_string(), || Stats {
            name: name.to_string(),
            demangled: None,
            tensile: Tensile::of(name),
            launches: 0,
            failed: 0,
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            shapes: Interner::new(),
            last: (Shape::default(), usize::MAX),
        });
        let stats = self.0.get_mut(number);
        if stats.demangled.is_none() {
            stats.demangled = demangled.map(str::to_string);
        }
        number
    }

    /// The name of a kernel, as people write it where that is known.
    pub(crate) fn name(&self, kernel: usize) -> String {
        let stats = self.0.get(kernel);
        stats.demangled.clone().unwrap_or_else(|| stats.name.clone())
    }

    /// The symbol of a kernel.
    pub(crate) fn symbol(&self, kernel: usize) -> &str {
        &self.0.get(kernel).name
    }

    /// What a kernel's symbol says, where it is one of Tensile's.
    pub(crate) fn tensile(&self, kernel: usize) -> Option<&Tensile> {
        self.0.get(kernel).tensile.as_ref()
    }

    /// Counts a launch of the kernel with this number.
    pub(crate) fn count(&mut self, kernel: usize, launch: &Launch) {
        let stats = self.0.get_mut(kernel);
        stats.launches += 1;
        stats.failed += u64::from(launch.call.status != 0);
        stats.total_ns += launch.call.dur;
        stats.min_ns = stats.min_ns.min(launch.call.dur);
        stats.max_ns = stats.max_ns.max(launch.call.dur);
        let shape = Shape { grid: launch.grid, block: launch.block };
        if stats.last.1 == usize::MAX || stats.last.0 != shape {
            stats.last = (shape, stats.shapes.number(shape, || 0));
        }
        *stats.shapes.get_mut(stats.last.1) += 1;
    }

    /// The kernels inside a kind of call, most launched first.
    pub(crate) fn inside(&self, counts: &[(usize, u64)]) -> Vec<Inside> {
        let mut rows: Vec<Inside> = counts
            .iter()
            .map(|(kernel, launches)| {
                let stats = self.0.get(*kernel);
                let (kernel, demangled) = (stats.name.clone(), stats.demangled.clone());
                Inside { kernel, demangled, launches: *launches, tensile: stats.tensile.clone() }
            })
            .collect();
        rows.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.kernel.cmp(&b.kernel)));
        rows
    }

    /// The launched kernels, longest host time first.
    pub(crate) fn rows(&self) -> Vec<KernelRow> {
        let launched = || self.0.values().iter().filter(|stats| stats.launches > 0);
        let all: u64 = launched().map(|stats| stats.total_ns).sum();
        let mut rows: Vec<KernelRow> = launched().map(|stats| stats.row(all)).collect();
        rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
        rows
    }
}

impl Stats {
    fn row(&self, all_ns: u64) -> KernelRow {
        let (shape, shape_launches) = self.shapes.most_common();
        KernelRow {
            name: self.name.clone(),
            demangled: self.demangled.clone(),
            launches: self.launches,
            failed: self.failed,
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            share: if all_ns == 0 { 0.0 } else { self.total_ns as f64 / all_ns as f64 },
            shape,
            shape_launches,
            shapes: self.shapes.values().len() as u64,
            tensile: self.tensile.clone(),
        }
    }
}

impl Interner<Shape, u64> {
    /// The shape with most launches; the smaller one of two with equally many.
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
    use rocshim_trace::Call;

    fn launch(dur: u64, grid_x: u32, status: i32) -> Launch {
        let call = Call { dur, status, ..Call::default() };
        Launch { call, grid: [grid_x, 1, 1], block: [64, 1, 1], ..Launch::default() }
    }

    #[test]
    fn a_row_counts_times_failures_and_shapes() {
        let mut kernels = Kernels::new();
        let (a, b) = (kernels.number("a", None), kernels.number("b", Some("void b(int)")));
        kernels.number("defined, never launched", None);
        assert_eq!(
            kernels.number("a", None),
            a,
            "a kernel of another process with the same name is the same"
        );
        for (dur, grid) in [(100, 4), (300, 8), (200, 4)] {
            kernels.count(a, &launch(dur, grid, 0));
        }
        kernels.count(b, &launch(400, 1, 9));

        let rows = kernels.rows();
        assert_eq!(rows.len(), 2);
        // a: 100 + 300 + 200 = 600 of 1000 ns, twice with grid 4, once with 8.
        let a = &rows[0];
        assert_eq!((a.name.as_str(), a.launches, a.failed), ("a", 3, 0));
        assert_eq!((a.total_ns, a.min_ns, a.max_ns, a.share), (600, 100, 300, 0.6));
        assert_eq!((a.shape.grid, a.shape.block), ([4, 1, 1], [64, 1, 1]));
        assert_eq!((a.shape_launches, a.shapes), (2, 2));
        let b = &rows[1];
        assert_eq!((b.name.as_str(), b.demangled.as_deref(), b.failed), ("b", Some("void b(int)"), 1));
        assert_eq!((b.total_ns, b.share, b.shapes), (400, 0.4, 1));
    }
}
