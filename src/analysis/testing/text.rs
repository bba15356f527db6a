//! A trace that a test writes call by call. Call number N is entered at 100 N and takes 10.

use super::read_records;
use crate::{Analyses, Phases, PhasesBuilder, Run, RunBuilder, Session, Summary, SummaryBuilder};
use rocshim_reader::{End, Label, Reading, RecordVisitor};
use rocshim_trace::Record;
use std::collections::BTreeMap;

/// A trace that is written call by call.
pub struct Text {
    pub lines: String,
    calls: u64,
    /// How much later than its number says a call is entered, in ns.
    late: u64,
    /// Calls by thread.
    threads: BTreeMap<u32, u64>,
}

impl Text {
    /// Of process 7, whose epoch is `epoch`. Kernels 1 to 8 are ggml's products of so many columns,
    /// 9 is a norm, 10 to 12 are PyTorch's: forward, backward, optimiser; 13 is Tensile's, 14
    /// ggml's product of floats.
    pub fn new(epoch: u64) -> Text {
        let mut lines = format!(
            r#"{{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{{}},"host":"h","clock":"tsc","tick_hz":1,"epoch":"{epoch}","rings":""}}
{{"type":"interception","point":"dlsym","state":"open"}}
{{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":1,"name":"hipMemcpyAsync","of":"libamdhip64.so","point":"preload","state":"bound"}}
{{"type":"hook","id":2,"name":"hipblasGemmEx","of":"libhipblas.so","point":"preload","state":"armed"}}
{{"type":"code_object","id":50,"source":"fat_binary","path":"/opt/libggml-hip.so","ordinal":30}}
"#
        );
        let mut kernel = |id: u64, name: &str| {
            lines += &format!(
                r#"{{"type":"kernel","id":{id},"name":"_Z{id}","demangled":"{name}","code_object":50,"target":"gfx1100"}}
"#
            );
        };
        (1..=8)
            .for_each(|n| kernel(n, &format!("void mul_mat_vec_q<(ggml_type)2, {n}, false>(void const*)")));
        kernel(9, "void rms_norm_f32<256>(float const*)");
        kernel(10, "void at::native::vectorized_elementwise_kernel<4>(int)");
        kernel(11, "void at::native::threshold_backward_kernel<4>(int)");
        kernel(12, "void at::native::multi_tensor_apply_kernel<4>(int)");
        kernel(14, "void mul_mat_f<__half2, 32, 9, 2, false>(__half2 const*)");
        kernel(13, "Cijk_Alik_Bljk_HHS_BH_MT64x64x16");
        Text { lines, calls: 0, late: 0, threads: BTreeMap::new() }
    }

    /// The same, with PyTorch's kernels alone.
    pub fn bare(epoch: u64) -> Text {
        let mut text = Text::new(epoch);
        let is_other = |line: &&str| !line.contains("\"kernel\",\"id\"") || line.contains("at::native");
        text.lines = text.lines.lines().filter(is_other).map(|line| format!("{line}\n")).collect();
        text
    }

    /// Nothing happens for `ns`.
    pub fn later(&mut self, ns: u64) {
        self.late += ns;
    }

    /// A call of a kind, on a thread, with the rest of its keys.
    pub fn call(&mut self, kind: &str, tid: u32, rest: &str) {
        self.calls += 1;
        *self.threads.entry(tid).or_default() += 1;
        let (id, t) = (self.calls, 100 * self.calls + self.late);
        self.lines += &format!(r#"{{"type":"{kind}","tid":{tid},"id":{id},"t":{t},"dur":10,{rest}}}"#);
        self.lines.push('\n');
    }

    /// A launch of a kernel by a thread on stream 3, with the address that is its first argument.
    pub fn launch(&mut self, tid: u32, kernel: u64, weights: u64) {
        let rest =
            format!(r#""hook":0,"kernel":{kernel},"block":[64,1,1],"stream":3,"args":["{weights:#x}"]"#);
        self.call("launch", tid, &rest);
    }

    /// Turns on GPU times. The runtime's kernel 1 is ggml's GEMM of one column, 2 is the
    /// runtime's own.
    pub fn ask_for_gpu_times(&mut self) {
        self.lines += concat!(
            r#"{"type":"gpu_time","t":0,"state":"on","library":1,"apis":449,"release":"7.2"}"#,
            "\n",
            r#"{"type":"gpu_kernel","id":1,"name":"_Z13mul_mat_vec_qv"}"#,
            "\n",
            r#"{"type":"gpu_kernel","id":2,"name":"__amd_rocclr_copyBuffer"}"#,
            "\n",
        );
    }

    /// Adds a report by thread 9 that kernel `kernel`, requested by call `id` of thread 7, ran on
    /// `queue`.
    pub fn ran(&mut self, kernel: u64, id: u64, queue: u64, begin: u64, busy: u64) {
        let rest = format!(
            r#""hook":0,"op":"dispatch","command":"kernel","device":1,"queue":{queue},"kernel":{kernel},"of":[7,{id}],"begin":{begin},"busy":{busy}"#
        );
        self.call("gpu", 9, &rest);
    }

    /// Defines a kernel that reports name.
    pub fn gpu_kernel(&mut self, id: u64, name: &str) {
        self.lines += &format!(r#"{{"type":"gpu_kernel","id":{id},"name":"{name}"}}"#);
        self.lines.push('\n');
    }

    /// Instantiates graph `graph` from capture `graph`, as the handle that graph launches have.
    pub fn instantiate(&mut self, graph: u32) {
        let rest =
            format!(r#""hook":0,"action":"instantiate","exec":"0x1","graph":{graph},"capture":{graph}"#);
        self.call("graph_call", 7, &rest);
    }

    /// A launch that capture `capture` recorded.
    pub fn captured(&mut self, kernel: u64, weights: u64, capture: u32) {
        let rest = format!(
            r#""hook":0,"kernel":{kernel},"block":[64,1,1],"stream":3,"capture":{capture},"args":["{weights:#x}"]"#
        );
        self.call("launch", 7, &rest);
    }

    /// A launch of graph `graph`.
    pub fn graph_launch(&mut self, graph: u32) {
        self.call("graph_launch", 7, &format!(r#""hook":0,"graph":{graph},"exec":"0x1","stream":3"#));
    }

    /// Defines graph `id`, which has these kernels and comes from capture `id`.
    pub fn graph(&mut self, id: u32, kernels: &[u64]) {
        let kernel = |kernel: &u64| format!(r#"{{"kernel":{kernel},"block":[64,1,1]}}"#);
        let kernels = kernels.iter().map(kernel).collect::<Vec<_>>().join(",");
        self.lines +=
            &format!(r#"{{"type":"graph","id":{id},"capture":{id},"complete":true,"kernels":[{kernels}]}}"#);
        self.lines.push('\n');
    }

    /// A product of a BLAS library and its launch, which capture `capture` recorded.
    pub fn captured_gemm(&mut self, n: u64, weights: u64, capture: u32) {
        let launch = self.calls + 2;
        self.captured(13, 0, capture);
        let parent = format!(",\"parent\":{launch},\"t\":");
        let at = self.lines.rfind(",\"t\":").expect("a call");
        self.lines.replace_range(at..at + 5, &parent);
        self.gemm(7, n, weights);
        self.lines.truncate(self.lines.len() - 2);
        self.lines += &format!(",\"capture\":{capture}}}\n");
    }

    /// A product of a BLAS library, after the launch that is made in it.
    pub fn nested_gemm(&mut self, n: u64, weights: u64) {
        let call = self.calls + 2;
        self.launch(7, 13, 0);
        let at = self.lines.rfind(",\"t\":").expect("a call");
        self.lines.insert_str(at, &format!(",\"parent\":{call}"));
        self.gemm(7, n, weights);
    }

    /// A product of a BLAS library.
    pub fn gemm(&mut self, tid: u32, n: u64, weights: u64) {
        let matrix = |ptr: u64| format!(r#"{{"ptr":"{ptr:#x}","type":"f16_r","ld":8}}"#);
        let (a, b) = (matrix(weights), matrix(1));
        let rest = format!(
            r#""hook":2,"form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":4,"n":{n},"k":6,"batch":1,"a":{a},"b":{b},"c":{b},"d":{b},"alpha":"0x1","beta":"0x2","compute":"f32_r","algo":"standard","solution":-1,"stream":3"#
        );
        self.call("gemm", tid, &rest);
    }

    pub fn copy(&mut self, tid: u32, kind: &str) {
        self.call(
            "copy",
            tid,
            &format!(r#""hook":1,"action":"copy","kind":"{kind}","bytes":8,"async":true,"stream":3"#),
        );
    }

    pub fn memset(&mut self, tid: u32) {
        self.call("copy", tid, r#""hook":1,"action":"memset","bytes":8,"stream":3"#);
    }

    pub fn wait(&mut self, tid: u32) {
        self.call("sync", tid, r#""hook":1,"action":"stream","stream":3"#);
    }

    pub fn range(&mut self, tid: u32, action: &str, text: &str) {
        self.call("mark", tid, &format!(r#""hook":1,"action":"{action}","text":"{text}""#));
    }

    /// Adds a pass whose GEMMs, with these columns, have the weights 0x10, 0x20 and so on; it
    /// delivers.
    pub fn pass(&mut self, columns: &[u64]) {
        self.products(columns);
        self.copy(7, "d2h");
        self.wait(7);
    }

    pub fn products(&mut self, columns: &[u64]) {
        self.launch(7, 9, 1);
        (0x10..).step_by(0x10).zip(columns).for_each(|(weights, columns)| self.launch(7, *columns, weights));
    }

    /// Returns what was added since the last call, for a trace that continues.
    pub fn take_records(&mut self) -> Vec<Record> {
        let lines = std::mem::take(&mut self.lines);
        lines.lines().map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line)).collect()
    }

    /// The trace, whole.
    pub fn records(&self) -> Vec<Record> {
        let account = |(tid, calls): (&u32, &u64)| {
            format!(r#"{{"type":"thread","tid":{tid},"produced":{calls},"written":{calls},"lost":0}}"#)
        };
        let footer = r#"{"type":"footer","t":99999999,"end":"exit"}"#.to_string();
        let end: Vec<String> = self.threads.iter().map(account).chain([footer]).collect();
        let lines = self.lines.lines().chain(end.iter().map(String::as_str));
        lines.map(|line| rocshim_trace::parse_line(line.as_bytes()).expect(line)).collect()
    }

    pub fn phases(&self, labels: Vec<Label>) -> Phases {
        let (mut phases, mut summary) = (PhasesBuilder::new(labels), SummaryBuilder::default());
        let analyses: Analyses = &mut [&mut phases, &mut summary];
        let session = read_records(Session::default(), self.records().into_iter(), End::Footer, analyses);
        phases.finish(&session, &summary.finish(&session), true)
    }

    /// The summary of the phases of this name.
    pub fn summary(&self, phase: &str) -> Summary {
        let session = Session::scoped(self.phases(Vec::new()).scope(phase).expect("a phase"));
        let mut builder = SummaryBuilder::default();
        let session = read_records(session, self.records().into_iter(), End::Footer, &mut [&mut builder]);
        builder.finish(&session)
    }

    /// Everything that the trace says.
    pub fn run(&self) -> Run {
        let mut builder = RunBuilder::new(Vec::new());
        builder.begin_file("t/prog-7.ndjson".into());
        self.records().into_iter().for_each(|record| builder.visit(&record));
        builder.end_file(Reading { end: End::Footer, notes: Vec::new() });
        builder.finish(None, false)
    }
}
