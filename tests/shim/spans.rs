//! Calls of the other libraries are in the trace by name, with the launches inside as their
//! children.

use rocshim_tests::{Outcome, Trace, Traced};
use rocshim_trace::Span;

/// `FUNCTION COUNT DATATYPE [OP] [PEER]: LAUNCHES`, without what it does not have, in order of
/// return.
fn printed(trace: &Trace) -> Vec<String> {
    let hooks = trace.hook_names();
    let word = |span: &Span| {
        let launches = trace.launches().filter(|launch| launch.call.parent == Some(span.call.id)).count();
        let words = [
            Some(hooks[&span.call.hook].to_string()),
            span.count.map(|count| count.to_string()),
            span.datatype.as_ref().map(ToString::to_string),
            span.op.as_ref().map(ToString::to_string),
            span.peer.map(|peer| format!("with {peer}")),
            (span.call.status != 0).then(|| format!("failed {}", span.call.status)),
        ];
        format!("{}: {launches}", words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    };
    trace.spans().map(word).collect()
}

#[test]
fn a_collective_has_its_arguments_and_its_launch_inside() {
    let trace = Traced::program("collectives").with_shim().ok().trace();
    assert_eq!(
        printed(&trace),
        [
            "ncclAllReduce 1048576 bf16 sum: 1",
            "ncclReduce 11 f32 max with 3: 1",
            "ncclReduceScatter 12 f16 avg: 1",
            "ncclBroadcast 13 i8 with 1: 1",
            "ncclBcast 14 u8 with 2: 1",
            "ncclAllGather 15 i32: 1",
            "ncclGather 16 f8e4m3 with 4: 1",
            "ncclScatter 17 f32 with 5: 1",
            "ncclAllToAll 18 f32: 1",
            "ncclAllToAllv f32: 1",
            "ncclAllReduce 0 f32 7 failed 4: 0",
            "ncclGroupStart: 0",
            "ncclSend 20 f32 with 6: 0",
            "ncclRecv 21 f32 with 7: 0",
            "ncclGroupEnd: 1",
            "ncclGroupEnd failed 5: 0",
            "ncclCommInitRank: 0",
            "ncclCommInitRankConfig: 0",
            "ncclCommInitRank failed 4: 0",
            "ncclAllReduce 22 f32 sum: 1",
        ]
    );
    let created: Vec<&Span> = trace.spans().filter(|span| span.group.0 != 0).collect();
    let of = |span: &Span| (span.member, span.members, span.comm.0 != 0);
    assert_eq!(
        created.iter().map(|span| of(span)).collect::<Vec<_>>(),
        [(Some(3), Some(8), true), (Some(4), Some(8), true), (Some(2), Some(2), false)]
    );
    assert_eq!(created[0].group, created[1].group, "one id, one group");
    assert_ne!(created[0].group, created[2].group);
    let of_first = trace.spans().last().expect("a collective").comm;
    assert_eq!(of_first, created[0].comm, "the communicator that the call returned");
    let first = trace.spans().next().expect("a collective").comm;
    let with_comm: Vec<&Span> = trace.spans().filter(|span| span.comm == first).collect();
    assert_eq!(with_comm.len(), 12, "all but the one without and the group's own calls");
    assert!(with_comm.iter().all(|span| span.comm == with_comm[0].comm));
    let without_stream = with_comm.iter().filter(|span| span.stream.is_default()).count();
    assert_eq!(without_stream, 1, "the one on the default stream");
    let of_launch = trace.launches().next().expect("a launch").stream;
    assert_eq!(with_comm[0].stream, of_launch, "the stream that the kernel was launched into");
}

#[test]
fn a_layer_is_named_and_contains_its_launch_and_its_data_is_unchanged() {
    let run = || Traced::program("layers");
    let (bare, traced) = (run().run(), run().with_shim().ok());
    assert_eq!((&bare.stdout, &bare.stderr), (&traced.stdout, &traced.stderr));
    let calls = |outcome: &Outcome| {
        let calls = outcome.standin_log().calls;
        let layers = calls.iter().filter(|call| call.symbol.starts_with("miopen"));
        layers.map(|call| (call.symbol.clone(), call.field("arguments").to_string())).collect::<Vec<_>>()
    };
    assert_eq!(calls(&bare), calls(&traced), "every argument");
    assert_eq!(calls(&bare).len(), 6);
    let trace = traced.trace();
    assert_eq!(
        printed(&trace),
        [
            "miopenSoftmaxForward: 1",
            "miopenSoftmaxForward failed 3: 0",
            "miopenBatchNormalizationForwardTraining: 1",
            "miopenFusedAdam: 1",
            "miopenSoftmaxForward: 1",
            "miopenSoftmaxForward: 1",
        ]
    );
    let unwound: Vec<bool> = trace.spans().map(|span| span.call.unwound).collect();
    assert_eq!(unwound, [false, false, false, false, true, false]);
}
