//! Small traces whose answers are known by hand.

use super::{Answer, COUNTED, LossFacts};
use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};
use crate::{Evidence, Run, RunBuilder, testing::Text};
use rocshim_reader::{End, Reading, RecordVisitor};

/// A prompt of five columns and two tokens: each pass launches a norm and three products.
fn text() -> Text {
    let mut text = Text::new(0);
    text.pass(&[5, 5, 1]);
    (0..2).for_each(|_| text.pass(&[1, 1, 1]));
    text
}

fn lines_of(answers: &[Answer]) -> Vec<(&str, Evidence)> {
    answers.iter().map(|one| (one.answer.as_str(), one.evidence)).collect()
}

#[test]
fn what_ran_by_which_path_and_what_was_lost() {
    let run = text().run();
    let expected = [
        ("prog in 1 process: 12 launches of 3 kernels, 0 BLAS GEMMs", CONFIRMED),
        ("gfx1100", Evidence::Inferred),
        (
            "prompt: 1 pass of 5 columns, through mmvq; decode: 2 passes of 1 column, through mmvq",
            Evidence::Inferred,
        ),
        ("none was called", CONFIRMED_ABSENT),
        ("none was seen", CONFIRMED_ABSENT),
        ("nothing", CONFIRMED),
    ];
    assert_eq!(lines_of(&run.answers.glance), expected);
    assert_eq!(run.answers.warnings, Vec::<String>::new());
}

#[test]
fn the_questions_that_a_profiler_cannot_answer() {
    let run = text().run();
    let expected = [
        // The last product of the prompt has one column; two tokens have three products each.
        ("1 (7 launches), 5 (2 launches)", Evidence::Inferred),
        ("prompt: mmvq 3, norm 1; decode: mmvq 6, norm 2", Evidence::Inferred),
        ("libggml-hip.so bundle 30: 12 launches", CONFIRMED),
        ("no, in none of 1 pass", CONFIRMED_ABSENT),
        ("5 tokens in one pass, through mmvq", Evidence::Inferred),
        // The trace's hooks are those of two libraries.
        ("not known", Evidence::Unresolved),
        ("prompt: libamdhip64 6; decode: libamdhip64 12", Evidence::Inferred),
    ];
    assert_eq!(lines_of(&run.answers.questions), expected);
}

/// The same, with additional lines before the end.
fn run_with(lines: &[&str]) -> Run {
    let mut builder = RunBuilder::new(Vec::new());
    builder.begin_file("t".into());
    let header = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}"#;
    let hook = r#"{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}"#;
    for line in [header, hook].iter().chain(lines) {
        builder.visit(&rocshim_trace::parse_line(line.as_bytes()).expect(line));
    }
    builder.end_file(Reading { end: End::Footer, notes: Vec::new() });
    builder.finish(None, false)
}

#[test]
fn what_may_be_missing_is_said_and_makes_answers_limited() {
    let run = run_with(&[
        r#"{"type":"hook","id":1,"name":"hipblasSgemm","of":"libhipblas.so","point":"preload","state":"unbound","why":"not found"}"#,
        r#"{"type":"gap","tid":7,"t":5,"dur":5,"lost":40,"reason":"ring_full"}"#,
        r#"{"type":"thread","tid":7,"produced":41,"written":0,"lost":40}"#,
        r#"{"type":"footer","t":9,"end":"exit"}"#,
    ]);
    let expected = [
        "40 events were lost, and counted in place: ring_full.",
        "t does not add up: thread 7: its counters are 41 produced, 0 written and 40 lost, which does not add up.",
        "Called, but the real function was not found: hipblasSgemm.",
    ];
    assert_eq!(run.answers.warnings, expected);
    let [ran, gpu, path, blas, fallback, lost] = &run.answers.glance[..] else { panic!("six") };
    let evidence = [ran, gpu, path, blas, fallback, lost].map(|one| one.evidence);
    let [limited, unresolved] = [Evidence::Limited, Evidence::Unresolved];
    assert_eq!(evidence, [limited, unresolved, limited, unresolved, limited, limited]);
    assert_eq!(blas.why, "called, but the real one was not found: hipblasSgemm");
    assert_eq!(lost.answer, "40 events, and perhaps more");
}

#[test]
fn a_gpu_that_hip_reported_of_is_confirmed() {
    let device =
        r#"{"type":"device","ordinal":0,"gfx":"gfx1201","name":"Radeon","how":"hipGetDeviceProperties"}"#;
    let run = run_with(&[device, r#"{"type":"footer","t":9,"end":"exit"}"#]);
    let gpu = &run.answers.glance[1];
    assert_eq!((gpu.answer.as_str(), gpu.evidence), ("gfx1201 Radeon", CONFIRMED));
    let path = &run.answers.glance[2];
    assert_eq!((path.answer.as_str(), path.evidence), ("no kernel was launched", CONFIRMED_ABSENT));
}

#[test]
fn losses_are_exact_where_the_recount_agrees_and_all_has_ended() {
    let met = LossFacts { is_wrong: false, running: 0 };
    let not_met = [LossFacts { is_wrong: true, ..met }, LossFacts { running: 1, ..met }];
    crate::evidence::rules::check(&COUNTED, &met, &not_met, &[]);
}
