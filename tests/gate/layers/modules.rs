//! Reads the modules of a crate or of a folder in it: the layers that its documentation states, and
//! the modules that each one uses.

use crate::gate::source::{File, code, is_word};
use std::collections::{BTreeMap, BTreeSet};

/// The modules that a `lib.rs` or `mod.rs` states, lowest layer first, and the module of each name
/// that it re-exports.
struct Layers {
    lowest_first: Vec<String>,
    modules: BTreeSet<String>,
    exports: BTreeMap<String, String>,
}

impl Layers {
    /// `None` if the root states no layers.
    fn of(root: &File, folder: &str, files: &[File]) -> Option<Layers> {
        let modules = modules(&code(&root.text));
        let stated = root.text.split("Layers, lowest first").nth(1)?;
        // The rest of that line, and the documentation that follows up to an empty line.
        let (first, rest) = stated.split_once('\n').unwrap_or((stated, ""));
        let rest = rest.lines().take_while(|line| line.starts_with("//! "));
        let stated: Vec<&str> = std::iter::once(first).chain(rest).collect();
        let mut lowest_first: Vec<String> = Vec::new();
        for word in stated.join("\n").split('`').skip(1).step_by(2).filter(|word| modules.contains(*word)) {
            if !lowest_first.iter().any(|known| known == word) {
                lowest_first.push(word.into());
            }
        }
        Some(Layers { lowest_first, exports: exports(folder, &code(&root.text), files), modules })
    }

    fn position(&self, module: &str) -> Option<usize> {
        self.lowest_first.iter().position(|known| known == module)
    }
}

/// Modules declared in a root, without test modules.
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
fn exports(folder: &str, code: &str, files: &[File]) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in
        code.split(';').filter_map(|statement| statement.split_once("pub use ")).map(|(_, path)| path)
    {
        let Some((module, names)) = statement.split_once("::") else { continue };
        let names: Vec<String> = if names.trim() == "*" {
            let file = files.iter().find(|file| file.path == format!("{folder}/{module}.rs"));
            file.map(|file| public_names(&file.text)).unwrap_or_default()
        } else {
            let names =
                names.split([',', '{', '}', ':']).map(|name| name.rsplit(" as ").next().unwrap_or(name));
            names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
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

/// The first names after `path` (and, in a file directly under the root, after `super::`) in
/// `code`.
fn used(code: &str, path: &str, is_under_root: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in std::iter::once(path).chain(is_under_root.then_some("super::")) {
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

/// Rust code without test modules.
fn is_product(path: &str) -> bool {
    path.ends_with(".rs") && !path.ends_with("/tests.rs")
}

/// Violations in the modules of crate `name`, whose root states their layers, and in those of its
/// folders whose `mod.rs` does.
pub(crate) fn broken_layers(name: &str, files: &[File]) -> Vec<String> {
    let crate_root = format!("src/{name}");
    let lib = format!("{crate_root}/lib.rs");
    let rooms = files.iter().filter_map(|file| Some((file, file.path.strip_suffix("/mod.rs")?)));
    let rooms = rooms.filter(|(_, folder)| folder.starts_with(&format!("{crate_root}/")));
    let roots = files.iter().filter(|file| file.path == lib).map(|file| (file, &crate_root[..])).chain(rooms);
    let mut violations = Vec::new();
    for (root, folder) in roots {
        match Layers::of(root, folder, files) {
            Some(layers) => violations.extend(broken(&crate_root, root, folder, &layers, files)),
            None if root.path == lib => violations.push(format!("{lib} states no layers")),
            None => {}
        }
    }
    violations
}

/// Violations in the modules whose root is `root`, in `folder`.
fn broken(crate_root: &str, root: &File, folder: &str, layers: &Layers, files: &[File]) -> Vec<String> {
    let unstated = layers.modules.iter().filter(|module| layers.position(module).is_none());
    let mut violations: Vec<String> =
        unstated.map(|module| format!("{} states no layer for {module}", root.path)).collect();
    let path = format!("crate{}::", folder[crate_root.len()..].replace('/', "::"));
    for file in files.iter().filter(|file| is_product(&file.path)) {
        let Some(inside) = file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        let Some(own) = layers.position(module) else { continue };
        let text = code(&file.text);
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for used in used(text, &path, !inside.contains('/')) {
            let target = layers.exports.get(&used).unwrap_or(&used);
            if layers.position(target).is_some_and(|position| position > own) {
                violations.push(format!("{}: `{module}` uses `{target}`, which is above it", file.path));
            }
        }
    }
    violations
}
