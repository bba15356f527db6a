//! Comparisons of small traces.

use super::*;
use crate::Evidence;
use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};
use crate::testing::compared::*;
use rocshim_reader::End;

const GAP: &str = "{\"type\":\"gap\",\"tid\":7,\"t\":3,\"dur\":4,\"lost\":9,\"reason\":\"ring_full\"}\n";

fn change<'a>(found: &'a Comparison, name: &str) -> &'a KernelChange {
    found.kernels.iter().find(|row| row.name == name).unwrap().versus.get(0).unwrap()
}

#[test]
fn kernels_are_merged_by_symbol_and_differences_are_absolute_and_relative() {
    let a = run(
        "A",
        &[kernel(1, "both"), kernel(2, "gone"), launches(1, 100, 1, &[10; 10]), launches(2, 200, 1, &[7])],
    );
    // With other ids: a kernel is identified by its symbol.
    let b = run(
        "B",
        &[kernel(5, "new"), kernel(6, "both"), launches(6, 100, 1, &[60; 15]), launches(5, 200, 1, &[3, 4])],
    );
    let found = compare(&[a, b], &[]);
    let names: Vec<_> = found.kernels.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["both", "gone", "new"], "900, 7, 3 + 4 ns on the side with most; then by name");
    let both = change(&found, "both");
    assert_eq!((both.launches, both.launches_ratio, both.total_ns), (5, Some(1.5), 800));
    assert_eq!(
        (both.presence.seen, both.times.speed, both.times.median_ratio),
        (Seen::Both, Speed::Slower, Some(6.0))
    );
    let (gone, new) = (change(&found, "gone"), change(&found, "new"));
    assert_eq!((gone.presence.seen, gone.launches, gone.launches_ratio), (Seen::Gone, -1, Some(0.0)));
    assert_eq!((new.presence.seen, new.launches, new.launches_ratio), (Seen::New, 2, None));
    for found in [gone, new] {
        assert_eq!((found.presence.evidence, found.times.speed), (CONFIRMED_ABSENT, Speed::NotTimed));
    }
}

#[test]
fn an_absence_is_limited_where_something_may_have_been_missed() {
    let has = || run("A", &[kernel(1, "k"), launches(1, 100, 1, &[5])]);
    let presence_of = |other: ComparedRun| {
        let found = compare(&[has(), other], &[]);
        let presence = change(&found, "k").presence.clone();
        (presence.evidence, presence.why, found.runs[1].limited.clone())
    };
    let limited = |why: &str| (Evidence::Limited, Some(why.to_string()), Some(why.to_string()));
    assert_eq!(presence_of(run("B", &[])), (CONFIRMED_ABSENT, None, None));
    assert_eq!(presence_of(run("B", &[GAP.into()])), limited("9 events were lost"));
    assert_eq!(presence_of(ended("B", "", End::Cut)), limited("a trace has no end"));
    assert_eq!(presence_of(ended("B", "", End::Running)), limited("a process still runs"));
    assert_eq!(
        presence_of(ended("B", "", End::Leftover)),
        (CONFIRMED_ABSENT, None, None),
        "killed, and all read"
    );
    let mut open = run("B", &[]);
    open.summary.visibility_gaps.launches = Some("what x calls would not be seen".into());
    assert_eq!(presence_of(open), limited("what x calls would not be seen"));
    let mut unread = run("B", &[]);
    unread.summary.notes.push("b.ndjson is empty".into());
    assert_eq!(presence_of(unread), limited("a file was not read: b.ndjson is empty"));
    // Killed in the launch itself.
    let in_flight = launches(1, 100, 1, &[5]);
    let in_flight = format!("{}{{\"type\":\"in_flight\",\"event\":{}}}\n", kernel(1, "k"), in_flight.trim());
    let (evidence, why, _) = presence_of(ended("B", &in_flight, End::Leftover));
    assert_eq!(
        (evidence, why.unwrap()),
        (Evidence::Limited, "a launch of it had not returned when the process died".into())
    );
}

