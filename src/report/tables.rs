//! The text of `rocshim help tables`: every table that the command prints, with its columns.

use super::{ctl::LIVE, lists::VARIABLES};
use rocshim_analysis::table::{Description, Head};
use rocshim_analysis::{
    AROUND, BARS, CALLERS, CLOCKS, CODE_OBJECTS, COLUMNS, COMMUNICATORS, COMPARED_CONVOLUTIONS,
    COMPARED_FAMILIES, COMPARED_FUNCTIONS, COMPARED_GEMMS, COMPARED_GPU, COMPARED_KERNELS, COMPARED_OBJECTS,
    COMPARED_RANKS, COMPARED_RUNS, CONDITIONS, CONVOLUTIONS, COPIES, DECISIONS, EDGES, FAILURES,
    FALLBACK_KERNELS, FAMILIES, FAMILIES_BY_KIND, FUNCTIONS, GAPS, GEMMS, GENERATED_CLAIMS,
    GPU_FAMILIES_BY_KIND, GPU_KERNELS, GPU_OVERLAPS, GPU_PHASES, GPU_PRODUCTS, GPU_QUEUES, GPU_SHARES,
    GPU_TRANSFERS, GRAPHS, IN_FLIGHT, JOB_RANKS, JUDGED, KERNELS, KIND_RULES, LIBRARIES, LIBRARIES_BY_KIND,
    LIBRARY_FILES, LINKS, LOSSES, MODULES, OBJECTS_BY_KIND, OBSERVED, PASSES, PATH_CLAIMS, PHASES, PROCESSES,
    PROMPT_CLAIMS, QUESTIONS, RANK_FINDINGS, RANK_STEPS, RANKS, REQUESTS, SET_VARIABLES, SPANS, STATED_TIMES,
    STEERING_VARIABLES, STREAMS, SWEEPS, SYNCS, THREADS, TIMES,
};
use std::fmt::Write;

/// The tables of a command.
struct Printed {
    command: &'static str,
    tables: Vec<Description>,
}

fn printed() -> Vec<Printed> {
    macro_rules! of {
        ($command:literal: $($table:ident)*) => {
            Printed { command: $command, tables: vec![$($table.description()),*] }
        };
    }
    vec![
        of!("summary":
            JOB_RANKS PROCESSES FAMILIES KERNELS GPU_KERNELS GPU_PRODUCTS GPU_TRANSFERS GPU_QUEUES GPU_OVERLAPS GPU_SHARES COLUMNS GRAPHS GEMMS SWEEPS CONVOLUTIONS SPANS COPIES SYNCS
            STREAMS THREADS GAPS MODULES FALLBACK_KERNELS CODE_OBJECTS FAILURES LOSSES IN_FLIGHT LIBRARIES),
        of!("compare":
            COMPARED_RUNS CONDITIONS COMPARED_RANKS COMPARED_FAMILIES COMPARED_KERNELS COMPARED_GEMMS COMPARED_CONVOLUTIONS
            COMPARED_OBJECTS COMPARED_FUNCTIONS),
        of!("compare, on the GPU": COMPARED_GPU),
        of!("compare --observer": OBSERVED),
        of!("phases":
            PHASES GPU_PHASES PASSES GPU_FAMILIES_BY_KIND FAMILIES_BY_KIND LIBRARIES_BY_KIND OBJECTS_BY_KIND
            KIND_RULES),
        of!("proxy": REQUESTS PROMPT_CLAIMS PATH_CLAIMS GENERATED_CLAIMS STATED_TIMES),
        of!("why": DECISIONS LINKS CALLERS SET_VARIABLES),
        of!("why --variables": STEERING_VARIABLES),
        of!("try, bisect": JUDGED TIMES),
        of!("ranks": RANK_FINDINGS RANKS RANK_STEPS AROUND CLOCKS COMMUNICATORS),
        of!("hooks": FUNCTIONS),
        of!("variables": VARIABLES),
        of!("ctl": LIVE),
        of!("report": QUESTIONS BARS EDGES LIBRARY_FILES),
    ]
}

const BEGIN: &str = "\
Each column by its name in JSON and CSV (--csv TABLE), with its unit. Text and Markdown leave out
columns that are empty in every row; the page of `rocshim report` has room for all of them.
(derived): it follows from others, and JSON does not have it.
";

/// Each table of a command with its columns.
pub fn tables() -> String {
    let mut page = BEGIN.to_owned();
    for Printed { command, tables } in printed() {
        for table in tables {
            // A string takes everything.
            let _ = writeln!(page, "\n{command}: {}: {}", table.key, table.doc);
            let mut last = "";
            for head in &table.heads {
                if head.key != last {
                    column(&mut page, head);
                }
                last = head.key;
            }
        }
    }
    page
}

fn column(page: &mut String, head: &Head) {
    let derived = if head.is_derived { " (derived)" } else { "" };
    let _ = writeln!(page, "  {:16} {:8} {}{derived}", head.key, head.kind.name(), head.doc);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::{
        Summary,
        testing::{Text, summary_of_text},
    };
    use rocshim_reader::End;
    use serde_json::Value;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_and_column_is_explained() {
        let page = tables();
        assert!(
            page.contains(
                "\nsummary: kernels: a kernel, over all processes\n  launches         count    launches, "
            ),
            "{page}"
        );
        for Printed { command, tables } in printed() {
            let keys: BTreeSet<&str> = tables.iter().map(|table| table.key).collect();
            assert_eq!(keys.len(), tables.len(), "{command}: a table is listed once");
            for Head { key, doc, .. } in tables.iter().flat_map(|table| &table.heads) {
                assert!(!doc.is_empty(), "{key}");
            }
        }
    }

    /// The value at a path with dots.
    fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
        path.split('.').try_fold(value, |value, key| value.get(key))
    }

    #[test]
    fn a_columns_key_is_the_values_name_in_json() {
        let summary: Summary = summary_of_text(crate::summary::TRACE, End::Footer);
        let json = serde_json::to_value(&summary).unwrap();
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.nested_gemm(64, 0x10);
        text.ran(1, 1, 2, 1_000, 500);
        let timed = serde_json::to_value(text.run().summary).unwrap();
        let mut text = Text::new(0);
        text.ask_for_gpu_times();
        text.pass(&[5, 5, 1]);
        text.ran(1, 1, 2, 1_000, 500);
        let phases = serde_json::to_value(text.phases(Vec::new())).unwrap();
        let mut checked = 0;
        for (command, table) in
            printed().into_iter().flat_map(|of| of.tables.into_iter().map(move |t| (of.command, t)))
        {
            let json = match command {
                "summary" if table.key.starts_with("gpu.") => &timed,
                "summary" => &json,
                "phases" => &phases,
                _ => continue,
            };
            let path = if table.key == "gpu_phases" { "phases" } else { table.key };
            let rows = at(json, path).unwrap_or(&Value::Null);
            assert!(rows.is_array() || command == "phases", "{path}");
            let Some(row) = rows.get(0) else { continue };
            for head in table.heads.iter().filter(|head| !head.is_derived) {
                assert!(at(row, head.key).is_some(), "{}: no {}", table.key, head.key);
                checked += 1;
            }
        }
        assert!(checked > 60, "{checked}");
    }
}
