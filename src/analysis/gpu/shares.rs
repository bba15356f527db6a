//! Splits the GPU time by code object, graph, GEMM and convolution.
//!
//! A report names its call. A launch names its code object; the library calls around it are its
//! owners, and their lines follow the launch's line. So a reported time is kept, by thread, until
//! the outermost call around it was read.

use super::GpuKernelRow;
use super::in_graphs::{Executed, InGraphs};
use super::reported::reports;
use super::rows::{GpuShareRow, ProductRow, TransferRow};
use crate::durations::Durations;
use crate::evidence::Evidence;
use crate::interner::Interner;
use crate::session::{CallKey, CodeObjectId, Event, Session};
use foldhash::{HashMap, HashSet};
use rocshim_trace::{Call, Gpu, GpuKernel, Record};
use std::collections::BTreeMap;

/// Returns true for a kernel of the runtime itself.
pub(crate) fn is_builtin(name: &str) -> bool {
    name.starts_with("__amd_rocclr_")
}

/// Number and time of kernels.
#[derive(Clone, Debug, Default)]
struct Sum {
    ns: u64,
    durations: Durations,
}

impl Sum {
    fn add(&mut self, ns: u64) {
        self.ns += ns;
        self.durations.add(ns);
    }

    fn merge(&mut self, other: &Sum) {
        self.ns += other.ns;
        self.durations.merge(&other.durations);
    }

    fn kernels(&self) -> u64 {
        self.durations.calls()
    }
}

#[derive(Clone)]
struct Product {
    function: String,
    shape: String,
    /// Operations of a call; `None` where a size is not known.
    operations: Option<f64>,
    calls: u64,
    kernels: u64,
    in_graphs: u64,
    unknown: u64,
    reported: u64,
    ns: u64,
}

/// What the time of a launch is assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    CodeObject(Option<CodeObjectId>),
    Product(usize),
}

/// A thread of the process being read.
#[derive(Clone, Default)]
struct Thread {
    /// The highest id read.
    last: u64,
    /// Reported times of launches that may have further owners, by id.
    reported: BTreeMap<u64, u64>,
}

/// The times of all processes, and the calls of the process being read.
#[derive(Clone, Default)]
pub(crate) struct Shares {
    is_asked: bool,
    /// Reports of a process may have the wrong calls.
    is_ambiguous: bool,
    builtin: HashSet<u32>,
    threads: HashMap<u32, Thread>,
    /// Owners of launches that were not reported yet.
    owners: HashMap<CallKey, Vec<Owner>>,
    graph_launches: HashMap<CallKey, Option<u32>>,
    /// Kernels of graph launches whose own line was not read yet.
    of_graphs: HashMap<CallKey, Vec<(Option<u32>, u64)>>,
    objects: HashMap<Option<CodeObjectId>, Sum>,
    graphs: BTreeMap<(u32, Option<u32>), Sum>,
    products: Interner<(String, String), Product>,
    in_graphs: InGraphs,
    transfers: BTreeMap<String, TransferRow>,
}

impl Shares {
    /// Returns true while reports are requested: owners are needed only then.
    pub(crate) fn are_asked(&self) -> bool {
        self.is_asked
    }

    /// Handles a record that is not an event.
    pub(crate) fn record(&mut self, record: &Record) {
        match record {
            Record::GpuTime(state) => self.is_asked |= state.state == "on",
            Record::GpuKernel(GpuKernel { id, name }) if is_builtin(name) => {
                self.builtin.insert(*id);
            }
            Record::GpuKernel(GpuKernel { id, name }) => self.in_graphs.define(*id, name),
            _ => {}
        }
    }

    /// Handles a launch.
    pub(crate) fn event(&mut self, session: &Session, event: &Event) {
        if !self.is_asked {
            return;
        }
        let (key, failed) = ((event.call.tid, event.call.id), event.failed());
        match event.record {
            Record::Launch(launch) if !failed => match launch.capture {
                None => self.owns(key, Owner::CodeObject(event.ids.code_object)),
                Some(capture) => self.in_graphs.capture(key, capture, event.ids.symbol),
            },
            Record::GraphCall(call) => self.in_graphs.graph_call(call),
            Record::GraphLaunch(launch) if !failed => {
                self.graph_launches.insert(key, launch.graph);
                let given_up = self.in_graphs.launch(key, launch);
                self.executed(given_up);
                for (kernel, busy) in self.of_graphs.remove(&key).unwrap_or_default() {
                    self.ran_in_graph(session, (key, launch.graph), (kernel, busy));
                }
            }
            _ => {}
        }
    }

