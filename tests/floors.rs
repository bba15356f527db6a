//! The house stays a house: which crate and which module may use which, where `unsafe` may stand, what the top level
//! holds, how long a file gets. Read from the sources as text, so that it holds for code that is not compiled here too.

#[path = "floors/modules.rs"]
mod modules;
#[path = "floors/source.rs"]
mod source;

use modules::broken_floors;
use rocshim_tests::artifacts::root;
use source::{File, code, files, has_word, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// Crates under `src`, lowest floor first, and the crates of ours that each may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("trace", &[]),
    ("ring", &[]),
    ("drain", &["rocshim-trace", "rocshim-ring"]),
    ("shim", &["rocshim-trace", "rocshim-ring", "rocshim-drain"]),
    ("cli", &["rocshim-trace", "rocshim-drain"]),
];

/// Crates whose `lib.rs` states the floors of its modules.
const WITH_FLOORS: &[&str] = &["trace", "ring", "drain", "shim"];

/// Crates without a single unsafe block.
const SAFE: &[&str] = &["trace", "drain", "cli"];

/// What the top level holds beside dot-files.
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

/// The longest that a source file may be, but for…
const LONGEST: usize = 400;
/// … tables, each with what it has a row for.
const TABLES: &[(&str, &str)] =
    &[("src/trace/record.rs", "every record type and each of its fields, documented where it is declared")];

#[track_caller]
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

// ---- crates ----

/// Names of our crates in `[dependencies]` and what belongs to it; what tests alone need does not count.
fn our_dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section.contains("dependencies") && !section.contains("dev-") {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.extend(name.starts_with("rocshim").then(|| name.to_owned()));
        }
    }
    found
}

#[test]
fn a_crate_depends_on_lower_ones_only() {
    let files = files();
    let manifests = files
        .iter()
        .filter_map(|file| Some((file.path.strip_prefix("src/")?.strip_suffix("/Cargo.toml")?, file)));
    let manifests: BTreeMap<&str, &File> = manifests.collect();
    let known: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    let mut found: Vec<&str> = manifests.keys().copied().collect();
    found.sort_by_key(|name| known.iter().position(|known| known == name));
    assert_eq!(found, known, "the crates under src");
    for (name, allowed) in CRATES {
        let used = our_dependencies(&manifests[name].text);
        let allowed: BTreeSet<String> = allowed.iter().map(|name| name.to_string()).collect();
        let above: Vec<_> = used.difference(&allowed).collect();
        assert!(above.is_empty(), "{name} may not depend on {above:?}");
    }
}

// ---- modules ----

#[test]
fn a_module_uses_lower_ones_only() {
    let files = files();
    assert_none(WITH_FLOORS.iter().flat_map(|name| broken_floors(name, &files)).collect());
}

// ---- unsafe ----

/// For a whole file or, better, one item.
const ALLOWED: &str = "[allow(unsafe_code)]";
/// Our macros that expand to unsafe code.
const EXPAND: [&str; 2] = ["hooks! {", "spans! {"];

#[test]
fn unsafe_stands_only_where_it_is_allowed_with_a_reason() {
    let mut complaints = Vec::new();
    for file in rust_files().filter(|file| file.path != "tests/floors.rs") {
        let code = code(&file.text);
        let is_unsafe = has_word(&code, "unsafe") || EXPAND.iter().any(|macro_use| code.contains(macro_use));
        if is_unsafe != code.contains(ALLOWED) {
            complaints.push(format!("{}: unsafe code {is_unsafe}, allowed {}", file.path, !is_unsafe));
        }
        for line in file.text.lines().filter(|line| line.contains(ALLOWED)) {
            let why = line.split(ALLOWED).nth(1).and_then(|rest| rest.trim_start().strip_prefix("//"));
            if why.is_none_or(|why| why.trim().is_empty()) {
                complaints.push(format!("{}: {} without a reason beside it", file.path, line.trim()));
            }
        }
    }
    assert_none(complaints);
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

#[test]
fn the_top_level_holds_what_it_should() {
    let files = files();
    let entries: BTreeSet<&str> = files.iter().filter_map(|file| file.path.split('/').next()).collect();
    let others = entries.iter().filter(|entry| !entry.starts_with('.') && !TOP_LEVEL.contains(entry));
    assert_none(others.map(|entry| entry.to_string()).collect());
}

#[test]
fn nothing_is_left_undone() {
    // In halves, so that this file has none of them.
    let marks = [["to", "do!"], ["unimple", "mented!"], ["#[igno", "re"]].map(|halves| halves.concat());
    let mut complaints = Vec::new();
    for file in files() {
        for (at, line) in file.text.lines().enumerate() {
            complaints.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(*mark))
                    .map(|mark| format!("{}:{}: {mark}", file.path, at + 1)),
            );
        }
    }
    assert_none(complaints);
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

#[test]
fn a_use_of_a_higher_floor_is_seen_in_every_spelling() {
    let file = |path: &str, text: &str| File { path: format!("src/x/{path}"), text: text.into() };
    let lib = "//! Floors, lowest first: `low` (a), `mid` (b; not `nothing`),\n//! `high`.\n//!\n//! `mid` once more.\n\nmod high;\npub mod low;\nmod mid;\nmod stray;\n#[cfg(test)]\nmod tests;\npub use high::{Tower, climb};\n";
    let complaints =
        |text: &str| broken_floors("x", &[file("lib.rs", lib), file("mid.rs", text)]).split_off(1);
    assert_eq!(broken_floors("x", &[file("lib.rs", lib)]), ["src/x/lib.rs states no floor for stray"]);
    let wrong = [
        "use crate::high::T;",
        "use crate::{low, high::{self, T}};",
        "fn f() { crate::high::g() }",
        "use super::high;",
        "use crate::Tower;",
        "use crate::{\n    low::A,\n    climb,\n};",
    ];
    for text in wrong {
        assert_eq!(complaints(text), ["src/x/mid.rs: `mid` uses `high`, which is above it"], "{text}");
    }
    for text in [
        "use crate::low::high;",
        "use crate::mid::x;",
        "// crate::high",
        "#[cfg(test)]\nmod tests {\n use crate::high; }",
    ] {
        assert_eq!(complaints(text), [""; 0], "{text}");
    }
}

#[test]
fn a_dependency_is_seen_in_every_spelling() {
    let manifest = "[package]\nname = \"rocshim-x\"\n[dependencies]\nrocshim-trace.workspace = true\nrocshim-ring = { path = \"..\" }\nlibc = \"0.2\"\n[dev-dependencies]\nrocshim-cli.workspace = true\n";
    assert_eq!(our_dependencies(manifest).into_iter().collect::<Vec<_>>(), ["rocshim-ring", "rocshim-trace"]);
}
