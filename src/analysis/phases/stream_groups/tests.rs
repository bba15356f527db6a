//! Passes by graphs, and prompts in chunks.

use crate::Evidence;
use crate::evidence::made::CONFIRMED;
use crate::phases::tests::{found, phases};
use crate::phases::{Phase, PhaseKind};
use crate::testing::Text;

/// Three prompts of chunks of eight and five columns, each followed by a token, by two graphs and
/// by direct launches.
#[test]
fn chunks_by_graphs_and_by_launches_are_reported_by_their_weights() {
    let mut text = Text::new(0);
    for (graph, columns) in [(60, 8), (61, 5)] {
        [0x10, 0x20].into_iter().for_each(|weights| text.captured(columns, weights, graph));
        text.captured(if columns == 8 { 8 } else { 1 }, 0x30, graph);
        text.graph(graph, &if columns == 8 { [8, 8, 8] } else { [5, 5, 1] });
    }
    // Graph A and B; direct launches and B; A and direct launches.
    for [first, second] in [[true, true], [false, true], [true, false]] {
        text.copy(7, "h2d");
        if first {
            text.graph_launch(60)
        } else {
            text.products(&[8, 8, 8])
        }
        text.copy(7, "h2d");
        if second {
            text.graph_launch(61)
        } else {
            text.products(&[5, 5, 1])
        }
        text.copy(7, "d2h");
        text.wait(7);
        text.pass(&[1, 1, 1]);
    }
    let found: Vec<_> = found(&phases(&text))
        .into_iter()
        .map(|(kind, request, passes, columns, ..)| (kind, request, passes, columns))
        .collect();
    let requests = (1..=3).flat_map(|request| {
        [
            (PhaseKind::Prompt, Some(request), 2, vec![(8, 1), (5, 1)]),
            (PhaseKind::Decode, Some(request), 1, vec![(1, 1)]),
        ]
    });
    assert_eq!(found, requests.collect::<Vec<_>>());
}

#[test]
fn the_last_token_of_a_prompt_in_chunks_is_no_decode_step() {
    let mut text = Text::new(0);
    for _ in 0..2 {
        text.products(&[8, 8, 8]);
        text.copy(7, "h2d");
        text.pass(&[1, 1, 1]);
        text.pass(&[1, 1, 1]);
    }
    let found: Vec<_> = phases(&text).iter().map(|p| (p.kind, p.request, p.passes, p.tokens)).collect();
    let request = |n| [(PhaseKind::Prompt, Some(n), 2, Some(9)), (PhaseKind::Decode, Some(n), 1, Some(1))];
    assert_eq!(found, [request(1), request(2)].concat());
}

#[test]
fn a_product_of_a_library_is_made_where_its_graph_runs() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    [0x10, 0x20].into_iter().for_each(|weights| text.captured_gemm(46, weights, 60));
    text.graph(60, &[13, 13]);
    for _ in 0..2 {
        text.graph_launch(60);
        text.launch(7, 1, 0x30);
        text.copy(7, "d2h");
        text.wait(7);
    }
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.passes, p.tokens, p.launches, p.opaque)).collect();
    let by_graph = (PhaseKind::Prompt, 1, Some(46), 3, 0);
    assert_eq!(found, [(PhaseKind::Prompt, 1, Some(5), 4, 0), by_graph, by_graph]);
    let usage = |phase: &Phase| {
        let row = phase.libraries.iter().find(|row| row.library == "libhipblas.so").unwrap();
        (row.calls, row.by_graphs, row.evidence)
    };
    // Captured between the two: in neither of them before the graph is launched.
    assert_eq!(usage(&phases[0]), (0, 0, Evidence::Limited), "not all of its functions are hooked");
    assert_eq!([1, 2].map(|phase| usage(&phases[phase])), [(2, 2, CONFIRMED); 2]);
}

#[test]
fn products_of_unknown_columns_leave_a_pass_unresolved() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    text.lines += r#"{"type":"graph","id":60,"complete":true,"kernels":[{"kernel":13,"block":[64,1,1]},{"kernel":13,"block":[64,1,1]},{"kernel":1,"block":[64,1,1]}]}
"#;
    text.graph_launch(60);
    text.copy(7, "d2h");
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.evidence, p.opaque)).collect();
    assert_eq!(
        found,
        [(PhaseKind::Prompt, Evidence::Inferred, 0), (PhaseKind::Step, Evidence::Unresolved, 2)],
        "one product of one column, two with unknown columns"
    );
}
