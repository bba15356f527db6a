//! Rows of HIP calls and marks: the columns of each kind of call, and its cells in the same order.

use super::{
    names::NamedCall,
    row::{Arguments, Cell},
    table::{Table, TableId, address, flag, integer, text},
};
use crate::status::status_name;
use rocshim_trace::{Copy, GraphCall, GraphLaunch, Launch, Load, Mark, StreamRef, Sync, Word};

/// A call as a row of its table: what it is called, and its cells.
pub(super) type CallRow = (&'static Table, Word, Vec<Cell>);

pub(super) const fn calls(
    id: TableId,
    name: &'static str,
    what: &'static str,
    columns: &'static [super::Column],
) -> Table {
    Table { id, name, what, columns, is_call: true }
}

/// Room for the cells of most calls.
const CELLS: usize = 32;

/// The cells that every call has, and the name of its function.
pub(super) fn begin(of: &NamedCall) -> (Word, Vec<Cell>) {
    let (name, library, call) = (&of.function.name, &of.function.library, of.event.call);
    let error =
        |status| status_name(library, status).map_or_else(|| Cell::text(&status.to_string()), Cell::from);
    let mut cells = Vec::with_capacity(CELLS);
    cells.extend([
        call.id.into(),
        call.parent.into(),
        name.into(),
        library.into(),
        call.status.into(),
        Some(call.status).filter(|status| *status != 0).map_or(Cell::Absent, error),
        call.unwound.into(),
    ]);
    (name.clone(), cells)
}

/// The stream's id as in the trace; 0 for the default stream.
pub(super) fn stream(stream: StreamRef) -> Cell {
    match stream {
        StreamRef::Default => Cell::Word(Word::new_static("0")),
        StreamRef::Id(id) => Cell::text(&id.to_string()),
    }
}

pub(super) fn named(function: &Word, what: &str) -> Word {
    match (function.as_str(), what) {
        ("", what) => what.into(),
        (_, "") => function.clone(),
        (function, what) => format!("{function} {what}").into(),
    }
}

pub(super) const STREAM: &str = "0 the default one, else its number or handle in the trace";
const CAPTURED: &str = "the capture that recorded it into a graph: it was not executed";

pub(super) static LAUNCHES: Table = calls(
    TableId::Launches,
    "launches",
    "a kernel launch",
    &[
        text("kernel", "symbol of the kernel"),
        text("demangled", "the name as people write it, where the symbol is mangled"),
        text("family", "what it does, by its name: the families of `summary`"),
        text("family_of", "whose kernel that is"),
        text("source", "of its code object: fat_binary, file or memory"),
        text("code_object", "file of the code object"),
        integer("bundle", "number of the fat binary in that file, from 0"),
        text("target", "GPU target of the code"),
        flag("fallback", "it is of Tensile's fallback library"),
        integer("grid_x", "blocks"),
        integer("grid_y", "blocks"),
        integer("grid_z", "blocks"),
        integer("block_x", "work-items"),
        integer("block_y", "work-items"),
        integer("block_z", "work-items"),
        integer("lds_bytes", "dynamic LDS"),
        text("stream", STREAM),
        flag("cooperative", "launched as cooperative"),
        integer("capture", CAPTURED),
        text("args", "the arguments, a JSON array as in the trace"),
        integer("args_cut", "how many more it has"),
    ],
);

pub(super) fn launch(of: &NamedCall, launch: &Launch) -> CallRow {
    let (function, mut cells) = begin(of);
    let known = of.kernel;
    match known {
        Some(kernel) => cells.extend(kernel.cells.iter().cloned()),
        None => cells.extend((0..9).map(|_| Cell::Absent)),
    }
    cells.extend(launch.grid.map(Cell::from));
    cells.extend(launch.block.map(Cell::from));
    let arguments = match launch.args.is_empty() {
        true => Cell::Absent,
        false => Cell::Arguments(Arguments { names: of.arguments(launch), values: launch.args.clone() }),
    };
    cells.extend([
        launch.lds.into(),
        stream(launch.stream),
        launch.cooperative.into(),
        launch.capture.into(),
        arguments,
        launch.args_cut.into(),
    ]);
    let unknown =
        || format!("unknown kernel {}", launch.function.map_or(function.to_string(), |f| f.to_string()));
    (&LAUNCHES, known.map_or_else(|| unknown().into(), |kernel| kernel.name.clone()), cells)
}

pub(super) static COPIES: Table = calls(
    TableId::Copies,
    "copies",
    "a copy, or memory being set",
    &[
        text("action", "copy or memset"),
        text("kind", "h2d, d2h, d2d, …"),
        integer("bytes", "in all"),
        address("dst", "where to"),
        address("src", "where from"),
        text("stream", STREAM),
        flag("async", "by the function that does not wait"),
        text("via", "symbol or array, where one end is no plain memory"),
        text("extent", "width, height, depth"),
        integer("capture", CAPTURED),
    ],
);

pub(super) fn copy(of: &NamedCall, copy: &Copy) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        (&copy.action).into(),
        copy.kind.as_ref().into(),
        copy.bytes.into(),
        Cell::address(copy.dst),
        Cell::address(copy.src),
        stream(copy.stream),
        copy.is_async.into(),
        copy.via.as_ref().into(),
        Cell::list(copy.extent.iter().flatten()),
        copy.capture.into(),
    ]);
    (&COPIES, named(&function, copy.kind.as_deref().unwrap_or("")), cells)
}