#[test]
fn a_kernel_of_which_each_launch_failed_did_not_run() {
    let ran = launches(1, 100, 1, &[5, 5]);
    let failed = ran.replace("\"dur\"", "\"status\":9,\"dur\"");
    let of = |lines: &str| run("S", &[kernel(1, "k"), lines.to_string()]);
    let compared = |a: &str, b: &str| {
        let change = change(&compare(&[of(a), of(b)], &[]), "k").clone();
        (change.presence.seen, change.presence.evidence, change.presence.why)
    };
    let absent = |seen| (seen, CONFIRMED_ABSENT, Some("each of its 2 launches failed".to_string()));
    assert_eq!(compared(&ran, &failed), absent(Seen::Gone));
    assert_eq!(compared(&failed, &ran), absent(Seen::New));
    assert_eq!(compared("", &failed), absent(Seen::Neither));
    let found = compare(&[of(&ran), of(&failed)], &[]);
    assert!(found.code_objects.is_empty());
    let cell = found.kernels[0].runs.get(1).unwrap();
    assert_eq!((cell.launches, cell.failed, cell.ran), (2, 2, 0));
}

#[test]
fn a_kernel_without_a_name_is_never_said_to_be_new() {
    let nameless = launches(1, 100, 1, &[5]).replace("\"kernel\":1", "\"function\":\"0x55\"");
    let found = compare(&[run("A", std::slice::from_ref(&nameless)), run("B", &[nameless])], &[]);
    assert_eq!(found.kernels.len(), 2, "the same handle of two runs is not the same kernel");
    for row in &found.kernels {
        let change = row.versus.get(0).unwrap();
        assert_eq!((change.presence.evidence, &change.counterpart), (Evidence::Unresolved, &None));
    }
}

#[test]
fn what_stands_in_a_kernels_place_is_inferred_by_its_problem_then_by_its_family_and_launches() {
    let small = "Cijk_Alik_Bljk_HHS_BH_MT32x32x8_SN_GSU1_ISA1100_KLA";
    let large = "Cijk_Alik_Bljk_HHS_BH_MT128x64x8_SN_GSU4_ISA1100_KLA";
    let other = "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_GSU1_ISA1100_KLA";
    let (old, new) = ("_Z13mul_mat_vec_qv", "_Z16mul_mat_vec_q_v2v");
    let a = [kernel(1, small), kernel(2, old), launches(1, 10, 1, &[5]), launches(2, 20, 4, &[5, 5])];
    let b = |grid| {
        let kernels = [kernel(1, large), kernel(2, new), kernel(3, other)];
        [
            kernels.concat(),
            launches(1, 10, 1, &[5, 5]),
            launches(2, 20, grid, &[5, 5]),
            launches(3, 30, 1, &[5]),
        ]
    };
    let found = compare(&[run("A", &a), run("B", &b(4))], &[]);
    let instead =
        |found: &Comparison, name: &str| change(found, name).counterpart.clone().map(|c| (c.name, c.rule));
    let (name, rule) = instead(&found, small).unwrap();
    assert_eq!((name.as_str(), rule), (large, "same problem"));
    assert_eq!(instead(&found, large).unwrap().0, small);
    assert_eq!(instead(&found, other), None, "other types, and no launches like these");
    let family = |name| rocshim_trace::family(name, None).map(|family| family.name);
    if family(old) == family(new) && family(old).is_some() {
        assert_eq!(instead(&found, old).unwrap().0, new);
        // With another grid the place differs.
        assert_eq!(instead(&compare(&[run("A", &a), run("B", &b(8))], &[]), old), None);
    }
}

#[test]
fn kernels_that_are_alike_are_paired_in_the_order_of_their_first_launches() {
    let [a, b] =
        [["_Z9rope_normILi1EEvv", "_Z9rope_normILi2EEvv"], ["_Z9rope_normILi3EEvv", "_Z9rope_normILi4EEvv"]]
            .map(|[first, second]| {
                [kernel(1, second), kernel(2, first), launches(2, 10, 1, &[5]), launches(1, 20, 1, &[5])]
            });
    let found = compare(&[run("A", &a), run("B", &b)], &[]);
    let found = change(&found, "_Z9rope_normILi2EEvv").counterpart.clone().unwrap();
    assert_eq!(found.name, "_Z9rope_normILi4EEvv");
    assert_eq!(found.rule, "same order");
}

