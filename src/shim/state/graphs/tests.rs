//! What is told of captures and graphs, call by call.

use super::*;

/// A process's log: definitions as they were told.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn tell(&mut self) -> impl FnMut(Definition) -> Option<u32> {
        |definition| {
            self.0.push(format!("{definition:?}"));
            Some(self.0.len() as u32 - 1)
        }
    }

    /// What was told since this was last asked, by its kind.
    fn news(&mut self, from: usize) -> Vec<&str> {
        self.0[from..].iter().map(|told| told.split([' ', '(']).next().unwrap_or_default()).collect()
    }
}

fn stream(handle: u64) -> Stream {
    Stream { handle, tid: 0 }
}

fn kernel(function: u64) -> GraphKernel {
    GraphKernel { function, grid: [1; 3], block: [64, 1, 1], lds: 0 }
}

fn node(handle: u64, what: What) -> Node {
    Node { handle, what, enabled: true }
}

/// A kernel, a child graph of two kernels, a copy.
fn nodes() -> Vec<Node> {
    vec![
        node(1, What::Kernel(kernel(0xa))),
        node(2, What::Child(2)),
        node(3, What::Kernel(kernel(0xb))),
        node(4, What::Kernel(kernel(0xc))),
        node(5, What::Other(1)),
    ]
}

const EXEC: u64 = 0xe;

/// One instantiated graph: definitions 0 and 1.
fn instantiated(log: &mut Log) -> Graphs {
    let mut graphs = Graphs::default();
    let made = graphs.instantiate(EXEC, 7, Ok(nodes()), &mut log.tell());
    assert_eq!(made, Made { nodes: Some(0), capture: None });
    assert_eq!(log.news(0), ["Graph", "Exec"]);
    assert!(log.0[0].contains("others: [(1, 1)]"), "{}", log.0[0]);
    graphs
}

#[test]
fn a_wait_for_an_event_of_a_capture_joins_it() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    graphs.begin(stream(1), 0, 9, &mut log.tell());
    graphs.record(100, stream(1));
    graphs.record(101, stream(2));
    graphs.wait(stream(3), 101, &mut log.tell());
    assert_eq!(log.news(0), ["Capture"], "an event of a stream that does not capture carries nothing");
    graphs.wait(stream(2), 100, &mut log.tell());
    graphs.wait(stream(2), 100, &mut log.tell());
    graphs.record(101, stream(2));
    graphs.wait(stream(3), 101, &mut log.tell());
    assert_eq!(log.news(1), ["Join", "Join"]);
    graphs.record(100, stream(4));
    graphs.wait(stream(5), 100, &mut log.tell());
    assert_eq!(log.news(3), [""; 0], "the event stands for another stream now");
    let made = graphs.end(stream(1), 0x9, &mut log.tell());
    assert_eq!((made.capture, log.news(3)), (Some(0), vec!["EndCapture"]));
    assert!(graphs.streams.is_empty() && graphs.events.is_empty());
}

#[test]
fn an_end_of_what_was_not_seen_beginning_tells_nothing() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    assert_eq!(graphs.end(stream(1), 0x9, &mut log.tell()), Made::default());
    assert_eq!(log.0.len(), 0);
}

#[test]
fn a_graph_knows_the_capture_that_it_or_what_it_was_cloned_from_came_from() {
    let (mut graphs, mut log) = (Graphs::default(), Log::default());
    graphs.begin(stream(1), 0, 9, &mut log.tell());
    graphs.end(stream(1), 0x9, &mut log.tell());
    graphs.clone_graph(0x19, 0x9);
    let mut of = |graph| graphs.instantiate(EXEC, graph, Ok(nodes()), &mut log.tell()).capture;
    assert_eq!([of(0x9), of(0x19), of(0x8)], [Some(0), Some(0), None]);
    graphs.forget_graph(0x9);
    assert_eq!(graphs.instantiate(EXEC, 0x9, Ok(nodes()), &mut log.tell()).capture, None);
}

#[test]
fn what_a_graph_does_is_told_once_however_often_it_is_instantiated_or_updated() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.instantiate(0xee, 8, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(2), ["Exec"]);
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(3), [""; 0]);
    let mut other = nodes();
    other[0].what = What::Kernel(kernel(0xf));
    graphs.update(EXEC, 9, Ok(other), &mut log.tell());
    assert_eq!(log.news(3), ["Graph", "Exec"]);
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(5), ["Exec"]);
    graphs.forget_names();
    graphs.update(EXEC, 8, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(6), ["Graph", "Exec"], "handles may mean other kernels now");
}

