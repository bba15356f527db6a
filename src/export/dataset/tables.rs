//! Describes the tables of a dataset and their columns once: for the files' schemas, their
//! metadata, and `rocshim help dataset`.

use ColumnType::{Flag, Integer, Text};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Integer,
    Flag,
    Text,
}

impl ColumnType {
    fn word(self) -> &'static str {
        match self {
            Integer => "integer",
            Flag => "flag",
            Text => "text",
        }
    }
}

/// A column: its name, its type, and its meaning with the unit.
pub(super) type Column = (&'static str, ColumnType, &'static str);

/// A table.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// What a row is.
    pub(super) what: &'static str,
    /// Its columns after [`EVERY`].
    pub(super) columns: &'static [Column],
}

/// The columns that every table begins with.
pub(super) const EVERY: &[Column] = &[
    ("run", Text, "the run, as it was named when it was exported"),
    ("host", Text, "the host's name"),
    ("rank", Integer, "the rank in the job; absent where it is not known"),
    ("pid", Integer, "process id"),
];

pub(super) const LAUNCHES: Table = Table {
    name: "launches",
    what: "a kernel launch by a call; what graphs execute is not in it",
    columns: &[
        ("tid", Integer, "thread id"),
        ("id", Integer, "number of the call in its thread"),
        ("begin_ns", Integer, "when the host entered the call, Unix ns"),
        ("dur_ns", Integer, "how long the call took the host, ns"),
        ("kernel", Text, "the kernel, simplified as in `summary`"),
        ("kernel_full", Text, "its symbol"),
        ("family", Text, "what it does; inferred from its name"),
        ("family_of", Text, "whose kernel it is; inferred from its name"),
        ("phase", Text, "prompt, decode, forward, …; inferred, see `rocshim phases`"),
        ("pass", Integer, "the pass of its process, from 1; inferred"),
        ("ne11", Integer, "columns of a GEMM of ggml, where they are one number"),
        ("code_object", Text, "file of its code object"),
        ("target", Text, "GPU target of its code"),
        ("fallback", Flag, "it is of Tensile's fallback library"),
        ("function", Text, "the function that launched it"),
        ("parent", Integer, "id of the call that it was launched inside"),
        ("parent_function", Text, "that call's function"),
        ("parent_shape", Text, "that call's problem: m x n x k of a GEMM"),
        ("stream", Text, "0 the default one, else its number in the trace"),
        ("grid_x", Integer, "blocks"),
        ("grid_y", Integer, "blocks"),
        ("grid_z", Integer, "blocks"),
        ("block_x", Integer, "work-items"),
        ("block_y", Integer, "work-items"),
        ("block_z", Integer, "work-items"),
        ("lds_bytes", Integer, "dynamic LDS, bytes"),
        ("status", Integer, "what the call returned; 0 is success"),
        ("captured", Flag, "recorded into a graph, not executed"),
        ("gpu_begin_ns", Integer, "begin on the GPU, Unix ns; absent where it was not recorded"),
        ("gpu_dur_ns", Integer, "time on the GPU, ns; absent where it was not recorded"),
    ],
};

pub(super) const GEMMS: Table = Table {
    name: "gemms",
    what: "a GEMM of rocBLAS, hipBLAS or hipBLASLt",
    columns: &[
        ("tid", Integer, "thread id"),
        ("id", Integer, "number of the call in its thread"),
        ("begin_ns", Integer, "when the host entered the call, Unix ns"),
        ("dur_ns", Integer, "how long the call took the host, ns"),
        ("function", Text, "the function"),
        ("library", Text, "its library, without version"),
        ("trans_a", Text, "op(A): N, T or C"),
        ("trans_b", Text, "op(B)"),
        ("m", Integer, "rows of D"),
        ("n", Integer, "columns of D"),
        ("k", Integer, "inner dimension"),
        ("batch", Integer, "number of products"),
        ("a_type", Text, "element type of A"),
        ("d_type", Text, "element type of D"),
        ("compute", Text, "compute type"),
        ("solution", Integer, "the solution that was asked for"),
        ("launches", Integer, "kernels launched inside"),
        ("kernel", Text, "the first of them, simplified"),
        ("kernel_full", Text, "its symbol"),
        ("fallback", Flag, "one of them is of Tensile's fallback library"),
        ("parent", Integer, "id of the call that it was made inside"),
        ("status", Integer, "what the call returned; 0 is success"),
        ("captured", Flag, "recorded into a graph, not executed"),
        ("phase", Text, "prompt, decode, forward, …; inferred, see `rocshim phases`"),
        ("pass", Integer, "the pass of its process, from 1; inferred"),
    ],
};