    /// Handles the end of a call: if it is outermost, nothing before it on its thread gets another
    /// owner.
    pub(crate) fn end_call(&mut self, call: &Call) {
        if !self.is_asked {
            return;
        }
        let thread = self.threads.entry(call.tid).or_default();
        thread.last = thread.last.max(call.id);
        if call.parent.is_none() && !thread.reported.is_empty() {
            thread.reported = thread.reported.split_off(&(thread.last + 1));
        }
    }

    /// Handles a call of `function` with a shape, which made the launches with these ids.
    pub(crate) fn product(
        &mut self,
        (tid, launches): (u32, &[u64]),
        (function, shape): (&str, String),
        operations: Option<f64>,
    ) {
        if launches.is_empty() {
            return;
        }
        let number = self.products.number((function.to_owned(), shape.clone()), || Product {
            function: function.to_owned(),
            shape,
            operations,
            calls: 0,
            kernels: 0,
            in_graphs: 0,
            unknown: 0,
            reported: 0,
            ns: 0,
        });
        if self.in_graphs.product((tid, launches), number) {
            return;
        }
        let product = self.products.get_mut(number);
        product.calls += 1;
        product.kernels += launches.len() as u64;
        launches.iter().for_each(|id| self.owns((tid, *id), Owner::Product(number)));
    }

    fn owns(&mut self, call: CallKey, owner: Owner) {
        match self.threads.get(&call.0).and_then(|thread| thread.reported.get(&call.1)).copied() {
            Some(busy) => self.add(owner, busy),
            None => self.owners.entry(call).or_default().push(owner),
        }
    }

    fn add(&mut self, owner: Owner, busy: u64) {
        match owner {
            Owner::CodeObject(object) => self.objects.entry(object).or_default().add(busy),
            Owner::Product(number) => self.products.get_mut(number).ran(busy),
        }
    }

    /// Adds a kernel of a graph launch.
    fn ran_in_graph(
        &mut self,
        session: &Session,
        (call, graph): (CallKey, Option<u32>),
        ran: (Option<u32>, u64),
    ) {
        self.graphs.entry((session.process().header.pid, graph)).or_default().add(ran.1);
        let executed = self.in_graphs.ran(session, call, ran);
        self.executed(executed);
    }

    /// Counts library calls that graph launches executed.
    fn executed(&mut self, calls: Vec<Executed>) {
        for call in calls {
            let product = self.products.get_mut(call.product);
            let Some(busy) = call.busy else {
                product.unknown += 1;
                continue;
            };
            product.calls += 1;
            product.in_graphs += 1;
            product.kernels += busy.len() as u64;
            busy.into_iter().for_each(|busy| product.ran(busy));
        }
    }

    /// Handles a report, with the recorded call that caused it.
    pub(crate) fn report(&mut self, session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        let busy = gpu.busy;
        if gpu.op == "copy" {
            let command = gpu.command.as_ref().map_or_else(|| "copy".to_owned(), |word| word.to_string());
            let row = self.transfers.entry(command.clone()).or_default();
            row.command = command;
            row.commands += 1;
            row.bytes += gpu.bytes.unwrap_or(0);
            row.total_ns += busy;
        }
        let is_own = gpu.kernel.is_some_and(|kernel| self.builtin.contains(&kernel));
        let Some(call) = call.filter(|_| gpu.op == "dispatch" && !is_own) else { return };
        if let Some(graph) = self.graph_launches.get(&call).copied() {
            return self.ran_in_graph(session, (call, graph), (gpu.kernel, busy));
        }
        if gpu.command.as_ref().is_some_and(|command| command == "graph") {
            return self.of_graphs.entry(call).or_default().push((gpu.kernel, busy));
        }
        for owner in self.owners.remove(&call).unwrap_or_default() {
            self.add(owner, busy);
        }
        self.threads.entry(call.0).or_default().reported.insert(call.1, busy);
    }

