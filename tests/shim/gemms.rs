//! GEMMs: every entry point of rocBLAS and hipBLAS is recorded with the arguments that were passed,
//! checked call by call against the stand-ins' log.

use rocshim_tests::{Outcome, Trace, Traced, standin};
use rocshim_trace::Gemm;
use std::collections::BTreeSet;

/// The name of a number in a table like `150 f16_r`, one per line; the number if it is missing.
fn word(table: &str, number: &str) -> String {
    let rows = table.split_whitespace().collect::<Vec<_>>();
    let row = rows.chunks_exact(2).find(|row| row[0] == number);
    row.map_or(number, |row| row[1]).to_string()
}

const OPERATIONS: &str = "111 N  112 T  113 C";
/// Of rocBLAS and hipBLAS up to 2.x, then of HIP.
const TYPES: &str = "150 f16_r  151 f32_r  152 f64_r  154 f32_c  155 f64_c  160 i8_r  168 bf16_r
    0 f32_r  2 f16_r  14 bf16_r  28 f8_e4m3  1000 f8_e4m3_fnuz";
const COMPUTE_TYPES: &str = "150 f16_r  151 f32_r  152 f64_r  154 f32_c  155 f64_c
    300 f32  301 f8_f8_f32  2 32f  4 32f_fast_16f";
const ALGORITHMS: &str = "0 standard  1 solution_index  160 default";

/// True for a function whose name contains the element type.
fn is_typed(symbol: &str) -> bool {
    !symbol.contains("gemm_ex") && !symbol.contains("_ex") && !symbol.contains("Ex")
}

#[track_caller]
fn assert_as_passed(gemm: &Gemm, call: &standin::Call) {
    let number = |name: &str| call.field(name).parse::<i64>().unwrap();
    let pointer = |name: &str| u64::from_str_radix(call.field(name).trim_start_matches("0x"), 16).unwrap();
    assert_eq!([gemm.m, gemm.n, gemm.k, gemm.batch], ["m", "n", "k", "batch_count"].map(number));
    let operations = ["transA", "transB"].map(|name| word(OPERATIONS, call.field(name)));
    assert_eq!([&gemm.trans_a, &gemm.trans_b], operations.each_ref());
    assert_eq!([gemm.alpha.0, gemm.beta.0, gemm.handle.0], ["alpha", "beta", "handle"].map(pointer));
    for (matrix, name) in [(&gemm.a, "a"), (&gemm.b, "b"), (&gemm.c, "c"), (&gemm.d, "d")] {
        assert_eq!(matrix.ptr.0, pointer(name));
        assert_eq!(matrix.element, word(TYPES, call.field(&format!("{name}_type"))));
        assert_eq!(matrix.ld, number(&format!("ld{name}")));
        let stride = matrix.stride.or(matrix.row_stride).unwrap_or(0);
        assert_eq!(stride, number(&format!("stride_{name}")));
    }
    assert_eq!(gemm.compute, word(COMPUTE_TYPES, call.field("compute_type")));
    let algo = if is_typed(&call.symbol) { "none".into() } else { word(ALGORITHMS, call.field("algo")) };
    assert_eq!(gemm.algo, algo);
    assert_eq!([gemm.solution as i64, gemm.flags as i64], ["solution_index", "flags"].map(number));
    assert_eq!(gemm.call.status, call.status);
}

/// Every GEMM that reached a library is in the trace as it was passed.
#[track_caller]
fn assert_equal_products(outcome: &Outcome) -> (Trace, usize) {
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let hooks = trace.hook_names();
    let traced: Vec<_> = trace.gemms().map(|gemm| hooks[&gemm.call.hook].to_owned()).collect();
    let logged: Vec<_> = log.gemms.iter().map(|call| call.symbol.clone()).collect();
    assert_eq!(traced, logged);
    trace.gemms().zip(&log.gemms).for_each(|(gemm, call)| assert_as_passed(gemm, call));
    (trace, log.gemms.len())
}

