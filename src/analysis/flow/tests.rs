//! Small traces whose calls were counted by hand.

use super::*;

const BEGIN: &str = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}
{"type":"hook","id":1,"name":"hipblasSgemm","of":"libhipblas.so","point":"preload","state":"bound"}
{"type":"hook","id":2,"name":"rocblas_sgemm","of":"librocblas.so","point":"preload","state":"bound"}
{"type":"code_object","id":5,"source":"fat_binary","path":"/opt/libx.so","ordinal":3}
{"type":"kernel","id":1,"name":"a","code_object":5}
{"type":"kernel","id":2,"name":"b"}"#;

fn launch(id: u64, parent: u64, kernel: u64, status: u32) -> String {
    let parent = if parent == 0 { String::new() } else { format!(r#""parent":{parent},"#) };
    format!(
        r#"{{"type":"launch","tid":7,"id":{id},{parent}"t":1,"dur":1,"hook":0,"kernel":{kernel},"status":{status},"block":[1,1,1]}}"#
    )
}

fn span(id: u64, parent: u64, hook: u16) -> String {
    let parent = if parent == 0 { String::new() } else { format!(r#""parent":{parent},"#) };
    format!(r#"{{"type":"span","tid":7,"id":{id},{parent}"t":1,"dur":1,"hook":{hook}}}"#)
}

fn flow(lines: &[String]) -> Vec<(String, String, u64)> {
    let mut builder = FlowBuilder::default();
    crate::testing::read_lines(&mut builder, BEGIN.lines().chain(lines.iter().map(String::as_str)));
    builder.finish().edges.into_iter().map(|edge| (edge.from.name, edge.to.name, edge.calls)).collect()
}

fn named(edges: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    edges.iter().map(|(from, to, calls)| (from.to_string(), to.to_string(), *calls)).collect()
}

#[test]
fn a_call_is_counted_from_the_call_that_it_lies_in() {
    // hipBLAS (1) calls rocBLAS (2), which launches twice (3, 4); then the program launches by
    // itself, once without success.
    let lines = [
        launch(3, 2, 1, 0),
        launch(4, 2, 2, 0),
        span(2, 1, 2),
        span(1, 0, 1),
        launch(5, 0, 1, 0),
        launch(6, 0, 1, 1),
    ];
    let expected = named(&[
        ("prog", "libhipblas", 1),
        ("prog", "kernel launches", 2),
        ("librocblas", "kernel launches", 2),
        ("libhipblas", "librocblas", 1),
        ("kernel launches", "libx.so bundle 3", 2),
        ("kernel launches", "not known", 1),
    ]);
    let mut edges = flow(&lines);
    edges.sort();
    let mut expected = expected;
    expected.sort();
    assert_eq!(edges, expected);
}

#[test]
fn what_a_lost_call_called_has_an_unknown_caller() {
    // The line of call 1, which called rocBLAS (2), was lost; so was that of call 8 when the
    // process died.
    let lines = [span(2, 1, 2), launch(5, 0, 1, 0), launch(9, 8, 1, 0)];
    let expected = named(&[
        ("kernel launches", "libx.so bundle 3", 2),
        ("prog", "kernel launches", 1),
        ("unknown caller", "kernel launches", 1),
        ("unknown caller", "librocblas", 1),
    ]);
    let mut edges = flow(&lines);
    edges.sort();
    assert_eq!(edges, expected);
}

#[test]
fn a_graph_launch_runs_the_kernels_of_its_graph() {
    let graph = r#"{"type":"graph","id":6,"complete":true,"kernels":[{"kernel":1,"grid":[1,1,1],"block":[1,1,1]},{"kernel":1,"grid":[1,1,1],"block":[1,1,1]}]}"#;
    let run = |id: u64| {
        format!(
            r#"{{"type":"graph_launch","tid":7,"id":{id},"t":5,"dur":1,"hook":0,"graph":6,"exec":"0x1"}}"#
        )
    };
    let edges = flow(&[graph.to_string(), run(1), run(2), run(3)]);
    assert_eq!(edges, named(&[("prog", "graph launches", 3), ("graph launches", "libx.so bundle 3", 6)]));
}

#[test]
fn too_many_code_objects_share_a_place() {
    let mut lines = Vec::new();
    for n in 0..20 {
        lines.push(format!(
            r#"{{"type":"code_object","id":{0},"source":"file","path":"/k/{n}.hsaco"}}"#,
            100 + n
        ));
        lines.push(format!(r#"{{"type":"kernel","id":{0},"name":"k{n}","code_object":{0}}}"#, 100 + n));
        lines.push(launch(n + 1, 0, 100 + n, 0));
    }
    lines.push(launch(30, 0, 107, 0));
    let edges = flow(&lines);
    // 15 by themselves, the most launched one first, and 5 together.
    let objects: Vec<_> = edges.iter().filter(|edge| edge.0 == "kernel launches").collect();
    assert_eq!((objects.len(), &objects[0].1[..], objects[0].2), (16, "7.hsaco", 2));
    assert_eq!((&objects[15].1[..], objects[15].2), ("5 others", 5));
}
