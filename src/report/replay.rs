//! Renders problems as commands of benchmark programs, as a shell script.

use rocshim_analysis::Replay;
use rocshim_analysis::units::{counted, time};

/// Returns the script; lines that are not commands are comments.
pub fn replay(replay: &Replay) -> String {
    let mut page = String::new();
    if replay.lines.is_empty() {
        page.push_str(
            "# no matrix product and no convolution that succeeded, and for which a command can be written\n",
        );
    } else {
        page.push_str("# alpha and beta are not recorded: 1 and 0 in each line\n");
    }
    for row in &replay.lines {
        page.push_str(&format!("# {}, {}\n{}\n", counted(row.calls, "call"), time(row.total_ns), row.line));
    }
    for row in &replay.without {
        page.push_str(&format!("# no line for {} of {}\n", counted(row.calls, "call"), row.why));
    }
    for note in &replay.notes {
        page.push_str(&format!("# not read: {note}\n"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::{Replays, testing::read_lines};

    /// A product of hipBLAS that rocBLAS made, one of rocBLAS's own that failed, and one of
    /// hipBLASLt without its sizes.
    const TRACE: &str = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"","argv":[],"env":{},"host":"","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"hook","id":1,"name":"rocblas_gemm_strided_batched_ex","of":"librocblas.so","point":"preload","state":"bound"}
{"type":"hook","id":2,"name":"hipblasGemmStridedBatchedEx","of":"libhipblas.so","point":"preload","state":"bound"}
{"type":"hook","id":3,"name":"hipblasLtMatmul","of":"libhipblaslt.so","point":"preload","state":"bound"}
{"type":"gemm","tid":7,"id":2,"parent":1,"t":3000,"dur":1000,"hook":1,"form":"strided_batched","handle":"0x1","trans_a":"T","trans_b":"N","m":64,"n":32,"k":128,"batch":4,"a":{"ptr":"0x1","type":"f16_r","ld":128,"stride":8192},"b":{"ptr":"0x1","type":"f16_r","ld":128,"stride":4096},"c":{"ptr":"0x1","type":"f32_r","ld":64,"stride":2048},"d":{"ptr":"0x1","type":"f32_r","ld":64,"stride":2048},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":0}
{"type":"gemm","tid":7,"id":1,"t":2900,"dur":1200,"hook":2,"form":"strided_batched","handle":"0x1","trans_a":"T","trans_b":"N","m":64,"n":32,"k":128,"batch":4,"a":{"ptr":"0x1","type":"f16_r","ld":128,"stride":8192},"b":{"ptr":"0x1","type":"f16_r","ld":128,"stride":4096},"c":{"ptr":"0x1","type":"f32_r","ld":64,"stride":2048},"d":{"ptr":"0x1","type":"f32_r","ld":64,"stride":2048},"alpha":"0x1","beta":"0x2","compute":"32f","algo":"standard","solution":0}
{"type":"gemm","tid":7,"id":3,"t":5000,"dur":1000,"hook":1,"status":4,"form":"plain","handle":"0x1","trans_a":"N","trans_b":"N","m":-1,"n":12,"k":512,"batch":1,"a":{"ptr":"0x1","type":"f16_r","ld":8},"b":{"ptr":"0x1","type":"f16_r","ld":8},"c":{"ptr":"0x1","type":"f16_r","ld":8},"d":{"ptr":"0x1","type":"f16_r","ld":8},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":0}
{"type":"matmul","tid":7,"id":4,"t":6000,"dur":10,"hook":3,"problem":{},"workspace":0,"stream":0}"#;

    #[test]
    fn a_problem_is_one_line_whatever_requested_it() {
        let mut replays = Replays::default();
        let session = read_lines(&mut replays, TRACE.lines());
        let page = replay(&replays.finish(&session));
        let expected = "\
# alpha and beta are not recorded: 1 and 0 in each line
# 1 call, 1.00 µs
rocblas-bench -f gemm_strided_batched_ex --transposeA T --transposeB N -m 64 -n 32 -k 128 --alpha 1 --beta 0 --a_type f16_r --lda 128 --stride_a 8192 --b_type f16_r --ldb 128 --stride_b 4096 --c_type f32_r --ldc 64 --stride_c 2048 --d_type f32_r --ldd 64 --stride_d 2048 --batch_count 4 --compute_type f32_r --algo 0 --solution_index 0 --flags 0
# no line for 1 call of hipblasLtMatmul: not everything of the problem was seen, because a descriptor or an object was made before
";
        assert_eq!(page, expected, "\n{page}");
    }
}
