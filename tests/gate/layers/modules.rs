//! The modules of a crate: their floors, as the root's documentation states them, and what each of them reaches.

use crate::gate::source::{File, code, is_word};
use std::collections::{BTreeMap, BTreeSet};

/// A crate's modules as its `lib.rs` states them, lowest first, and where each name that it re-exports lies.
struct House {
    floors: Vec<String>,
    modules: BTreeSet<String>,
    exports: BTreeMap<String, String>,
}

impl House {
    fn of(name: &str, files: &[File]) -> House {
        let path = format!("src/{name}/lib.rs");
        let lib = &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).text;
        let modules = modules(&code(lib));
        let stated =
            lib.split("Floors, lowest first").nth(1).unwrap_or_else(|| panic!("{path} states no floors"));
        let stated: Vec<&str> = stated.lines().take_while(|line| line.trim() != "//!").collect();
        let mut floors: Vec<String> = Vec::new();
        for word in stated.join("\n").split('`').skip(1).step_by(2).filter(|word| modules.contains(*word)) {
            if !floors.iter().any(|floor| floor == word) {
                floors.push(word.into());
            }
        }
        House { floors, exports: exports(name, &code(lib), files), modules }
    }

    fn floor(&self, module: &str) -> Option<usize> {
        self.floors.iter().position(|floor| floor == module)
    }
}

/// Modules that a root declares, those of its tests left out.
fn modules(code: &str) -> BTreeSet<String> {
    let mut before = "";
    let mut found = BTreeSet::new();
    for line in code.lines().map(str::trim) {
        let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod ")).map(|(_, name)| name);
        if before != "#[cfg(test)]" {
            found.extend(declared.filter(|name| name.chars().all(is_word)).map(str::to_owned));
        }
        before = line;
    }
    found
}

/// Name → module, from the `pub use` lines of a root.
fn exports(name: &str, code: &str, files: &[File]) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in
        code.split(';').filter_map(|statement| statement.split_once("pub use ")).map(|(_, path)| path)
    {
        let Some((module, names)) = statement.split_once("::") else { continue };
        let names: Vec<String> = if names.trim() == "*" {
            let file = files.iter().find(|file| file.path == format!("src/{name}/{module}.rs"));
            file.map(|file| public_names(&file.text)).unwrap_or_default()
        } else {
            names.split(|c: char| !is_word(c)).filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        exports.extend(names.into_iter().map(|name| (name, module.to_owned())));
    }
    exports
}

fn public_names(text: &str) -> Vec<String> {
    let kinds = ["pub struct ", "pub enum ", "pub fn ", "pub const ", "pub trait ", "pub type "];
    let name = |line: &str| {
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
        rest.split(|c: char| !is_word(c)).next().map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

/// The first names after `crate::` (and, in a file directly under the root, after `super::`) in `code`.
fn reached(code: &str, is_under_root: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in if is_under_root { &["crate::", "super::"][..] } else { &["crate::"] } {
        for (at, _) in code.match_indices(path) {
            let rest = &code[at + path.len()..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(heads(group)),
                None => found.extend(rest.split(|c: char| !is_word(c)).next().map(str::to_owned)),
            }
        }
    }
    found
}

/// The first name of each path in a group, up to its closing brace.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut heads, mut head) = (0, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(std::mem::take(&mut head)),
            _ if depth == 0 => head.push(c),
            _ => {}
        }
    }
    heads.push(head);
    let name = |head: &String| head.trim().split(|c: char| !is_word(c)).next().unwrap_or_default().to_owned();
    heads.iter().map(name).filter(|name| !name.is_empty()).collect()
}

/// Complaints about the modules of crate `name`, whose root states their floors.
pub(crate) fn broken_floors(name: &str, files: &[File]) -> Vec<String> {
    let house = House::of(name, files);
    let unstated = house.modules.iter().filter(|module| house.floor(module).is_none());
    let mut complaints: Vec<String> =
        unstated.map(|module| format!("src/{name}/lib.rs states no floor for {module}")).collect();
    let root = format!("src/{name}/");
    for file in files.iter().filter(|file| file.path.starts_with(&root) && file.path.ends_with(".rs")) {
        let inside = &file.path[root.len()..];
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        let Some(own) = house.floor(module) else { continue };
        let text = code(&file.text);
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for reached in reached(text, !inside.contains('/')) {
            let target = house.exports.get(&reached).unwrap_or(&reached);
            if house.floor(target).is_some_and(|floor| floor > own) {
                complaints.push(format!("{}: `{module}` uses `{target}`, which is above it", file.path));
            }
        }
    }
    complaints
}
