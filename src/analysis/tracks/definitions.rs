//! What a process has defined, ready to be joined to its calls.

use super::row::Cell;
use foldhash::HashMap;
use rocshim_drain::demangle;
use rocshim_trace::{CodeObject, Graph, Hook, Kernel, Launch, Word, family};
use std::rc::Rc;

/// A hooked function.
pub(super) struct Function {
    /// Its name, of a C++ function as people write it.
    pub(super) name: Word,
    pub(super) library: Word,
    /// The state of its hook: `armed`, `bound`, …
    pub(super) state: Word,
    pub(super) calls: u64,
}

/// A kernel.
pub(super) struct Known {
    /// As people write it, else its symbol.
    pub(super) name: Word,
    /// Its symbol, name, family, and code object, as columns of its launches.
    pub(super) cells: Vec<Cell>,
    pub(super) arguments: Rc<[Word]>,
    hook: Option<u16>,
}

/// Where kernels come from.
struct Object {
    cells: [Cell; 3],
    fallback: Option<bool>,
}

#[derive(Default)]
pub(super) struct Definitions {
    pub(super) functions: HashMap<u16, Function>,
    kernels: HashMap<u32, Known>,
    objects: HashMap<u32, Object>,
    /// How many kernels a graph has, and whether these are all.
    graphs: HashMap<u32, (u64, bool)>,
}

impl Definitions {
    pub(super) fn hook(&mut self, hook: &Hook) {
        let known = self.functions.entry(hook.id).or_insert_with(|| Function {
            name: demangle(&hook.name).map_or_else(|| hook.name.as_str().into(), Word::from),
            library: hook.of.as_str().into(),
            state: Word::default(),
            calls: 0,
        });
        known.state = hook.state.as_str().into();
    }

    pub(super) fn code_object(&mut self, object: &CodeObject) {
        let file = object.path.as_deref().or(object.file.as_deref());
        let cells = [object.source.as_str().into(), file.into(), object.ordinal.into()];
        self.objects.insert(object.id, Object { cells, fallback: object.fallback });
    }

    pub(super) fn kernel(&mut self, kernel: &Kernel) {
        let family = family(&kernel.name, kernel.demangled.as_deref());
        let mut cells = vec![
            kernel.name.as_str().into(),
            kernel.demangled.as_deref().into(),
            family.map(|family| family.name).into(),
            family.map(|family| family.of).into(),
        ];
        match kernel.code_object.and_then(|id| self.objects.get(&id)) {
            Some(object) => {
                cells.extend(object.cells.iter().cloned());
                cells.extend([kernel.target.as_deref().into(), object.fallback.into()]);
            }
            None => cells.extend([Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent, Cell::Absent]),
        }
        let arguments = kernel.args.iter().flatten();
        let known = Known {
            name: kernel.demangled.as_deref().unwrap_or(&kernel.name).into(),
            cells,
            arguments: arguments.map(|argument| argument.name.as_deref().unwrap_or("").into()).collect(),
            hook: kernel.hook,
        };
        self.kernels.entry(kernel.id).or_insert(known);
    }

    pub(super) fn graph(&mut self, graph: &Graph) {
        self.graphs.insert(graph.id, (graph.kernels.len() as u64, graph.complete));
    }

    pub(super) fn kernel_of(&self, launch: &Launch) -> Option<&Known> {
        self.kernels.get(&launch.kernel?)
    }

    /// The hook of a kernel's launches.
    pub(super) fn hook_of(&self, kernel: u32) -> Option<u16> {
        self.kernels.get(&kernel)?.hook
    }

    /// How many kernels a launch of a graph executes, where that is known.
    pub(super) fn kernels_of(&self, graph: Option<u32>) -> Option<u64> {
        self.graphs.get(&graph?).filter(|(_, complete)| *complete).map(|(kernels, _)| *kernels)
    }

    /// The file and source of a code object.
    pub(super) fn object(&self, id: Option<u32>) -> [Cell; 3] {
        let known = id.and_then(|id| self.objects.get(&id));
        known.map_or([Cell::Absent, Cell::Absent, Cell::Absent], |object| object.cells.clone())
    }
}
