//! Adds calls in flight when their process died.

use super::{SummaryBuilder, names};
use crate::{
    GemmProblem, InFlightRow,
    session::{Event, Session},
};
use rocshim_trace::Record;

impl SummaryBuilder {
    pub(super) fn count_in_flight(&mut self, session: &Session, event: &Event) {
        let what = match event.record {
            Record::Launch(_) => {
                event.ids.symbol.map(|id| session.symbol(id).readable().to_string()).unwrap_or_default()
            }
            Record::Gemm(gemm) => GemmProblem::from((**gemm).clone()).in_short(),
            Record::Matmul(matmul) => GemmProblem::from((**matmul).clone()).in_short(),
            Record::Blas(blas) => blas.action.to_string(),
            Record::Conv(conv) => format!("{} {}", conv.action, conv.direction),
            Record::Span(span) => span.datatype.clone().unwrap_or_default().to_string(),
            Record::Mark(mark) => mark.text.clone().unwrap_or_default(),
            Record::Load(load) => load.action.to_string(),
            Record::Copy(copy) => {
                let kind = copy.kind.as_deref().unwrap_or_default();
                format!("{} {kind}", copy.action).trim_end().to_string()
            }
            Record::Sync(sync) => sync.action.to_string(),
            Record::GraphCall(graph) => graph.action.to_string(),
            Record::GraphLaunch(launch) => format!("graph of {}", launch.exec),
            _ => return,
        };
        let (_, name) = names(session, event.ids.function);
        let mut inside = self.open.nesting.take(event.call);
        self.trials(&name, &mut inside);
        self.open.nesting.hand_up(event.call, &inside, None);
        self.in_flight.push(InFlightRow::new(session.process().header.pid, event.call, &name, what));
    }
}
