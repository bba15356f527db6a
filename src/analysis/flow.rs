//! Counts calls from each place to each, layer by layer: application, library, HIP, code object.
//!
//! A call's caller is the enclosing call on its thread, whose line comes later: calls wait, by
//! thread, for their caller's line, as in `nesting`. If that line was lost, or the enclosing call
//! makes no event, the caller is unknown.

#[cfg(test)]
mod tests;

use super::{
    interner::{Interner, PerId},
    session::{Analysis, CodeObjectId, Event, FunctionId, Session},
};
use foldhash::HashMap;
use rocshim_reader::Reading;
use rocshim_trace::{Call, CodeObject, Record, file_name};
use serde::Serialize;
use std::collections::BTreeMap;

/// Places of a floor that are shown by themselves: those with most calls. The others are one.
const PLACES: usize = 16;

/// The layers of a program that uses ROCm, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// The program and its libraries that are not hooked.
    Application,
    /// BLAS, MIOpen and RCCL: the hooked libraries above HIP.
    Library,
    /// The HIP runtime, by kind of call.
    Hip,
    /// The code objects whose kernels were launched.
    CodeObject,
}

impl Floor {
    /// Returns the name that the page shows.
    pub fn name(self) -> &'static str {
        match self {
            Floor::Application => "Application",
            Floor::Library => "Library",
            Floor::Hip => "HIP",
            Floor::CodeObject => "Code object",
        }
    }
}

/// A node of the graph: a program, a library, a kind of HIP call, a code object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Its layer.
    pub floor: Floor,
    /// Its name, unique in its layer.
    pub name: String,
}

/// Calls from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The caller.
    pub from: Place,
    /// The callee.
    pub to: Place,
    /// Calls; to a code object: launches of its kernels.
    pub calls: u64,
}

/// All floors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// By floor, most calls first.
    pub places: Vec<Place>,
    /// By place.
    pub edges: Vec<Edge>,
    /// Places that share a place with others, because their floor has too many.
    pub merged: u64,
}

const UNKNOWN: &str = "unknown caller";
const LAUNCH: &str = "kernel launches";
const CAPTURED: &str = "launches into graphs";
const GRAPH_LAUNCH: &str = "graph launches";

/// Calls of one caller, by place.
type Calls = Vec<(usize, u64)>;

/// Counts the calls from place to place.
#[derive(Default)]
pub(crate) struct FlowBuilder {
    places: Interner<Place, Place>,
    edges: HashMap<(usize, usize), u64>,
    /// The place of each function's library, and of each code object.
    libraries: PerId<FunctionId, Option<usize>>,
    objects: PerId<CodeObjectId, Option<usize>>,
    /// The program of the process that is read.
    application: usize,
    /// For each of its threads the calls that wait for their callers, ids growing.
    open: HashMap<u32, Vec<(u64, Calls)>>,
}

impl FlowBuilder {
    /// All edges.
    pub(crate) fn finish(self) -> Flow {
        let places = self.places.values();
        let mut sums: HashMap<usize, u64> = HashMap::default();
        for (&(from, to), calls) in &self.edges {
            *sums.entry(to).or_default() += calls;
            if places[from].floor == Floor::Application {
                *sums.entry(from).or_default() += calls;
            }
        }
        let mut order: Vec<(Floor, u64, usize)> =
            sums.into_iter().map(|(place, sum)| (places[place].floor, sum, place)).collect();
        order.sort_by(|a, b| (a.0, b.1, &places[a.2]).cmp(&(b.0, a.1, &places[b.2])));
        let (mut shown, mut merged): (BTreeMap<usize, Place>, Vec<usize>) = Default::default();
        let mut all = Flow::default();
        for floor in [Floor::Application, Floor::Library, Floor::Hip, Floor::CodeObject] {
            let of: Vec<usize> = order.iter().filter(|row| row.0 == floor).map(|row| row.2).collect();
            let own = if of.len() > PLACES { PLACES - 1 } else { of.len() };
            for place in &of[..own] {
                shown.insert(*place, places[*place].clone());
                all.places.push(places[*place].clone());
            }
            if own < of.len() {
                let rest = Place { floor, name: format!("{} others", of.len() - own) };
                all.places.push(rest.clone());
                shown.extend(of[own..].iter().map(|place| (*place, rest.clone())));
                merged.extend(&of[own..]);
            }
        }
        let mut edges: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let at = |place: &usize| all.places.iter().position(|shown_place| *shown_place == shown[place]);
        for ((from, to), calls) in &self.edges {
            if let (Some(from), Some(to)) = (at(from), at(to)) {
                *edges.entry((from, to)).or_default() += calls;
            }
        }
        let place = |at: usize| all.places[at].clone();
        all.edges = edges
            .into_iter()
            .map(|((from, to), calls)| Edge { from: place(from), to: place(to), calls })
            .collect();
        all.merged = merged.len() as u64;
        all
    }

