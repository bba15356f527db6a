//! Assigns the kernels of graph launches to the library calls that a capture recorded.
//!
//! A capture records launches in order, each within its library calls. The runtime reports the
//! kernels of a graph launch in the order in which they ran. If both have the same names in the
//! same order, each report belongs to the captured launch at its position.

use crate::evidence::rules::{Class, Rule, premises};
use crate::session::{CallKey, Session, SymbolId};
use foldhash::HashMap;
use rocshim_trace::{GraphCall, GraphLaunch, Hex};
use std::collections::VecDeque;

/// Limit of the graph launches whose reports are awaited; beyond it the earliest is dropped.
const AWAITED: usize = 256;

/// The facts that the rule tests.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    /// Kernels that the graph lists; `None`: not all are listed.
    listed: Option<u64>,
    captured: u64,
    /// Reports of the graph launch that have the name of the captured launch at their position.
    equal: u64,
}

pub(super) const IN_GRAPH: Rule<Facts> = Rule {
    says: "a kernel of a graph launch is that of the captured launch at its place",
    class: Class::Inferred,
    premises: premises! {
        "the graph has as many kernels as its capture recorded launches" Observed
            |facts: &Facts| facts.listed.map(|listed| listed == facts.captured);
        "the kernels of the graph launch were reported with their names, in their order" Observed
            |facts: &Facts| Some(facts.equal == facts.captured);
    },
};

/// A captured library call: the number of its shape, and the positions of its launches.
#[derive(Clone)]
struct CapturedCall {
    product: usize,
    places: Vec<usize>,
}

/// The contents of a capture.
#[derive(Clone, Default)]
struct Captured {
    /// The kernel of each launch.
    launches: Vec<Option<SymbolId>>,
    calls: Vec<CapturedCall>,
}

/// A graph launch, and its reported kernels: number of the name, time.
#[derive(Clone, Default)]
struct Launched {
    capture: u32,
    graph: Option<u32>,
    ran: Vec<(Option<u32>, u64)>,
}

/// A library call that a graph launch executed; `None`: which kernels were its is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executed {
    pub(super) product: usize,
    /// Times of its kernels.
    pub(super) busy: Option<Vec<u64>>,
}

/// The captures and graph launches of the process being read.
#[derive(Clone, Default)]
pub(super) struct InGraphs {
    captures: HashMap<u32, Captured>,
    /// Capture and place of each captured launch.
    places: HashMap<CallKey, (u32, usize)>,
    /// The capture that each instantiated graph came from.
    sources: HashMap<Hex, u32>,
    /// Names of kernels by their number in reports.
    names: HashMap<u32, String>,
    launched: VecDeque<(CallKey, Launched)>,
}

impl InGraphs {
    pub(super) fn define(&mut self, kernel: u32, name: &str) {
        self.names.insert(kernel, name.to_owned());
    }

    /// Adds a launch that `capture` recorded.
    pub(super) fn capture(&mut self, call: CallKey, capture: u32, kernel: Option<SymbolId>) {
        let captured = self.captures.entry(capture).or_default();
        self.places.insert(call, (capture, captured.launches.len()));
        captured.launches.push(kernel);
    }

    /// Adds a library call that made these launches; returns false if no capture recorded them.
    pub(super) fn product(&mut self, (tid, launches): (u32, &[u64]), product: usize) -> bool {
        let place = |id: &u64| self.places.get(&(tid, *id)).copied();
        let Some(found) = launches.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
        let Some((capture, _)) = found.first().copied() else { return false };
        let places = found.into_iter().map(|(_, place)| place).collect();
        let captured = self.captures.entry(capture).or_default();
        captured.calls.push(CapturedCall { product, places });
        true
    }

    /// Handles the instantiation or update of a graph.
    pub(super) fn graph_call(&mut self, call: &GraphCall) {
        if call.call.status != 0 || !matches!(&*call.action, "instantiate" | "update") {
            return;
        }
        match call.capture {
            Some(capture) => self.sources.insert(call.exec, capture),
            None => self.sources.remove(&call.exec),
        };
    }

    /// Adds a graph launch; returns the calls of the one that is dropped for it.
    pub(super) fn launch(&mut self, call: CallKey, launch: &GraphLaunch) -> Vec<Executed> {
        let Some(capture) = self.sources.get(&launch.exec).copied() else { return Vec::new() };
        if self.captures.get(&capture).is_none_or(|captured| captured.calls.is_empty()) {
            return Vec::new();
        }
        let launched = Launched { capture, graph: launch.graph, ran: Vec::new() };
        self.launched.push_back((call, launched));
        let given_up = if self.launched.len() > AWAITED { self.launched.pop_front() } else { None };
        given_up.map_or_else(Vec::new, |(_, launched)| self.unknown(&launched))
    }

    /// Handles a report of a graph launch; with the last one, returns the calls that the graph
    /// launch executed.
    pub(super) fn ran(
        &mut self,
        session: &Session,
        call: CallKey,
        (kernel, busy): (Option<u32>, u64),
    ) -> Vec<Executed> {
        let Some(at) = self.launched.iter().rposition(|(known, _)| *known == call) else {
            return Vec::new();
        };
        let launched = &mut self.launched[at].1;
        launched.ran.push((kernel, busy));
        let awaited = self.captures.get(&launched.capture).map_or(0, |captured| captured.launches.len());
        if launched.ran.len() < awaited {
            return Vec::new();
        }
        self.launched.remove(at).map_or_else(Vec::new, |(_, launched)| self.executed(session, &launched))
    }

    fn executed(&self, session: &Session, launched: &Launched) -> Vec<Executed> {
        let Some(captured) = self.captures.get(&launched.capture) else { return Vec::new() };
        let is_equal = |(kernel, symbol): (Option<u32>, Option<SymbolId>)| {
            let name = kernel.and_then(|kernel| self.names.get(&kernel));
            name.zip(symbol).is_some_and(|(name, symbol)| *name == session.symbol(symbol).name)
        };
        let kernels = launched.ran.iter().map(|(kernel, _)| *kernel).zip(captured.launches.iter().copied());
        let facts = Facts {
            listed: launched.graph.and_then(|graph| session.process().graphs.listed_kernels(graph)),
            captured: captured.launches.len() as u64,
            equal: kernels.filter(|pair| is_equal(*pair)).count() as u64,
        };
        if !IN_GRAPH.is_met(&facts) {
            return self.unknown(launched);
        }
        let busy = |call: &CapturedCall| call.places.iter().map(|place| launched.ran[*place].1).collect();
        let executed = |call: &CapturedCall| Executed { product: call.product, busy: Some(busy(call)) };
        captured.calls.iter().map(executed).collect()
    }

    fn unknown(&self, launched: &Launched) -> Vec<Executed> {
        let calls = self.captures.get(&launched.capture).into_iter().flat_map(|captured| &captured.calls);
        calls.map(|call| Executed { product: call.product, busy: None }).collect()
    }

    /// Ends the process; returns the calls of graph launches with missing reports.
    pub(super) fn end(&mut self) -> Vec<Executed> {
        let launched = std::mem::take(&mut self.launched);
        let unknown = launched.iter().flat_map(|(_, launched)| self.unknown(launched)).collect();
        *self = InGraphs::default();
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::check;

    #[test]
    fn a_kernel_in_a_graph_is_found_by_its_place_only_where_all_names_are_equal() {
        let met = Facts { listed: Some(3), captured: 3, equal: 3 };
        let not_met = [Facts { listed: Some(4), ..met }, Facts { equal: 2, ..met }];
        check(&IN_GRAPH, &met, &not_met, &[Facts { listed: None, ..met }]);
    }
}
