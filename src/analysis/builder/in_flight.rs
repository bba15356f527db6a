//! Calls that had not returned when their process died.

use super::{SummaryBuilder, launches::unnamed};
use crate::{GemmProblem, InFlightRow, process::Process};
use rocshim_trace::Record;

impl SummaryBuilder {
    pub(super) fn in_flight(&mut self, process: &mut Process, event: &Record) {
        let (call, what) = match event {
            Record::Launch(launch) => {
                let known = launch.kernel.and_then(|id| process.kernels.get(&id));
                let name =
                    known.map_or_else(|| unnamed(process, launch.function), |k| self.kernels.name(k.number));
                (&launch.call, name)
            }
            Record::Gemm(gemm) => (&gemm.call, GemmProblem::from((**gemm).clone()).in_short()),
            Record::Matmul(matmul) => (&matmul.call, GemmProblem::from((**matmul).clone()).in_short()),
            Record::Blas(blas) => (&blas.call, blas.action.to_string()),
            Record::Conv(conv) => (&conv.call, format!("{} {}", conv.action, conv.direction)),
            Record::Span(span) => (&span.call, span.datatype.clone().unwrap_or_default().to_string()),
            Record::Mark(mark) => (&mark.call, mark.text.clone().unwrap_or_default()),
            Record::Load(load) => (&load.call, load.action.to_string()),
            Record::Copy(copy) => {
                let kind = copy.kind.as_deref().unwrap_or_default();
                (&copy.call, format!("{} {kind}", copy.action).trim_end().to_string())
            }
            Record::Sync(sync) => (&sync.call, sync.action.to_string()),
            Record::GraphCall(graph) => (&graph.call, graph.action.to_string()),
            Record::GraphLaunch(launch) => (&launch.call, format!("graph of {}", launch.exec)),
            _ => return,
        };
        let function = process.hooks.get(&call.hook).map(|local| local.function);
        let (_, name) = self.name(function);
        let mut inside = process.nesting.take(call);
        self.trials(&name, &mut inside);
        process.nesting.hand_up(call, &inside, None);
        self.in_flight.push(InFlightRow::new(process.header.pid, call, &name, what));
    }
}
