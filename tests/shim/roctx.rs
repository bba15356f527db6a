//! roctx marks and ranges are in the trace, at their place among the launches.

use rocshim_tests::{Trace, Traced};
use rocshim_trace::Mark;

/// `ACTION [LEVEL] [0xVALUE] [TEXT]` of each mark, in order.
fn printed(trace: &Trace) -> Vec<String> {
    let mut marks: Vec<&Mark> = trace.marks().collect();
    marks.sort_by_key(|mark| mark.call.t);
    let word = |mark: &Mark| {
        let level = mark.level.map(|level| level.to_string());
        let value = (mark.value.0 != 0).then(|| format!("0x{:x}", mark.value.0));
        let text = mark.text.as_ref().map(|text| format!("{text:?}{}", if mark.cut { " cut" } else { "" }));
        [Some(mark.action.to_string()), level, value, text]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    };
    marks.into_iter().map(word).collect()
}

#[test]
fn marks_and_ranges_have_their_text_and_level_and_their_place_among_the_launches() {
    let trace = Traced::program("marks").with_shim().ok().trace();
    let (exact, cut) = ("x".repeat(432), "y".repeat(431));
    assert_eq!(
        printed(&trace),
        [
            "pop -1",
            "push 0 \"prefill\"",
            "push 1 \"layer 0: \\\"quoted\\\", \\n and a tab\\t\"",
            "pop 1",
            "pop 0",
            "mark \"\"",
            "mark",
            &format!("mark {exact:?}"),
            &format!("mark {cut:?} cut"),
            "mark \"not \u{fffd} UTF-8\"",
            "start 0x1 \"across threads\"",
            "stop 0x1",
        ]
    );
    let at = |action: &str, level| trace.marks().find(|m| m.action == action && m.level == level).unwrap();
    let launch = trace.launches().next().unwrap();
    assert!(at("push", Some(1)).call.t < launch.call.t && launch.call.t < at("pop", Some(1)).call.t);
    let failed: Vec<i32> = trace.marks().map(|mark| mark.call.status).filter(|status| *status != 0).collect();
    assert_eq!(failed, [-1], "only the pop without a push failed");
    let (start, stop) = (at("start", None), at("stop", None));
    assert_ne!(start.call.tid, stop.call.tid, "the range ends on another thread");
    assert!(trace.hooks().any(|hook| hook.name == "roctxRangePushA" && hook.state == "bound"));
}

#[test]
fn the_profiler_sdks_library_of_the_same_names_is_found_behind_rtld_local() {
    let trace = Traced::program("marks_local").with_shim().ok().trace();
    let (handles, others): (Vec<_>, Vec<_>) = printed(&trace)
        .into_iter()
        .partition(|mark| mark.starts_with("name_agent") || mark.starts_with("name_stream"));
    assert_eq!(
        others,
        [
            "push 0 \"in a plug-in\"",
            "pause",
            "pause 0xd",
            "resume 0xc",
            "name_thread \"worker\"",
            "name_device \"first\"",
            "pop 0",
        ]
    );
    assert_eq!(handles.len(), 2);
    assert!(handles[0].starts_with("name_agent 0x") && handles[0].ends_with(" \"gpu\""), "{handles:?}");
    assert!(handles[1].starts_with("name_stream 0x") && handles[1].ends_with(" \"copy\""), "{handles:?}");
    let failed: Vec<i32> = trace.marks().map(|mark| mark.call.status).filter(|status| *status != 0).collect();
    assert_eq!(failed, [-13], "pausing thread 13");
    let bound: Vec<u32> =
        trace.hooks().filter(|hook| hook.of == "libroctx64.so").filter_map(|hook| hook.library).collect();
    assert!(!bound.is_empty());
    let path = |id: u32| {
        let library = trace.records.iter().find_map(|record| match record {
            rocshim_trace::Record::Library(library) if library.id == id => Some(library.path.clone()),
            _ => None,
        });
        library.unwrap_or_default()
    };
    assert!(bound.iter().all(|id| path(*id).ends_with("librocprofiler-sdk-roctx.so.1")));
}
