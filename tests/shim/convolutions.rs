//! Convolutions through handles (Find 2.0, fusion plans) have their problem and solver in the
//! trace, and the shim's queries do not show in MIOpen.

use rocshim_tests::{Trace, Traced};
use rocshim_trace::{Conv, Tensor};

fn dims(tensor: &Option<Tensor>) -> String {
    let text = |t: &Tensor| t.dims.iter().map(i32::to_string).collect::<Vec<_>>().join("x");
    tensor.as_ref().map_or("-".into(), text)
}

fn spatial(values: &[i32]) -> String {
    values.iter().map(i32::to_string).collect::<Vec<_>>().join("x")
}

/// Calls with a convolution that reach the stand-in, in order of return.
fn by_handle(trace: &Trace) -> Vec<&Conv> {
    trace.convs().filter(|conv| conv.subject.0 != 0 || !conv.operations.is_empty()).collect()
}

#[test]
fn a_solution_or_plan_that_is_run_has_the_problem_that_it_was_made_for() {
    let outcome = Traced::program("conv_solutions").with_shim().ok();
    let (trace, log) = (outcome.trace(), outcome.standin_log());
    let hooks = trace.hook_names();
    // The library logs neither the compilation of a plan nor what it rejects at once.
    let is_logged = |conv: &&Conv| {
        !matches!((&*conv.action, conv.call.status), ("compile_plan", _) | ("execute_plan", 3))
    };
    let convs: Vec<&Conv> = by_handle(&trace).into_iter().filter(is_logged).collect();
    let loaded = |conv: &Conv| conv.direction == "unknown";
    assert_eq!(convs.len(), log.convs.len());
    for (conv, call) in convs.iter().zip(&log.convs) {
        assert_eq!(hooks[&conv.call.hook], call.symbol);
        assert_eq!(conv.call.status, call.status, "{conv:?}");
        if conv.action == "run_solution" {
            assert_eq!(conv.solution_id.unwrap_or(0).to_string(), call.field("solution_id"));
        }
        if loaded(conv) {
            continue;
        }
        let tensors = [dims(&conv.x), dims(&conv.w), dims(&conv.y)];
        assert_eq!(tensors, ["x", "w", "y"].map(|name| call.field(name).to_string()), "{}", conv.action);
        let geometry = [spatial(&conv.pads), spatial(&conv.strides), spatial(&conv.dilations)];
        assert_eq!(geometry, ["pad", "stride", "dilation"].map(|name| call.field(name).to_string()));
        assert_eq!(conv.groups.to_string(), call.field("groups"));
    }
    assert_eq!(
        convs.iter().filter(|conv| loaded(conv)).count(),
        1,
        "the solution that was loaded from bytes"
    );
    let stream = trace.launches().next().expect("a launch").stream;
    assert!(convs.iter().all(|conv| conv.stream == stream), "the stream of the handle");
}

#[test]
fn a_search_by_handle_names_its_solvers_and_so_does_each_run() {
    let trace = Traced::program("conv_solutions").with_shim().ok().trace();
    let printed = |conv: &&Conv| {
        let solver = conv.solver.clone().unwrap_or_default();
        let results: Vec<_> = conv
            .results
            .iter()
            .map(|r| format!("{} {} {:?}", r.solver.as_deref().unwrap_or_default(), r.algorithm, r.time_ms))
            .collect();
        let fused = conv.operations.join("+");
        let text = format!("{} {} {fused} {solver} {}", conv.action, conv.direction, results.join(", "));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let both = |gemm: &str, naive: &str| format!("{gemm} gemm Some(0.05), {naive} direct Some(0.5)");
    let (forward, backward, weights) = (
        both("GemmFwdRest", "ConvDirectNaiveConvFwd"),
        both("GemmBwdRest", "ConvDirectNaiveConvBwd"),
        both("GemmWrwUniversal", "ConvDirectNaiveConvWrw"),
    );
    let convs = by_handle(&trace);
    assert_eq!(
        convs.iter().map(printed).collect::<Vec<_>>(),
        [
            &format!("find_solutions forward {forward}"),
            "run_solution forward GemmFwdRest",
            "run_solution forward GemmFwdRest",
            "run_solution forward ConvDirectNaiveConvFwd",
            "run_solution forward ConvDirectNaiveConvFwd",
            &format!("find_solutions backward_data {backward}"),
            "run_solution backward_data GemmBwdRest",
            "run_solution backward_data ConvDirectNaiveConvBwd",
            &format!("find_solutions backward_weights {weights}"),
            "run_solution backward_weights GemmWrwUniversal",
            "run_solution backward_weights ConvDirectNaiveConvWrw",
            &format!("find_solutions forward {forward}"),
            "run_solution forward GemmFwdRest",
            "run_solution forward ConvDirectNaiveConvFwd",
            "find_solutions forward GemmFwdRest gemm Some(0.05)",
            "run_solution unknown GemmFwdRest",
            &format!("find_solutions forward convolution+bias {forward}"),
            "run_solution forward convolution+bias GemmFwdRest",
            "run_solution forward convolution+bias ConvDirectNaiveConvFwd",
            "compile_plan forward",
            "compile_plan forward convolution+bias+activation",
            "execute_plan forward convolution+bias+activation",
            "execute_plan forward convolution+bias+activation",
            "run forward convolution+bias+activation",
        ]
    );
    // Other calls are there by name, with their launches inside.
    let hooks = trace.hook_names();
    let others: Vec<_> = trace
        .spans()
        .map(|span| {
            let solver = span.solver.clone().unwrap_or_default();
            (hooks[&span.call.hook], span.operations.join("+"), solver, span.call.status)
        })
        .collect();
    let others: Vec<_> =
        others.iter().map(|(hook, does, solver, status)| (*hook, &**does, &**solver, *status)).collect();
    assert_eq!(
        others,
        [
            ("miopenFindSolutions", "softmax", "", 0),
            ("miopenRunSolution", "softmax", "Softmax", 0),
            ("miopenRunSolution", "", "", 3),
            ("miopenCompileFusionPlan", "batch_norm+activation", "", 0),
            ("miopenExecuteFusionPlan", "batch_norm+activation", "", 0),
        ]
    );
    let softmax: Vec<_> =
        trace.launches().filter(|launch| trace.kernel_of(launch) == "SoftmaxForward").collect();
    assert_eq!(softmax.len(), 2);
    assert!(softmax.iter().all(|launch| trace.spans().any(|span| launch.call.parent == Some(span.call.id))));
}

#[test]
fn where_miopen_logs_its_calls_nothing_is_asked_and_the_log_is_the_programs_own() {
    for (program, variable) in
        [("conv", "MIOPEN_ENABLE_LOGGING"), ("conv_solutions", "MIOPEN_ENABLE_LOGGING")]
    {
        let run = || Traced::program(program).env(variable, "1");
        let (bare, traced) = (run().run(), run().with_shim());
        assert_eq!(bare.stderr, traced.stderr, "{program}");
        assert_eq!(bare.stdout, traced.stdout, "{program}");
        let trace = traced.trace();
        assert!(trace.convs().count() > 10);
        assert!(trace.convs().all(|conv| conv.x.is_none() && conv.mode == "unknown" && conv.pads.is_empty()));
    }
    // The program itself queried the solver of a solution, after its first run.
    let trace = Traced::program("conv_solutions").env("MIOPEN_ENABLE_LOGGING", "1").with_shim().ok().trace();
    assert!(
        trace.convs().filter(|conv| conv.action == "run_solution").all(|conv| conv.solution_id.is_none())
    );
}
