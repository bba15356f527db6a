//! Python on the real HIP: Triton's launcher, and ctypes. Both find HIP's functions with dlsym,
//! Triton also with hipGetProcAddress, in a library opened with RTLD_LOCAL. Every launch is in the
//! trace once.

use rocshim_tests::executed::Counted;
use rocshim_tests::rocm::counted::assert_equal;
use rocshim_tests::rocm::{self, Bench, HIP6, HIP7, TRITON, Tree};
use rocshim_tests::{Trace, artifacts};
use rocshim_trace::{Arg, Hex};
use std::path::PathBuf;

/// The Python of the user space; PATH may have the machine's first.
const PYTHON: &str = "/usr/bin/python3";

fn script(name: &str) -> PathBuf {
    artifacts::root().join("tests/programs/real/python").join(name)
}

/// A thousand launches of one kernel and one of another, by Triton.
fn triton(tree: &'static Tree, gfx: &'static str, compiler: &str) -> Counted {
    let compiled = rocm::made_here("triton");
    let bench = Bench::new(tree, gfx)
        .env("PYTHONPATH", TRITON.folder())
        .env("TRITON_CACHE_DIR", compiled)
        .env("TRITON_DEFAULT_FP_FUSION", "1")
        .env("CC", compiler);
    let library = tree.inside("amdhip64");
    let out = bench.run_both([PYTHON.into(), script("triton_client.py"), library, "1000".into()]);
    assert_eq!(out, "synchronize 0\n");
    let trace = bench.trace();
    assert_every_sum_is_of(&trace, 1 << 20);
    assert_equal(&trace, &bench.log())
}

/// Each launch of `vector_add` gets three addresses and the number of elements.
#[track_caller]
fn assert_every_sum_is_of(trace: &Trace, elements: i64) {
    for launch in trace.launches().filter(|launch| trace.kernel_of(launch) == "vector_add") {
        let are_addresses = |args: &[Arg]| args.iter().all(|arg| matches!(arg, Arg::Hex(Hex(1..))));
        let (addresses, rest) = launch.args.split_at(3);
        assert!(are_addresses(addresses) && rest[0] == Arg::Integer(elements), "{launch:?}");
    }
}

fn triton_launches() -> Counted {
    let (product, sum) = ("matrix_product".to_owned(), "vector_add".to_owned());
    let block = [128, 1, 1];
    Counted::from([((product, [512, 4, 1], block), 1), ((sum, [131072, 1, 1], block), 1000)])
}

#[test]
fn triton_launches_on_hip_6() {
    assert_eq!(triton(&HIP6, "gfx1100", "clang-21"), triton_launches());
}

#[test]
fn triton_launches_on_hip_7_and_rdna_4() {
    assert_eq!(triton(&HIP7, "gfx1201", "clang-22"), triton_launches());
}

#[test]
fn two_threads_launch_through_ctypes() {
    for tree in [&HIP6, &HIP7] {
        let bench = Bench::new(tree, "gfx1100");
        let library = tree.inside("amdhip64");
        let out = bench.run_both([
            PYTHON.into(),
            script("ctypes_client.py"),
            library,
            rocm::code_object(),
            "500".into(),
        ]);
        assert_eq!(out, "synchronize 0\n");
        let key = |name: &str| (name.to_owned(), [1024, 1, 1], [256, 1, 1]);
        let expected = Counted::from([(key("vector_add"), 1000), (key("_Z12vector_scaleILi2EEvPfi"), 1000)]);
        let trace = bench.trace();
        assert_every_sum_is_of(&trace, 1024);
        assert_eq!(assert_equal(&trace, &bench.log()), expected);
    }
}
