//! Sessions of small traces.

use super::*;
use rocshim_reader::{End, Reading, RecordVisitor};
use rocshim_trace::Gpu;

const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"5","rings":""}"#;
const DEFINITIONS: [&str; 3] = [
    r#"{"type":"hook","id":1,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}"#,
    r#"{"type":"code_object","id":5,"source":"fat_binary","path":"/opt/libx.so","ordinal":3}"#,
    r#"{"type":"kernel","id":2,"name":"k","code_object":5,"hook":1}"#,
];

/// Writes down what an analysis is called with.
#[derive(Default)]
struct Log(Vec<String>);

impl Analysis for Log {
    fn begin_process(&mut self, session: &Session) {
        self.0.push(format!("begin {:?}", session.process().id));
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let name = |id: FunctionId| session.function(id).name.to_string();
        let symbol = event.ids.symbol.map(|id| session.symbol(id).name.clone());
        let object = event.ids.code_object.and_then(|id| session.code_object(id).ordinal);
        self.0.push(format!("{:?} {symbol:?} {object:?}", event.ids.function.map(name)));
    }

    fn report(&mut self, _session: &Session, gpu: &Gpu, call: Option<CallKey>) {
        self.0.push(format!("report {} {call:?}", gpu.begin));
    }

    fn end_process(&mut self, session: &Session, reading: &Reading) {
        let process = session.process();
        self.0.push(format!("end {:?} {} {:?}", process.id, process.events, reading.end));
    }
}

fn launch(id: u64, rest: &str) -> String {
    format!(r#"{{"type":"launch","tid":7,"id":{id},"t":{id},"dur":1,{rest},"block":[1,1,1]}}"#)
}

fn segment(number: u32) -> String {
    HEADER.replace("\"rings\":\"\"", &format!("\"rings\":\"\",\"part\":{number}"))
}

fn log(session: Session, files: &[(&[&str], End)]) -> Vec<String> {
    let mut log = Log::default();
    let mut spine = Spine::new(session, vec![&mut log]);
    for (lines, end) in files {
        spine.begin_file("t.ndjson");
        for line in *lines {
            spine.visit(&rocshim_trace::parse_line(line.as_bytes()).expect(line));
        }
        spine.end_file(&Reading { end: *end, notes: Vec::new() });
    }
    spine.finish();
    log.0
}

#[test]
fn a_launch_is_resolved_to_its_hook_kernel_and_code_object() {
    let (known, unknown) = (launch(1, r#""kernel":2"#), launch(2, r#""hook":9,"function":"0xab""#));
    let [hook, object, kernel] = DEFINITIONS;
    let lines = [HEADER, hook, object, kernel, &known, &unknown];
    let expected = [
        "begin ProcessId(0)",
        r#"Some("hipLaunchKernel") Some("k") Some(3)"#,
        r#"None Some("unknown kernel 0xab of process 7") None"#,
        "end ProcessId(0) 2 Cut",
    ];
    assert_eq!(log(Session::default(), &[(&lines, End::Cut)]), expected);
}

#[test]
fn segments_are_one_process_and_another_header_is_another_one() {
    let (one, two, three) = (segment(1), segment(2), segment(1));
    let event = launch(1, r#""hook":9,"function":"0xab""#);
    let files: [(&[&str], End); 3] =
        [(&[&one, &event], End::Rotated), (&[&two, &event], End::Rotated), (&[&three, &event], End::Footer)];
    let event = r#"None Some("unknown kernel 0xab of process 7") None"#;
    let expected = [
        "begin ProcessId(0)",
        event,
        event,
        "end ProcessId(0) 2 Rotated",
        "begin ProcessId(1)",
        event,
        "end ProcessId(1) 1 Footer",
    ];
    assert_eq!(log(Session::default(), &files), expected);
}

#[test]
fn events_out_of_scope_reach_no_analysis_and_disarm_their_hooks() {
    let windows = [((7, 0, "5".to_string()), (1, 3)), ((7, 0, "5".to_string()), (2, 4))];
    let session = Session::scoped(Scope::new("decode", windows.into_iter()));
    let [hook, object, kernel] = DEFINITIONS;
    let events: Vec<String> = [0, 1, 3, 4].map(|id| launch(id, r#""kernel":2"#)).into();
    let mut lines = vec![HEADER, hook, object, kernel];
    lines.extend(events.iter().map(String::as_str));
    // They return at 1, 2, 4 and 5: after 1 and up to 4 are two.
    let logged = log(session, &[(&lines, End::Footer)]);
    assert_eq!(logged.last().map(String::as_str), Some("end ProcessId(0) 2 Footer"));
    assert_eq!(logged.len(), 4);
}

#[test]
fn a_report_is_in_scope_where_its_launch_is_whenever_it_comes() {
    let windows = [((7, 0, "5".to_string()), (1, 3))];
    let session = Session::scoped(Scope::new("decode", windows.into_iter()));
    let [hook, object, kernel] = DEFINITIONS;
    let report = |of: &str, begin: u64| {
        format!(
            r#"{{"type":"gpu","tid":9,"id":{begin},"t":90,"dur":0,"hook":1,"op":"dispatch","begin":{begin},{of}"place":0}}"#
        )
    };
    let of = |id: u64, begin: u64| report(&format!(r#""of":[7,{id}],"#), begin);
    let launches = [1, 2, 3].map(|id| launch(id, r#""kernel":2"#)); // they return at 2, 3 and 4
    let lines: Vec<String> = [
        &[of(2, 50), of(3, 51)][..], // before their launches
        &launches,
        &[of(1, 52), of(3, 53)],                    // long after
        &[report("", 3), report("", 60), of(9, 2)], // no launch is known: by their begin
    ]
    .concat();
    let all: Vec<&str> =
        [HEADER, hook, object, kernel].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let logged = log(session, &[(&all, End::Footer)]);
    let reports: Vec<&str> =
        logged.iter().map(String::as_str).filter(|line| line.starts_with("report")).collect();
    let expected = ["report 50 Some((7, 2))", "report 52 Some((7, 1))", "report 3 None", "report 2 None"];
    assert_eq!(reports, expected);
    assert_eq!(logged.last().map(String::as_str), Some("end ProcessId(0) 6 Footer"));
}