pub(super) const CONVOLUTIONS: Table = Table {
    name: "convolutions",
    what: "a convolution call of MIOpen",
    columns: &[
        ("tid", Integer, "thread id"),
        ("id", Integer, "number of the call in its thread"),
        ("begin_ns", Integer, "when the host entered the call, Unix ns"),
        ("dur_ns", Integer, "how long the call took the host, ns"),
        ("function", Text, "the function"),
        ("action", Text, "find, run, immediate, …"),
        ("direction", Text, "forward, backward_data, backward_weights"),
        ("x", Text, "input, type and dimensions"),
        ("w", Text, "filter, type and dimensions"),
        ("y", Text, "output, type and dimensions"),
        ("solution", Integer, "solver id"),
        ("solver", Text, "its name by MIOpen's id table; inferred"),
        ("launches", Integer, "kernels launched inside"),
        ("kernel", Text, "the first of them, simplified"),
        ("kernel_full", Text, "its symbol"),
        ("status", Integer, "what the call returned; 0 is success"),
        ("phase", Text, "prompt, decode, forward, …; inferred, see `rocshim phases`"),
        ("pass", Integer, "the pass of its process, from 1; inferred"),
    ],
};

pub(super) const COLLECTIVES: Table = Table {
    name: "collectives",
    what: "an RCCL collective; what graphs execute is not in it",
    columns: &[
        ("begin_ns", Integer, "when the host entered the call, Unix ns"),
        ("dur_ns", Integer, "how long the call took the host, ns; absent for one in flight at death"),
        ("done_ns", Integer, "when the host had waited for its stream, Unix ns; absent if it did not"),
        ("function", Text, "the function"),
        ("elements", Integer, "count as passed"),
        ("datatype", Text, "element type"),
        ("op", Text, "the reduction"),
        ("root", Integer, "the root"),
        ("communicator", Integer, "number of the communicator in its process, from 0"),
        ("comm_group", Text, "hash of its unique id; absent where its creation is not in the trace"),
        ("members", Integer, "its ranks"),
        ("member", Integer, "this rank's number in it, from 0"),
        ("sequence", Integer, "number of the call in its communicator, from 0"),
        ("step", Integer, "the step, from 1; inferred from the period of the collectives"),
        ("place", Integer, "the place in the step, from 0; inferred"),
        ("gpu_begin_ns", Integer, "begin on the GPU, Unix ns; absent where it was not recorded"),
        ("gpu_end_ns", Integer, "end on the GPU, Unix ns; absent where it was not recorded"),
    ],
};

pub(super) const PHASES: Table = Table {
    name: "phases",
    what: "a pass of a phase; inferred, see `rocshim phases`",
    columns: &[
        ("pass", Integer, "its number in its process, from 1"),
        ("phase", Text, "prompt, decode, forward, …, or its label"),
        ("begin_ns", Integer, "when its first launch was entered, Unix ns"),
        ("dur_ns", Integer, "up to the return of its last call, ns"),
        ("ne11_least", Integer, "columns that most of its GEMMs have, the least there can be"),
        ("ne11_most", Integer, "… the most there can be"),
        ("evidence", Text, "how sure the phase is"),
    ],
};

pub(super) const RANKS: Table = Table {
    name: "ranks",
    what: "a process, whose files are all whole once this row is there",
    columns: &[
        ("world", Integer, "ranks of the job, from its launcher's variables"),
        ("trace", Text, "the trace it was exported from"),
        ("exe", Text, "its executable"),
        ("argv", Text, "its command line"),
        ("epoch_ns", Integer, "time 0 of its trace, Unix ns"),
        ("ended", Text, "exit, recovered, killed, running, cut, … as in `summary`"),
        ("events", Integer, "events in its trace"),
        ("lost", Integer, "events that were lost; not in any table"),
        ("in_flight", Text, "the function it was in when it died"),
        ("rocshim", Text, "the version that recorded it"),
    ],
};

/// All tables. A process's row of the last is written after its rows of the others.
pub(super) const TABLES: [&Table; 6] = [&LAUNCHES, &GEMMS, &CONVOLUTIONS, &COLLECTIVES, &PHASES, &RANKS];

impl Table {
    /// All columns, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'static Column> {
        EVERY.iter().chain(self.columns)
    }

    /// Each column's meaning as a JSON object, for the files' metadata.
    pub(super) fn meanings(&self) -> String {
        let meaning = |(name, _, what): &Column| (name.to_string(), serde_json::Value::from(*what));
        serde_json::Value::Object(self.all().map(meaning).collect()).to_string()
    }
}

/// The unit of a column, by its name.
pub(super) fn unit(name: &str) -> Option<&'static str> {
    match name {
        _ if name.ends_with("_ns") => Some("ns"),
        _ if name.ends_with("_bytes") => Some("bytes"),
        _ => None,
    }
}

/// The tables and their columns, for people.
pub fn dataset_columns() -> String {
    let lines = |columns: &[Column]| -> String {
        columns.iter().map(|(name, kind, what)| format!("  {name:15} {:8} {what}\n", kind.word())).collect()
    };
    let tables = TABLES.map(|table| format!("\n{}: {}\n{}", table.name, table.what, lines(table.columns)));
    format!("every table of a dataset begins with\n{}{}", lines(EVERY), tables.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_table_has_a_column_twice() {
        for table in TABLES {
            let names: BTreeSet<&str> = table.all().map(|(name, ..)| *name).collect();
            assert_eq!(names.len(), table.all().count(), "{}", table.name);
        }
    }
}
