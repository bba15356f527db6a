//! Summaries of small traces.

use super::{Session, Spine, Summary, SummaryBuilder, evidence::Evidence};
use crate::evidence::made::CONFIRMED;
use crate::testing::summary_of_text;
use rocshim_reader::{End, Reading, RecordVisitor};

const BEGIN: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"armed"}
{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"armed"}
{"type":"hook","id":2,"name":"hipblasGemmEx","of":"libhipblas.so","point":"preload","state":"armed"}
{"type":"hook","id":3,"name":"hipModuleGetFunction","of":"libamdhip64.so","point":"preload","state":"armed"}
"#;

fn gemm(id: u64, parent: Option<u64>, hook: u16) -> String {
    let parent = parent.map(|parent| format!(r#""parent":{parent},"#)).unwrap_or_default();
    let matrix = r#"{"ptr":"0x1","type":"f16_r","ld":8}"#;
    format!(
        r#"{{"type":"gemm","tid":7,"id":{id},{parent}"t":10,"dur":100,"hook":{hook},"form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":4,"n":5,"k":6,"batch":1,"a":{matrix},"b":{matrix},"c":{matrix},"d":{matrix},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":-1}}
"#
    )
}

fn launch(id: u64, parent: Option<u64>) -> String {
    let parent = parent.map(|parent| format!(r#""parent":{parent},"#)).unwrap_or_default();
    format!(
        r#"{{"type":"launch","tid":7,"id":{id},{parent}"t":10,"dur":5,"hook":0,"kernel":1,"grid":[1,1,1],"block":[64,1,1]}}
"#
    )
}

fn summary(lines: &[String], end: End) -> Summary {
    let kernel = "{\"type\":\"kernel\",\"id\":1,\"name\":\"k\"}\n";
    let footer = if end == End::Footer { "{\"type\":\"footer\",\"t\":9,\"end\":\"exit\"}\n" } else { "" };
    let lines = lines.concat();
    // Its accounts add up, unless a test has others in mind.
    let is_event =
        |line: &&str| rocshim_trace::parse_line(line.as_bytes()).is_ok_and(|it| it.call().is_some());
    let events = lines.lines().filter(is_event).count();
    let account = match end == End::Footer && !lines.contains(r#""type":"thread""#) {
        true => account(events as u64),
        false => String::new(),
    };
    summary_of_text(&format!("{BEGIN}{kernel}{lines}{account}{footer}"), end)
}

/// What thread 7 says that it wrote.
fn account(written: u64) -> String {
    format!(r#"{{"type":"thread","tid":7,"produced":{written},"written":{written},"lost":0}}"#) + "\n"
}

#[test]
fn a_product_made_through_another_library_counts_once() {
    // hipblasGemmEx (1) calls rocblas_gemm_ex (2), which launches (3).
    let found =
        summary(&[launch(3, Some(2)), gemm(2, Some(1), 1), gemm(1, None, 2), launch(4, None)], End::Footer);
    assert_eq!((found.totals.gemms, found.totals.gemm_calls, found.totals.launches), (1, 2, 2));
    for row in &found.gemms {
        assert_eq!((row.counts.calls, row.counts.kernels[0].launches), (1, 1), "{}", row.function);
        assert_eq!(row.counts.evidence, CONFIRMED);
    }
    assert_eq!(found.kernels[0].launches, 2);
}

#[test]
fn a_call_without_a_launch_inside_is_unresolved_and_with_losses_limited() {
    let found = summary(&[gemm(1, None, 1)], End::Footer);
    assert_eq!(found.gemms[0].counts.evidence, Evidence::Unresolved);
    let gap =
        "{\"type\":\"gap\",\"tid\":7,\"t\":3,\"dur\":4,\"lost\":9,\"reason\":\"ring_full\"}\n".to_string();
    let found = summary(&[gap, gemm(1, None, 1)], End::Footer);
    assert_eq!(found.gemms[0].counts.why.as_deref(), Some("9 events were lost"));
    assert_eq!((found.totals.lost, found.losses[0].first_ns, found.losses[0].last_ns), (9, 3, 7));
}

#[test]
fn a_kernel_of_two_processes_has_its_first_and_last_launch_on_one_scale() {
    let kernel = "{\"type\":\"kernel\",\"id\":1,\"name\":\"k\"}\n";
    let process = |pid: u32, epoch: &str| {
        let begin = BEGIN.replace("\"pid\":7", &format!("\"pid\":{pid}"));
        begin.replace("\"epoch\":\"0\"", &format!("\"epoch\":\"{epoch}\"")) + kernel + &launch(1, None)
    };
    let found = summary_of_text(&(process(8, "7000") + &process(9, "1000")), End::Cut);
    // Each launches 10 ns after its epoch for 5 ns: at 7010 to 7015 and at 1010 to 1015, in ns
    // since 1000.
    assert_eq!(found.epoch.as_deref(), Some("1000"));
    let row = &found.kernels[0];
    assert_eq!((row.launches, row.first_ns, row.last_ns), (2, Some(10), Some(6015)));
}

#[test]
fn calls_that_make_no_event_are_taken_from_the_footer() {
    let found = summary(&[launch(1, None)], End::Footer);
    let look_up =
        |found: &Summary| found.functions.iter().find(|row| row.function == "hipModuleGetFunction").cloned();
    assert_eq!(look_up(&found).map(|row| row.calls), Some(0));

    let footer = r#"{"type":"footer","t":9,"end":"exit","calls":[[3,19]]}"#;
    let found = summary_of_text(&format!("{BEGIN}{footer}"), End::Footer);
    assert_eq!(look_up(&found).map(|row| row.calls), Some(19));
}

#[test]
fn a_thread_account_that_does_not_fit_is_noted() {
    let found = summary(&[launch(1, None), account(2)], End::Footer);
    assert_eq!(
        found.processes[0].notes,
        ["limited: its threads say that they wrote 2 events, and 1 were read"]
    );
    // What is missing there may have been a product, of a library that is loaded.
    let product = |written: u64| {
        let library =
            r#"{"type":"library","id":90,"path":"/opt/rocm/lib/librocblas.so.4"}"#.to_string() + "\n";
        let found = summary(&[library, launch(1, None), account(written)], End::Footer);
        let row =
            found.libraries.into_iter().find(|row| row.library == "librocblas.so").expect("it is hooked");
        (row.evidence, row.why)
    };
    let mismatch = "; its threads say that they wrote 2 events, and 1 were read";
    assert!(!product(1).1.contains("its threads say"));
    let (evidence, why) = product(2);
    assert!(evidence == Evidence::Limited && why.ends_with(mismatch), "{why}");
}

#[test]
fn a_call_in_flight_is_named() {
    let event = gemm(1, None, 1).trim().to_string();
    let found = summary(&[format!("{{\"type\":\"in_flight\",\"event\":{event}}}\n")], End::Leftover);
    let row = &found.in_flight[0];
    assert_eq!((row.pid, row.function.as_str(), row.what.as_str()), (7, "rocblas_gemm_ex", "TN 4x5x6 f16_r"));
    assert_eq!((found.totals.gemm_calls, found.totals.in_flight), (0, 1));
    assert_eq!(found.processes[0].end, "killed");
}

#[test]
fn a_graph_launch_executes_its_kernels_and_a_captured_launch_executes_nothing() {
    let lines = |complete: &str| {
        [
            r#"{"type":"capture","id":5,"t":1,"tid":7,"stream":5,"mode":"global"}"#.to_string(),
            launch(2, Some(1)).trim().replace('}', r#","capture":5}"#),
            gemm(1, None, 1).trim().to_string(),
            format!(r#"{{"type":"graph","id":6,"capture":5,{complete}}}"#),
            r#"{"type":"graph_launch","tid":7,"id":3,"t":10,"dur":50,"hook":0,"graph":6,"exec":"0xe"}"#
                .to_string(),
            r#"{"type":"graph_launch","tid":7,"id":4,"t":70,"dur":50,"hook":0,"graph":6,"exec":"0xe"}"#
                .to_string(),
            launch(5, None).trim().to_string(),
        ]
        .map(|line| line + "\n")
    };
    let listed = r#""complete":true,"kernels":[{"kernel":1,"grid":[2,1,1],"block":[64,1,1]},{"kernel":1,"grid":[2,1,1],"block":[64,1,1]}]"#;
    let found = summary(&lines(listed), End::Footer);
    assert_eq!((found.totals.launches, found.totals.by_graphs, found.totals.captured), (5, 4, 1));
    assert_eq!((found.kernels[0].launches, found.kernels[0].shape.grid), (5, [2, 1, 1]));
    assert_eq!(found.processes[0].launches, 5);
    let inside = &found.gemms[0].counts;
    assert_eq!((inside.kernels[0].launches, inside.kernels[0].captured), (0, 1));
    assert_eq!(inside.evidence, CONFIRMED);
    assert_eq!((found.graphs[0].executed, found.graphs[0].evidence), (4, CONFIRMED));

    let found = summary(&lines(r#""complete":false,"why":"not listed","kernels":[]"#), End::Footer);
    assert_eq!((found.totals.launches, found.totals.by_graphs), (3, 2), "what its capture recorded");
    assert_eq!(found.graphs[0].evidence, Evidence::Inferred);
}

#[test]
fn what_a_search_launches_is_a_trial_and_what_runs_after_it_is_not() {
    let conv = |id: u64, hook: u16, action: &str| {
        format!(
            r#"{{"type":"conv","tid":7,"id":{id},"t":1,"dur":9,"hook":{hook},"action":"{action}","direction":"forward","pads":[],"strides":[],"dilations":[],"groups":1,"mode":"convolution"}}
"#
        )
    };
    let hook = |id: u16, name: &str| {
        format!(
            r#"{{"type":"hook","id":{id},"name":"{name}","of":"libMIOpen.so","point":"preload","state":"armed"}}
"#
        )
    };
    let hooks = [hook(8, "miopenFindSolutions"), hook(9, "miopenRunSolution")].concat();
    // A search (1) tries a product (2, 3) and a kernel (4); a run (5) launches one; a second search
    // dies with one made.
    let lines = [
        hooks,
        launch(3, Some(2)),
        gemm(2, Some(1), 1),
        launch(4, Some(1)),
        conv(1, 8, "find_solutions"),
        launch(6, Some(5)),
        conv(5, 9, "run_solution"),
        gemm(7, None, 1),
        launch(9, Some(8)),
        format!(r#"{{"type":"in_flight","event":{}}}"#, conv(8, 8, "find_solutions").trim()) + "\n",
    ];
    let found = summary(&lines, End::Leftover);
    assert_eq!((found.totals.launches, found.totals.trials), (4, 3));
    assert_eq!((found.kernels[0].launches, found.kernels[0].trials), (4, 3));
    assert_eq!((found.gemms[0].counts.calls, found.gemms[0].counts.trials), (2, 1));
    let inside = |action: &str| {
        let row = found.convolutions.iter().find(|row| row.action == action).unwrap();
        (row.counts.kernels[0].launches, row.counts.kernels[0].trials)
    };
    assert_eq!([inside("find_solutions"), inside("run_solution")], [(2, 2), (1, 0)]);
}

/// Reads segments of a trace: (number, how it ends, the first that is kept).
fn in_parts(parts: &[(u32, &str, u32)]) -> Summary {
    let mut builder = SummaryBuilder::default();
    let mut spine = Spine::new(Session::default(), vec![&mut builder]);
    for (part, end, oldest) in parts {
        spine.begin_file(format!("t/prog-7.part-{part:04}.ndjson"));
        let header = BEGIN.replacen(
            "\"rings\":\"\"",
            &format!("\"rings\":\"\",\"part\":{part},\"oldest\":{oldest}"),
            1,
        );
        let kernel = "{\"type\":\"kernel\",\"id\":1,\"name\":\"k\"}\n";
        let lines = format!("{header}{kernel}{}", launch(u64::from(*part), None));
        let account = r#"{"type":"thread","tid":7,"produced":1,"written":1,"lost":0}"#;
        let footer = format!("{{\"type\":\"footer\",\"t\":9,\"end\":\"{end}\"}}");
        for line in lines.lines().chain([account, footer.as_str()]) {
            spine.visit(&rocshim_trace::parse_line(line.as_bytes()).expect(line));
        }
        let end = if *end == "rotated" { End::Rotated } else { End::Footer };
        spine.end_file(&Reading { end, notes: Vec::new() });
    }
    let session = spine.finish();
    builder.finish(&session)
}

#[test]
fn the_parts_of_a_trace_are_one_process_and_what_is_missing_is_reported() {
    let first = |found: &Summary| {
        let process = &found.processes[0];
        (process.parts, process.events, process.end.clone(), process.notes.clone())
    };
    let limited = |what: &str| vec![format!("limited: {what}")];
    let found = in_parts(&[(1, "rotated", 0), (2, "rotated", 0), (3, "exit", 0)]);
    assert_eq!((found.processes.len(), first(&found)), (1, (3, 3, "exit".into(), vec![])));
    let found = in_parts(&[(1, "rotated", 0), (3, "exit", 0)]);
    assert_eq!(first(&found), (2, 2, "exit".into(), limited("part 2 of the trace was not read")));
    let found = in_parts(&[(4, "exit", 0)]);
    assert_eq!(first(&found), (1, 1, "exit".into(), limited("parts 1 to 3 of the trace were not read")));
    let found = in_parts(&[(4, "rotated", 3), (5, "exit", 4)]);
    assert_eq!(first(&found), (2, 2, "exit".into(), vec![]), "what was removed is counted as lost");
    let found = in_parts(&[(1, "rotated", 0)]);
    assert_eq!(first(&found), (1, 1, "rotated".into(), vec![]));
    let absent = found.libraries.iter().find(|row| row.library.contains("rocblas")).unwrap();
    assert!(absent.why.ends_with("so far"), "{}", absent.why);
}
