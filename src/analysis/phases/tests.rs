//! Small traces whose phases are known by hand. Call number N is entered at 100 N and takes 10.

use super::{Bound, PassRow, Phase, PhaseKind};
use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};
use crate::testing::Text;
use crate::{Evidence, Summary};
use rocshim_reader::Label;

#[test]
fn a_summary_of_phases_has_what_belongs_to_them_and_nothing_else() {
    let mut text = Text::new(1_000_000);
    text.copy(7, "h2d"); // 1, of nothing: it comes before the first launch
    text.launch(7, 9, 1); // 2
    text.gemm(7, 46, 0x10); // 3
    text.launch(7, 1, 0x20); // 4
    text.copy(7, "d2h"); // 5
    text.wait(7); // 6
    for _ in 0..2 {
        text.copy(7, "h2d"); // 7, 14
        text.pass(&[1, 1, 1]); // 8 to 13, 15 to 20
    }
    let [prompt, decode] = ["prompt", "decode"].map(|phase| text.summary(phase));
    assert_eq!((prompt.totals.launches, prompt.totals.gemms, prompt.totals.events), (2, 1, 5));
    // The upload before a pass belongs to it.
    assert_eq!((decode.totals.launches, decode.totals.gemms, decode.totals.events), (8, 0, 14));
    assert_eq!(decode.phase.as_deref(), Some("decode"));
    assert_eq!(decode.processes[0].notes, Vec::<String>::new(), "its accounts are those of the phases");
    let hipblas = |summary: &Summary| {
        let row = summary.libraries.iter().find(|row| row.library == "libhipblas.so").expect("a row");
        (row.calls, row.evidence)
    };
    assert_eq!([&prompt, &decode].map(hipblas), [(1, CONFIRMED), (0, CONFIRMED_ABSENT)]);
    assert!(text.phases(Vec::new()).scope("backward").is_none());
    assert_eq!(text.phases(Vec::new()).names(), ["prompt", "decode"]);
}

#[test]
fn the_gpu_times_of_a_phase_are_those_of_its_calls() {
    let mut text = Text::new(1_000_000);
    text.ask_for_gpu_times();
    text.pass(&[5, 5, 1]); // 1 to 4, the copy 5, the wait 6
    text.pass(&[1, 1, 1]); // 7 to 10, 11, 12
    text.pass(&[1, 1, 1]); // 13 to 16, 17, 18
    // The prompt: launch N is entered at 100 N and returns 10 later; each kernel takes 1 ms.
    (1..=4).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 1_000_000));
    text.ran(2, 5, 2, 5_000_000, 500_000); // its copy, by a kernel of the runtime's
    (7..=10).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 100_000));
    (13..=15).for_each(|id| text.ran(1, id, 2, 1_000_000 * id, 100_000)); // one is missing
    let all = text.phases(Vec::new());
    let prompt = all.phases[0].gpu.as_ref().expect("reports");
    assert_eq!((prompt.reported, prompt.executed, prompt.evidence), (4, 4, CONFIRMED));
    assert_eq!((prompt.busy_ns, prompt.not_launched_ns, prompt.held_ns), (4_500_000, 10, 999_890));
    // It begins with the entry of launch 1 at 100.
    assert_eq!((prompt.elapsed_ns, prompt.span_ns), (5_499_900, 5_499_900));
    assert_eq!((prompt.kernels_ns, prompt.transfers_ns), (4_000_000, 500_000));
    assert_eq!((prompt.bound, prompt.bound_evidence), (Some(Bound::Gpu), Evidence::Inferred));
    let decode = all.phases[1].gpu.as_ref().expect("reports");
    assert_eq!((decode.reported, decode.executed, decode.evidence), (7, 8, Evidence::Limited));
    assert_eq!(decode.why, Some("as many kernels were reported as were executed"));
    assert_eq!((decode.bound, decode.bound_evidence), (None, Evidence::Limited));
    assert_eq!(decode.busy_per_token_ns, Some(350_000.0));
    let [_, first, second] = &all.passes[..] else { panic!("three passes") };
    let of = |pass: &PassRow| pass.gpu.as_ref().map(|gpu| (gpu.busy_ns, gpu.evidence));
    assert_eq!(of(first), Some((400_000, CONFIRMED)));
    assert_eq!(of(second), Some((300_000, Evidence::Limited)));
    assert_eq!(first.gpu.as_ref().and_then(|gpu| gpu.bound), Some(Bound::Held));
}

