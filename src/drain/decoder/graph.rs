//! Decodes graphs and captures, whose records are emitted before their first use.

use super::Decoder;
use crate::hip::{capture, graph, graph_call, graph_kernel};
use rocshim_ring::definition::Stream;
use rocshim_ring::hip::GraphCall;
use rocshim_ring::slot::Event;
use rocshim_trace::{Record, write_record};

impl Decoder {
    /// The capture that recorded this call's work on `stream`; its record is emitted first if this
    /// is its first use.
    pub(super) fn capture(&mut self, tid: u32, event: &Event, stream: u64, out: &mut Vec<u8>) -> Option<u32> {
        if self.captures.is_none_at(event.stamp) {
            return None;
        }
        let stream = Stream::of(stream, tid, self.call_traits(event.hook).spt);
        let number = self.captures.at(event.stamp, stream)?;
        self.tell_capture(number, out);
        if event.parent != 0 {
            self.captured_calls.insert((tid, event.parent), number);
        }
        Some(number)
    }

    /// Marks a library call whose launches or copies a capture recorded, and the call around it.
    pub(super) fn set_capture(&mut self, tid: u32, event: &Event, record: &mut Record, out: &mut Vec<u8>) {
        let Some(number) = self.captured_calls.remove(&(tid, event.id)) else { return };
        if event.parent != 0 {
            self.captured_calls.insert((tid, event.parent), number);
        }
        self.tell_capture(number, out);
        match record {
            Record::Gemm(gemm) => gemm.capture = Some(number),
            Record::Matmul(matmul) => matmul.capture = Some(number),
            Record::Blas(blas) => blas.capture = Some(number),
            Record::Conv(conv) => conv.capture = Some(number),
            Record::Span(span) => span.capture = Some(number),
            _ => {}
        }
    }

    fn tell_capture(&mut self, number: u32, out: &mut Vec<u8>) {
        if let Some(begun) = self.captures.emit(number) {
            let stream = self.stream(begun.stream.handle, begun.stamp, out);
            write_record(out, &capture(number, self.ns(begun.stamp), &begun, stream));
        }
    }

    /// The record of a graph call, after the records that it refers to.
    pub(super) fn graph_call(&mut self, tid: u32, event: &Event, out: &mut Vec<u8>) -> Record {
        let raw = GraphCall::read(event);
        let number = match raw.nodes.checked_sub(1) {
            None if raw.action == 0 => self.graphs.at(event.stamp, raw.exec),
            number => number,
        };
        let graph = number.and_then(|number| self.graph(number, out));
        if let Some(number) = raw.capture.checked_sub(1) {
            self.tell_capture(number, out);
        }
        let stream = self.stream(raw.stream, event.stamp, out);
        graph_call(self.call(tid, event), &raw, stream, graph)
    }

    /// The id of the graph with definition `number`; its record is emitted first if this is its
    /// first use.
    fn graph(&mut self, number: u32, out: &mut Vec<u8>) -> Option<u32> {
        if let Some(id) = self.graphs.id(number) {
            return Some(id);
        }
        let (stamp, whole) = self.graphs.resolve(number)?;
        let (kernels, mut record) = (whole.kernels.clone(), graph(whole));
        if let Some(number) = record.capture {
            self.tell_capture(number, out);
        }
        for kernel in kernels.iter().flatten() {
            let known = self.kernel(kernel.function, stamp, None, out);
            record.kernels.push(graph_kernel(kernel, known.map(|known| known.id)));
        }
        if self.graphs.record(number, &mut record) {
            write_record(out, &Record::Graph(record.clone()));
        }
        Some(record.id)
    }
}
