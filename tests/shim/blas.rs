//! The properties of GEMMs beyond their arguments: streams of handles, hipBLASLt's descriptors,
//! queries and preparation.

use rocshim_tests::{Trace, Traced};
use rocshim_trace::{Blas, Matmul, Problem, Word};

fn traces() -> (Trace, Trace) {
    let outcome = Traced::program("blas_calls").with_shim().ok();
    let mut traces: Vec<Trace> = outcome.trace_files().iter().map(|file| Trace::read(file)).collect();
    // The child's is the one without a handle creation.
    traces.sort_by_key(|trace| trace.blas_calls().count());
    let [child, parent] = traces.try_into().ok().expect("the parent's trace and its child's");
    (parent, child)
}

fn of_action<'a>(trace: &'a Trace, action: &'a str) -> Vec<&'a Blas> {
    trace.blas_calls().filter(|call| call.action == action).collect()
}

#[test]
fn a_gemm_has_the_stream_of_its_launch() {
    let (trace, _) = traces();
    let mut streams = Vec::new();
    for gemm in trace.gemms() {
        let launch =
            trace.launches().find(|launch| launch.call.parent == Some(gemm.call.id)).expect("a launch");
        assert_eq!(gemm.stream, Some(launch.stream), "{gemm:?}");
        streams.push(launch.stream);
    }
    streams.truncate(5);
    assert!(
        streams[0].is_default()
            && !streams[1].is_default()
            && streams[1] == streams[3]
            && streams[3] != streams[4]
    );
    for matmul in trace.matmuls() {
        let launch =
            trace.launches().find(|launch| launch.call.parent == Some(matmul.call.id)).expect("a launch");
        assert_eq!(matmul.stream, launch.stream, "{matmul:?}");
    }
}

#[test]
fn a_handles_settings_apply_from_their_call_until_the_handle_is_destroyed() {
    let (trace, _) = traces();
    let modes: Vec<_> = trace
        .gemms()
        .map(|gemm| [&gemm.pointer_mode, &gemm.atomics, &gemm.math_mode, &gemm.metric])
        .collect();
    let set = ["host", "not_allowed", "xf32_xdl", "cu_efficiency"].map(|word| Some(word.into()));
    assert_eq!(modes[..4], [[&None; 4]; 4]);
    assert_eq!(modes[4], set.each_ref());
    assert!(modes.len() > 20 && modes[5..].iter().all(|modes| *modes == [&None; 4]), "the next handle");
}

#[test]
fn a_child_knows_its_parents_streams_and_none_of_its_descriptors() {
    let (parent, child) = traces();
    let [matmul]: [&Matmul; 1] = child.matmuls().collect::<Vec<_>>().try_into().expect("one product");
    let printed =
        Problem { alpha: None, beta: None, a: None, b: None, c: None, d: None, ..matmul.problem.clone() };
    assert_eq!(printed, Problem::default(), "nothing is guessed");
    assert_eq!((matmul.algo, matmul.workspace), (None, 64));
    let first = parent.matmuls().next().expect("the parent's first product");
    let pointers = |matmul: &Matmul| {
        let all = [&matmul.problem.a, &matmul.problem.b, &matmul.problem.c, &matmul.problem.d];
        all.map(|matrix| matrix.as_ref().and_then(|matrix| matrix.ptr))
    };
    assert_eq!(
        (pointers(matmul), matmul.stream),
        (pointers(first), first.stream),
        "but what was passed is there"
    );
}

#[test]
fn handles_made_and_destroyed_and_what_is_loaded_meanwhile_are_recorded() {
    let (trace, _) = traces();
    let (made, gone) = (of_action(&trace, "create"), of_action(&trace, "destroy"));
    let handles =
        |calls: &[&Blas]| calls.iter().map(|call| call.handle.expect("a handle")).collect::<Vec<_>>();
    assert_eq!((handles(&made), made.len()), (handles(&gone), 3));
    let [initialize]: [&Blas; 1] = of_action(&trace, "initialize").try_into().expect("one call");
    let loads = trace.loads().filter(|load| load.call.parent == Some(initialize.call.id)).count();
    assert!(loads > 10, "{loads} modules were loaded by rocblas_initialize");
}

#[test]
fn solutions_that_were_asked_for_are_counted_where_the_library_counts_them() {
    let (trace, _) = traces();
    let asked = of_action(&trace, "solutions");
    let printed: Vec<_> =
        asked.iter().map(|call| (call.form.as_deref(), call.problem.batch, call.returned)).collect();
    let plain = (Some("plain"), Some(1), Some(5));
    let into_array = (Some("plain"), Some(1), None);
    let batched = (Some("batched"), Some(3), Some(5));
    assert_eq!(
        printed,
        [plain, into_array, batched, (Some("strided_batched"), Some(3), Some(5)), (None, None, Some(5))]
    );
    assert_eq!((asked[1].flags, asked[1].problem.compute.as_deref()), (4, Some("f32_r")));
    let types = |call: &Blas| {
        let (a, d) = (call.problem.a.clone().unwrap(), call.problem.d.clone().unwrap());
        (a.element, a.ld, a.stride, d.element, d.ld, d.stride)
    };
    let text = |word: &str| Some(Word::from(word));
    assert_eq!(types(asked[0]), (text("f16_r"), Some(16), None, text("f16_r"), Some(64), None));
    assert_eq!(types(asked[3]), (text("f16_r"), Some(16), Some(7), text("f16_r"), Some(64), Some(10)));
    assert_eq!(types(asked[4]), (text("f16_r"), None, None, text("f32_r"), None, None));
}