#[test]
fn a_product_that_took_another_kernel_or_solution_is_a_change() {
    let kernels = || kernel(1, "one") + &kernel(2, "two");
    let a = || {
        run("A", &[kernels(), gemm(10, 4, -1, 1), gemm(20, 8, 5, 1), gemm(30, 9, -1, 1), gemm(40, 10, -1, 1)])
    };
    let b = [kernels(), gemm(10, 4, -1, 1), gemm(20, 8, 6, 1), gemm(30, 9, -1, 2), gemm(40, 11, -1, 1)];
    let found = compare(&[a(), run("B", &b)], &[]);
    let of = |found: &Comparison, m: i64| {
        let row = found.gemms.iter().find(|row| row.problem.m == Some(m)).unwrap();
        let change = row.versus.get(0).unwrap();
        (change.presence.seen, change.chosen.changed, change.kernels.changed, change.kernels.evidence)
    };
    let confirmed = CONFIRMED;
    assert_eq!(of(&found, 4), (Seen::Both, false, false, confirmed));
    assert_eq!(of(&found, 8), (Seen::Both, true, false, confirmed));
    assert_eq!(of(&found, 9), (Seen::Both, false, true, confirmed));
    assert_eq!(of(&found, 10), (Seen::Gone, false, false, confirmed));
    assert_eq!(of(&found, 11).0, Seen::New);
    let chosen =
        &found.gemms.iter().find(|row| row.problem.m == Some(8)).unwrap().runs.get(1).unwrap().chosen;
    assert_eq!(chosen.iter().collect::<Vec<_>>(), ["solution 6"]);
    // With losses, what makes the difference may be among them.
    let found = compare(&[a(), run("B", &[b.concat(), GAP.into()])], &[]);
    assert_eq!(of(&found, 9), (Seen::Both, false, true, Evidence::Limited));
    let gone = found.gemms.iter().find(|row| row.problem.m == Some(10)).unwrap().versus.get(0).unwrap();
    assert_eq!((gone.presence.seen, gone.presence.evidence), (Seen::Gone, Evidence::Limited));
}

#[test]
fn a_product_is_not_absent_for_certain_where_its_function_was_not_hooked() {
    let a = || run("A", &[kernel(1, "one"), gemm(10, 4, -1, 1)]);
    let presence_of = |other: ComparedRun| {
        let found = compare(&[a(), other], &[]);
        found.gemms[0].versus.get(0).unwrap().presence.clone()
    };
    assert_eq!(presence_of(run("B", &[])).evidence, CONFIRMED_ABSENT);
    let mut older = run("B", &[]);
    older.summary.functions.retain(|row| row.function != "rocblas_gemm_ex");
    let presence = presence_of(older);
    assert_eq!(presence.evidence, Evidence::Limited);
    assert_eq!(presence.why.as_deref(), Some("the shim that wrote the trace did not hook rocblas_gemm_ex"));
}

#[test]
fn a_convolution_that_took_another_solver_is_a_change() {
    let found = compare(
        &[run("A", &[conv(1, 91, "GemmFwdRest")]), run("B", &[conv(1, 85, "ConvDirectNaiveConvFwd")])],
        &[],
    );
    let change = found.convolutions[0].versus.get(0).unwrap();
    assert!(change.chosen.changed && !change.kernels.changed);
    // The runs launched nothing that was seen: what was requested is confirmed, what was launched
    // is not.
    assert_eq!((change.chosen.evidence, change.kernels.evidence), (CONFIRMED, Evidence::Unresolved));
    assert_eq!(found.functions.len(), 0, "both called the same functions");
}

#[test]
fn code_objects_and_functions_that_one_side_used_are_listed() {
    let object = |id: u32, ordinal: u32| {
        format!(
            r#"{{"type":"code_object","id":{id},"source":"fat_binary","path":"/opt/libggml-hip.so","ordinal":{ordinal},"offset":{ordinal},"bytes":9,"targets":[]}}"#
        ) + "\n"
    };
    let placed = |id: u32, name: &str, object: u32| {
        kernel(id, name).replace('}', &format!(",\"code_object\":{object}}}"))
    };
    let objects = || object(1, 30) + &object(2, 31) + &placed(1, "x", 1) + &placed(2, "y", 2);
    let a = run("A", &[objects(), launches(1, 10, 1, &[5]), gemm(20, 4, -1, 1)]);
    let b = run("B", &[objects(), launches(1, 10, 1, &[5]), launches(2, 20, 1, &[5])]);
    let found = compare(&[a, b], &[]);
    let [object] = &found.code_objects[..] else { panic!("{:?}", found.code_objects) };
    assert_eq!(
        (object.object.as_str(), object.runs.get(0), object.runs.get(1)),
        ("libggml-hip.so bundle 31", Some(&0), Some(&1))
    );
    assert_eq!(object.versus.get(0).unwrap().seen, Seen::New);
    let [function] = &found.functions[..] else { panic!("{:?}", found.functions) };
    let presence = function.versus.get(0).unwrap();
    assert_eq!((function.function.as_str(), presence.seen), ("rocblas_gemm_ex", Seen::Gone));
    assert_eq!(presence.evidence, CONFIRMED_ABSENT);
}

