//! Calls that are no launches, products, copies or waits: convolutions, calls known by their names, marks, loads.

use super::SummaryBuilder;
use crate::process::Process;
use rocshim_trace::{Conv, Gpu, Load, Mark, Span};

impl SummaryBuilder {
    pub(super) fn conv(&mut self, process: &mut Process, conv: Conv) {
        let call = conv.call.clone();
        let mut inside = process.nesting.take(&call);
        let function = self.event(process, &call);
        self.totals.convolutions += 1;
        let (library, name) = self.name(function);
        self.trials(&name, &mut inside);
        self.convolutions.count((function.unwrap_or(usize::MAX), &library, &name), conv, &inside);
        process.nesting.hand_up(&call, &inside, None);
    }

    pub(super) fn span(&mut self, process: &mut Process, span: Span) {
        let call = span.call.clone();
        let mut inside = process.nesting.take(&call);
        let function = self.event(process, &call);
        if self.query(process, &call, function, &inside) {
            return;
        }
        self.totals.spans += 1;
        let (library, name) = self.name(function);
        self.trials(&name, &mut inside);
        self.spans.count((function.unwrap_or(usize::MAX), &library, &name), span, &inside);
        process.nesting.hand_up(&call, &inside, None);
    }

    pub(super) fn mark(&mut self, process: &mut Process, mark: &Mark) {
        let inside = process.nesting.take(&mark.call);
        self.event(process, &mark.call);
        self.totals.marks += 1;
        process.nesting.hand_up(&mark.call, &inside, None);
    }

    pub(super) fn load(&mut self, process: &mut Process, load: &Load) {
        let inside = process.nesting.take(&load.call);
        let function = self.event(process, &load.call);
        self.totals.module_calls += 1;
        let (_, name) = self.name(function);
        let object = load.code_object.and_then(|id| process.code_objects.get(&id));
        self.modules.count(&name, object.and_then(|(_, path)| path.as_deref()), load);
        process.nesting.hand_up(&load.call, &inside, None);
    }

    pub(super) fn gpu_report(&mut self, process: &mut Process, gpu: &Gpu) {
        self.gpu.report(&mut process.reports, gpu);
        process.count_report(&gpu.call);
    }
}