#[test]
fn a_gemm_has_the_arguments_that_were_passed_and_its_kernels_as_children() {
    let outcome = Traced::program("gemm").env("STANDIN_ROCBLAS_BETA", "1").with_shim().ok();
    let (trace, _) = assert_equal_products(&outcome);
    for gemm in trace.gemms() {
        let children: Vec<_> = trace.launches().filter(|l| l.call.parent == Some(gemm.call.id)).collect();
        let is_empty = gemm.m == 0 || gemm.n == 0;
        assert_eq!(children.len(), if gemm.call.status != 0 || is_empty { 0 } else { 2 }, "{gemm:?}");
        assert!(children.iter().all(|launch| trace.kernel_of(launch).starts_with("Cijk_")));
        assert!(
            children
                .iter()
                .all(|l| l.call.t >= gemm.call.t && l.call.t + l.call.dur <= gemm.call.t + gemm.call.dur + 1)
        );
    }
    assert!(trace.gemms().any(|gemm| gemm.call.status == 4), "the failed one is there with its status");
}

#[test]
fn every_gemm_entry_of_rocblas_and_hipblas_is_recorded_with_its_arguments() {
    let bare = Traced::program("gemm_forms").run().ok();
    let outcome = Traced::program("gemm_forms").with_shim().ok();
    assert_eq!(outcome.stdout, bare.stdout, "every call returned what it returns without us");
    let (trace, count) = assert_equal_products(&outcome);
    let called: BTreeSet<_> =
        trace.gemms().map(|gemm| trace.hook_names()[&gemm.call.hook].to_owned()).collect();
    let hooked: BTreeSet<_> =
        trace.hook_names().values().map(|name| name.to_string()).filter(|name| is_product(name)).collect();
    assert_eq!(called, hooked, "of {count} calls");
}

/// A function of rocBLAS or hipBLAS that computes a GEMM.
fn is_product(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_blas = name.starts_with("rocblas_") || name.starts_with("hipblas");
    is_blas && name.contains("gemm") && !name.contains("get_solutions")
}

#[test]
fn a_hipblas_gemm_contains_the_rocblas_gemm_which_contains_the_launch() {
    let trace = Traced::program("gemm_forms").with_shim().ok().trace();
    let hooks = trace.hook_names();
    let outer: Vec<_> = trace.gemms().filter(|gemm| hooks[&gemm.call.hook].starts_with("hipblas")).collect();
    assert!(outer.len() > 60, "{}", outer.len());
    for gemm in outer {
        let inner: Vec<_> = trace.gemms().filter(|inner| inner.call.parent == Some(gemm.call.id)).collect();
        assert_eq!(inner.len(), 1, "{gemm:?}");
        assert_eq!(
            [inner[0].m, inner[0].n, inner[0].k, inner[0].batch],
            [gemm.m, gemm.n, gemm.k, gemm.batch]
        );
        let launches = trace.launches().filter(|launch| launch.call.parent == Some(inner[0].call.id)).count();
        assert_eq!(launches, usize::from(gemm.call.status == 0), "{gemm:?}");
    }
}

#[test]
fn a_program_that_tries_each_solution_is_reported_as_a_search() {
    let outcome = Traced::program("tuner").with_shim().ok();
    let said: Vec<u64> =
        outcome.stdout.split(' ').filter_map(|word| word.trim_matches([',', '\n']).parse().ok()).collect();
    let [failed, solutions, tried] = said[..] else { panic!("{}", outcome.stdout) };
    assert!(failed == 0 && solutions >= 3);
    let file = outcome.trace_files().remove(0);
    let summary = Traced::rocshim(["summary".as_ref(), "--json".as_ref(), file.as_os_str()]).run().ok();
    let summary: serde_json::Value = serde_json::from_str(&summary.stdout).unwrap();
    let printed: Vec<_> = summary["sweeps"].as_array().unwrap().iter().collect();
    let of = |row: &serde_json::Value, key: &str| row[key].as_u64().unwrap();
    // The first GEMM after the trials is in the same row: it is the last call, which is not
    // counted.
    let expected = [(1, solutions, tried / 2, tried / 2); 2];
    let rows = printed
        .iter()
        .map(|row| (of(row, "sweeps"), of(row, "solutions"), of(row, "calls"), of(row, "launches")));
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert!(printed.iter().all(|row| row["evidence"] == "inferred" && row["function"] == "rocblas_gemm_ex"));
    assert_eq!(summary["totals"]["swept"], tried);
    let swept = summary["kernels"].as_array().unwrap().iter().map(|row| of(row, "swept")).sum::<u64>();
    assert_eq!(swept, tried);
}
