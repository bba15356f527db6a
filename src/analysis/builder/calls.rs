//! Adds calls other than launches, GEMMs, copies and waits: convolutions, calls by name, loads.

use super::{SummaryBuilder, names};
use crate::{
    convolutions::shape_of_run,
    session::{Event, Session},
};
use rocshim_trace::{Conv, Load, Span};

impl SummaryBuilder {
    pub(super) fn conv(&mut self, session: &Session, event: &Event, conv: &Conv) {
        let mut inside = self.open.nesting.take(event.call);
        self.count(session, event);
        self.totals.convolutions += 1;
        let (library, name) = names(session, event.ids.function);
        self.trials(&name, &mut inside);
        let launched = std::mem::take(&mut inside.launched);
        if let Some((shape, operations)) = shape_of_run(conv).filter(|_| !launched.is_empty()) {
            self.shares.product((event.call.tid, &launched), (&name, shape), operations);
        }
        let (process, function) = (session.process().id, (event.ids.function, &*library, &*name));
        self.convolutions.count(process, function, conv.clone(), &inside);
        inside.launched = launched;
        self.open.nesting.hand_up(event.call, &inside, None);
    }

    /// Counts a call that is recorded by name; `span` has its further fields.
    pub(super) fn span(&mut self, session: &Session, event: &Event, span: Option<&Span>) {
        let mut inside = self.open.nesting.take(event.call);
        self.count(session, event);
        if self.query(session, event, &inside) {
            return;
        }
        self.totals.spans += 1;
        let (library, name) = names(session, event.ids.function);
        self.trials(&name, &mut inside);
        let launched = std::mem::take(&mut inside.launched);
        let span = span.cloned().unwrap_or_else(|| Span { call: event.call.clone(), ..Span::default() });
        let (process, function) = (session.process().id, (event.ids.function, &*library, &*name));
        self.spans.count(process, function, span, &inside);
        inside.launched = launched;
        self.open.nesting.hand_up(event.call, &inside, None);
    }

    pub(super) fn load(&mut self, session: &Session, event: &Event, load: &Load) {
        self.totals.module_calls += 1;
        let (_, name) = names(session, event.ids.function);
        let object = event.ids.code_object.map(|id| session.code_object(id));
        self.modules.count(&name, object.and_then(|object| object.path.as_deref()), load);
        self.plain_event(session, event);
    }
}
