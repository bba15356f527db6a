//! rocBLAS and hipBLASLt on RDNA3 and RDNA4: every call has its Tensile kernels inside, and the
//! device retired the same kernels.

use rocshim_tests::Trace;
use rocshim_tests::executed::Counted;
use rocshim_tests::rocm::counted::{assert_equal, of_family};
use rocshim_tests::rocm::{Bench, HIP6, HIP7, Tree};

/// Runs the GEMMs of tests/programs/real/rocblas_gemm.c, compares the trace with them, and returns
/// it.
#[track_caller]
fn gemms(tree: &'static Tree, gfx: &'static str) -> (Trace, Counted) {
    let bench = Bench::new(tree, gfx);
    bench.run_both([tree.program("rocblas_gemm")]);
    let trace = bench.trace();
    let counted = assert_equal(&trace, &bench.log());
    let passed = trace.gemms().map(|g| {
        let op = format!("{}{}", g.trans_a, g.trans_b);
        (
            g.form.as_str(),
            op,
            [g.m, g.n, g.k, g.batch],
            g.a.element.as_str(),
            g.d.element.as_str(),
            g.compute.as_str(),
            g.call.status,
        )
    });
    assert_eq!(
        passed.collect::<Vec<_>>(),
        [
            ("plain", "NN".into(), [512, 512, 512, 1], "f32_r", "f32_r", "f32_r", 0),
            ("plain", "TN".into(), [512, 16, 256, 1], "f16_r", "f16_r", "f32_r", 0),
            ("strided_batched", "TN".into(), [64, 32, 128, 4], "f16_r", "f32_r", "f32_r", 0),
            ("batched", "TN".into(), [64, 32, 128, 3], "f16_r", "f16_r", "f16_r", 0),
            ("plain", "NN".into(), [-1, 512, 512, 1], "f32_r", "f32_r", "f32_r", 4),
        ]
    );
    for gemm in trace.gemms().filter(|gemm| gemm.call.status == 0) {
        let children: Vec<_> =
            trace.launches().filter(|launch| launch.call.parent == Some(gemm.call.id)).collect();
        assert!(children.iter().any(|launch| trace.kernel_of(launch).starts_with("Cijk_")), "{gemm:?}");
        assert!(children.iter().all(|launch| launch.call.tid == gemm.call.tid && launch.items.is_some()));
    }
    assert!(
        trace.launches().all(|launch| launch.call.parent.is_some()),
        "every kernel of this program is a GEMM's"
    );
    (trace, counted)
}

#[test]
fn a_gemm_of_rocblas_4_has_its_kernel_inside() {
    gemms(&HIP6, "gfx1100");
}

#[test]
fn a_gemm_of_rocblas_5_has_its_kernel_inside() {
    gemms(&HIP7, "gfx1100");
}

/// This build of rocBLAS has no kernels for RDNA4, so it uses those compiled from source: the
/// fallback library's.
#[test]
fn on_rdna_4_every_gemm_takes_a_source_kernel() {
    let (trace, counted) = gemms(&HIP7, "gfx1201");
    let total: u64 = counted.values().sum();
    assert_eq!(
        (of_family(&counted, "Cijk_"), of_family(&counted, "_ISA000_")),
        (total, total),
        "{counted:?}"
    );
    for kernel in trace.kernels() {
        let object = trace.code_objects().find(|object| Some(object.id) == kernel.code_object).unwrap();
        let file = object.file.as_deref().unwrap_or_default();
        assert!(
            file.ends_with("_fallback_gfx1201.hsaco") && object.fallback == Some(true),
            "{kernel:?} of {object:?}"
        );
    }
}