    fn number(&mut self, floor: Floor, name: String) -> usize {
        let place = Place { floor, name };
        self.places.number(place.clone(), || place)
    }

    fn library(&mut self, session: &Session, function: Option<FunctionId>) -> usize {
        let Some(function) = function else {
            return self.number(Floor::Library, "unknown library".into());
        };
        if let Some(place) = *self.libraries.of(function) {
            return place;
        }
        let name = session.function(function).library.trim_end_matches(".so").to_string();
        let place = self.number(Floor::Library, name);
        *self.libraries.of(function) = Some(place);
        place
    }

    fn object(&mut self, session: &Session, object: Option<CodeObjectId>) -> usize {
        let Some(object) = object else { return self.number(Floor::CodeObject, NO_OBJECT.into()) };
        if let Some(place) = *self.objects.of(object) {
            return place;
        }
        let place = self.number(Floor::CodeObject, name(session.code_object(object)));
        *self.objects.of(object) = Some(place);
        place
    }

    /// Handles the return of a call of `place`: the calls inside now have their caller, and it
    /// waits for its own.
    fn returned(&mut self, call: &Call, place: usize) {
        let mut open = self.open.remove(&call.tid).unwrap_or_default();
        while let Some((_, calls)) = open.pop_if(|(id, _)| *id > call.id) {
            self.orphans(calls);
        }
        if let Some((_, calls)) = open.pop_if(|(id, _)| *id == call.id) {
            calls.into_iter().for_each(|(to, calls)| *self.edges.entry((place, to)).or_default() += calls);
        }
        match call.parent {
            None => {
                *self.edges.entry((self.application, place)).or_default() += 1;
                // No call is open on this thread any more.
                open.drain(..).for_each(|(_, calls)| self.orphans(calls));
            }
            Some(parent) => {
                while let Some((_, calls)) = open.pop_if(|(id, _)| *id > parent) {
                    self.orphans(calls);
                }
                if open.last().is_none_or(|(id, _)| *id != parent) {
                    open.push((parent, Vec::new()));
                }
                let (_, calls) = open.last_mut().expect("it was pushed");
                match calls.iter_mut().find(|(to, _)| *to == place) {
                    Some((_, calls)) => *calls += 1,
                    None => calls.push((place, 1)),
                }
            }
        }
        if !open.is_empty() {
            self.open.insert(call.tid, open);
        }
    }

    fn orphans(&mut self, calls: Calls) {
        let unknown = self.number(Floor::Application, UNKNOWN.into());
        calls.into_iter().for_each(|(to, calls)| *self.edges.entry((unknown, to)).or_default() += calls);
    }
}

impl Analysis for FlowBuilder {
    fn begin_process(&mut self, session: &Session) {
        let program = file_name(&session.process().header.exe).to_string();
        self.application = self.number(Floor::Application, program);
    }

    fn event(&mut self, session: &Session, event: &Event) {
        let hip = match event.record {
            Record::Launch(launch) if launch.capture.is_some() => CAPTURED,
            Record::Launch(_) => {
                let object = self.object(session, event.ids.code_object);
                if !event.failed() {
                    let from = self.number(Floor::Hip, LAUNCH.into());
                    *self.edges.entry((from, object)).or_default() += 1;
                }
                LAUNCH
            }
            Record::GraphLaunch(_) => GRAPH_LAUNCH,
            Record::GraphCall(_) => "building graphs",
            Record::Copy(_) => "copies, memory set",
            Record::Sync(_) => "waits, events",
            Record::Load(_) => "modules loaded",
            _ => {
                let place = self.library(session, event.ids.function);
                return self.returned(event.call, place);
            }
        };
        let place = self.number(Floor::Hip, hip.into());
        self.returned(event.call, place);
    }

    fn end_process(&mut self, session: &Session, _reading: &Reading) {
        let open = std::mem::take(&mut self.open);
        open.into_values().flatten().for_each(|(_, calls)| self.orphans(calls));
        let from = self.number(Floor::Hip, GRAPH_LAUNCH.into());
        let process = session.process();
        process.graphs.rows(process.header.pid, |kernel, launches| {
            let local = kernel.kernel.and_then(|id| process.kernel(id));
            let object = self.object(session, local.and_then(|local| local.code_object));
            if launches > 0 {
                *self.edges.entry((from, object)).or_default() += launches;
            }
        });
    }
}

const NO_OBJECT: &str = "not known";

/// `libggml-hip.so bundle 30`: a code object as people find it.
fn name(object: &CodeObject) -> String {
    let file = object.file.as_deref().or(object.path.as_deref());
    match (file.map(file_name), object.ordinal) {
        (Some(file), Some(ordinal)) => format!("{file} bundle {ordinal}"),
        (Some(file), None) => file.to_string(),
        (None, _) => match &object.xxh3 {
            Some(hash) => format!("from memory, {}", hash.get(..8).unwrap_or(hash)),
            None => "from memory".to_string(),
        },
    }
}
