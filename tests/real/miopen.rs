//! Convolutions on the real MIOpen: its kernels, compiled on demand, and the GEMMs of rocBLAS
//! inside.

use rocshim_tests::Trace;
use rocshim_tests::rocm::counted::{assert_equal, of_family};
use rocshim_tests::rocm::{self, Bench, HIP6};
use rocshim_trace::{Call, Conv, Launch};
use std::collections::BTreeSet;

type Id = (u32, u64);

fn id(conv: &Conv) -> Id {
    (conv.call.tid, conv.call.id)
}

/// The convolutions and GEMMs that enclose a call, innermost first.
fn ancestors(trace: &Trace, call: &Call) -> impl Iterator<Item = Id> {
    let tid = call.tid;
    let calls = trace.convs().map(|conv| &conv.call).chain(trace.gemms().map(|gemm| &gemm.call));
    let parents: Vec<(u64, Option<u64>)> =
        calls.filter(|call| call.tid == tid).map(|call| (call.id, call.parent)).collect();
    let next = move |id: &u64| parents.iter().find(|(known, _)| known == id).and_then(|(_, parent)| *parent);
    std::iter::successors(call.parent, next).map(move |id| (tid, id))
}

/// A bench with an empty find database; compiled kernels of an earlier run are kept.
fn bench() -> Bench {
    let bench = Bench::new(&HIP6, "gfx1100");
    let found = bench.folder().join("found");
    bench
        .env("MIOPEN_USER_DB_PATH", found)
        .env("MIOPEN_CUSTOM_CACHE_DIR", rocm::made_here("miopen"))
        .env("NULL_GPU_KERNEL_NS", "20000") // a solver with time 0 is rejected
        .env("CCC_OVERRIDE_OPTIONS", "#X-isystem") // it calls clang with -isystem /usr/include, which hides clang's own
}

#[test]
fn convolutions_launch_what_the_device_retires() {
    let bench = bench();
    let out = bench.run_both([HIP6.program("miopen_conv")]);
    for line in out.lines().filter(|line| line.contains(':')) {
        assert!(line.ends_with("runs 0") && !line.contains("none"), "{out}");
    }
    let trace = bench.trace();
    let counted = assert_equal(&trace, &bench.log());
    assert!(of_family(&counted, "naive_conv") > 0 && of_family(&counted, "Cijk_") > 0, "{counted:?}");
    assert!(of_family(&counted, "Im2d2Col") > 0, "kernels in OpenCL C too: {counted:?}");
    let is_conv = |tid, id| trace.convs().any(|conv| conv.call.tid == tid && Some(conv.call.id) == id);
    let is_gemm = |tid, id| trace.gemms().any(|gemm| gemm.call.tid == tid && Some(gemm.call.id) == id);
    for gemm in trace.gemms() {
        assert!(is_conv(gemm.call.tid, gemm.call.parent), "a GEMM outside of a convolution: {gemm:?}");
    }
    // As returned to the program.
    let solvers =
        out.lines().find_map(|line| line.strip_prefix("solvers ")?.split_once(':')).expect("solvers").0;
    let mut runs: Vec<_> = trace.convs().filter(|conv| conv.action == "run_solution").collect();
    runs.sort_by_key(|conv| conv.solution_id);
    let ids: Vec<String> = runs.iter().map(|run| run.solution_id.unwrap_or(0).to_string()).collect();
    assert_eq!(ids.join(" "), solvers);
    assert!(!runs.is_empty() && runs.iter().all(|run| run.solver.is_some() && run.direction == "forward"));
    for run in trace.convs().filter(|conv| ["immediate", "run_solution"].contains(&&*conv.action)) {
        assert!(run.solver.is_some() && run.x.as_ref().is_some_and(|x| x.dims.len() == 4), "{run:?}");
    }
    // Launches inside a search are trials, and no others are.
    let searches: BTreeSet<_> =
        trace.convs().filter(|conv| conv.action.starts_with("find")).map(id).collect();
    let in_search = |launch: &&Launch| ancestors(&trace, &launch.call).any(|id| searches.contains(&id));
    let trials = trace.launches().filter(in_search).count();
    assert!(trials > 0);
    assert_eq!(bench.summary()["totals"]["trials"], trials);
    for launch in trace.launches() {
        let (tid, parent) = (launch.call.tid, launch.call.parent);
        let in_gemm = trace.kernel_of(launch).starts_with("Cijk_");
        assert!(if in_gemm { is_gemm(tid, parent) } else { is_conv(tid, parent) }, "{launch:?}");
    }
}
