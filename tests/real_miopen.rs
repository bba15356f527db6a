//! Convolutions on the real MIOpen: its kernels, compiled as it needs them, and the GEMMs of rocBLAS inside.

use rocshim_tests::real::counted::{assert_equal, of_family};
use rocshim_tests::real::{self, Bench, HIP6};

/// A bench where MIOpen has not found anything yet; what it compiled in an earlier run is kept.
fn bench() -> Bench {
    let bench = Bench::new(&HIP6, "gfx1100");
    let found = bench.folder().join("found");
    bench
        .env("MIOPEN_USER_DB_PATH", found)
        .env("MIOPEN_CUSTOM_CACHE_DIR", real::made_here("miopen"))
        .env("NULL_GPU_KERNEL_NS", "20000") // a solver that takes no time is no solver
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
    for launch in trace.launches() {
        let (tid, parent) = (launch.call.tid, launch.call.parent);
        let in_gemm = trace.kernel_of(launch).starts_with("Cijk_");
        assert!(if in_gemm { is_gemm(tid, parent) } else { is_conv(tid, parent) }, "{launch:?}");
    }
}
