//! The rows of traces written by hand.

use super::*;
use crate::testing::tracked;

/// The names of the rows that are wanted of two processes.
fn taken(wanted: Wanted) -> Vec<String> {
    let (rows, processes) = tracked::rows();
    let calls = rows.iter().filter(|row| !row.table.is_complete_at_end());
    calls.filter(|row| wanted.takes(row, &processes[row.process])).map(|row| row.name.to_string()).collect()
}

#[test]
fn a_row_fits_one_pattern_of_each_list() {
    let of = |patterns: &[&str]| Patterns(patterns.iter().map(|pattern| pattern.to_lowercase()).collect());
    let kernels = |patterns: &[&str]| taken(Wanted { kernels: of(patterns), ..Wanted::default() });
    let families = |patterns: &[&str]| taken(Wanted { families: of(patterns), ..Wanted::default() });
    let libraries = |patterns: &[&str]| taken(Wanted { libraries: of(patterns), ..Wanted::default() });
    let mmvq = "void mul_mat_vec_q<(ggml_type)2, 1>(void const*)";
    // Lost and unrecorded calls may match, so their rows are always selected.
    const MISSING: [&str; 2] = ["3 lost: ring_full", "recording stopped"];
    assert_eq!(taken(Wanted::default()).len(), 13);
    // A part of the demangled name, the symbol; the whole of one with `*`; not the whole.
    for pattern in ["Mul_Mat_Vec", "_z1", "*mul_mat_vec_q<*", "_Z*"] {
        assert_eq!(kernels(&[pattern]), [&[mmvq], &MISSING[..]].concat(), "{pattern}");
    }
    assert_eq!(kernels(&["mul_mat_vec*"]), MISSING);
    assert_eq!(kernels(&["flash", "mul_mat"])[0], mmvq);
    for pattern in ["mmvq", "ggml", "mm*"] {
        assert_eq!(families(&[pattern]), [&[mmvq], &MISSING[..]].concat(), "{pattern}");
    }
    assert_eq!(libraries(&["rocblas"]), [&["rocblas_gemm_ex TN 4x5x6 f16_r"], &MISSING[..]].concat());
    // Both lists: a product is of no family.
    let both =
        Wanted { families: of(&["mmvq"]), libraries: of(&["rocblas", "amdhip64"]), ..Wanted::default() };
    assert_eq!(taken(both), [&[mmvq], &MISSING[..]].concat());
    // Both processes have pid 7 and the same executable; the losses of other processes are not
    // selected.
    let processes = |patterns: &[&str]| taken(Wanted { processes: of(patterns), ..Wanted::default() });
    assert_eq!([processes(&["7"]).len(), processes(&["PROG"]).len(), processes(&["8"]).len()], [13, 13, 0]);
}

/// Passes the first `records` records of the first process to a tail.
fn tail_of(records: usize, tail: &mut Tail) {
    tail.begin(0, Path::new("a-7.ndjson"));
    for record in tracked::records().into_iter().take(records) {
        tail.take(0, record);
    }
}

#[test]
fn of_what_is_there_the_last_rows_are_kept_and_of_what_comes_all() {
    let all = tracked::records().len();
    let mut tail = Tail::new(Wanted::default(), 2, false);
    // Without the footer, and the last graph launch, whose row comes later.
    tail_of(all, &mut tail);
    tail.has_caught_up();
    let names = |tail: &mut Tail| -> Vec<String> {
        tail.take_rows().into_iter().map(|(_, row)| row.name.to_string()).collect()
    };
    assert_eq!(names(&mut tail), ["recording stopped", "hipDeviceSynchronize"]);
    assert_eq!(tail.take_changes(), [(0, TraceChange::Begun)], "it goes on");
    assert_eq!(tail.process(0).map(|(process, path)| (process.pid, path)), Some((7, "a-7.ndjson")));
    let launch = tracked::records().into_iter().find(|record| matches!(record, Record::Launch(_)));
    (0..3).for_each(|_| tail.take(0, launch.clone().expect("one")));
    assert_eq!(names(&mut tail).len(), 3);
    tail.silent(0, true);
    tail.end(0, Reading { end: End::Leftover, notes: Vec::new() });
    assert_eq!(tail.take_changes(), [(0, TraceChange::Silent), (0, TraceChange::Ended(End::Leftover))]);
    assert_eq!(tail.process(1), None);
}

#[test]
fn what_had_ended_before_is_not_changes() {
    let mut tail = Tail::new(Wanted::default(), 0, false);
    tail_of(usize::MAX, &mut tail);
    tail.end(0, Reading { end: End::Footer, notes: Vec::new() });
    tail.has_caught_up();
    assert_eq!((tail.take_rows().len(), tail.take_changes()), (0, Vec::new()));
}
