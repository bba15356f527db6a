//! A small trace with everything that a timeline shows, and its rows.

use crate::{PhasesBuilder, Session, SummaryBuilder, TrackProcess as Process, TrackRow as Row, Tracks};
use rocshim_reader::{End, Reading};
use rocshim_trace::Record;

/// When process 7 began, in Unix ns.
pub const EPOCH: u64 = 1_000_000_000_000_000_000;

fn header(host: &str, epoch: u64) -> String {
    format!(
        r#"{{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog","-n"],"env":{{}},"host":"{host}","clock":"tsc","tick_hz":1,"epoch":"{epoch}","rings":""}}
{{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"bound"}}
"#
    )
}

/// A range around a product, in which a kernel is launched, and a copy; a graph that is launched
/// twice; three events lost; recording stopped for a while; a wait that never ended.
fn first() -> String {
    let matrix = r#"{"ptr":"0x1","type":"f16_r","ld":8}"#;
    let rest = format!(
        r#"{{"type":"hook","id":2,"name":"hipMemcpyAsync","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":3,"name":"roctxRangePushA","of":"libroctx64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":4,"name":"roctxRangePop","of":"libroctx64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":5,"name":"hipGraphInstantiate","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":6,"name":"hipGraphLaunch","of":"libamdhip64.so","point":"preload","state":"unbound"}}
{{"type":"hook","id":7,"name":"hipDeviceSynchronize","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"code_object","id":50,"source":"fat_binary","path":"/opt/libggml-hip.so","ordinal":30}}
{{"type":"kernel","id":1,"name":"_Z1","demangled":"void mul_mat_vec_q<(ggml_type)2, 1>(void const*)","code_object":50,"target":"gfx1100","args":[{{"offset":0,"size":8,"kind":"global_buffer","name":"x"}},{{"offset":8,"size":4,"kind":"by_value"}},{{"offset":12,"size":4,"kind":"by_value"}},{{"offset":16,"size":4,"kind":"by_value"}}]}}
{{"type":"mark","tid":7,"id":1,"t":10,"dur":2,"hook":3,"action":"push","text":"step \"1\"","level":0}}
{{"type":"launch","tid":7,"id":3,"parent":2,"t":110,"dur":5,"hook":0,"kernel":1,"grid":[4,2],"block":[32],"args":["0x7f00",-3,0.5,"00ff"]}}
{{"type":"gemm","tid":7,"id":2,"t":100,"dur":50,"hook":1,"status":5,"form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":4,"n":5,"k":6,"batch":1,"a":{matrix},"b":{matrix},"c":{matrix},"d":{matrix},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":-1}}
{{"type":"copy","tid":7,"id":4,"t":160,"dur":10,"hook":2,"action":"copy","kind":"d2h","bytes":64,"dst":"0xffffffffffffff00","src":"0x20","stream":3,"async":true}}
{{"type":"mark","tid":7,"id":5,"t":200,"dur":3,"hook":4,"action":"pop","level":0}}
{{"type":"graph","id":9,"complete":true,"kernels":[{{"kernel":1,"block":[32]}}]}}
{{"type":"graph_call","tid":7,"id":6,"t":250,"dur":10,"hook":5,"action":"instantiate","graph":9}}
{{"type":"graph_launch","tid":7,"id":7,"t":300,"dur":10,"hook":6,"graph":9}}
{{"type":"graph_launch","tid":7,"id":8,"t":320,"dur":10,"hook":6,"graph":9}}
{{"type":"gap","tid":7,"t":400,"dur":20,"lost":3,"reason":"ring_full"}}
{{"type":"recording","t":500,"state":"stopped"}}
{{"type":"recording","t":600,"state":"started"}}
{{"type":"in_flight","event":{{"type":"sync","tid":8,"id":1,"t":700,"dur":0,"hook":7,"action":"device"}}}}
{{"type":"thread","tid":7,"produced":11,"written":8,"lost":3}}
{{"type":"footer","t":900,"end":"recovered"}}
"#
    );
    header("h", EPOCH) + &rest
}

/// Another process with that number, on another host, 5 ns earlier: an unknown kernel.
fn second() -> String {
    let rest = r#"{"type":"launch","tid":7,"id":1,"t":6,"dur":1,"hook":0,"function":"0xabc","block":[64]}
{"type":"thread","tid":7,"produced":1,"written":1,"lost":0}
{"type":"footer","t":9,"end":"exit"}
"#;
    header("i", EPOCH - 5) + rest
}

/// The records of the first process.
pub fn records() -> Vec<Record> {
    first().lines().map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line)).collect()
}

/// Every row of both, and the processes.
pub fn rows() -> (Vec<Row>, Vec<Process>) {
    let (mut tracks, mut phases) = (Tracks::default(), PhasesBuilder::new(Vec::new()));
    let (mut rows, mut session, mut summary) = (Vec::new(), Session::default(), SummaryBuilder::default());
    for (text, name) in [(first(), "a-7.ndjson"), (second(), "b-7.ndjson")] {
        session.begin_file(name, &mut [&mut tracks, &mut phases, &mut summary]);
        for line in text.lines() {
            let record = rocshim_trace::parse_line(line.as_bytes()).expect(line);
            session.visit(&record, &mut [&mut tracks, &mut phases, &mut summary]);
            rows.extend(tracks.take_rows());
        }
        let reading = Reading { end: End::Footer, notes: Vec::new() };
        session.end_file(&reading, &mut [&mut tracks, &mut phases, &mut summary]);
    }
    let phases = phases.finish(&session, &summary.finish(&session), false);
    let each = |row, _: &[Process]| {
        rows.push(row);
        Ok::<(), ()>(())
    };
    tracks.finish(&phases, each).unwrap();
    let processes = tracks.processes().to_vec();
    (rows, processes)
}