    /// Ends the process being read.
    pub(crate) fn end_process(&mut self, session: &Session) {
        self.is_ambiguous |= session.process().ambiguous_reports().is_some();
        let unknown = self.in_graphs.end();
        self.executed(unknown);
        self.is_asked = false;
        self.builtin.clear();
        self.threads.clear();
        self.owners.clear();
        self.graph_launches.clear();
        self.of_graphs.clear();
    }

    /// Returns the rows by code object and by graph, with `all` ns being the time of all kernels.
    pub(crate) fn shares(&self, session: &Session, all: u64) -> [Vec<GpuShareRow>; 2] {
        let object = |id: &Option<CodeObjectId>| {
            let object = session.code_object((*id)?);
            let file = object.file.as_deref().or(object.path.as_deref()).unwrap_or("from memory");
            let ordinal = object.ordinal.map_or(String::new(), |ordinal| format!(" bundle {ordinal}"));
            Some(format!("{}{ordinal}", rocshim_trace::file_name(file)))
        };
        let graph = |(pid, graph): &(u32, Option<u32>)| graph.map(|graph| format!("graph {graph} of {pid}"));
        [
            rows("code object", self.objects.iter().map(|(id, sum)| (object(id), sum)), all),
            rows("graph", self.graphs.iter().map(|(key, sum)| (graph(key), sum)), all),
        ]
    }

    /// Returns the shapes of products, and the copies and fills, most time first.
    pub(crate) fn finish(self) -> (Vec<ProductRow>, Vec<TransferRow>) {
        let row = |product: &Product| product.row(self.is_ambiguous);
        // A captured call that no graph executed has no time.
        let ran = |product: &&Product| product.calls + product.unknown > 0;
        let mut products: Vec<ProductRow> = self.products.values().iter().filter(ran).map(row).collect();
        products.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.shape.cmp(&b.shape)));
        let mut transfers: Vec<TransferRow> = self.transfers.into_values().collect();
        for row in &mut transfers {
            row.gb_per_s = (row.total_ns > 0).then(|| row.bytes as f64 / row.total_ns as f64);
        }
        transfers.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        (products, transfers)
    }
}

/// Returns the rows by family.
pub(crate) fn families(kernels: &[GpuKernelRow], all: u64) -> Vec<GpuShareRow> {
    let sum = |row: &GpuKernelRow| Sum { ns: row.total_ns, durations: row.durations.clone() };
    let sums: Vec<_> = kernels.iter().map(|row| (row.family.map(str::to_owned), sum(row))).collect();
    rows("family", sums.iter().map(|(family, sum)| (family.clone(), sum)), all)
}

impl Product {
    fn ran(&mut self, busy: u64) {
        self.reported += 1;
        self.ns += busy;
    }

    fn row(&self, is_ambiguous: bool) -> ProductRow {
        let Product { function, shape, operations, calls, kernels, in_graphs, unknown, reported, ns } = self;
        let is_whole = reported == kernels && !is_ambiguous;
        let operations = operations.filter(|_| is_whole && *ns > 0);
        ProductRow {
            function: function.clone(),
            shape: shape.clone(),
            calls: *calls,
            kernels: *kernels,
            in_graphs: *in_graphs,
            unknown: *unknown,
            reported: *reported,
            total_ns: *ns,
            tflops: operations.map(|of_one| of_one * *calls as f64 / *ns as f64 / 1_000.0),
            evidence: match (is_whole && *unknown == 0, *in_graphs) {
                (true, 1..) => Evidence::Inferred,
                (is_whole, _) => reports(is_whole),
            },
        }
    }
}

