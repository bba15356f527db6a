//! The definitions that captures and graphs emit, call by call.

use super::*;

/// A definition log: each definition as text.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn emit(&mut self) -> impl FnMut(Definition) -> Option<u32> {
        |definition| {
            self.0.push(format!("{definition:?}"));
            Some(self.0.len() as u32 - 1)
        }
    }

    /// Returns the kinds of the definitions from number `from` on.
    fn kinds(&mut self, from: usize) -> Vec<&str> {
        self.0[from..].iter().map(|emitted| emitted.split([' ', '(']).next().unwrap_or_default()).collect()
    }
}

fn stream(handle: u64) -> Stream {
    Stream { handle, tid: 0 }
}

fn kernel(function: u64) -> GraphKernel {
    GraphKernel { function, grid: [1; 3], block: [64, 1, 1], lds: 0 }
}

fn node(handle: u64, kind: NodeKind) -> Node {
    Node { handle, kind, enabled: true }
}

/// A kernel, a child graph of two kernels, a copy.
fn nodes() -> Vec<Node> {
    vec![
        node(1, NodeKind::Kernel(kernel(0xa))),
        node(2, NodeKind::Child(2)),
        node(3, NodeKind::Kernel(kernel(0xb))),
        node(4, NodeKind::Kernel(kernel(0xc))),
        node(5, NodeKind::Other(1)),
    ]
}

const EXEC: u64 = 0xe;

/// One instantiated graph: definitions 0 and 1.
fn instantiated(log: &mut Log) -> Graphs {
    let mut graphs = Graphs::default();
    let ids = graphs.instantiate(EXEC, 7, Ok(nodes()), &mut log.emit());
    assert_eq!(ids, GraphIds { nodes: Some(0), capture: None });
    assert_eq!(log.kinds(0), ["Graph", "Exec"]);
    assert!(log.0[0].contains("others: [(1, 1)]"), "{}", log.0[0]);
    graphs
}

#[test]
fn a_wait_for_an_event_of_a_capture_joins_it() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    graphs.begin(stream(1), 0, 9, &mut log.emit());
    graphs.record(100, stream(1));
    graphs.record(101, stream(2));
    graphs.wait(stream(3), 101, &mut log.emit());
    assert_eq!(log.kinds(0), ["Capture"], "an event of a stream that does not capture carries no capture");
    graphs.wait(stream(2), 100, &mut log.emit());
    graphs.wait(stream(2), 100, &mut log.emit());
    graphs.record(101, stream(2));
    graphs.wait(stream(3), 101, &mut log.emit());
    assert_eq!(log.kinds(1), ["Join", "Join"]);
    graphs.record(100, stream(4));
    graphs.wait(stream(5), 100, &mut log.emit());
    assert_eq!(log.kinds(3), [""; 0], "the event belongs to another stream now");
    let ids = graphs.end(stream(1), 0x9, &mut log.emit());
    assert_eq!((ids.capture, log.kinds(3)), (Some(0), vec!["EndCapture"]));
    assert!(graphs.streams.is_empty() && graphs.events.is_empty());
}

#[test]
fn the_end_of_a_capture_whose_begin_was_not_intercepted_emits_nothing() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    assert_eq!(graphs.end(stream(1), 0x9, &mut log.emit()), GraphIds::default());
    assert_eq!(log.0.len(), 0);
}

#[test]
fn a_graph_and_its_clones_refer_to_their_capture() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    graphs.begin(stream(1), 0, 9, &mut log.emit());
    graphs.end(stream(1), 0x9, &mut log.emit());
    graphs.clone_graph(0x19, 0x9);
    let mut of = |graph| graphs.instantiate(EXEC, graph, Ok(nodes()), &mut log.emit()).capture;
    assert_eq!([of(0x9), of(0x19), of(0x8)], [Some(0), Some(0), None]);
    graphs.remove_graph(0x9);
    assert_eq!(graphs.instantiate(EXEC, 0x9, Ok(nodes()), &mut log.emit()).capture, None);
}

#[test]
fn equal_graphs_are_emitted_once() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.instantiate(0xee, 8, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(2), ["Exec"]);
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(3), [""; 0]);
    let mut other = nodes();
    other[0].kind = NodeKind::Kernel(kernel(0xf));
    graphs.update(EXEC, 9, Ok(other), &mut log.emit());
    assert_eq!(log.kinds(3), ["Graph", "Exec"]);
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(5), ["Exec"]);
    graphs.forget_emitted();
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(6), ["Graph", "Exec"], "handles may mean other kernels now");
}

