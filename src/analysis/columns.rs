//! ggml's GEMMs by columns of activations (`ne11`), for the launches of each kernel.

use super::{
    evidence::Evidence,
    interner::Interner,
    session::{Session, SymbolId},
    table::Cell,
    units::count,
};
use rocshim_trace::{Launch, ggml::Columns};
use serde::Serialize;

/// Launches of a kernel with one number of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnsRow {
    /// The kernel's symbol.
    pub kernel: String,
    /// Its name as people write it, where the symbol is a mangled one.
    pub demangled: Option<String>,
    /// Minimum number of columns.
    pub least: u64,
    /// Maximum number of columns; equal to `least` when the number is known.
    pub most: u64,
    /// Where the number was read from.
    pub rule: &'static str,
    /// Always *inferred*, from the known layouts of ggml's kernels.
    pub evidence: Evidence,
    /// Successful launches: direct ones, and those by graph launches.
    pub launches: u64,
    /// Those of them by graph launches.
    pub by_graphs: u64,
    /// Launch calls that a capture recorded into a graph instead of executing them.
    pub captured: u64,
}

crate::table! {
    /// The columns of ggml's GEMMs, fewest first.
    COLUMNS: ColumnsRow = "columns", "Columns of ggml's GEMMs (ne11), inferred by the rule given",
        "launches of a kernel with the same number of columns";
    |row|
    number("least", "ne11", "columns; a range (least, most) where the number is not known") => Cell::Shown(
        if row.least == row.most { count(row.least) } else { format!("{}-{}", row.least, row.most) },
        row.least,
    );
    count("launches", "launches", "launches that succeeded") => row.launches;
    count("by_graphs", "by graphs", "those that launched graphs made").on_page() => row.by_graphs;
    count("captured", "captured", "calls that were recorded into a graph instead").if_any() => row.captured;
    kernel("kernel", "kernel", "the kernel's symbol").name()
        => Cell::Kernel(row.kernel.clone(), row.demangled.clone());
    sentence("rule", "read from", "where the number was read") => row.rule;
    evidence("evidence", "evidence", "inferred: by the rule").on_page() => row.evidence;
}

#[derive(Clone, Default)]
struct Counts {
    launches: u64,
    by_graphs: u64,
    captured: u64,
}

/// The counts of all kernels by number of columns.
#[derive(Clone, Default)]
pub(crate) struct AllColumns(Interner<(SymbolId, Columns), Counts>);

impl AllColumns {
    /// Counts a launch call of the kernel with this number of columns.
    pub(crate) fn count(&mut self, kernel: SymbolId, columns: Columns, launch: &Launch) {
        let counts = self.0.value((kernel, columns), Counts::default);
        match launch.capture {
            Some(_) => counts.captured += 1,
            None => counts.launches += 1,
        }
    }

    /// Counts launches by graph launches.
    pub(crate) fn count_by_graphs(&mut self, kernel: SymbolId, columns: Columns, launches: u64) {
        let counts = self.0.value((kernel, columns), Counts::default);
        counts.launches += launches;
        counts.by_graphs += launches;
    }

    /// Returns the rows, fewest columns first, so that decode steps precede prompts.
    pub(crate) fn rows(&self, session: &Session) -> Vec<ColumnsRow> {
        let row = |(&(kernel, columns), counts): (&(SymbolId, Columns), &Counts)| ColumnsRow {
            kernel: session.symbol(kernel).name.clone(),
            demangled: session.symbol(kernel).demangled.clone(),
            least: columns.least,
            most: columns.most,
            rule: columns.rule,
            evidence: Evidence::Inferred,
            launches: counts.launches,
            by_graphs: counts.by_graphs,
            captured: counts.captured,
        };
        let mut rows: Vec<ColumnsRow> = self.0.pairs().map(row).collect();
        let order = |row: &ColumnsRow| (row.least, row.most, std::cmp::Reverse(row.launches));
        rows.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.kernel.cmp(&b.kernel)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::summary_of_text;
    use rocshim_reader::End;

    const TRACE: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"library","id":1,"path":"/opt/rocm/lib/libamdhip64.so.6"}
{"type":"hook","id":0,"name":"hipLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound","library":1}
{"type":"hook","id":1,"name":"hipGraphLaunch","of":"libamdhip64.so","point":"preload","state":"bound","library":1}
{"type":"kernel","id":1,"name":"_Zq","demangled":"void mul_mat_q<(ggml_type)2, 32, false>(char const*)","args":[{"offset":0,"size":8,"kind":"global_buffer"},{"offset":8,"size":8,"kind":"global_buffer"},{"offset":16,"size":8,"kind":"global_buffer"},{"offset":24,"size":4,"kind":"by_value"},{"offset":28,"size":4,"kind":"by_value"},{"offset":32,"size":4,"kind":"by_value"},{"offset":36,"size":4,"kind":"by_value"},{"offset":40,"size":4,"kind":"by_value"}]}
{"type":"kernel","id":2,"name":"_Zv","demangled":"void mul_mat_vec_q<(ggml_type)2, 1, false>(void const*)"}
{"type":"kernel","id":3,"name":"other"}
{"type":"capture","id":5,"t":1,"tid":7,"stream":1,"mode":"global"}
{"type":"graph","id":6,"capture":5,"complete":true,"kernels":[{"kernel":2,"grid":[8,1,1],"block":[32,1,1]},{"kernel":2,"grid":[8,1,1],"block":[32,1,1]},{"kernel":1,"grid":[8,2,1],"block":[32,1,1]}]}
{"type":"launch","tid":7,"id":1,"t":1,"dur":1,"hook":0,"kernel":1,"grid":[8,1,1],"block":[32,1,1],"args":["0x1","0x1","0x1",4096,4096,17,1,1]}
{"type":"launch","tid":7,"id":2,"t":2,"dur":1,"hook":0,"kernel":1,"grid":[8,1,1],"block":[32,1,1],"args":["0x1","0x1","0x1",4096,4096,17,1,1]}
{"type":"launch","tid":7,"id":3,"t":3,"dur":1,"hook":0,"kernel":2,"grid":[8,1,1],"block":[32,1,1],"capture":5}
{"type":"launch","tid":7,"id":4,"t":4,"dur":1,"hook":0,"kernel":3,"grid":[8,1,1],"block":[32,1,1]}
{"type":"graph_launch","tid":7,"id":5,"t":5,"dur":1,"hook":1,"graph":6,"exec":"0x1","stream":1}
{"type":"graph_launch","tid":7,"id":6,"t":6,"dur":1,"hook":1,"graph":6,"exec":"0x1","stream":1}
{"type":"thread","tid":7,"produced":6,"written":6,"lost":0}
{"type":"footer","t":9,"end":"exit"}"#;

    #[test]
    fn launches_captures_and_graphs_are_counted_by_their_columns() {
        let rows = summary_of_text(TRACE, End::Footer).columns;
        let found: Vec<_> = rows
            .iter()
            .map(|row| (&*row.kernel, row.least, row.most, row.launches, row.by_graphs, row.captured))
            .collect();
        // A graph's node has no arguments: two tiles of 32 columns are 33 to 64.
        assert_eq!(found, [("_Zv", 1, 1, 4, 4, 1), ("_Zq", 17, 17, 2, 0, 0), ("_Zq", 33, 64, 2, 2, 0)]);
        let rules: Vec<_> = rows.iter().map(|row| row.rule).collect();
        assert_eq!(
            rules,
            ["template argument ncols_dst", "argument ncols_dst", "grid.y tiles of mmq_x columns"]
        );
    }
}