#[test]
fn a_handle_that_is_used_again_is_told_again() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.forget_exec(EXEC);
    graphs.instantiate(EXEC, 8, Ok(nodes()), &mut log.tell());
    graphs.instantiate(EXEC, 8, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(2), ["Exec", "Exec"]);
}

#[test]
fn only_a_change_of_what_is_executed_is_told() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.set_kernel(EXEC, 4, kernel(0xc), &mut log.tell());
    graphs.enable(EXEC, 4, true, &mut log.tell());
    graphs.enable(EXEC, 5, false, &mut log.tell());
    assert_eq!(log.news(2), [""; 0]);
    graphs.set_kernel(EXEC, 4, kernel(0xd), &mut log.tell());
    assert!(log.0[2].starts_with("ExecNode") && log.0[2].contains("index: 2"), "{:?}", log.0);
    graphs.enable(EXEC, 4, false, &mut log.tell());
    graphs.set_kernel(EXEC, 4, kernel(0xf), &mut log.tell());
    assert!(log.0[3].contains("kernel: None"));
    assert_eq!(log.0.len(), 4, "a kernel that is switched off is not executed, whatever it is");
    graphs.enable(EXEC, 4, true, &mut log.tell());
    assert!(log.0[4].contains("function: 15"), "{:?}", log.0);
    graphs.update(EXEC, 7, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(5), ["Exec"], "back to what it was");
}

#[test]
fn an_update_keeps_the_handles_by_which_nodes_are_changed() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    let others = nodes().into_iter().map(|n| Node { handle: n.handle + 50, ..n }).collect();
    graphs.update(EXEC, 8, Ok(others), &mut log.tell());
    graphs.set_kernel(EXEC, 1, kernel(0xf), &mut log.tell());
    assert_eq!(log.news(2), ["ExecNode"]);
}

#[test]
fn a_child_graph_is_replaced_in_its_place() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    let child = || vec![node(60, What::Kernel(kernel(0xb))), node(61, What::Kernel(kernel(0x9)))];
    graphs.set_child(EXEC, 2, Ok(child()), &mut log.tell());
    assert_eq!(log.news(2), ["Graph", "Exec"]);
    let functions: Vec<_> = ["function: 10", "function: 11", "function: 9"].map(|f| log.0[2].find(f)).into();
    assert!(functions.is_sorted() && functions[0].is_some(), "{}", log.0[2]);
    graphs.set_kernel(EXEC, 4, kernel(0x8), &mut log.tell());
    assert_eq!(log.news(4), ["ExecNode"], "its nodes are still named as they were");
    graphs.set_child(EXEC, 2, Ok(child()[..1].to_vec()), &mut log.tell());
    assert!(log.0[5].contains(UNSEEN), "another number of nodes: {:?}", log.0);
}

#[test]
fn what_cannot_be_known_is_said_once_and_never_guessed() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.fail_update(EXEC, &mut log.tell());
    assert!(log.0[2].contains(HALF_UPDATED) && log.0[2].contains("kernels: []"), "{:?}", log.0);
    graphs.set_kernel(EXEC, 1, kernel(0xf), &mut log.tell());
    assert_eq!(log.news(2), ["Graph", "Exec"]);
    graphs.set_kernel(0xdead, 1, kernel(0xf), &mut log.tell());
    graphs.enable(0xdead, 1, false, &mut log.tell());
    assert_eq!(log.news(4), ["Graph", "Exec"]);
    let made = graphs.instantiate(EXEC, 8, Err("no list"), &mut log.tell());
    assert_eq!(made.nodes, Some(6));
    assert!(log.0[6].contains("no list"));
}

#[test]
fn a_process_does_not_tell_of_graphs_for_ever() {
    let mut log = Log::default();
    let mut graphs = instantiated(&mut log);
    graphs.kernels = KERNELS;
    let mut other = nodes();
    other[0].what = What::Kernel(kernel(0xf));
    graphs.update(EXEC, 8, Ok(other), &mut log.tell());
    assert!(log.0[2].contains(FULL) && log.0[2].contains("kernels: []"), "{:?}", log.0);
    graphs.update(EXEC, 7, Ok(nodes()), &mut log.tell());
    assert_eq!(log.news(2), ["Graph", "Exec", "Exec"], "what was told before still can be");
    graphs.set_kernel(EXEC, 1, kernel(0x1), &mut log.tell());
    graphs.set_kernel(EXEC, 1, kernel(0x2), &mut log.tell());
    assert_eq!(log.news(5), ["Graph", "Exec"], "it is known not to be known");
}