#[test]
fn a_function_whose_address_was_asked_for_in_a_killed_process_is_not_said_to_be_called() {
    let hook = r#"{"type":"hook","id":3,"name":"hipGetDevice","of":"libamdhip64.so","point":"dlsym","state":"bound","library":1}"#;
    let armed = hook.replace("dlsym", "preload").replace("bound", "armed").replace(",\"library\":1", "");
    let found = compare(&[ended("A", &format!("{hook}\n"), End::Leftover), run("B", &[armed + "\n"])], &[]);
    assert_eq!(found.functions.len(), 0, "it was not called, as far as is known");
    let called = hook.replace("dlsym", "preload");
    let found = compare(&[ended("A", &format!("{hook}\n"), End::Leftover), run("B", &[called + "\n"])], &[]);
    let [function] = &found.functions[..] else { panic!("{:?}", found.functions) };
    let presence = function.versus.get(0).unwrap();
    assert_eq!((presence.seen, presence.evidence), (Seen::New, Evidence::Limited));
    assert!(presence.why.as_ref().unwrap().starts_with("its calls were not counted"), "{presence:?}");
}

#[test]
fn the_first_of_three_sides_is_the_baseline_of_both_others() {
    let [a, b, c] = ["A", "B", "C"].map(|label| {
        let mine = if label == "C" { kernel(2, "c") + &launches(2, 50, 1, &[5]) } else { String::new() };
        run(label, &[kernel(1, "k"), launches(1, 10, 1, &vec![5; if label == "A" { 4 } else { 6 }]), mine])
    });
    let found = compare(&[a, b, c], &[]);
    let k = found.kernels.iter().find(|row| row.name == "k").unwrap();
    let launches: Vec<_> =
        k.versus.iter().flatten().map(|change| (change.launches, change.presence.seen)).collect();
    assert_eq!(launches, [(2, Seen::Both), (2, Seen::Both)]);
    let c = found.kernels.iter().find(|row| row.name == "c").unwrap();
    let seen: Vec<_> = c.versus.iter().flatten().map(|change| change.presence.seen).collect();
    assert_eq!(seen, [Seen::Neither, Seen::New]);
    let json = serde_json::to_value(&found).unwrap();
    let row = &json["kernels"][0];
    assert_eq!(
        (&row["sides"]["A"]["launches"], &row["versus"]["C"]["launches_ratio"]),
        (&4.into(), &1.5.into())
    );
}