#[test]
fn a_phase_of_a_trace_without_reports_has_no_gpu_times() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    assert!(text.phases(Vec::new()).phases[0].gpu.is_none());
}

pub(super) fn phases(text: &Text) -> Vec<Phase> {
    text.phases(Vec::new()).phases
}

/// Kind, request, passes, columns with their passes, tokens, launches.
pub(super) type FoundPhase = (PhaseKind, Option<u64>, u64, Vec<(u64, u64)>, Option<u64>, u64);

pub(super) fn found(phases: &[Phase]) -> Vec<FoundPhase> {
    let columns = |phase: &Phase| phase.columns.iter().map(|c| (c.most, c.passes)).collect();
    phases.iter().map(|p| (p.kind, p.request, p.passes, columns(p), p.tokens, p.launches)).collect()
}

#[test]
fn a_prompt_in_chunks_and_the_tokens_after_it() {
    let mut text = Text::new(1_000_000);
    for columns in [[8, 8, 8], [8, 8, 8]] {
        text.copy(7, "h2d"); // 1, 6
        text.products(&columns); // 2 to 5, 7 to 10
    }
    text.copy(7, "h2d"); // 11
    text.pass(&[5, 5, 1]); // 12 to 15, 16, 17
    for _ in 0..2 {
        text.copy(7, "h2d"); // 18, 25
        text.pass(&[1, 1, 1]); // 19 to 22, 23, 24; 26 to 29, 30, 31
    }
    let found_phases = phases(&text);
    assert_eq!(
        found(&found_phases),
        [
            // 8 + 8 + 5 columns; four launches each.
            (PhaseKind::Prompt, Some(1), 3, vec![(8, 2), (5, 1)], Some(21), 12),
            (PhaseKind::Decode, Some(1), 2, vec![(1, 2)], Some(2), 8),
        ]
    );
    let prompt = &found_phases[0];
    assert_eq!((prompt.evidence, prompt.launches_per_token), (Evidence::Inferred, Some(12.0 / 21.0)));
    // From call 2 to the end of the wait, 17. Calls: two copies in (what comes before the first
    // launch belongs to no pass), twelve launches, one copy out.
    assert_eq!((prompt.begin_ns, prompt.end_ns), (200, 1710));
    assert_eq!((prompt.host_ns, prompt.wait_ns), (15 * 10, 10));
    // Chunk 1 ends with call 5 at 510 and chunk 2 begins with 7; 10 and 12 likewise.
    assert_eq!(prompt.between_ns, (700 - 510) + (1200 - 1010));
    // 24 ends at 2410, 26 begins at 2600.
    assert_eq!(found_phases[1].between_ns, 2600 - 2410);
    let families: Vec<_> = prompt.families.iter().map(|row| (row.family.unwrap(), row.launches)).collect();
    assert_eq!(families, [("mmvq", 9), ("norm", 3)]);
    let object = &prompt.code_objects[0];
    assert_eq!((object.ordinal, object.target.as_deref(), object.launches), (Some(30), Some("gfx1100"), 12));
    let usage = |library: &str| prompt.libraries.iter().find(|row| row.library == library).unwrap();
    // Twelve launches, three copies, one wait.
    assert_eq!((usage("libamdhip64.so").calls, usage("libamdhip64.so").evidence), (16, CONFIRMED));
    assert_eq!((usage("libhipblas.so").calls, usage("libhipblas.so").evidence), (0, CONFIRMED_ABSENT));
}

#[test]
fn a_copy_to_the_host_in_the_middle_ends_no_pass() {
    let mut text = Text::new(0);
    for _ in 0..2 {
        text.products(&[1]);
        text.copy(7, "d2h");
        text.wait(7);
        // Other weights: the pass continues.
        text.launch(7, 1, 0x70);
        text.copy(7, "d2h");
        text.wait(7);
        // What follows without GEMMs (sampling) belongs to it.
        text.launch(7, 9, 1);
        text.copy(7, "d2h");
    }
    assert_eq!(found(&phases(&text)), [(PhaseKind::Decode, None, 2, vec![(1, 2)], Some(2), 8)]);
}

