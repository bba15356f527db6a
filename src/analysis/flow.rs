//! Who called whom, down the floors: application, library, HIP, code object; with the number of calls from each to each.
//!
//! A call's caller is the call that it lies in, on its own thread. Its line comes before its caller's: calls wait, by thread, for that of their
//! caller, as in `nesting`. Those whose caller's line was lost, or that lie in a call that makes no event, have an unknown
//! caller.

#[cfg(test)]
mod tests;

use super::{
    graphs::Graphs,
    process::{Identity, identity},
};
use foldhash::HashMap;
use rocshim_trace::{Call, CodeObject, Header, Record, file_name};
use serde::Serialize;
use std::collections::BTreeMap;

/// Places of a floor that are shown by themselves: those with most calls. The others are one.
const PLACES: usize = 16;

/// The floors, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    Application,
    Library,
    Hip,
    CodeObject,
}

impl Floor {
    pub fn name(self) -> &'static str {
        match self {
            Floor::Application => "Application",
            Floor::Library => "Library",
            Floor::Hip => "HIP",
            Floor::CodeObject => "Code object",
        }
    }
}

/// A place on a floor: a program, a library, a kind of HIP call, a code object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub floor: Floor,
    pub name: String,
}

/// Calls from one place to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    pub from: Place,
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

/// What is known of the process that is read.
#[derive(Default)]
struct Local {
    identity: Option<Identity>,
    pid: u32,
    application: usize,
    /// Hooks: the place of their library.
    hooks: HashMap<u16, usize>,
    /// Code objects, and the one of each kernel.
    objects: HashMap<u32, usize>,
    kernels: HashMap<u32, usize>,
    graphs: Graphs,
    /// For each thread the calls that wait for their callers, ids growing.
    open: HashMap<u32, Vec<(u64, Calls)>>,
}

/// Takes the records of one file after the other.
#[derive(Default)]
pub(crate) struct FlowBuilder {
    places: Vec<Place>,
    numbers: BTreeMap<Place, usize>,
    edges: HashMap<(usize, usize), u64>,
    local: Local,
}

impl FlowBuilder {
    /// Looks at a record.
    pub(crate) fn look(&mut self, record: &Record) {
        match record {
            Record::Header(header) => self.header(header),
            Record::HookTable(table) => table.hooks().for_each(|hook| self.hook(hook.id, &hook.of)),
            Record::Hook(hook) => self.hook(hook.id, &hook.of),
            Record::CodeObject(object) => {
                let place = self.number(Floor::CodeObject, name(object));
                self.local.objects.insert(object.id, place);
            }
            Record::Kernel(kernel) => {
                let object = kernel.code_object.and_then(|id| self.local.objects.get(&id).copied());
                let object = object.unwrap_or_else(|| self.number(Floor::CodeObject, NO_OBJECT.into()));
                self.local.kernels.insert(kernel.id, object);
            }
            Record::Graph(graph) => self.local.graphs.define(graph.clone()),
            _ => self.event(record),
        }
    }