pub(super) static SYNCS: Table = calls(
    TableId::Syncs,
    "syncs",
    "a call that waits, or orders streams",
    &[
        text("action", "device, stream, event, wait_event, record_event"),
        text("stream", STREAM),
        address("event", "the event"),
        integer("flags", "the flags argument"),
        integer("capture", CAPTURED),
    ],
);

pub(super) fn sync(of: &NamedCall, sync: &Sync) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        (&sync.action).into(),
        stream(sync.stream),
        Cell::address(sync.event),
        sync.flags.into(),
        sync.capture.into(),
    ]);
    (&SYNCS, function, cells)
}

pub(super) static GRAPH_LAUNCHES: Table = calls(
    TableId::GraphLaunches,
    "graph_launches",
    "a launch of a graph",
    &[
        integer("graph", "number of what the graph does"),
        integer("kernels", "how many it executes, where all are known"),
        address("exec", "the instantiated graph"),
        text("stream", STREAM),
    ],
);

pub(super) fn graph_launch(of: &NamedCall, launch: &GraphLaunch) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        launch.graph.into(),
        of.kernels_of(launch.graph).into(),
        Cell::address(launch.exec),
        stream(launch.stream),
    ]);
    let graph = launch.graph.map(|graph| format!("graph {graph}")).unwrap_or_default();
    (&GRAPH_LAUNCHES, named(&function, &graph), cells)
}

pub(super) static GRAPH_CALLS: Table = calls(
    TableId::GraphCalls,
    "graph_calls",
    "a graph being captured, instantiated or updated",
    &[
        text("action", "begin_capture, end_capture, instantiate, update"),
        integer("graph", "number of what it does from now on"),
        integer("capture", "number of the capture"),
        address("source", "the graph"),
        address("exec", "the instantiated graph"),
        text("stream", STREAM),
    ],
);

pub(super) fn graph_call(of: &NamedCall, graph: &GraphCall) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        (&graph.action).into(),
        graph.graph.into(),
        graph.capture.into(),
        Cell::address(graph.source),
        Cell::address(graph.exec),
        stream(graph.stream),
    ]);
    (&GRAPH_CALLS, function, cells)
}

pub(super) static LOADS: Table = calls(
    TableId::Loads,
    "loads",
    "a module being loaded or unloaded",
    &[
        text("action", "load or unload"),
        address("module", "the module"),
        text("source", "of its code object: fat_binary, file or memory"),
        text("code_object", "file of the code object"),
        integer("bundle", "number of the fat binary in that file, from 0"),
    ],
);

pub(super) fn load(of: &NamedCall, load: &Load) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([(&load.action).into(), Cell::address(load.module)]);
    cells.extend(of.object());
    (&LOADS, function, cells)
}

pub(super) static MARKS: Table = calls(
    TableId::Marks,
    "marks",
    "a marker of the program (roctx, rocshim.h): a moment, or the begin or end of a range",
    &[
        text("action", "mark, push, pop, start, stop, pause, resume, name_thread, …"),
        text("text", "its text"),
        integer("level", "of a push or pop: 0 is the outermost range"),
        address("value", "a range's id, a thread, or what is named"),
    ],
);

pub(super) fn mark(of: &NamedCall, mark: &Mark) -> CallRow {
    let (function, mut cells) = begin(of);
    cells.extend([
        (&mark.action).into(),
        mark.text.as_deref().into(),
        mark.level.into(),
        Cell::address(mark.value),
    ]);
    let text = mark.text.as_deref().filter(|text| mark.action == "mark" && !text.is_empty());
    (&MARKS, text.map_or(function, Word::from), cells)
}
