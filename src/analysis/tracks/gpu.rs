//! Rows of the GPU: dispatches, copies and fills, with their times on the device, as the HIP
//! runtime reports them. A trace has them if it was recorded with `--gpu-time`.

use super::{
    others::table,
    row::{Arrows, TrackKind, TrackRow},
    slots::Slots,
    table::{Table, TableId, integer, text},
};
use crate::session::{CallKey, Event};
use foldhash::HashMap;
use rocshim_drain::demangle;
use rocshim_trace::{Gpu, GpuKernel, GpuTime, Record, Word, family};
use std::{collections::BTreeMap, ops::Range};

pub(super) static GPU: Table = table(
    TableId::Gpu,
    "gpu",
    "a command on the GPU, with its times there, as the HIP runtime reports it (--gpu-time)",
    &[
        text("op", "dispatch, copy (a copy or a fill) or barrier"),
        text("command", "kind of command: kernel, graph, h2d, d2h, d2d, fill, …"),
        text("kernel", "name of the dispatched kernel, demangled"),
        text("family", "what that kernel does, by its name: the families of `summary`"),
        integer("device", "the driver's node number of the device"),
        integer("queue", "the runtime's number of the queue within the device"),
        integer("bytes", "bytes copied or filled"),
        integer("call", "`id` of the call that caused it, in the thread `tid`"),
        integer("place", "index among the dispatches of that call: a graph launch has many"),
        text("function", "the runtime function that caused it, if that bypassed every hook"),
        integer("error_ns", "uncertainty of begin_ns; absent below 1,000"),
    ],
);

/// The kernels that reports of one process name, and the tracks of its queues.
#[derive(Default)]
pub(super) struct GpuRows {
    kernels: BTreeMap<u32, (Word, Option<&'static str>)>,
    slots: Slots,
    /// The runtime was asked for reports.
    is_asked: bool,
    /// The arrows from calls to the first command of each, of which one end was read.
    arrows: HashMap<(u32, u64), u64>,
}

impl GpuRows {
    /// Takes a change of whether the runtime is asked.
    pub(super) fn state(&mut self, state: &GpuTime) {
        self.is_asked |= state.state == "on";
    }

    /// The arrow from a call to the first command that it asked for; none where it asks for none,
    /// or the runtime was not asked for reports.
    pub(super) fn begin(&mut self, event: &Event, next: &mut u64) -> Option<Range<u64>> {
        let asks = matches!(event.record, Record::Launch(_) | Record::GraphLaunch(_) | Record::Copy(_));
        if !self.is_asked || !asks || event.failed() || event.ids.capture.is_some() {
            return None;
        }
        let number = self.arrow((event.call.tid, event.call.id), next);
        Some(number..number + 1)
    }

    fn arrow(&mut self, call: (u32, u64), next: &mut u64) -> u64 {
        self.arrows.remove(&call).unwrap_or_else(|| {
            self.arrows.insert(call, *next);
            *next += 1;
            *next - 1
        })
    }

    /// Takes in a kernel that reports refer to.
    pub(super) fn define(&mut self, kernel: &GpuKernel) {
        let demangled = demangle(&kernel.name);
        let family = family(&kernel.name, demangled.as_deref()).map(|family| family.name);
        let name = demangled.unwrap_or_else(|| kernel.name.clone());
        self.kernels.insert(kernel.id, (name.into(), family));
    }

    /// Makes the row of a report that `call` caused; `None` for what is no command: a link between
    /// two tools' numbers, a report that could not be decoded.
    pub(super) fn row(
        &mut self,
        (process, epoch): (usize, u64),
        gpu: &Gpu,
        call: Option<CallKey>,
        next: &mut u64,
    ) -> Option<TrackRow> {
        if !matches!(gpu.op.as_str(), "dispatch" | "copy" | "barrier") {
            return None;
        }
        let (begin, dur) = (epoch.saturating_add(gpu.begin), Some(gpu.busy));
        let first = call.filter(|_| gpu.place == 0 && gpu.op != "barrier");
        let end = first.map(|call| self.arrow(call, next));
        let kernel = gpu.kernel.and_then(|id| self.kernels.get(&id));
        let command = gpu.command.clone().unwrap_or_else(|| gpu.op.clone());
        let cells = vec![
            (&gpu.op).into(),
            gpu.command.as_ref().into(),
            kernel.map(|(name, _)| name).into(),
            kernel.and_then(|(_, family)| *family).into(),
            gpu.device.into(),
            gpu.queue.into(),
            gpu.bytes.into(),
            call.map(|(_, id)| id).into(),
            call.map(|_| gpu.place).into(),
            gpu.function.as_deref().into(),
            Some(gpu.error).filter(|error| *error != 0).into(),
        ];
        Some(TrackRow {
            table: &GPU,
            process,
            tid: call.map(|(tid, _)| tid),
            track: self.slots.track(TrackKind::Gpu, Some(queue_number(gpu)), begin, dur),
            begin,
            dur,
            name: kernel.map_or(command, |(name, _)| name.clone()),
            cells,
            arrows: Arrows { end, ..Arrows::default() },
        })
    }
}

/// Bits of a track's number that are the queue's.
const QUEUE_BITS: u32 = 16;

/// The number of a queue's track: device, then queue.
fn queue_number(gpu: &Gpu) -> u32 {
    gpu.device << QUEUE_BITS | (gpu.queue as u32 & ((1 << QUEUE_BITS) - 1))
}

/// Returns device and queue of a track's number.
pub fn queue_of(track: u32) -> (u32, u32) {
    (track >> QUEUE_BITS, track & ((1 << QUEUE_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracks::Track;

    fn dispatch(queue: u64, begin: u64, busy: u64) -> Gpu {
        let of = Some((7, begin));
        Gpu { op: "dispatch".into(), device: 1, queue, begin, busy, kernel: Some(3), of, ..Gpu::default() }
    }

    #[test]
    fn a_queue_has_a_track_and_what_overlaps_on_it_another() {
        let mut rows = GpuRows::default();
        rows.define(&GpuKernel { id: 3, name: "_Z9mul_mat_qv".into() });
        let mut next = 0;
        let placed =
            [dispatch(2, 10, 5), dispatch(2, 12, 1), dispatch(2, 15, 1), dispatch(3, 10, 5)].map(|gpu| {
                let row = rows.row((0, 1_000), &gpu, gpu.of, &mut next).expect("a dispatch is a row");
                assert_eq!((row.cells.len(), &*row.name), (GPU.columns.len(), "mul_mat_q()"));
                assert_eq!((row.begin, row.dur, row.tid), (1_000 + gpu.begin, Some(gpu.busy), Some(7)));
                match row.track {
                    Track::Other { what: TrackKind::Gpu, of: Some(of), slot } => (queue_of(of), slot),
                    track => panic!("{track:?}"),
                }
            });
        assert_eq!(placed, [((1, 2), 0), ((1, 2), 1), ((1, 2), 0), ((1, 3), 0)]);
    }

    #[test]
    fn a_link_and_an_undecoded_report_are_no_rows() {
        for op in ["link", "unread"] {
            let gpu = Gpu { op: op.into(), ..dispatch(2, 10, 5) };
            assert_eq!(GpuRows::default().row((0, 0), &gpu, gpu.of, &mut 0), None);
        }
    }
}
