//! The dependencies between crates, and between the modules of a crate, go downwards only. The
//! check reads the sources as text, so it also covers code that is not compiled here.

mod modules;

use super::source::{File, assert_none, files};
use modules::broken_layers;
use std::collections::{BTreeMap, BTreeSet};

/// Crates under `src`, lowest layer first, and the crates of ours that each may depend on. Each
/// `lib.rs` states the layers of its modules; so may the `mod.rs` of each folder in it.
const CRATES: &[(&str, &[&str])] = &[
    ("trace", &[]),
    ("ring", &[]),
    ("drain", &["rocshim-trace", "rocshim-ring"]),
    ("shim", &["rocshim-trace", "rocshim-ring", "rocshim-drain"]),
    ("catalog", &["rocshim-trace"]),
    ("reader", &["rocshim-trace", "rocshim-drain"]),
    ("analysis", &["rocshim-trace", "rocshim-drain", "rocshim-catalog", "rocshim-reader"]),
    ("report", &["rocshim-trace", "rocshim-drain", "rocshim-reader", "rocshim-analysis"]),
    ("page", &["rocshim-trace", "rocshim-analysis", "rocshim-report"]),
    ("export", &["rocshim-trace", "rocshim-reader", "rocshim-analysis", "rocshim-report"]),
    ("live", &["rocshim-trace", "rocshim-reader", "rocshim-analysis", "rocshim-report"]),
    (
        "cli",
        &[
            "rocshim-trace",
            "rocshim-drain",
            "rocshim-catalog",
            "rocshim-reader",
            "rocshim-analysis",
            "rocshim-report",
            "rocshim-page",
            "rocshim-export",
            "rocshim-live",
        ],
    ),
];

// ---- crates ----

/// Names of our crates in `[dependencies]` and its subtables; dev-dependencies do not count.
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
    assert_none(CRATES.iter().flat_map(|(name, _)| broken_layers(name, &files)).collect());
}

// ---- the checks can fail ----

#[test]
fn a_use_of_a_higher_layer_is_seen_in_every_spelling() {
    let file = |path: &str, text: &str| File { path: format!("src/x/{path}"), text: text.into() };
    let lib = "//! Layers, lowest first: `low` (a), `mid` (b; not `nothing`),\n//! `high`.\n//!\n//! `mid` once more.\n\nmod high;\npub mod low;\nmod mid;\nmod stray;\n#[cfg(test)]\nmod tests;\npub use high::{Tower, climb};\n";
    let violations =
        |text: &str| broken_layers("x", &[file("lib.rs", lib), file("mid.rs", text)]).split_off(1);
    assert_eq!(broken_layers("x", &[file("lib.rs", lib)]), ["src/x/lib.rs states no layer for stray"]);
    let wrong = [
        "use crate::high::T;",
        "use crate::{low, high::{self, T}};",
        "fn f() { crate::high::g() }",
        "use super::high;",
        "use crate::Tower;",
        "use crate::{\n    low::A,\n    climb,\n};",
    ];
    for text in wrong {
        assert_eq!(violations(text), ["src/x/mid.rs: `mid` uses `high`, which is above it"], "{text}");
    }
    for text in [
        "use crate::low::high;",
        "use crate::mid::x;",
        "// crate::high",
        "#[cfg(test)]\nmod tests {\n use crate::high; }",
    ] {
        assert_eq!(violations(text), [""; 0], "{text}");
    }
}

#[test]
fn a_folder_that_states_its_layers_is_held_to_them() {
    let file = |path: &str, text: &str| File { path: format!("src/x/{path}"), text: text.into() };
    let lib = file("lib.rs", "//! Layers, lowest first: `room`.\nmod room;\n");
    let room = |layers: &str| file("room/mod.rs", &format!("//! A room.\n{layers}mod low;\nmod high;\n"));
    let stated = "//! Layers, lowest first: `low`;\n//! `high`.\n";
    let violations =
        |layers: &str, low: &str| broken_layers("x", &[lib.clone(), room(layers), file("room/low.rs", low)]);
    for text in ["use crate::room::high::T;", "use super::high;", "use crate::room::{high, low};"] {
        assert_eq!(
            violations(stated, text),
            ["src/x/room/low.rs: `low` uses `high`, which is above it"],
            "{text}"
        );
        assert_eq!(violations("", text), [""; 0], "none is stated");
    }
    assert_eq!(violations(stated, "use crate::high::T;"), [""; 0]);
    let only_low = "//! Layers, lowest first: `low`.\n";
    assert_eq!(violations(only_low, ""), ["src/x/room/mod.rs states no layer for high"]);
}

#[test]
fn a_dependency_is_seen_in_every_spelling() {
    let manifest = "[package]\nname = \"rocshim-x\"\n[dependencies]\nrocshim-trace.workspace = true\nrocshim-ring = { path = \"..\" }\nlibc = \"0.2\"\n[dev-dependencies]\nrocshim-cli.workspace = true\n";
    assert_eq!(our_dependencies(manifest).into_iter().collect::<Vec<_>>(), ["rocshim-ring", "rocshim-trace"]);
}