#[test]
fn conditions_are_held_against_every_side_but_the_baseline() {
    let kernels = || kernel(1, "k") + &kernel(2, "slow");
    let a = || run("A", &[kernels(), launches(1, 10, 1, &[10; 10]), gemm(90, 4, -1, 1)]);
    let b = [kernels(), launches(1, 10, 1, &[10; 11]), launches(2, 50, 1, &[30]), gemm(90, 4, -1, 2)];
    let judged = |text: &str, other: ComparedRun| {
        let found = compare(&[a(), other], &[Condition::parse(text).unwrap()]);
        let [found] = <[Checked; 1]>::try_from(found.conditions).unwrap();
        (found.holds, found.value, found.ratio, found.evidence)
    };
    let on = |text: &str| judged(text, run("B", &b));
    let confirmed = CONFIRMED;
    assert_eq!(on("new_kernels > 0"), (true, Some(1.0), None, confirmed));
    assert_eq!(on("gone_kernels > 0"), (false, Some(0.0), None, confirmed));
    assert_eq!(on("solution_changes > 0"), (true, Some(1.0), None, confirmed));
    // 11 + 1 + 1 launches to 10 + 1.
    assert_eq!(on("launches > 1.2x"), (false, Some(13.0), Some(13.0 / 11.0), confirmed));
    // 110 + 30 + 5 ns to 100 + 5.
    assert_eq!(on("total_ns >= 1.3x"), (true, Some(145.0), Some(145.0 / 105.0), confirmed));
    assert_eq!(on("kernel('sl*').launches == 2"), (true, Some(2.0), None, confirmed));
    assert_eq!(
        on("kernel('sl*').launches > 9x"),
        (true, Some(2.0), None, confirmed),
        "of none it is infinitely much"
    );
    assert_eq!(on("kernel('k').median_ns > 1x"), (false, Some(10.0), Some(1.0), confirmed));
    assert_eq!(on("kernel('none').median_ns > 0"), (false, None, None, Evidence::Unresolved));
    assert_eq!(on("library('librocblas').calls > 1x"), (false, Some(1.0), Some(1.0), confirmed));
    assert_eq!(on("lost > 0"), (false, Some(0.0), None, confirmed));
    // Out of which library the products' kernels came is not known: no fallback was seen, and that
    // is no proof.
    assert_eq!(on("fallback_launches > 0"), (false, Some(0.0), None, Evidence::Unresolved));
    assert_eq!(on("library('libnone').calls > 0").3, Evidence::Limited, "it was not hooked");
    let lossy = judged("lost > 0", run("B", &[b.concat(), GAP.into()]));
    assert_eq!(lossy, (true, Some(9.0), None, Evidence::Limited));
    assert_eq!(
        judged("gone_kernels > 0", run("B", &[GAP.into()])),
        (true, Some(1.0), None, Evidence::Limited)
    );
}

/// The runtime's reports of the launches from `t` on, one for each duration.
fn reports(t: u64, lengths: &[u64]) -> String {
    let mut lines = String::from(concat!(
        r#"{"type":"gpu_time","t":0,"state":"on","library":1,"apis":449,"release":"7.2"}"#,
        "\n",
        r#"{"type":"gpu_kernel","id":1,"name":"k"}"#,
        "\n",
    ));
    for (at, busy) in lengths.iter().enumerate() {
        let (id, begin) = (t + at as u64, 1_000 * (at as u64 + 1));
        lines += &format!(
            r#"{{"type":"gpu","tid":7,"id":{},"t":8000,"dur":0,"hook":0,"op":"dispatch","kernel":1,"of":[7,{id}],"begin":{begin},"busy":{busy}}}"#,
            5_000 + id
        );
        lines.push('\n');
    }
    lines
}

#[test]
fn times_on_the_gpu_are_tested_like_those_of_calls_and_are_unresolved_without_reports() {
    let with = |label: &str, busy: u64| {
        let lines = [reports(10, &[busy; 12]), kernel(1, "k"), launches(1, 10, 1, &[5; 12])];
        run(label, &lines)
    };
    let without = run("c", &[kernel(1, "k"), launches(1, 10, 1, &[5; 12])]);
    let conditions = ["slower_kernels_gpu > 0", "slower_kernels > 0", "gpu_ns > 9"]
        .map(|text| Condition::parse(text).unwrap());
    let all = compare(&[with("a", 100), with("b", 200), without], &conditions);
    let change = |other: usize| all.kernels[0].versus.get(other).expect("a run").clone();
    assert_eq!((change(0).gpu.speed, change(0).times.speed), (Speed::Slower, Speed::NoDifference));
    assert_eq!(change(1).gpu.speed, Speed::NotTimed);
    let cells: Vec<_> =
        all.kernels[0].runs.iter().flatten().map(|cell| (cell.gpu_calls, cell.gpu_total_ns)).collect();
    assert_eq!(cells, [(12, 1_200), (12, 2_400), (0, 0)]);
    let checked: Vec<_> = all
        .conditions
        .iter()
        .filter(|row| row.condition.contains("gpu"))
        .map(|row| (&*row.condition, &*row.run, row.holds, row.evidence))
        .collect();
    assert_eq!(
        checked,
        [
            ("slower_kernels_gpu > 0", "b", true, CONFIRMED),
            ("slower_kernels_gpu > 0", "c", false, Evidence::Unresolved),
            ("gpu_ns > 9", "b", true, CONFIRMED),
            ("gpu_ns > 9", "c", false, Evidence::Unresolved),
        ]
    );
}
