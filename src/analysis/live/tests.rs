//! Polls of a small trace that continues.

use super::*;
use crate::testing::Text;

const SECOND: u64 = 1_000_000_000;

fn take(live: &mut Live, records: Vec<Record>) {
    records.into_iter().for_each(|record| live.take(0, record));
}

fn measure(live: &mut Live, at: Option<u64>) -> LiveStats {
    let collectors = BTreeMap::from([(0, Collector { busy_ns: at.unwrap_or(0) / 10, fullest_ring: 0.25 })]);
    live.measure((at, 5_000), &collectors)
}

#[test]
fn rates_are_differences_of_two_looks_and_nothing_is_forgotten() {
    let mut live = Live::default();
    let mut text = Text::new(1_000);
    live.begin(0, Path::new("t/prog-7.ndjson"));
    // Two passes of a norm and two GEMMs of one column: the first GEMM of the second ends the
    // first.
    text.pass(&[1, 1]);
    text.pass(&[1, 1]);
    take(&mut live, text.take_records());
    let before = measure(&mut live, None);
    assert_eq!(before.launches, Growth { all: 6, per_second: 0.0 });
    assert_eq!(measure(&mut live, Some(SECOND)).launches, Growth { all: 6, per_second: 0.0 });
    text.pass(&[1, 1]);
    take(&mut live, text.take_records());
    let now = measure(&mut live, Some(3 * SECOND / 2));
    assert_eq!(now.launches, Growth { all: 9, per_second: 6.0 });
    assert_eq!(now.events, Growth { all: 15, per_second: 10.0 });
    assert_eq!((now.running, now.collectors), (1, Some(0.1)));
    assert_eq!(now.history, [6]);
    let row = |name: &str, of: &str, all, per_second, host_ns| LiveRow {
        name: name.into(),
        of: of.into(),
        calls: Growth { all, per_second },
        host_ns,
    };
    assert_eq!(now.families, [row("mmvq", "ggml", 6, 4.0, 60), row("norm", "ggml", 3, 2.0, 30)]);
    let product = "void mul_mat_vec_q<(ggml_type)2, 1, false>(void const*)";
    assert!(now.kernels.contains(&row(product, "ggml: mmvq", 6, 4.0, 60)), "{:?}", now.kernels);
    // Call 6 was entered at 600, the last of its pass returned at 1010, both after 1000.
    let phase = LivePhase {
        pid: 7,
        stream_group: 0,
        name: "decode".into(),
        evidence: Evidence::Inferred,
        columns: Some(1),
        passes: Growth { all: 2, per_second: 2.0 },
        tokens: Growth { all: 2, per_second: 2.0 },
        launches: 3,
        pass_ns: 1_010 - 600,
        idle_ns: 5_000 - 2_010,
    };
    assert_eq!(now.phases, [phase]);
    assert_eq!(now.processes[0].end, "running");
    assert_eq!((now.processes[0].collector, now.processes[0].fullest_ring), (Some(0.1), Some(0.25)));
}

#[test]
fn losses_are_reported_by_reason_and_what_has_ended_stays() {
    let mut live = Live::default();
    let mut text = Text::new(0);
    live.begin(0, Path::new("t/prog-7.ndjson"));
    text.pass(&[1]);
    take(&mut live, text.take_records());
    let gap = r#"{"type":"gap","tid":7,"t":9,"dur":2,"lost":40,"reason":"ring_full"}"#;
    live.take(0, rocshim_trace::parse_line(gap.as_bytes()).unwrap());
    live.silent(0, true);
    let now = measure(&mut live, Some(0));
    assert_eq!((now.losses, now.lost.all), ([("ring_full".into(), 40)].into(), 40));
    assert_eq!((&*now.processes[0].end, now.running, live.running().count()), ("out of sight", 0, 0));
    live.silent(0, false);
    assert_eq!(live.running().map(|(trace, header)| (trace, header.pid)).collect::<Vec<_>>(), [(0, 7)]);
    live.end(0, Reading { end: End::Leftover, notes: Vec::new() });
    let after = measure(&mut live, Some(SECOND));
    assert_eq!((&*after.processes[0].end, after.launches.all, after.lost.all), ("killed", 2, 40));
    assert_eq!((after.running, after.phases.len()), (0, 0));
}

#[test]
fn how_busy_gpus_are_is_known_where_the_runtime_reports_it() {
    let mut live = Live::default();
    let mut text = Text::new(1_000);
    live.begin(0, Path::new("t/prog-7.ndjson"));
    text.pass(&[1, 1]);
    take(&mut live, text.take_records());
    assert_eq!(measure(&mut live, Some(SECOND)).gpu_busy, None);
    text.ask_for_gpu_times();
    text.ran(1, 1, 2, 1_000, 1_000);
    take(&mut live, text.take_records());
    assert_eq!(measure(&mut live, Some(2 * SECOND)).gpu_busy, Some(1e-6));
    text.ran(1, 2, 2, 5_000, SECOND / 4);
    take(&mut live, text.take_records());
    assert_eq!(measure(&mut live, Some(3 * SECOND)).gpu_busy, Some(0.25));
}
