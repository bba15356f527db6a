//! Each form of one small trace, by hand.

use super::*;
use rocshim_analysis::testing::tracked::{EPOCH, rows};
use rocshim_report::FolderPlace;
use std::{
    cell::RefCell,
    fs,
    io::{self, Write},
    path::Path,
    rc::Rc,
};

/// A file in memory: what one clone writes, the others have.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Vec<u8>>>);

impl Memory {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What an exporter that writes into `out` makes of the rows.
fn export(mut exporter: impl Exporter) {
    let (rows, processes) = rows();
    for row in &rows {
        exporter.row(row, &processes[row.process]).unwrap();
    }
    exporter.finish().unwrap();
}

fn chrome() -> Vec<String> {
    let out = Memory::default();
    export(Chrome::new(Box::new(out.clone()), EPOCH - 5));
    String::from_utf8(out.bytes()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn chrome_has_an_event_a_line_in_an_array() {
    let lines = chrome();
    let expected = [
        r#"["#,
        r#"{"ph":"M","pid":7,"tid":0,"name":"process_name","args":{"name":"prog"}},"#,
        r#"{"ph":"M","pid":7,"tid":0,"name":"process_labels","args":{"labels":"host h, pid 7"}},"#,
        r#"{"ph":"M","pid":7,"tid":7,"name":"thread_name","args":{"name":"prog"}},"#,
        // 10 ns after its process's beginning, which is 5 ns after the other's: 15 ns.
        r#"{"ph":"X","pid":7,"tid":7,"name":"roctxRangePushA","ts":0.015,"dur":0.002,"cat":"marks","args":{"function":"roctxRangePushA","library":"libroctx64.so","action":"push","text":"step \"1\"","level":0}},"#,
        r#"{"ph":"X","pid":7,"tid":7,"name":"mul_mat_vec_q<q4_0, 1>","ts":0.115,"dur":0.005,"cat":"launches","args":{"function":"hipLaunchKernel","library":"libamdhip64.so","kernel":"_Z1","demangled":"void mul_mat_vec_q<(ggml_type)2, 1>(void const*)","family":"mmvq","family_of":"ggml","source":"fat_binary","code_object":"/opt/libggml-hip.so","bundle":30,"target":"gfx1100","grid_x":4,"grid_y":2,"grid_z":1,"block_x":32,"block_y":1,"block_z":1,"lds_bytes":0,"stream":"0","args":{"x":"0x7f00","1":-3,"2":0.5,"3":"00ff"},"args_cut":0}},"#,
        r#"{"ph":"f","pid":7,"tid":7,"name":"launches","ts":0.115,"cat":"arrow","id":0,"bp":"e"},"#,
        r#"{"ph":"X","pid":7,"tid":7,"name":"rocblas_gemm_ex TN 4x5x6 f16_r","ts":0.105,"dur":0.05,"cat":"gemms","args":{"function":"rocblas_gemm_ex","library":"librocblas.so","error":"rocblas_status_memory_error","form":"plain","trans_a":"T","trans_b":"N","m":4,"n":5,"k":6,"batch":1,"a_type":"f16_r","b_type":"f16_r","c_type":"f16_r","d_type":"f16_r","compute":"f32_r","algo":"standard"}},"#,
        r#"{"ph":"s","pid":7,"tid":7,"name":"launches","ts":0.105,"cat":"arrow","id":0},"#,
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert_eq!(line, expected);
    }
    // A call in flight has no end; a track that is no thread's has a number that no thread has.
    assert!(lines.iter().any(|line| {
        line.starts_with(
            r#"{"ph":"B","pid":7,"tid":8,"name":"hipDeviceSynchronize","ts":0.705,"cat":"syncs""#,
        )
    }));
    assert!(lines.iter().any(|line| *line == r#"{"ph":"M","pid":7,"tid":1073741825,"name":"thread_name","args":{"name":"lost events of thread 7"}},"#));
    assert!(lines.iter().any(|line| line.starts_with(
        r#"{"ph":"X","pid":4194311,"tid":7,"name":"unknown kernel 0xabc","ts":0.006,"dur":0.001"#
    )));
    let whole: serde_json::Value = serde_json::from_str(&lines.join("\n")).unwrap();
    assert_eq!(whole.as_array().unwrap().len(), lines.len() - 2);
    assert_eq!(lines.last().unwrap(), "]");
}

#[test]
fn chrome_without_a_row_is_an_array_too() {
    let out = Memory::default();
    Chrome::new(Box::new(out.clone()), 0).finish().unwrap();
    assert_eq!(out.bytes(), b"[]\n");
}

/// The CSV file of a table, as lines.
fn csv(folder: &Path, table: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(format!("{table}.csv"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn csv_has_a_file_for_each_table_with_its_columns() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let place = Rc::new(FolderPlace::open(&out, false).unwrap());
    export(Csv::new(&place).unwrap());
    Rc::into_inner(place).unwrap().finish().unwrap();
    assert_eq!(fs::read_dir(&out).unwrap().count(), rocshim_analysis::TABLES.len());
    assert_eq!(
        csv(&out, "copies"),
        [
            "host,pid,tid,begin_ns,dur_ns,id,parent,function,library,status,error,unwound,action,kind,bytes,dst,src,stream,async,via,extent,capture",
            "h,7,7,1000000000000000160,10,4,,hipMemcpyAsync,libamdhip64.so,0,,false,copy,d2h,64,0xffffffffffffff00,0x20,3,true,,,",
        ]
    );
    assert_eq!(csv(&out, "ranges")[1], r#"h,7,7,1000000000000000012,188,"step ""1""",0,false,"#);
    assert_eq!(
        csv(&out, "syncs")[1],
        "h,7,8,1000000000000000700,,1,,hipDeviceSynchronize,libamdhip64.so,0,,false,device,0,,0,"
    );
    assert_eq!(csv(&out, "pauses"), ["host,pid,tid,begin_ns,dur_ns", "h,7,,1000000000000000500,100"]);
    let launches = csv(&out, "launches");
    assert!(
        launches[1].ends_with(r#",4,2,1,32,1,1,0,0,false,,"[""0x7f00"",-3,0.5,""00ff""]",0"#),
        "{}",
        launches[1]
    );
    assert!(launches[2].starts_with("i,7,7,1000000000000000001,1,1,,hipLaunchKernel,"), "{}", launches[2]);
    assert_eq!((launches.len(), csv(&out, "spans").len()), (3, 1));
}

#[test]
fn parquet_has_the_same_rows_by_table_host_and_process() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let place = Rc::new(FolderPlace::open(&out, false).unwrap());
    export(Parquet::new(&place).unwrap());
    Rc::into_inner(place).unwrap().finish().unwrap();
    let read = |file: &str| {
        let reader = SerializedFileReader::new(fs::File::open(out.join(file)).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect::<Vec<_>>()
    };
    // Whatever its bits are: 0xffffffffffffff00 is 2^64 - 256.
    assert_eq!(
        read("copies/host=h/pid=7/copies-0.parquet"),
        [
            r#"{tid: 7, begin_ns: 1000000000000000160, dur_ns: 10, id: 4, parent: null, function: "hipMemcpyAsync", library: "libamdhip64.so", status: 0, error: null, unwound: false, action: "copy", kind: "d2h", bytes: 64, dst: 18446744073709551360, src: 32, stream: "3", async: true, via: null, extent: null, capture: null}"#
        ]
    );
    assert_eq!(
        read("pauses/host=h/pid=7/pauses-0.parquet"),
        ["{tid: null, begin_ns: 1000000000000000500, dur_ns: 100}"]
    );
    assert_eq!(read("syncs/host=h/pid=7/syncs-0.parquet").len(), 1);
    assert_eq!(read("launches/host=h/pid=7/launches-0.parquet").len(), 1);
    assert!(
        read("launches/host=i/pid=7/launches-0.parquet")[0]
            .contains(r#"begin_ns: 1000000000000000001, dur_ns: 1, id: 1,"#)
    );
    assert!(!out.join("spans").exists());
}
