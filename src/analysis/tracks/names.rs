//! Texts for a call's ids: its function, its kernel and the kernel's code object.

use super::row::Cell;
use crate::{
    interner::PerId,
    session::{Event, FunctionId, KernelId, Session},
};
use rocshim_drain::demangle;
use rocshim_trace::{CodeObject, Launch, Word};
use std::sync::Arc;

/// A function's name, of a C++ function the demangled one, and its library.
#[derive(Clone, Default)]
pub(super) struct FunctionName {
    pub(super) name: Word,
    pub(super) library: Word,
}

/// A kernel as its launches show it.
pub(super) struct KernelName {
    /// The demangled name, else the symbol.
    pub(super) name: Word,
    /// Its symbol, name, family, and code object, as columns of its launches.
    pub(super) cells: Vec<Cell>,
}

/// The texts of functions and kernels, made at their first call.
#[derive(Default)]
pub(super) struct NameCache {
    functions: PerId<FunctionId, Option<FunctionName>>,
    kernels: PerId<KernelId, Option<KernelName>>,
}

/// A call with the texts that its ids stand for.
pub(super) struct NamedCall<'a> {
    pub(super) session: &'a Session,
    pub(super) event: &'a Event<'a>,
    pub(super) function: FunctionName,
    pub(super) kernel: Option<&'a KernelName>,
}

impl NameCache {
    pub(super) fn of<'a>(&'a mut self, session: &'a Session, event: &'a Event<'a>) -> NamedCall<'a> {
        let function = event.ids.function.map(|id| {
            let name = self.functions.of(id);
            name.get_or_insert_with(|| function(session, id)).clone()
        });
        let kernel = event.ids.kernel.map(|id| {
            let name = self.kernels.of(id);
            &*name.get_or_insert_with(|| kernel(session, id))
        });
        NamedCall { session, event, function: function.unwrap_or_default(), kernel }
    }
}

impl NamedCall<'_> {
    /// The names of a launch's arguments, in their order.
    pub(super) fn arguments(&self, launch: &Launch) -> Arc<[Word]> {
        let local = launch.kernel.and_then(|id| self.session.process().kernel(id));
        local.map(|local| local.arguments.clone()).unwrap_or_default()
    }

    /// How many kernels a launch of a graph executes, where that is known.
    pub(super) fn kernels_of(&self, graph: Option<u32>) -> Option<u64> {
        self.session.process().graphs.listed_kernels(graph?)
    }

    /// Source, file and number of the code object that the call loads.
    pub(super) fn object(&self) -> [Cell; 3] {
        let object = self.event.ids.code_object.map(|id| self.session.code_object(id));
        object.map_or([Cell::Absent, Cell::Absent, Cell::Absent], place)
    }
}

fn function(session: &Session, id: FunctionId) -> FunctionName {
    let function = session.function(id);
    let name = demangle(&function.name).map_or_else(|| Word::from(&*function.name), Word::from);
    FunctionName { name, library: Word::from(&*function.library) }
}

fn kernel(session: &Session, id: KernelId) -> KernelName {
    let kernel = session.kernel(id);
    let symbol = session.symbol(kernel.symbol);
    let family = symbol.family();
    let mut cells = vec![
        symbol.name.as_str().into(),
        symbol.demangled.as_deref().into(),
        family.map(|family| family.name).into(),
        family.map(|family| family.of).into(),
    ];
    match kernel.code_object.map(|id| session.code_object(id)) {
        Some(object) => {
            cells.extend(place(object));
            cells.extend([kernel.target.as_deref().into(), object.fallback.into()]);
        }
        None => cells.extend([Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent]),
    }
    KernelName { name: symbol.readable().into(), cells }
}

/// Source, file and number of a code object.
fn place(object: &CodeObject) -> [Cell; 3] {
    let file = object.path.as_deref().or(object.file.as_deref());
    [object.source.as_str().into(), file.into(), object.ordinal.into()]
}
