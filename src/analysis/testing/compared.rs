//! Sides of a comparison, each from the lines of a small trace.

use super::read_records;
use crate::{ComparedRun, Session, SummaryBuilder};
use rocshim_reader::End;

pub const BEGIN: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"library","id":1,"path":"/opt/rocm/lib/libamdhip64.so.6"}
{"type":"library","id":2,"path":"/opt/rocm/lib/librocblas.so.4"}
{"type":"interception","point":"dlsym","state":"open"}
{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound","library":1}
{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"armed"}
{"type":"hook","id":2,"name":"miopenConvolutionForwardImmediate","of":"libMIOpen.so","point":"preload","state":"armed"}
"#;
pub const END: &str = "{\"type\":\"footer\",\"t\":9000,\"end\":\"exit\"}\n";

/// A run whose trace holds these lines between its beginning and its end.
pub fn run(label: &str, lines: &[String]) -> ComparedRun {
    ended(label, &lines.concat(), End::Footer)
}

pub fn ended(label: &str, lines: &str, end: End) -> ComparedRun {
    let mut builder = SummaryBuilder::default();
    let is_event = |line: &&str| line.contains("\"dur\":") && !line.contains("\"gap\"");
    let events = lines.lines().filter(is_event).count();
    let account = format!(r#"{{"type":"thread","tid":7,"produced":{events},"written":{events},"lost":0}}"#);
    let footer = if end == End::Footer { format!("{account}\n{END}") } else { String::new() };
    let text = format!("{BEGIN}{lines}{footer}");
    let records = text.lines().map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line));
    let session = read_records(Session::default(), records, end, &mut [&mut builder]);
    ComparedRun { label: label.into(), path: format!("{label}.ndjson"), summary: builder.finish(&session) }
}

pub fn kernel(id: u32, name: &str) -> String {
    format!("{{\"type\":\"kernel\",\"id\":{id},\"name\":\"{name}\"}}\n")
}

/// Launches of a kernel at `t`, one for each length.
pub fn launches(kernel: u32, t: u64, grid: u32, lengths: &[u64]) -> String {
    let line = |(at, dur): (usize, &u64)| {
        let t = t + at as u64;
        format!(
            r#"{{"type":"launch","tid":7,"id":{t},"t":{t},"dur":{dur},"hook":0,"kernel":{kernel},"grid":[{grid},1,1],"block":[64,1,1]}}"#
        ) + "\n"
    };
    lengths.iter().enumerate().map(line).collect()
}

/// A product that launched `kernel` once.
pub fn gemm(id: u64, m: u32, solution: i32, kernel: u32) -> String {
    let matrix = r#"{"ptr":"0x1","type":"f16_r","ld":8}"#;
    let algo = if solution < 0 { "standard" } else { "solution_index" };
    format!(
        r#"{{"type":"launch","tid":7,"id":{},"parent":{id},"t":{id},"dur":5,"hook":0,"kernel":{kernel},"grid":[1,1,1],"block":[64,1,1]}}
{{"type":"gemm","tid":7,"id":{id},"t":{id},"dur":100,"hook":1,"form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":{m},"n":5,"k":6,"batch":1,"a":{matrix},"b":{matrix},"c":{matrix},"d":{matrix},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"{algo}","solution":{solution}}}
"#,
        id + 1
    )
}

pub fn conv(id: u64, solution: u64, solver: &str) -> String {
    format!(
        r#"{{"type":"conv","tid":7,"id":{id},"t":{id},"dur":9,"hook":2,"action":"immediate","direction":"forward","pads":[0,0],"strides":[1,1],"dilations":[1,1],"groups":1,"mode":"convolution","solution_id":{solution},"solver":"{solver}"}}
"#
    )
}