#[test]
fn the_first_pass_is_a_warm_up_where_memory_is_cleared_after_it() {
    let mut text = Text::new(0);
    text.pass(&[2, 2, 1]);
    text.memset(7);
    text.pass(&[2, 2, 1]);
    text.memset(7);
    // The third is a request, whatever it is like.
    text.pass(&[2, 2, 1]);
    let kinds: Vec<_> = phases(&text).iter().map(|phase| (phase.kind, phase.passes, phase.request)).collect();
    assert_eq!(kinds, [(PhaseKind::WarmUp, 2, None), (PhaseKind::Prompt, 1, Some(1))]);
}

/// llama-server evaluates two tokens twice before it listens: they are not a request.
#[test]
fn requests_begin_after_the_passes_of_the_start() {
    let mut text = Text::new(0);
    text.pass(&[2, 2, 2]);
    text.memset(7);
    for columns in [[2, 2, 2], [5, 5, 1], [1, 1, 1]] {
        text.pass(&columns);
    }
    let found: Vec<_> = phases(&text).iter().map(|p| (p.kind, p.request, p.passes)).collect();
    assert_eq!(
        found,
        [(PhaseKind::WarmUp, None, 2), (PhaseKind::Prompt, Some(1), 1), (PhaseKind::Decode, Some(1), 1)]
    );
}

#[test]
fn a_pass_ends_with_the_wait_for_it_and_idle_time_is_its_own() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]); // 1 to 6
    text.pass(&[1, 1, 1]); // 7 to 12
    // Much later the program synchronises once more, and frees its memory.
    text.later(50_000_000);
    text.wait(7);
    let found: Vec<_> = phases(&text).iter().map(|p| (p.kind, p.begin_ns, p.end_ns, p.wait_ns)).collect();
    assert_eq!(found, [(PhaseKind::Prompt, 100, 610, 10), (PhaseKind::Decode, 700, 1210, 10)]);
    // Nothing waits after the last copy of this one before a long pause.
    let mut text = Text::new(0);
    text.products(&[5, 5, 1]); // 1 to 4
    text.copy(7, "d2h"); // 5
    text.later(50_000_000);
    text.wait(7);
    let found = phases(&text);
    assert_eq!((found[0].begin_ns, found[0].end_ns, found[0].wait_ns), (100, 510, 0));
}

#[test]
fn a_program_without_a_language_model_has_no_decode_steps() {
    let mut text = Text::bare(0);
    for _ in 0..2 {
        text.launch(7, 10, 1);
        text.gemm(7, 1, 0x10);
        text.copy(7, "d2h");
    }
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.evidence, p.passes)).collect();
    assert_eq!(found, [(PhaseKind::Step, Evidence::Unresolved, 2)]);
    assert!(
        phases[0].why.starts_with("the process launched no kernel of a language model"),
        "{}",
        phases[0].why
    );
}

#[test]
fn several_sequences_are_evaluated_together() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    text.pass(&[1, 1, 1]);
    (0..3).for_each(|_| text.pass(&[2, 2, 2]));
    text.pass(&[1, 1, 1]);
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.request, p.passes, p.tokens)).collect();
    assert_eq!(
        found,
        [
            (PhaseKind::Prompt, Some(1), 1, Some(5)),
            (PhaseKind::Decode, Some(1), 1, Some(1)),
            (PhaseKind::Decode, None, 3, Some(6)),
            (PhaseKind::Decode, Some(1), 1, Some(1)),
        ]
    );
    assert!(phases[2].why.contains("one token of each of as many sequences"), "{}", phases[2].why);
}

#[test]
fn products_of_a_blas_library_have_columns_too() {
    let mut text = Text::new(0);
    for _ in 0..2 {
        text.launch(7, 9, 1);
        text.gemm(7, 46, 0x10);
        text.launch(7, 9, 1);
        text.gemm(7, 46, 0x20);
        text.launch(7, 1, 0x30);
        text.copy(7, "d2h");
        text.wait(7);
    }
    assert_eq!(
        found(&phases(&text)),
        [
            (PhaseKind::Prompt, Some(1), 1, vec![(46, 1)], Some(46), 3),
            (PhaseKind::Prompt, Some(2), 1, vec![(46, 1)], Some(46), 3),
        ]
    );
}

