//! A small trace with everything that a timeline shows, written here, and its rows by hand.

use super::*;
use crate::{
    analysis::PhasesBuilder,
    reader::{Reading, Taker},
};
use std::ops::Range;

/// When process 7 began, in Unix ns.
pub(crate) const EPOCH: u64 = 1_000_000_000_000_000_000;

fn header(host: &str, epoch: u64) -> String {
    format!(
        r#"{{"type":"header","format":2,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog","-n"],"env":{{}},"host":"{host}","clock":"tsc","tick_hz":1,"epoch":"{epoch}","rings":""}}
{{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","door":"preload","state":"bound"}}
{{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","door":"preload","state":"bound"}}
"#
    )
}

/// A range around a product, in which a kernel is launched, and a copy; a graph that is launched twice; three events lost; recording stopped for
/// a while; a wait that never ended.
fn first() -> String {
    let matrix = r#"{"ptr":"0x1","type":"f16_r","ld":8}"#;
    let rest = format!(
        r#"{{"type":"hook","id":2,"name":"hipMemcpyAsync","of":"libamdhip64.so","door":"preload","state":"bound"}}
{{"type":"hook","id":3,"name":"roctxRangePushA","of":"libroctx64.so","door":"preload","state":"bound"}}
{{"type":"hook","id":4,"name":"roctxRangePop","of":"libroctx64.so","door":"preload","state":"bound"}}
{{"type":"hook","id":5,"name":"hipGraphInstantiate","of":"libamdhip64.so","door":"preload","state":"bound"}}
{{"type":"hook","id":6,"name":"hipGraphLaunch","of":"libamdhip64.so","door":"preload","state":"unbound"}}
{{"type":"hook","id":7,"name":"hipDeviceSynchronize","of":"libamdhip64.so","door":"preload","state":"bound"}}
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
pub(crate) fn records() -> Vec<Record> {
    first().lines().map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line)).collect()
}

/// Every row of both, and the processes.
pub(crate) fn rows() -> (Vec<Row>, Vec<Process>) {
    let (mut tracks, mut phases) = (Tracks::default(), PhasesBuilder::new(Vec::new()));
    let mut rows = Vec::new();
    for (text, name) in [(first(), "a-7.ndjson"), (second(), "b-7.ndjson")] {
        phases.begin_file(name.into());
        for line in text.lines() {
            let record = rocshim_trace::parse_line(line.as_bytes()).expect(line);
            tracks.take(&record);
            phases.take(record);
            rows.extend(tracks.take_rows());
        }
        tracks.end_file(End::Footer);
        phases.end_file(Reading { end: End::Footer, notes: Vec::new() });
    }
    let phases = phases.finish(false);
    let each = |row, _: &[Process]| {
        rows.push(row);
        Ok::<(), ()>(())
    };
    tracks.finish(&phases, each).unwrap();
    let processes = tracks.processes().to_vec();
    (rows, processes)
}

fn text(cell: &Cell) -> Option<String> {
    Some(match cell {
        Cell::Absent | Cell::Flag(false) => return None,
        Cell::Integer(value) => value.to_string(),
        Cell::Flag(true) => "yes".into(),
        Cell::Word(word) => word.to_string(),
        Cell::Address(value) => format!("{value:#x}"),
        Cell::Arguments(arguments) => serde_json::to_string(&arguments.values).unwrap(),
    })
}

/// `table/track begin+dur name`, and what is told of it.
fn line(row: &Row) -> (String, String) {
    assert_eq!(row.table.cells().count(), row.cells.len(), "{row:?}");
    let track = match row.track {
        Track::Thread(tid) => format!("{tid}"),
        Track::Beside { what, of, slot } => {
            format!("{what:?}{}.{slot}", of.map(|of| of.to_string()).unwrap_or_default())
        }
    };
    let dur = row.dur.map_or("…".into(), |dur| dur.to_string());
    let place = format!("{}/{track} {}+{dur} {}", row.table.name, row.begin as i64 - EPOCH as i64, row.name);
    let told = row.table.cells().zip(&row.cells).filter_map(|(column, cell)| {
        let is_told = column.in_slices || column.name == "parent";
        text(cell).filter(|_| is_told).map(|text| format!("{}={text}", column.name))
    });
    (place, told.collect::<Vec<_>>().join(" "))
}

#[test]
fn each_call_and_range_is_a_row_with_what_is_known_of_it() {
    let (rows, _) = rows();
    let lines: Vec<(String, String)> = rows.iter().take(14).map(line).collect();
    let kernel = "void mul_mat_vec_q<(ggml_type)2, 1>(void const*)";
    let hip = |function: &str| format!("function={function} library=libamdhip64.so");
    let expected = [
        (
            "marks/7 10+2 roctxRangePushA".into(),
            "function=roctxRangePushA library=libroctx64.so action=push text=step \"1\" level=0".into(),
        ),
        (
            format!("launches/7 110+5 {kernel}"),
            format!(
                "parent=2 {} kernel=_Z1 demangled={kernel} family=mmvq family_of=ggml source=fat_binary code_object=/opt/libggml-hip.so bundle=30 target=gfx1100 grid_x=4 grid_y=2 grid_z=1 block_x=32 block_y=1 block_z=1 lds_bytes=0 stream=0 args=[\"0x7f00\",-3,0.5,\"00ff\"] args_cut=0",
                hip("hipLaunchKernel")
            ),
        ),
        (
            "gemms/7 100+50 rocblas_gemm_ex TN 4x5x6 f16_r".into(),
            "function=rocblas_gemm_ex library=librocblas.so error=rocblas_status_memory_error form=plain trans_a=T trans_b=N m=4 n=5 k=6 batch=1 a_type=f16_r b_type=f16_r c_type=f16_r d_type=f16_r compute=f32_r algo=standard".into(),
        ),
        (
            "copies/7 160+10 hipMemcpyAsync d2h".into(),
            format!("{} action=copy kind=d2h bytes=64 dst=0xffffffffffffff00 src=0x20 stream=3 async=yes", hip("hipMemcpyAsync")),
        ),
        ("ranges/7 12+188 step \"1\"".into(), "text=step \"1\" level=0".into()),
        (
            "marks/7 200+3 roctxRangePop".into(),
            "function=roctxRangePop library=libroctx64.so action=pop level=0".into(),
        ),
        ("graph_calls/7 250+10 hipGraphInstantiate".into(), format!("{} action=instantiate graph=9 stream=0", hip("hipGraphInstantiate"))),
        ("graph_launches/7 300+10 hipGraphLaunch graph 9".into(), format!("{} graph=9 kernels=1 stream=0", hip("hipGraphLaunch"))),
        ("graph_launches/7 320+10 hipGraphLaunch graph 9".into(), format!("{} graph=9 kernels=1 stream=0", hip("hipGraphLaunch"))),
        ("losses/Losses7.0 400+20 3 lost: ring_full".into(), "lost=3 reason=ring_full".into()),
        ("pauses/Pauses.0 500+100 recording stopped".into(), String::new()),
        ("syncs/8 700+… hipDeviceSynchronize".into(), format!("{} action=device stream=0 flags=0", hip("hipDeviceSynchronize"))),
        (
            "launches/7 1+1 unknown kernel 0xabc".into(),
            format!("{} grid_x=1 grid_y=1 grid_z=1 block_x=64 block_y=1 block_z=1 lds_bytes=0 stream=0 args_cut=0", hip("hipLaunchKernel")),
        ),
    ];
    for (told, expected) in lines.iter().zip(&expected) {
        assert_eq!(told, expected);
    }
    assert!(lines[13].0.starts_with("passes/"), "{lines:?}");
}

#[test]
fn arrows_go_from_a_product_to_its_launch_and_from_a_graph_to_its_launches() {
    let (rows, _) = rows();
    let of = |table: &str| {
        let rows = rows.iter().filter(|row| row.table.name == table);
        rows.map(|row| row.arrows.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("launches")[0].end, Some(0));
    assert_eq!(of("gemms")[0].begin, [Range { start: 0, end: 1 }]);
    let through = |is_first| Some(Through { number: 1, is_first });
    assert_eq!(of("graph_calls")[0].through, through(true));
    assert_eq!(of("graph_launches").iter().map(|it| it.through).collect::<Vec<_>>(), [through(false); 2]);
    assert_eq!(of("launches")[1], Arrows::default());
}

#[test]
fn at_the_end_come_passes_phases_processes_and_what_was_hooked() {
    let (rows, processes) = rows();
    let lines: Vec<(String, String)> = rows.iter().skip(13).map(line).collect();
    let of = |table: &str| lines.iter().filter(|(place, _)| place.starts_with(table)).collect::<Vec<_>>();
    // The range names a phase of process 0; what comes after it is another; process 1 has one. Passes are in time: process 1 began earlier.
    let places: Vec<&str> = of("passes").into_iter().map(|(place, _)| place.as_str()).collect();
    // That of the range ends with its copy, at 170; of a product of one column; that of the graph is not known to be whole.
    assert_eq!(
        places,
        [
            "passes/Passes0.0 1+1 step",
            "passes/Passes0.0 110+60 step \"1\" 1",
            "passes/Passes0.0 300+30 step 1"
        ]
    );
    let processes_told = of("processes");
    assert_eq!(processes_told[0].0, "processes/Process.0 10+320 prog");
    assert_eq!(
        processes_told[0].1,
        "exe=/bin/prog argv=prog -n trace=a-7.ndjson end=recovered parts=1 events=8 launches=3 lost=3 stopped_ns=100 late=0 rocshim=0.1.0 clock=tsc notes=limited: recording was stopped for 11.1% of the time (100 ns)"
    );
    let coverage = of("coverage");
    assert_eq!(coverage[0].0, "coverage/Coverage.0 10+320 libamdhip64.so: 5 calls");
    assert!(coverage[0].1.starts_with(
        "library=libamdhip64.so functions=5 bound=4 unbound=1 off=0 calls=5 evidence=confirmed "
    ));
    assert_eq!(coverage[1].0, "coverage/Coverage.1 10+320 librocblas.so: 1 call");
    let unseen = coverage.last().unwrap();
    assert_eq!(unseen.0, "coverage/Coverage.1 1+1 librocblas.so: 0 calls, other processes called it");
    // Two processes of one number: the second is shown under another.
    assert_eq!(
        processes.iter().map(|it| (it.pid, it.shown_pid)).collect::<Vec<_>>(),
        [(7, 7), (7, 7 + (1 << 22))]
    );
}
