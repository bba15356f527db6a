//! Reports compared with launches.

use super::*;
use crate::evidence::made::CONFIRMED;

fn dispatch(kernel: u32, of: Option<(u32, u64)>, begin: u64, busy: u64) -> Gpu {
    Gpu { op: "dispatch".into(), kernel: Some(kernel), of, begin, busy, ..Gpu::default() }
}

fn call(id: u64) -> Call {
    Call { tid: 7, id, t: 100, ..Call::default() }
}

fn report(all: &mut AllReports, process: &mut Reports, gpu: &Gpu) {
    all.report(process, gpu, gpu.of);
}

/// Reports about three kernels: a launch's, a graph's, and one of the runtime's own.
fn begun() -> (AllReports, Reports) {
    let (mut all, mut process) = (AllReports::default(), Reports::default());
    let found = GpuTime { state: "on".into(), t: 50, release: Some("7.2".into()), ..GpuTime::default() };
    process.asked(&found);
    for (id, name) in [(1, "_Z5scalePff"), (2, "__amd_rocclr_fillBufferAligned"), (3, "past")] {
        all.name(&mut process, &GpuKernel { id, name: name.into() });
    }
    (all, process)
}

#[test]
fn every_dispatch_that_has_its_launch_was_seen_whichever_line_comes_first() {
    let (mut all, mut process) = begun();
    all.launched(&mut process, &call(1));
    report(&mut all, &mut process, &dispatch(1, Some((7, 1)), 1_000, 100));
    report(&mut all, &mut process, &dispatch(1, Some((7, 2)), 1_050, 100));
    all.launched(&mut process, &call(2));
    report(&mut all, &mut process, &dispatch(1, Some((7, 3)), 2_000, 300));
    report(&mut all, &mut process, &dispatch(2, Some((7, 3)), 2_300, 10));
    all.graph_launched(&mut process, &call(3));
    report(&mut all, &mut process, &dispatch(1, Some((7, 3)), 2_400, 50));
    all.end(process, None);
    let found = all.finish().unwrap();
    assert_eq!((found.dispatches, found.of_launches, found.of_graphs, found.of_runtime), (5, 2, 2, 1));
    assert_eq!((found.unseen, found.unreported, found.evidence, &found.why), (0, 0, CONFIRMED, &None));
    assert_eq!((found.busy_ns, found.span_ns), (150 + 310 + 50, 1_450));
    let rows: Vec<_> =
        found.kernels.iter().map(|row| (row.kernel.as_str(), row.calls, row.total_ns)).collect();
    assert_eq!(rows, [("scale(float*, float)", 4, 550), ("__amd_rocclr_fillBufferAligned", 1, 10)]);
}

#[test]
fn what_came_past_every_hook_is_reported_by_name_and_nothing_is_confirmed() {
    let (mut all, mut process) = begun();
    let function = Some("hipModuleLaunchKernel".to_owned());
    for _ in 0..2 {
        report(&mut all, &mut process, &Gpu { function: function.clone(), ..dispatch(3, None, 1, 1) });
    }
    all.end(process, None);
    let found = all.finish().unwrap();
    assert_eq!(found.past, [PastRow { kernel: "past".into(), function, dispatches: 2 }]);
    assert_eq!((found.unseen, found.evidence), (2, Evidence::Limited));
}

#[test]
fn a_launch_that_was_not_reported_limits_and_one_before_the_runtime_was_asked_does_not() {
    let (mut all, mut process) = begun();
    all.launched(&mut process, &Call { t: 10, ..call(1) });
    all.launched(&mut process, &Call { status: 1, ..call(2) });
    all.launched(&mut process, &call(3));
    all.end(process, None);
    let found = all.finish().unwrap();
    assert_eq!((found.unreported, found.evidence), (1, Evidence::Limited));
}