#[test]
fn a_reused_handle_is_emitted_again() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.remove_exec(EXEC);
    graphs.instantiate(EXEC, 8, Ok(nodes()), &mut log.emit());
    graphs.instantiate(EXEC, 8, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(2), ["Exec", "Exec"]);
}

#[test]
fn only_changes_of_executed_kernels_are_emitted() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.set_kernel(EXEC, 4, kernel(0xc), &mut log.emit());
    graphs.enable(EXEC, 4, true, &mut log.emit());
    graphs.enable(EXEC, 5, false, &mut log.emit());
    assert_eq!(log.kinds(2), [""; 0]);
    graphs.set_kernel(EXEC, 4, kernel(0xd), &mut log.emit());
    assert!(log.0[2].starts_with("ExecNode") && log.0[2].contains("index: 2"), "{:?}", log.0);
    graphs.enable(EXEC, 4, false, &mut log.emit());
    graphs.set_kernel(EXEC, 4, kernel(0xf), &mut log.emit());
    assert!(log.0[3].contains("kernel: None"));
    assert_eq!(log.0.len(), 4, "a kernel that is switched off is not executed, whatever it is");
    graphs.enable(EXEC, 4, true, &mut log.emit());
    assert!(log.0[4].contains("function: 15"), "{:?}", log.0);
    graphs.update(EXEC, 7, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(5), ["Exec"], "back to the first contents");
}

#[test]
fn an_update_keeps_the_handles_by_which_nodes_are_changed() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    let others = nodes().into_iter().map(|n| Node { handle: n.handle + 50, ..n }).collect();
    graphs.update(EXEC, 8, Ok(others), &mut log.emit());
    graphs.set_kernel(EXEC, 1, kernel(0xf), &mut log.emit());
    assert_eq!(log.kinds(2), ["ExecNode"]);
}

#[test]
fn a_child_graph_is_replaced_in_its_place() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    let child = || vec![node(60, NodeKind::Kernel(kernel(0xb))), node(61, NodeKind::Kernel(kernel(0x9)))];
    graphs.set_child(EXEC, 2, Ok(child()), &mut log.emit());
    assert_eq!(log.kinds(2), ["Graph", "Exec"]);
    let functions: Vec<_> = ["function: 10", "function: 11", "function: 9"].map(|f| log.0[2].find(f)).into();
    assert!(functions.is_sorted() && functions[0].is_some(), "{}", log.0[2]);
    graphs.set_kernel(EXEC, 4, kernel(0x8), &mut log.emit());
    assert_eq!(log.kinds(4), ["ExecNode"], "its nodes keep their handles");
    graphs.set_child(EXEC, 2, Ok(child()[..1].to_vec()), &mut log.emit());
    assert!(log.0[5].contains(NOT_INTERCEPTED), "another number of nodes: {:?}", log.0);
}

#[test]
fn unknown_contents_are_emitted_once_as_unknown() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.fail_update(EXEC, &mut log.emit());
    assert!(log.0[2].contains(HALF_UPDATED) && log.0[2].contains("kernels: []"), "{:?}", log.0);
    graphs.set_kernel(EXEC, 1, kernel(0xf), &mut log.emit());
    assert_eq!(log.kinds(2), ["Graph", "Exec"]);
    graphs.set_kernel(0xdead, 1, kernel(0xf), &mut log.emit());
    graphs.enable(0xdead, 1, false, &mut log.emit());
    assert_eq!(log.kinds(4), ["Graph", "Exec"]);
    let ids = graphs.instantiate(EXEC, 8, Err("no list"), &mut log.emit());
    assert_eq!(ids.nodes, Some(6));
    assert!(log.0[6].contains("no list"));
}

#[test]
fn the_number_of_emitted_graph_kernels_is_limited() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.kernels = MAX_KERNELS;
    let mut other = nodes();
    other[0].kind = NodeKind::Kernel(kernel(0xf));
    graphs.update(EXEC, 8, Ok(other), &mut log.emit());
    assert!(log.0[2].contains(TOO_MANY_KERNELS) && log.0[2].contains("kernels: []"), "{:?}", log.0);
    graphs.update(EXEC, 7, Ok(nodes()), &mut log.emit());
    assert_eq!(log.kinds(2), ["Graph", "Exec", "Exec"], "a graph emitted before can be referred to");
    graphs.set_kernel(EXEC, 1, kernel(0x1), &mut log.emit());
    graphs.set_kernel(EXEC, 1, kernel(0x2), &mut log.emit());
    assert_eq!(log.kinds(5), ["Graph", "Exec"], "emitted as unknown");
}
