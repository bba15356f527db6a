//! The style of the source tree: where `unsafe` may be used, the top level's contents, the length
//! of files, unfinished work. The checks read the sources as text, so they also cover code that is
//! not compiled here.

use super::source::{File, assert_none, code, files, has_word, root, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// Crates without unsafe code.
const SAFE: &[&str] =
    &["trace", "drain", "catalog", "reader", "analysis", "report", "page", "export", "live", "cli"];

/// Contents of the top level beside dot-files.
const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "rustfmt.toml",
    "src",
    "include",
    "scripts",
    "tests",
    "samples",
];

/// The maximum length of a source file in lines, except for…
const LONGEST: usize = 450;
/// … tables, each with what its rows are.
const TABLES: &[(&str, &str)] =
    &[("src/trace/record.rs", "every record type and each of its fields, documented where it is declared")];

// ---- unsafe ----

/// On a file or, better, one item.
const ALLOWED: &str = "[allow(unsafe_code)]";
/// Our macros that expand to unsafe code.
const EXPAND: [&str; 2] = ["hooks! {", "spans! {"];

#[test]
fn unsafe_code_is_allowed_with_a_reason() {
    let mut violations = Vec::new();
    for file in rust_files().filter(|file| file.path != "tests/gate/style.rs") {
        let code = code(&file.text);
        let is_unsafe = has_word(&code, "unsafe") || EXPAND.iter().any(|macro_use| code.contains(macro_use));
        if is_unsafe != code.contains(ALLOWED) {
            violations.push(format!("{}: unsafe code {is_unsafe}, allowed {}", file.path, !is_unsafe));
        }
        for line in file.text.lines().filter(|line| line.contains(ALLOWED)) {
            let why = line.split(ALLOWED).nth(1).and_then(|rest| rest.trim_start().strip_prefix("//"));
            if why.is_none_or(|why| why.trim().is_empty()) {
                violations.push(format!("{}: {} without a reason beside it", file.path, line.trim()));
            }
        }
    }
    assert_none(violations);
}

#[test]
fn what_reads_traces_has_no_unsafe_code() {
    let is_safe = |file: &File| SAFE.iter().any(|name| file.path.starts_with(&format!("src/{name}/")));
    let unsafe_ones = rust_files().filter(|file| is_safe(file) && has_word(&code(&file.text), "unsafe"));
    assert_none(unsafe_ones.map(|file| file.path).collect());
    for name in SAFE {
        let forbids = ["lib.rs", "main.rs"].iter().any(|root_file| {
            let text =
                std::fs::read_to_string(root().join("src").join(name).join(root_file)).unwrap_or_default();
            text.lines().any(|line| line == "#![forbid(unsafe_code)]")
        });
        assert!(forbids, "the root of src/{name} does not forbid unsafe code");
    }
}

// ---- files ----

/// Crates in the traced process.
const TRACED: [&str; 4] = ["src/shim/", "src/drain/", "src/ring/", "src/trace/"];

/// The shim's `free` returns blocks to its own arena, so nothing may free what the C library has
/// allocated, as Rust does for a canonical path.
#[test]
fn the_traced_process_frees_nothing_of_the_c_librarys() {
    let mut violations = Vec::new();
    for file in rust_files().filter(|file| TRACED.iter().any(|name| file.path.starts_with(name))) {
        let code = code(&file.text);
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        for word in ["canonicalize", "realpath", "strdup", "getline", "asprintf", "open_memstream"] {
            if !file.path.ends_with("tests.rs") && has_word(code, word) {
                violations.push(format!("{}: {word}", file.path));
            }
        }
    }
    assert_none(violations);
}

#[test]
fn the_top_level_holds_what_it_should() {
    let files = files();
    let entries: BTreeSet<&str> = files.iter().filter_map(|file| file.path.split('/').next()).collect();
    let others = entries.iter().filter(|entry| !entry.starts_with('.') && !TOP_LEVEL.contains(entry));
    assert_none(others.map(|entry| entry.to_string()).collect());
}

#[test]
fn nothing_is_left_undone() {
    // In halves, so that this file does not contain them.
    let marks = [["to", "do!"], ["unimple", "mented!"], ["#[igno", "re"]].map(|halves| halves.concat());
    let mut violations = Vec::new();
    for file in files() {
        for (at, line) in file.text.lines().enumerate() {
            violations.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(*mark))
                    .map(|mark| format!("{}:{}: {mark}", file.path, at + 1)),
            );
        }
    }
    assert_none(violations);
}

#[test]
fn a_source_file_is_short_unless_it_is_a_table() {
    let is_source = |file: &File| {
        let ends = [".rs", ".c", ".cpp", ".h", ".hip", ".py"];
        ends.iter().any(|end| file.path.ends_with(end))
            || file.path.starts_with("scripts/")
            || file.path.starts_with(".ci/")
    };
    let lengths: BTreeMap<String, usize> =
        files().into_iter().filter(is_source).map(|file| (file.path, file.text.lines().count())).collect();
    let long = lengths
        .iter()
        .filter(|(path, lines)| **lines >= LONGEST && !TABLES.iter().any(|(table, _)| table == path));
    assert_none(long.map(|(path, lines)| format!("{path} has {lines} lines")).collect());
    for (table, why) in TABLES {
        let lines = lengths.get(*table).copied().unwrap_or(0);
        assert!(lines >= LONGEST, "{table} ({why}) has {lines} lines and needs no exception");
    }
}

// ---- the checks can fail ----

#[test]
fn comments_strings_and_characters_are_no_code() {
    let text = "let a = \"unsafe \\\" x\"; // unsafe\nlet b = '\"'; let c: &'static str = r#\"unsafe\"#; /* unsafe */ let d = '\\''; end";
    let code = code(text);
    assert!(!has_word(&code, "unsafe"), "{code}");
    assert!(code.contains("'static") && code.trim_end().ends_with("end"), "{code}");
    assert!(has_word(&self::code("let x = unsafe { f() };"), "unsafe"));
    assert!(!has_word("deny(unsafe_code)", "unsafe"));
}
