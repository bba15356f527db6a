//! Reads the tracked files, and blanks comments and strings in Rust code.

use std::path::Path;
use std::process::Command;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A tracked file.
#[derive(Clone)]
pub(crate) struct File {
    /// Relative to the root.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every tracked text file.
pub(crate) fn files() -> Vec<File> {
    let output =
        Command::new("git").arg("-C").arg(root()).args(["ls-files", "-z"]).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths = String::from_utf8(output.stdout).expect("paths are text");
    let read = |path: &str| {
        let text = std::fs::read_to_string(root().join(path)).ok()?;
        Some(File { path: path.into(), text })
    };
    paths.split_terminator('\0').filter_map(read).collect()
}

pub(crate) fn rust_files() -> impl Iterator<Item = File> {
    files().into_iter().filter(|file| file.path.ends_with(".rs"))
}

/// Rust code with comments, strings and characters replaced by spaces.
pub(crate) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            'r' if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => raw_string(rest).unwrap_or(0),
            '"' => 1 + string(&rest[1..]),
            '\'' => character(rest).unwrap_or(0),
            _ => 0,
        };
        let taken = if length == 0 { first.len_utf8() } else { length };
        let keep = |c: char| if length == 0 || c == '\n' { c } else { ' ' };
        out.extend(rest[..taken].chars().map(keep));
        rest = &rest[taken..];
    }
    out
}

/// Length of the rest of a string, its closing quote included.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// Length of the raw string at the beginning of `rest`, if there is one.
fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    let body = rest[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest.len() - body.len() + body.find(&end)? + end.len())
}

/// Length of the character literal at the beginning of `rest`; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    let skip = if inside.starts_with('\\') { 2 } else { inside.chars().next()?.len_utf8() };
    let end = inside.get(skip..)?.find('\'')?;
    (end == 0 || inside.starts_with('\\')).then_some(1 + skip + end + 1)
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !is_word(c)).any(|found| found == word)
}

/// Fails with the list of violations, one per line.
#[track_caller]
pub(crate) fn assert_none(violations: Vec<String>) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}
