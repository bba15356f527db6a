use super::*;
use crate::SubjectKind;
use crate::evidence::made::CONFIRMED;

/// The verdict on a program's only decision, whose choice `decide` gives for the number of the run
/// and whether it has the change.
fn verdict(
    each: usize,
    seed: u64,
    mut decide: impl FnMut(usize, bool) -> &'static str,
) -> (Verdict, Evidence) {
    let order = Order::draw(each, seed);
    let runs: Vec<ExperimentRun> = order
        .changed
        .iter()
        .enumerate()
        .map(|(at, changed)| ExperimentRun {
            changed: *changed,
            decisions: Decisions::of_kernels([("a", decide(at, *changed))]),
        })
        .collect();
    let experiment = judge(&runs, &order);
    let row = &experiment.decisions[0];
    (row.verdict, row.evidence)
}

#[test]
fn a_decision_that_follows_the_change_in_all_runs_is_confirmed_after_enough_of_them() {
    let decide = |_, changed| if changed { "y" } else { "x" };
    assert_eq!(verdict(8, 1, decide), (Verdict::Follows, CONFIRMED));
    assert_eq!(
        verdict(2, 1, decide),
        (Verdict::Follows, Evidence::Inferred),
        "chance shows it in 1 of 3 orders"
    );
    assert_eq!(verdict(8, 1, |_, _| "x"), (Verdict::Stays, CONFIRMED));
}

#[test]
fn what_varies_on_one_side_is_no_effect() {
    let with = |at, changed| if changed && at % 3 > 0 { "y" } else { "x" };
    assert_eq!(verdict(8, 1, with), (Verdict::UnstableWith, Evidence::Unresolved));
    let without = |at, changed| if changed || at % 3 > 0 { "y" } else { "x" };
    assert_eq!(verdict(8, 1, without), (Verdict::Unstable, Evidence::Unresolved));
}

#[test]
fn a_run_that_does_not_show_all_makes_the_verdict_limited() {
    let order = Order::draw(2, 5);
    let run = |changed: &bool| ExperimentRun {
        changed: *changed,
        decisions: Decisions::of_kernels([("a", if *changed { "y" } else { "x" })]),
    };
    let mut runs: Vec<ExperimentRun> = order.changed.iter().map(run).collect();
    runs[2].decisions.limit_all("9 events were lost");
    let row = judge(&runs, &order).decisions.remove(0);
    assert_eq!(
        (row.verdict, row.evidence, &*row.why),
        (Verdict::Limited, Evidence::Limited, "9 events were lost")
    );
}

#[test]
fn what_is_no_longer_asked_for_follows_the_change_where_nothing_can_have_been_missed() {
    let order = Order::draw(8, 5);
    let run = |changed: &bool| ExperimentRun {
        changed: *changed,
        decisions: Decisions::of_kernels((!changed).then_some(("a", "x"))),
    };
    let runs: Vec<ExperimentRun> = order.changed.iter().map(run).collect();
    let row = judge(&runs, &order).decisions.remove(0);
    assert_eq!((row.verdict, row.evidence), (Verdict::Follows, CONFIRMED));
    assert_eq!((row.subject.kind, row.with[0].choice.as_ref()), (SubjectKind::Gemm, None));
}

/// Deciders that the change has no effect on: by chance, by how often the program ran, by time, by
/// what the last run did.
#[test]
fn no_cause_is_confirmed_of_a_thousand_programs_that_do_not_look_at_the_change() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut coin = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 63 == 1
    };
    let (mut follows, mut confirmed) = (0, 0);
    for seed in 0..1000_u64 {
        let decide = |at: usize, _: bool| {
            let second = match seed % 5 {
                0 => coin(),
                1 => at % 2 == 1,
                2 => at >= 8,
                3 => at % 4 < 2,
                _ => at < 2 || coin(),
            };
            if second { "y" } else { "x" }
        };
        let (verdict, evidence) = verdict(8, seed, decide);
        follows += u32::from(verdict == Verdict::Follows);
        confirmed += u32::from(evidence == CONFIRMED && verdict != Verdict::Stays);
    }
    assert_eq!(confirmed, 0, "{follows} seemed to follow");
}

#[test]
fn many_decisions_that_vary_need_more_runs() {
    // One follows the change; four vary, each in its own sequence.
    let order = Order::draw(8, 9);
    let run = |(at, changed): (usize, &bool)| {
        let varies =
            (0..4).map(|bit| (["b", "c", "d", "e"][bit], if at >> bit & 1 == 1 { "y" } else { "x" }));
        let follows = ("a", if *changed { "y" } else { "x" });
        ExperimentRun { changed: *changed, decisions: Decisions::of_kernels(varies.chain([follows])) }
    };
    let runs: Vec<ExperimentRun> = order.changed.iter().enumerate().map(run).collect();
    let experiment = judge(&runs, &order);
    assert_eq!(experiment.sequences, 5);
    // 5 sequences of 2 in 5544 orders: 1 in 554.
    assert!(experiment.decisions[0].why.contains("1 of 554 orders"), "{}", experiment.decisions[0].why);
    assert_eq!(experiment.decisions[0].evidence, Evidence::Inferred);
}

#[test]
fn the_rules_show_their_answers() {
    let met = Facts { runs: [8, 8], is_whole: true, is_one: [true; 2], differ: true, chance: 0.0 };
    let not_met = [
        Facts { runs: [8, 1], ..met },
        Facts { is_whole: false, ..met },
        Facts { is_one: [false, true], ..met },
        Facts { is_one: [true, false], ..met },
        Facts { differ: false, ..met },
        Facts { chance: 1.0, ..met },
    ];
    crate::evidence::rules::check(&CONFIRMED_CAUSE, &met, &not_met, &[]);
    let same = Facts { differ: false, ..met };
    crate::evidence::rules::check(&STAYS, &same, &[met, Facts { is_whole: false, ..same }], &[]);
}
