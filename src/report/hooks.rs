//! Renders the hooked functions: the shim's list, and their use in traces.

use super::section::{Part, paragraph};
use super::table::Style;
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{FUNCTIONS, FunctionRow};
use std::collections::BTreeSet;

/// A function that the shim hooks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HookLine {
    /// Its library, without version.
    pub library: String,
    /// The symbol.
    pub symbol: String,
    /// The C signature.
    pub signature: String,
}

/// Returns the functions that a librocshim.so hooks, by library.
pub fn hook_list(hooks: &[HookLine], signatures: bool) -> String {
    let mut page = String::new();
    let mut library = "";
    for hook in hooks {
        if hook.library != library {
            library = &hook.library;
            let of = hooks.iter().filter(|other| other.library == library).count();
            page.push_str(if page.is_empty() { "" } else { "\n" });
            page.push_str(&format!("{library} ({of})\n"));
        }
        let signature = if signatures { hook.signature.replace(" :", ":") } else { String::new() };
        page.push_str(&format!("  {}{signature}\n", hook.symbol));
    }
    page
}

/// Returns the functions as one or more traces show them, by library: those that were called or
/// whose real function was not found, or `all`.
pub fn hook_table(functions: &[FunctionRow], all: bool, style: &Style) -> String {
    let mut page = paragraph(&called(functions), style);
    page.push('\n');
    let is_shown = |row: &&FunctionRow| all || is_called(row) || row.state == "unbound";
    let shown: Vec<FunctionRow> = functions.iter().filter(is_shown).cloned().collect();
    let omitted = (functions.len() - shown.len()) as u64;
    let mut rest = shown.as_slice();
    while let Some(first) = rest.first() {
        let of_library = rest.iter().take_while(|row| row.library == first.library).count();
        let (rows, others) = rest.split_at(of_library);
        page.push_str(&library(rows, style));
        page.push('\n');
        rest = others;
    }
    if omitted > 0 {
        page.push_str(&format!("{} were never called: --all lists them too\n", counted(omitted, "function")));
    }
    LEGEND.iter().for_each(|line| page.push_str(&paragraph(line, style)));
    page
}

/// `21 of 925 hooked functions were called: libamdhip64 12 of 145, …`
fn called(functions: &[FunctionRow]) -> String {
    let mut libraries: Vec<(&str, [u64; 2])> = Vec::new();
    for row in functions {
        let library = row.library.trim_end_matches(".so");
        let called = u64::from(is_called(row));
        match libraries.iter_mut().find(|(known, _)| *known == library) {
            Some((_, [of, all])) => (*of, *all) = (*of + called, *all + 1),
            None => libraries.push((library, [called, 1])),
        }
    }
    let all: u64 = libraries.iter().map(|(_, [called, _])| called).sum();
    let used = libraries.iter().filter(|(_, [called, _])| *called > 0);
    let used: Vec<String> = used.map(|(name, [called, all])| format!("{name} {called} of {all}")).collect();
    let used = if used.is_empty() { String::new() } else { format!(": {}", used.join(", ")) };
    format!("{} of {} were called{used}", count(all), counted(functions.len() as u64, "hooked function"))
}

/// True if it was called, or its address was requested in a process that did not count calls.
fn is_called(row: &FunctionRow) -> bool {
    row.calls > 0 || row.uncounted > 0 || row.looked_up > 0
}

const LEGEND: [&str; 3] = [
    "armed: exported, never called; bound: called or looked up, real function found; unbound: called, real \
     function not found; off: excluded by ROCSHIM_RECORD",
    "point: preload, the exported symbol; dlsym, get_proc_address: the program asked for the address; table: \
     HIP's dispatch table",
    "?: called but not counted, because the process was killed, still runs, or was not recording; 12+: there \
     may have been more",
];

fn library(rows: &[FunctionRow], style: &Style) -> String {
    let bound: BTreeSet<&str> = rows.iter().flat_map(|row| &row.bound_to).map(String::as_str).collect();
    let under = |row: &FunctionRow| {
        let why = row.why.iter().filter(|_| row.state == "unbound").map(|why| format!("not found: {why}"));
        let files = row.bound_to.iter().filter(|_| bound.len() > 1).map(|path| format!("in {path}"));
        why.chain(files).collect()
    };
    let table = Part::new(&FUNCTIONS, rows).under(under).lines(style);
    let place = match (rows.first(), bound.first()) {
        (Some(row), Some(path)) if bound.len() == 1 => format!("{} is {path}", row.library),
        (Some(row), _) => row.library.clone(),
        (None, _) => String::new(),
    };
    format!("{place}\n{}", table.text(style))
}
