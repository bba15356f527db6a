//! Decodes GPU reports of the HIP runtime: commands and their times on the GPU, converted to the
//! trace's clock.

use super::Decoder;
use crate::values::command;
use foldhash::{HashMap, HashSet};
use rocshim_ring::definition::Text;
use rocshim_ring::gpu::{self, Correlation, DISPATCH, GPU_OPS, LINK, MOVE, Report};
use rocshim_ring::slot::Event;
use rocshim_trace::{Gpu, GpuKernel, GpuTime, Record, write_record};

/// A call's dispatch count is dropped after reports for between one and two times this many other
/// calls.
const CALLS: usize = 4096;
/// Errors of a time below this are not recorded, ns.
const SMALL: u64 = 1_000;

/// What reports refer to.
#[derive(Default)]
pub(super) struct Reported {
    /// Kernel names, by definition number.
    names: HashMap<u32, String>,
    /// Kernels whose record is in the current file.
    emitted: HashSet<u32>,
    /// The runtime's functions that launch, copy or fill.
    functions: HashMap<u32, String>,
    /// Definitions that wait for the clock rate, with their stamps.
    waiting: Vec<(u64, GpuTime)>,
    /// The calls whose dispatches were reported last, with their counts, and the generation before
    /// them.
    dispatches: [HashMap<u64, u64>; 2],
}

impl Reported {
    pub(super) fn name(&mut self, number: u32, name: &str) {
        self.names.insert(number, name.to_owned());
    }

    /// Starts a new file, in which nothing is emitted yet.
    pub(super) fn clear_emitted(&mut self) {
        self.emitted.clear();
    }

    /// The index of a dispatch among those reported for its call.
    fn place(&mut self, report: &Report) -> u64 {
        let [now, before] = &mut self.dispatches;
        if report.correlation == 0 {
            return 0;
        }
        if now.len() >= CALLS {
            *before = std::mem::take(now);
        }
        let next =
            now.entry(report.correlation).or_insert_with(|| before.remove(&report.correlation).unwrap_or(0));
        *next += 1;
        *next - 1
    }
}

impl Decoder {
    pub(super) fn gpu_time(&mut self, number: u32, stamp: u64, request: gpu::GpuTime, out: &mut Vec<u8>) {
        let functions = request.functions.into_iter().map(|(id, name)| (id, name.into_owned()));
        self.reported.functions.extend(functions);
        let state = match (request.on, &request.why) {
            (true, _) => "on",
            (false, None) => "off",
            (false, Some(_)) => "unavailable",
        };
        let library = self.library(number, &request.path, out);
        let record = GpuTime {
            t: 0,
            state: state.into(),
            library,
            apis: request.apis.0.into(),
            release: request.release.map(|release| release.as_ref().into()),
            shared: request.shared,
            why: request.why.map(Text::into_owned),
        };
        self.reported.waiting.push((stamp, record));
        if self.has_begun() {
            self.emit_gpu_times(out);
        }
    }

    /// Emits what waited for the clock rate.
    pub(super) fn emit_gpu_times(&mut self, out: &mut Vec<u8>) {
        for (stamp, state) in std::mem::take(&mut self.reported.waiting) {
            let record = GpuTime { t: self.ns(stamp), ..state };
            self.line(&Record::GpuTime(record), out);
        }
    }

    pub(super) fn gpu(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Gpu {
        let report = Report::read(event);
        let call = self.call(tid, event);
        let mut gpu = Gpu {
            call,
            op: GPU_OPS.get(report.op as usize).copied().unwrap_or("unread").into(),
            ..Gpu::default()
        };
        match Correlation::of(report.correlation) {
            Correlation::None => {}
            Correlation::Call { tid, id } => gpu.of = Some((tid, id)),
            Correlation::Other(number) => gpu.other = number,
            Correlation::Unhooked { api, .. } => {
                let name = self.reported.functions.get(&api).cloned();
                gpu.function = Some(name.unwrap_or_else(|| format!("function {api}")));
            }
        }
        if report.op == LINK {
            (gpu.other, gpu.function) = (report.begin, None);
            return gpu;
        }
        if report.op as usize >= GPU_OPS.len() {
            (gpu.of, gpu.other, gpu.function) = (None, 0, None);
            return gpu;
        }
        let read = self.ns(event.stamp.saturating_sub(report.before.into()));
        let end = i128::from(read) - i128::from(report.age);
        let begin = end - i128::from(report.dur);
        gpu.begin = u64::try_from(begin.max(0)).unwrap_or_default();
        gpu.busy = report.dur;
        gpu.raw = report.begin;
        gpu.error = Some(self.rate.ns(report.width)).filter(|error| *error >= SMALL).unwrap_or_default();
        (gpu.device, gpu.queue) = (report.device, report.queue);
        gpu.command = Some(command(report.kind).into());
        if report.op == DISPATCH {
            gpu.kernel = report.what.checked_sub(1).and_then(|number| self.gpu_kernel(number as u32, out));
            gpu.place = self.reported.place(&report);
        } else {
            gpu.bytes = (report.op == MOVE).then_some(report.what);
        }
        gpu
    }

    /// The id of a kernel's name, whose record is emitted before its first use.
    fn gpu_kernel(&mut self, id: u32, out: &mut Vec<u8>) -> Option<u32> {
        let name = self.reported.names.get(&id)?;
        if self.reported.emitted.insert(id) {
            write_record(out, &Record::GpuKernel(GpuKernel { id, name: name.clone() }));
        }
        Some(id)
    }
}
