//! Recomputes the counters of a trace.

use rocshim_tests::Trace;
use rocshim_trace::Record;

/// The counters of each thread equal what is in the trace.
pub(crate) fn accounts_are_right(trace: &Trace) {
    for account in trace.threads() {
        let gaps: u64 = trace.gaps().filter(|gap| gap.tid == account.tid).map(|gap| gap.lost).sum();
        assert_eq!((account.produced, account.lost), (account.written + account.lost, gaps), "{account:?}");
        let of = |record: &&Record| call_of(record).is_some_and(|tid| tid == account.tid);
        assert_eq!(trace.records.iter().filter(of).count() as u64, account.written, "{account:?}");
    }
}

fn call_of(record: &Record) -> Option<u32> {
    Some(match record {
        Record::Launch(launch) => launch.call.tid,
        Record::Load(load) => load.call.tid,
        Record::Gemm(gemm) => gemm.call.tid,
        Record::Blas(blas) => blas.call.tid,
        Record::Sync(sync) => sync.call.tid,
        Record::GraphCall(call) => call.call.tid,
        Record::GraphLaunch(launch) => launch.call.tid,
        _ => return None,
    })
}

/// The intervals in which recording was stopped: pairs of times.
pub(crate) fn pauses(trace: &Trace) -> Vec<(u64, u64)> {
    let recordings: Vec<_> = trace.recordings().map(|change| (change.t, change.state.as_str())).collect();
    assert!(recordings.is_sorted(), "{recordings:?}");
    recordings
        .chunks(2)
        .map(|pair| match pair {
            [(from, "stopped"), (to, "started")] => (*from, *to),
            [(from, "stopped")] => (*from, u64::MAX),
            other => panic!("{other:?}"),
        })
        .collect()
}
