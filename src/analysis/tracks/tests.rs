//! A small trace with everything that a timeline shows, and its rows by hand.

use super::*;
use crate::testing::{Text, read_records, tracked::*};
use rocshim_reader::End;
use std::ops::Range;

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

/// Formats `table/track begin+dur name`, and the cells.
fn line(row: &TrackRow) -> (String, String) {
    assert_eq!(row.table.cells().count(), row.cells.len(), "{row:?}");
    let track = match row.track {
        Track::Thread(tid) => format!("{tid}"),
        Track::Other { what, of, slot } => {
            format!("{what:?}{}.{slot}", of.map(|of| of.to_string()).unwrap_or_default())
        }
    };
    let dur = row.dur.map_or("…".into(), |dur| dur.to_string());
    let place = format!("{}/{track} {}+{dur} {}", row.table.name, row.begin as i64 - EPOCH as i64, row.name);
    let found = row.table.cells().zip(&row.cells).filter_map(|(column, cell)| {
        let is_shown = column.in_slices || column.name == "parent";
        text(cell).filter(|_| is_shown).map(|text| format!("{}={text}", column.name))
    });
    (place, found.collect::<Vec<_>>().join(" "))
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
    for (found, expected) in lines.iter().zip(&expected) {
        assert_eq!(found, expected);
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
fn an_arrow_goes_from_a_launch_to_its_command_on_the_gpu_whichever_is_read_first() {
    let mut text = Text::new(0);
    text.launch(7, 1, 1); // 1: the runtime is not asked yet
    text.ask_for_gpu_times();
    text.launch(7, 1, 1); // 2
    text.ran(1, 2, 2, 1_000, 10);
    text.ran(1, 5, 2, 2_000, 10); // before its launch is read
    text.launch(7, 1, 1); // 5
    let mut tracks = Tracks::default();
    let records = text.records().into_iter();
    read_records(Session::default(), records, End::Footer, &mut [&mut tracks]);
    let rows = tracks.take_rows();
    let arrows = |name: &str| {
        let rows = rows.iter().filter(|row| row.table.name == name);
        rows.map(|row| (row.arrows.begin.clone(), row.arrows.end)).collect::<Vec<_>>()
    };
    let arrow = |number: u64| Range { start: number, end: number + 1 };
    let launches = [(vec![], None), (vec![arrow(0)], None), (vec![arrow(1)], None)];
    assert_eq!(arrows("launches"), launches);
    assert_eq!(arrows("gpu"), [(vec![], Some(0)), (vec![], Some(1))]);
}

#[test]
fn at_the_end_come_passes_phases_processes_and_what_was_hooked() {
    let (rows, processes) = rows();
    let lines: Vec<(String, String)> = rows.iter().skip(13).map(line).collect();
    let of = |table: &str| lines.iter().filter(|(place, _)| place.starts_with(table)).collect::<Vec<_>>();
    // The range names a phase of process 0; what comes after it is another; process 1 has one.
    // Passes are in time: process 1 began earlier.
    let places: Vec<&str> = of("passes").into_iter().map(|(place, _)| place.as_str()).collect();
    // That of the range ends with its copy, at 170; of a product of one column; that of the graph
    // is not known to be whole.
    assert_eq!(
        places,
        [
            "passes/Passes0.0 1+1 step",
            "passes/Passes0.0 110+60 step \"1\" 1",
            "passes/Passes0.0 300+30 step 1"
        ]
    );
    let process_rows = of("processes");
    assert_eq!(process_rows[0].0, "processes/Process.0 10+320 prog");
    assert_eq!(
        process_rows[0].1,
        "exe=/bin/prog argv=prog -n trace=a-7.ndjson end=recovered parts=1 events=8 launches=3 lost=3 stopped_ns=100 late=0 rocshim=0.1.0 clock=tsc notes=limited: recording was stopped for 11.1% of the time (100 ns)"
    );
    let coverage = of("coverage");
    assert_eq!(coverage[0].0, "coverage/Coverage.0 10+320 libamdhip64.so: 5 calls");
    assert!(coverage[0].1.starts_with(
        "library=libamdhip64.so functions=5 bound=4 unbound=1 off=0 calls=5 evidence=confirmed "
    ));
    assert_eq!(coverage[1].0, "coverage/Coverage.1 10+320 librocblas.so: 1 call");
    let unseen = coverage.last().unwrap();
    assert_eq!(unseen.0, "coverage/Coverage.1 1+1 librocblas.so: called, how often is not known");
    // Two processes of one number: the second is shown under another.
    assert_eq!(
        processes.iter().map(|it| (it.pid, it.shown_pid)).collect::<Vec<_>>(),
        [(7, 7), (7, 7 + (1 << 22))]
    );
}