#[test]
fn a_graph_executes_what_it_lists() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    text.lines += r#"{"type":"graph","id":60,"complete":true,"kernels":[{"kernel":9,"block":[64,1,1]},{"kernel":1,"block":[64,1,1]},{"kernel":1,"block":[64,1,1]}]}
"#;
    for _ in 0..2 {
        text.call("graph_launch", 7, r#""hook":0,"graph":60,"exec":"0x1","stream":3"#);
        text.copy(7, "d2h");
        text.wait(7);
    }
    let found_phases = phases(&text);
    assert_eq!(found(&found_phases)[1], (PhaseKind::Decode, Some(1), 2, vec![(1, 2)], Some(2), 6));
    assert_eq!((found_phases[1].by_graphs, found_phases[1].unlisted), (6, 0));
}

#[test]
fn what_was_lost_or_cut_off_is_not_reported_as_if_it_were_whole() {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    text.pass(&[1, 1, 1]);
    text.products(&[1]);
    text.lines += r#"{"type":"gap","tid":7,"t":1420,"dur":10,"lost":4,"reason":"ring_full"}
"#;
    text.launch(7, 1, 0x20);
    text.copy(7, "d2h");
    text.products(&[1, 1]);
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.evidence, p.lost)).collect();
    assert_eq!(
        found,
        [
            (PhaseKind::Prompt, Evidence::Inferred, 0),
            (PhaseKind::Decode, Evidence::Limited, 4),
            (PhaseKind::Step, Evidence::Unresolved, 0),
        ]
    );
    assert_eq!(phases[2].why, "the trace ends before anything was copied to the host");
}

#[test]
fn a_program_that_trains_has_forward_backward_and_optimiser() {
    let mut text = Text::new(0);
    for _ in 0..2 {
        text.launch(7, 10, 1);
        text.gemm(7, 64, 0x10);
        // Backward is launched by a thread of its own; the loss is read in between.
        text.copy(7, "d2h");
        text.gemm(8, 32, 0x20);
        text.launch(8, 10, 1);
        text.launch(8, 11, 1);
        (0..3).for_each(|_| text.launch(7, 12, 1));
    }
    let phases = phases(&text);
    let found: Vec<_> = phases.iter().map(|p| (p.kind, p.passes, p.launches, p.tokens)).collect();
    // The gemms launch nothing in this trace.
    assert_eq!(
        found,
        [
            (PhaseKind::Forward, 2, 2, None),
            (PhaseKind::Backward, 2, 4, None),
            (PhaseKind::Optimiser, 2, 6, None)
        ]
    );
}

#[test]
fn what_the_program_or_the_user_calls_its_parts_comes_first() {
    let mut text = Text::new(1000);
    for _ in 0..2 {
        text.range(7, "push", "sample"); // 1, 7
        text.launch(7, 9, 1); // 2, 8
        text.launch(8, 9, 1); // 3, 9: by time
        text.range(7, "pop", ""); // 4, 10
        text.launch(7, 9, 1); // 5, 11
        text.copy(7, "d2h"); // 6, 12
    }
    // Unix 1900 to 1950 is call 9.
    let phases = text.phases(vec![Label { name: "mine".into(), begin: 1900, end: 1950 }]).phases;
    let found: Vec<_> =
        phases.iter().map(|p| (p.label.as_deref(), p.evidence, p.passes, p.launches)).collect();
    assert_eq!(
        found,
        [
            (Some("sample"), CONFIRMED, 2, 2),
            (Some("sample"), Evidence::Inferred, 1, 1),
            (None, Evidence::Unresolved, 1, 1),
            (Some("mine"), Evidence::Inferred, 1, 1),
            (None, Evidence::Unresolved, 1, 1),
        ]
    );
}

#[test]
fn two_threads_with_streams_of_their_own_do_not_mix() {
    let mut text = Text::new(0);
    let other = |text: &mut Text, weights: u64| {
        let rest = format!(r#""hook":0,"kernel":2,"block":[64,1,1],"stream":4,"args":["{weights:#x}"]"#);
        text.call("launch", 8, &rest);
    };
    text.launch(7, 1, 0x10);
    other(&mut text, 0x30);
    text.launch(7, 1, 0x20);
    other(&mut text, 0x40);
    text.copy(7, "d2h");
    text.call("copy", 8, r#""hook":1,"action":"copy","kind":"d2h","bytes":8,"stream":4"#);
    let found: Vec<_> = phases(&text).iter().map(|p| (p.stream_group, p.tokens, p.launches)).collect();
    assert_eq!(found, [(0, Some(1), 2), (1, Some(2), 2)]);
}