    /// All edges.
    pub(crate) fn finish(mut self) -> Flow {
        self.end_process();
        let mut sums: HashMap<usize, u64> = HashMap::default();
        for (&(from, to), calls) in &self.edges {
            *sums.entry(to).or_default() += calls;
            if self.places[from].floor == Floor::Application {
                *sums.entry(from).or_default() += calls;
            }
        }
        let mut order: Vec<(Floor, u64, usize)> =
            sums.into_iter().map(|(place, sum)| (self.places[place].floor, sum, place)).collect();
        order.sort_by(|a, b| (a.0, b.1, &self.places[a.2]).cmp(&(b.0, a.1, &self.places[b.2])));
        let (mut shown, mut merged): (BTreeMap<usize, Place>, Vec<usize>) = Default::default();
        let mut all = Flow::default();
        for floor in [Floor::Application, Floor::Library, Floor::Hip, Floor::CodeObject] {
            let of: Vec<usize> = order.iter().filter(|row| row.0 == floor).map(|row| row.2).collect();
            let own = if of.len() > PLACES { PLACES - 1 } else { of.len() };
            for place in &of[..own] {
                shown.insert(*place, self.places[*place].clone());
                all.places.push(self.places[*place].clone());
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
        *self.numbers.entry(place.clone()).or_insert_with(|| {
            self.places.push(place);
            self.places.len() - 1
        })
    }

    fn header(&mut self, header: &Header) {
        if self.local.identity.as_ref() == Some(&identity(header)) {
            return;
        }
        self.end_process();
        let program = file_name(&header.exe).to_string();
        let application = self.number(Floor::Application, program);
        self.local =
            Local { identity: Some(identity(header)), pid: header.pid, application, ..Local::default() };
    }

    fn hook(&mut self, id: u16, library: &str) {
        let name = library.trim_end_matches(".so").to_string();
        let place = self.number(Floor::Library, name);
        self.local.hooks.insert(id, place);
    }

    fn event(&mut self, record: &Record) {
        let Some(call) = record.call() else { return };
        let is_done = call.status == 0 && !call.unwound;
        let hip = |name: &str| Some(name.to_string());
        let hip = match record {
            Record::Launch(launch) => match launch.capture {
                Some(capture) => {
                    self.local.graphs.capture(capture, launch);
                    hip(CAPTURED)
                }
                None => {
                    let object = launch.kernel.and_then(|kernel| self.local.kernels.get(&kernel).copied());
                    let object = object.unwrap_or_else(|| self.number(Floor::CodeObject, NO_OBJECT.into()));
                    if is_done {
                        let from = self.number(Floor::Hip, LAUNCH.into());
                        *self.edges.entry((from, object)).or_default() += 1;
                    }
                    hip(LAUNCH)
                }
            },
            Record::GraphLaunch(launch) => {
                self.local.graphs.launch(launch);
                hip(GRAPH_LAUNCH)
            }
            Record::GraphCall(call) => {
                self.local.graphs.call(call);
                hip("building graphs")
            }
            Record::Copy(_) => hip("copies, memory set"),
            Record::Sync(_) => hip("waits, events"),
            Record::Load(_) => hip("modules loaded"),
            _ => None,
        };
        let place = match hip {
            Some(name) => self.number(Floor::Hip, name),
            None => match self.local.hooks.get(&call.hook) {
                Some(library) => *library,
                None => self.number(Floor::Library, "unknown library".into()),
            },
        };
        self.returned(call, place);
    }

    /// A call of `place` has returned: those that lie in it have their caller now, and it waits for its own.
    fn returned(&mut self, call: &Call, place: usize) {
        let mut open = self.local.open.remove(&call.tid).unwrap_or_default();
        while let Some((_, calls)) = open.pop_if(|(id, _)| *id > call.id) {
            self.orphans(calls);
        }
        if let Some((_, calls)) = open.pop_if(|(id, _)| *id == call.id) {
            calls.into_iter().for_each(|(to, calls)| *self.edges.entry((place, to)).or_default() += calls);
        }
        match call.parent {
            None => {
                *self.edges.entry((self.local.application, place)).or_default() += 1;
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
            self.local.open.insert(call.tid, open);
        }
    }

    fn orphans(&mut self, calls: Calls) {
        let unknown = self.number(Floor::Application, UNKNOWN.into());
        calls.into_iter().for_each(|(to, calls)| *self.edges.entry((unknown, to)).or_default() += calls);
    }

    fn end_process(&mut self) {
        let local = std::mem::take(&mut self.local);
        local.open.into_values().flatten().for_each(|(_, calls)| self.orphans(calls));
        let from = self.number(Floor::Hip, GRAPH_LAUNCH.into());
        let nowhere = self.number(Floor::CodeObject, NO_OBJECT.into());
        local.graphs.rows(local.pid, |kernel, launches| {
            let object = kernel.kernel.and_then(|kernel| local.kernels.get(&kernel).copied());
            if launches > 0 {
                *self.edges.entry((from, object.unwrap_or(nowhere))).or_default() += launches;
            }
        });
    }
}

const NO_OBJECT: &str = "not known";

/// `libggml-hip.so #30`: a code object as people find it.
fn name(object: &CodeObject) -> String {
    let file = object.file.as_deref().or(object.path.as_deref());
    match (file.map(file_name), object.ordinal) {
        (Some(file), Some(ordinal)) => format!("{file} #{ordinal}"),
        (Some(file), None) => file.to_string(),
        (None, _) => match &object.xxh3 {
            Some(hash) => format!("from memory, {}", hash.get(..8).unwrap_or(hash)),
            None => "from memory".to_string(),
        },
    }
}
