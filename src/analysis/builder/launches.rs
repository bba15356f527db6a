//! Adds kernel launches: events, recorded in captures, and by graph launches.

use super::{ProcessCounts, SummaryBuilder};
use crate::{
    code_objects::is_of_library,
    evidence::Evidence,
    kernels::Shape,
    nesting::Launches,
    session::{Event, LocalKernel, Session},
};
use rocshim_trace::Launch;

impl SummaryBuilder {
    #[inline]
    pub(super) fn launch(&mut self, session: &Session, event: &Event, launch: &Launch) {
        let Some(kernel) = event.ids.symbol else { return };
        let local = launch.kernel.and_then(|id| session.process().kernel(id));
        match launch.capture {
            None => self.dispatch(session, local, 1, u64::from(!event.failed())),
            Some(_) => self.totals.captured += 1,
        }
        self.kernels.count(session.process().id, kernel, launch);
        let columns = || local.and_then(|local| local.product.as_ref()?.columns(launch));
        if !event.failed()
            && let Some(columns) = columns()
        {
            self.columns.count(kernel, columns, launch);
        }
        let mut inside = self.open.nesting.take(event.call);
        if self.shares.are_asked() && !event.failed() {
            inside.launched.push(event.call.id);
        }
        let launched = Launches::one(launch.capture.is_some(), event.failed());
        self.open.nesting.hand_up(event.call, &inside, Some((kernel, launched)));
        self.count(session, event);
    }

    /// Counts launches of a kernel; `None`: the kernel is unknown.
    fn dispatch(&mut self, session: &Session, kernel: Option<&LocalKernel>, launches: u64, succeeded: u64) {
        self.open.launches += launches;
        let Some(local) = kernel else {
            self.totals.unnamed_launches += launches;
            self.totals.unplaced_launches += launches;
            return;
        };
        let dispatched = self.open.dispatched.of(local.id);
        match local.code_object {
            Some(object) if succeeded > 0 => {
                let first = dispatched.succeeded == 0;
                self.code_objects.dispatch(object, local.symbol, first, succeeded);
                if let Some(target) = session.kernel(local.id).target.as_deref().filter(|_| first) {
                    self.code_objects.run(object, target);
                }
            }
            Some(_) => {}
            None => self.totals.unplaced_launches += launches,
        }
        dispatched.succeeded += succeeded;
    }

    /// At the end of a process, when every capture has been read, counts the kernels that its graph
    /// launches executed.
    pub(super) fn launch_by_graphs(&mut self, session: &Session) {
        let process = session.process();
        let rows = process.graphs.rows(process.header.pid, |node, launches| {
            self.totals.by_graphs += launches;
            let local = node.kernel.and_then(|id| process.kernel(id));
            self.dispatch(session, local, launches, launches);
            let Some(kernel) = session.symbol_of(node.kernel, node.function) else { return };
            self.kernels.count_by_graphs(kernel, Shape { grid: node.grid, block: node.block }, launches);
            // A graph's node has no arguments.
            let launch = Launch { grid: node.grid, block: node.block, ..Launch::default() };
            if let Some(columns) = local.and_then(|local| local.product.as_ref()?.columns(&launch)) {
                self.columns.count_by_graphs(kernel, columns, launches);
            }
        });
        let unlisted = rows.iter().filter(|row| row.evidence == Evidence::Limited);
        self.totals.unlisted_graph_launches += unlisted.map(|row| row.launches - row.failed).sum::<u64>();
        self.totals.launches_in_doubt += process.graphs.in_doubt;
        self.graphs.extend(rows);
    }
}

impl ProcessCounts {
    /// Returns the number of successful launches of kernels from the code objects of `library`.
    pub(super) fn launches_of_library(&self, session: &Session, library: &str) -> u64 {
        let is_its = |id| {
            let object = session.kernel(id).code_object.map(|id| session.code_object(id));
            object
                .is_some_and(|object| is_of_library(object.path.as_deref(), object.file.as_deref(), library))
        };
        let dispatched = self.dispatched.iter().filter(|(_, dispatched)| dispatched.succeeded > 0);
        dispatched.filter(|(id, _)| is_its(*id)).map(|(_, dispatched)| dispatched.succeeded).sum()
    }
}