/// As tests/programs/real/hipblaslt_matmul.c passes them.
const MATMULS: [(&str, &str, [i64; 4], &str, &str); 6] = [
    ("default", "NN", [512, 256, 128, 1], "f32_r", "f32_r"),
    ("bias", "TN", [512, 16, 256, 1], "f16_r", "f16_r"),
    ("gelu_bias", "NN", [128, 64, 256, 1], "f16_r", "f16_r"),
    ("relu", "TN", [128, 64, 256, 1], "f16_r", "f16_r"),
    ("default", "TN", [64, 32, 128, 4], "f16_r", "f32_r"),
    ("default", "TN", [256, 256, 256, 1], "bf16_r", "bf16_r"),
];

#[test]
fn a_matmul_of_hipblaslt_has_its_problem_its_algorithm_and_its_kernel() {
    for gfx in ["gfx1100", "gfx1201"] {
        let bench = Bench::new(&HIP7, gfx);
        let out = bench.run_both([HIP7.program("hipblaslt_matmul")]);
        let products = out.lines().filter(|line| line.contains(':'));
        for product in products.clone() {
            assert!(product.ends_with("found some, run 0, without a workspace 0, no matrix 3"), "{out}");
            assert!(out.contains(&format!("{product}\nby C++ 0 0\n")), "{out}");
        }
        let trace = bench.trace();
        let counted = assert_equal(&trace, &bench.log());
        assert_eq!(of_family(&counted, "Cijk_"), 3 * products.clone().count() as u64, "{counted:?}");

        // The first algorithm's index, as the library returns it.
        let indices = products.map(|product| {
            let (_, rest) = product.split_once("index ").expect("the index of the first algorithm");
            rest.split_once(',').and_then(|(index, _)| index.parse::<i32>().ok())
        });
        let indices: Vec<_> = indices.collect();
        let (runs, mut matmuls): (Vec<_>, Vec<_>) =
            trace.matmuls().partition(|matmul| matmul.instance.is_some());
        let prepared = trace.blas_calls().filter(|call| call.action == "prepare");
        assert_eq!(prepared.map(|call| call.algo).collect::<Vec<_>>(), indices);
        matmuls.sort_by_key(|matmul| matmul.call.id);
        let mut questions: Vec<_> = trace.blas_calls().filter(|call| call.action == "heuristic").collect();
        questions.sort_by_key(|call| call.call.id);
        assert_eq!((matmuls.len(), questions.len()), (3 * MATMULS.len(), MATMULS.len()));
        let asked: Vec<_> = questions.iter().map(|question| question.solutions.first().copied()).collect();
        assert_eq!((asked, runs.len()), (indices, MATMULS.len()));
        for ((calls, question), expected) in matmuls.chunks(3).zip(questions).zip(MATMULS) {
            for call in calls {
                let p = &call.problem;
                let [trans_a, trans_b, epilogue] =
                    [&p.trans_a, &p.trans_b, &p.epilogue].map(|word| word.clone().unwrap_or_default());
                let size = [p.m, p.n, p.k, p.batch].map(|extent| extent.expect("an extent"));
                let [a, d] = [&p.a, &p.d].map(|side| side.as_ref().and_then(|side| side.element.clone()));
                assert_eq!(
                    (&*epilogue, &*format!("{trans_a}{trans_b}"), size, &*a.unwrap(), &*d.unwrap()),
                    expected
                );
            }
            // One with the first algorithm offered, one that leaves the choice, one that fails.
            assert!(
                question.solutions.len() as u64 == question.returned.unwrap()
                    && !question.solutions.is_empty()
            );
            assert_eq!(
                calls.iter().map(|call| call.algo).collect::<Vec<_>>(),
                [Some(question.solutions[0]), None, None]
            );
            assert_eq!(calls.iter().map(|call| call.call.status).collect::<Vec<_>>(), [0, 0, 3]);
            for call in calls.iter().chain(&runs) {
                let inside = trace.launches().filter(|launch| launch.call.parent == Some(call.call.id));
                let names: Vec<_> = inside.map(|launch| trace.kernel_of(launch)).collect();
                assert!(names.iter().all(|name| name.starts_with("Cijk_")), "{names:?}");
                assert_eq!(names.len(), usize::from(call.call.status == 0), "{call:?}");
            }
        }
    }
}