#[test]
fn a_copied_descriptor_holds_what_the_first_one_was_given() {
    let (trace, _) = traces();
    let problem = &trace.matmuls().next().expect("the product").problem;
    let words =
        [&problem.trans_a, &problem.trans_b, &problem.epilogue, &problem.compute, &problem.scale_type];
    assert_eq!(words.map(|word| word.as_deref().unwrap()), ["T", "N", "gelu_bias", "32f", "f32_r"]);
    assert_eq!([problem.m, problem.n, problem.k, problem.batch], [64, 16, 32, 1].map(Some));
    let (a, b, d) = (problem.a.clone().unwrap(), problem.b.clone().unwrap(), problem.d.clone().unwrap());
    assert_eq!((problem.bias, problem.scale_a, problem.aux, problem.aux_ld), (a.ptr, b.ptr, d.ptr, Some(99)));
    assert_eq!((problem.scale_mode_a.as_deref(), &problem.bias_type), (Some("scalar_32f"), &None));
    assert_eq!((a.order.as_deref(), a.stride, d.ld), (Some("col"), Some(0), Some(64)));
}

#[test]
fn an_objects_calls_state_only_what_each_was_given() {
    let (trace, _) = traces();
    let [described, sized]: [&Blas; 2] = of_action(&trace, "problem").try_into().expect("two problems");
    assert_eq!((described.problem.m, described.problem.epilogue.as_deref()), (Some(64), Some("gelu_bias")));
    assert_eq!(
        described.problem.d.clone().unwrap().order.as_deref(),
        Some("row"),
        "as the layout was set by then"
    );
    let size = [sized.problem.m, sized.problem.n, sized.problem.k, sized.problem.batch].map(Option::unwrap);
    assert_eq!((size, &sized.problem.trans_a, &sized.problem.compute), ([128, 24, 48, 2], &None, &None));
    let c = sized.problem.c.clone().unwrap();
    assert_eq!((c.ptr, c.element, c.ld, c.stride, c.order), (None, None, Some(128), Some(3), None));
    let [prepared]: [&Blas; 1] = of_action(&trace, "prepare").try_into().expect("one preparation");
    assert_eq!(prepared.algo, Some(1015));
    let runs: Vec<_> = trace.matmuls().filter(|matmul| matmul.instance.is_some()).collect();
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run.instance == sized.instance && run.problem == Problem::default()));
    let [transform]: [&Blas; 1] = of_action(&trace, "transform").try_into().expect("one transform");
    assert_eq!((transform.problem.c.clone().unwrap().ld, &transform.problem.d), (Some(64), &None));
}

#[test]
fn a_matmul_is_what_reached_the_library() {
    let outcome = Traced::program("matmul").with_shim().ok();
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let hooks = trace.hook_names();
    assert_eq!(trace.matmuls().count(), log.gemms.len());
    let mut asked = 0;
    for (matmul, call) in trace.matmuls().zip(&log.gemms) {
        assert_eq!(hooks[&matmul.call.hook], call.symbol);
        assert_eq!(matmul.call.status, call.status);
        if matmul.instance.is_some() {
            continue;
        }
        let number = |name: &str| call.field(name).parse::<i64>().unwrap();
        let pointer =
            |name: &str| u64::from_str_radix(call.field(name).trim_start_matches("0x"), 16).unwrap();
        let problem = &matmul.problem;
        let size = [problem.m, problem.n, problem.k, problem.batch].map(Option::unwrap);
        assert_eq!(size, ["m", "n", "k", "batch_count"].map(number));
        let operation = |word: &Option<Word>| {
            [("N", 111), ("T", 112)].iter().find(|(w, _)| Some(*w) == word.as_deref()).unwrap().1
        };
        assert_eq!(
            [operation(&problem.trans_a), operation(&problem.trans_b)],
            ["transA", "transB"].map(number)
        );
        for (matrix, name) in [(&problem.a, "a"), (&problem.b, "b"), (&problem.c, "c"), (&problem.d, "d")] {
            let matrix = matrix.clone().unwrap();
            assert_eq!(matrix.ptr.map_or(0, |ptr| ptr.0), pointer(name));
            assert_eq!(
                [matrix.ld, matrix.stride],
                [format!("ld{name}"), format!("stride_{name}")].map(|name| Some(number(&name)))
            );
            let types = [("f32_r", 0), ("f64_r", 1), ("f16_r", 2), ("i8_r", 3), ("bf16_r", 14)];
            let element = types
                .iter()
                .find(|(_, number)| *number == call.field(&format!("{name}_type")).parse::<i32>().unwrap());
            assert_eq!(matrix.element.as_deref(), element.map(|(word, _)| *word));
        }
        let epilogues = [("default", 1), ("bias", 4), ("relu_bias", 6), ("gelu_bias", 36)];
        let epilogue = epilogues.iter().find(|(_, n)| *n == number("epilogue")).map(|(word, _)| *word);
        assert_eq!(
            (problem.epilogue.as_deref(), problem.bias.map_or(0, |bias| bias.0)),
            (epilogue, pointer("bias"))
        );
        assert_eq!(matmul.workspace as i64, number("workspace"));
        // For a failed call, the algorithm is not read.
        let given = (call.status == 0).then(|| number("solution_index")).filter(|index| *index >= 0);
        assert_eq!(matmul.algo.map(i64::from), given);
        asked += usize::from(given.is_some());
    }
    assert!(asked > 4, "{asked} products asked for an algorithm");
    let questions: Vec<&Blas> = trace.blas_calls().filter(|call| call.action == "heuristic").collect();
    assert_eq!(questions.len(), 5);
    for question in questions.iter().filter(|call| call.call.status == 0) {
        assert_eq!((question.requested, question.returned), (4, Some(question.solutions.len() as u64)));
        assert!(
            question.solutions.len() == 3 && question.solutions.windows(2).all(|pair| pair[1] == pair[0] + 1)
        );
    }
}