/// Rows of these sums, most time first; equal names are one.
fn rows<'a>(
    of: &'static str,
    sums: impl Iterator<Item = (Option<String>, &'a Sum)>,
    all: u64,
) -> Vec<GpuShareRow> {
    let mut by_name: BTreeMap<Option<String>, Sum> = BTreeMap::new();
    sums.for_each(|(name, sum)| by_name.entry(name).or_default().merge(sum));
    let row = |(name, sum): (_, Sum)| GpuShareRow {
        of,
        name,
        kernels: sum.kernels(),
        total_ns: sum.ns,
        share: sum.ns as f64 / all.max(1) as f64,
        median_ns: sum.durations.median().unwrap_or(0),
        p99_ns: sum.durations.quantile(99).unwrap_or(0),
    };
    let mut rows: Vec<GpuShareRow> = by_name.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Text;

    #[test]
    fn time_counts_for_the_code_object_the_product_and_the_graph_that_caused_it() {
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.nested_gemm(64, 0x10); // launch 1 within call 2
        text.ran(1, 1, 2, 1_000, 500);
        text.call(
            "gpu",
            9,
            concat!(
                r#""hook":0,"op":"copy","command":"h2d","device":1,"queue":2,"#,
                r#""bytes":4000,"begin":2000,"busy":100"#
            ),
        );
        text.ran(1, 6, 2, 3_000, 700); // before its launch is read
        text.nested_gemm(64, 0x10); // 6 within 7
        text.launch(7, 1, 1); // 8
        text.graph_launch(4); // 9
        text.ran(1, 9, 2, 5_000, 300);
        text.ran(2, 9, 2, 6_000, 10); // the runtime's own
        let gpu = text.run().summary.gpu.expect("reports");
        let names = |rows: &[GpuShareRow]| {
            rows.iter().map(|row| (row.name.clone(), row.kernels, row.total_ns)).collect::<Vec<_>>()
        };
        let object = Some("libggml-hip.so bundle 30".to_owned());
        assert_eq!(names(&gpu.code_objects), [(object, 2, 1_200)]);
        assert_eq!(names(&gpu.graphs), [(Some("graph 4 of 7".to_owned()), 1, 300)]);
        let [row] = &gpu.products[..] else { panic!("{:?}", gpu.products) };
        assert_eq!((&*row.shape, row.calls, row.kernels, row.reported), ("TN 4x64x6 f16_r", 2, 2, 2));
        // 2 times 4 times 64 times 6 operations, twice, in 1,200 ns.
        assert_eq!(row.tflops.map(|tflops| (tflops * 1e9).round()), Some((6144e6 / 1_200.0_f64).round()));
        let [copy] = &gpu.transfers[..] else { panic!("{:?}", gpu.transfers) };
        assert_eq!((&*copy.command, copy.bytes, copy.gb_per_s), ("h2d", 4000, Some(40.0)));
    }

    #[test]
    fn a_captured_product_has_the_time_of_the_kernel_at_its_place_in_each_launch_of_its_graph() {
        for (reports, expected) in [
            (&[4, 3, 4][..], (2, 2, 0, 2 * 700, Evidence::Inferred)),
            (&[3, 4, 4], (0, 0, 2, 0, Evidence::Limited)), // not in the capture's order
            (&[4, 3], (0, 0, 2, 0, Evidence::Limited)),
        ] {
            let mut text = Text::new(0);
            text.ask_for_gpu_times();
            text.gpu_kernel(3, "_Z13");
            text.gpu_kernel(4, "_Z5");
            text.captured(5, 0, 4); // 1
            text.captured_gemm(64, 0x10, 4); // 2 within 3
            text.captured(5, 0, 4); // 4
            text.graph(4, &[5, 13, 5]);
            text.instantiate(4); // 5
            text.graph_launch(4); // 6
            text.graph_launch(4); // 7
            for launch in [6, 7] {
                for (at, kernel) in (0..).zip(reports) {
                    let busy = if *kernel == 3 { 700 } else { 10 };
                    text.ran(*kernel, launch, 2, 10_000 * launch + 1_000 * at, busy);
                }
            }
            let gpu = text.run().summary.gpu.expect("reports");
            let [row] = &gpu.products[..] else { panic!("{:?}", gpu.products) };
            let found = (row.calls, row.in_graphs, row.unknown, row.total_ns, row.evidence);
            assert_eq!(found, expected, "{reports:?}");
            assert_eq!(row.tflops.is_some(), row.calls > 0);
        }
    }

    #[test]
    fn a_product_of_which_a_kernel_was_not_reported_has_no_rate() {
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.nested_gemm(64, 0x10);
        text.nested_gemm(64, 0x10);
        text.ran(1, 1, 2, 1_000, 500);
        let gpu = text.run().summary.gpu.expect("reports");
        let row = &gpu.products[0];
        assert_eq!((row.kernels, row.reported, row.tflops, row.evidence), (2, 1, None, Evidence::Limited));
    }
}
