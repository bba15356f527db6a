//! Plain language, in the folders that are clean: comments and Markdown keep to 100 columns, and
//! words of our own that have a standard term do not come back.

use super::source::{File, assert_none, files};

/// Clean paths, relative to the root. Each cleaned folder is added; in the end this is everything.
const CLEAN: &[&str] = &[
    ".github/",
    "include/",
    "README.md",
    "samples/README.md",
    "samples/responses/",
    "samples/ladder/README.md",
    "samples/traces/README.md",
    "scripts/",
    "src/README.md",
    "src/analysis/activity",
    "src/analysis/answers",
    "src/analysis/bisect",
    "src/analysis/builder",
    "src/analysis/calls",
    "src/analysis/code_objects",
    "src/analysis/columns",
    "src/analysis/compare",
    "src/analysis/convolutions",
    "src/analysis/coverage",
    "src/analysis/decisions",
    "src/analysis/differences",
    "src/analysis/durations",
    "src/analysis/environment",
    "src/analysis/evidence",
    "src/analysis/experiment",
    "src/analysis/failures",
    "src/analysis/fallback",
    "src/analysis/families",
    "src/analysis/flow",
    "src/analysis/gemms",
    "src/analysis/gpu",
    "src/analysis/graphs",
    "src/analysis/interner",
    "src/analysis/kernels",
    "src/analysis/lib",
    "src/analysis/live",
    "src/analysis/losses",
    "src/analysis/modules",
    "src/analysis/nesting",
    "src/analysis/pauses",
    "src/analysis/phases",
    "src/analysis/processes",
    "src/analysis/proxy",
    "src/analysis/reorder",
    "src/analysis/replay",
    "src/analysis/rules",
    "src/analysis/run",
    "src/analysis/session",
    "src/analysis/solution_index",
    "src/analysis/span",
    "src/analysis/status",
    "src/analysis/streams",
    "src/analysis/summary",
    "src/analysis/sweeps",
    "src/analysis/tail",
    "src/analysis/testing",
    "src/analysis/tests",
    "src/analysis/threads",
    "src/analysis/transfers",
    "src/analysis/units",
    "src/analysis/verdict",
    "src/analysis/verify",
    "src/analysis/why",
    "src/catalog/",
    "src/cli/",
    "src/drain/",
    "src/export/",
    "src/live/",
    "src/page/",
    "src/python/",
    "src/reader/",
    "src/report/",
    "src/ring/",
    "src/shim/",
    "src/trace/",
    "tests/README.md",
    "tests/bench/",
    "tests/cli/",
    "tests/fuzz/",
    "tests/gate/",
    "tests/main.rs",
    "tests/matrix/",
    "tests/null-gpu/",
    "tests/programs/",
    "tests/real/",
    "tests/shim/",
    "tests/src/",
    "tests/trace/",
    "tests/vendor/",
];

/// Files that need the words: this one.
const EXCEPT: &[&str] = &["tests/gate/words.rs"];

/// Words that are never right here, in comments, names and messages alike.
const RETIRED: &[&str] = &[
    "anybody",
    "complain",
    "complains",
    "door",
    "doors",
    "doze",
    "dozes",
    "dozing",
    "freshen",
    "freshens",
    "heed",
    "heeds",
    "misfit",
    "misfits",
    "nap",
    "naps",
    "news",
    "nobody",
    "obey",
    "obeys",
    "retell",
    "retold",
    "ringless",
    "somebody",
    "told",
    "untold",
    "whoever",
    "whosever",
];
/// Phrases that are never right here.
const RETIRED_PHRASES: &[&str] = &[
    "begin anew",
    "goes without saying",
    "hold off",
    "holds off",
    "lies in",
    "sees inside",
    "so many are",
    "stands in ",
];

/// The maximum width of a comment or Markdown line, in columns.
const WIDEST: usize = 100;

fn clean_files() -> impl Iterator<Item = File> {
    let is_clean = |path: &str| CLEAN.iter().any(|clean| path.starts_with(clean));
    files().into_iter().filter(move |file| is_clean(&file.path) && !EXCEPT.contains(&&*file.path))
}

/// The retired words and phrases in a line.
fn retired(line: &str) -> Vec<&'static str> {
    let line = line.to_lowercase();
    let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphabetic()).collect();
    let word = RETIRED.iter().filter(|retired| words.contains(retired));
    word.chain(RETIRED_PHRASES.iter().filter(|phrase| line.contains(**phrase))).copied().collect()
}

/// True for a line of text that can be wrapped: a comment, or Markdown outside of tables.
fn is_wrappable(path: &str, line: &str) -> bool {
    let line = line.trim_start();
    let text = match path.rsplit('.').next() {
        Some("md") => Some(line).filter(|line| !line.starts_with('|')),
        Some("rs" | "c" | "cpp" | "h" | "hpp" | "hip" | "mjs") => line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
            .or_else(|| line.strip_prefix("//"))
            .or_else(|| line.strip_prefix("* ")),
        Some("py" | "sh") => line.strip_prefix('#'),
        _ if path.starts_with("scripts/") => line.strip_prefix('#'),
        _ => None,
    };
    // Indented text and tables are preformatted; `kernel:` and `link:` lines are read by a build.
    let is_preformatted = |text: &str| ["  ", " |", " kernel:", " link:"].iter().any(|p| text.starts_with(p));
    text.is_some_and(|text| text.trim_start().contains(' ') && !is_preformatted(text))
}

/// The lines outside of code blocks, with their numbers; in Rust, those of the documentation.
fn lines(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(file.text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start_matches(['/', '!', ' ']).starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

#[test]
fn retired_words_do_not_come_back() {
    let found = clean_files().flat_map(|file| {
        let found = (1..).zip(file.text.lines()).flat_map(|(at, line)| {
            retired(line).into_iter().map(|word| format!("{}:{at}: {word}", file.path)).collect::<Vec<_>>()
        });
        found.collect::<Vec<_>>()
    });
    assert_none(found.collect());
}

#[test]
fn comments_and_markdown_keep_to_100_columns() {
    let found = clean_files().flat_map(|file| {
        let wide = lines(&file)
            .filter(|(_, line)| line.chars().count() > WIDEST && is_wrappable(&file.path, line))
            .map(|(at, line)| format!("{}:{at}: {} columns", file.path, line.chars().count()));
        wide.collect::<Vec<_>>()
    });
    assert_none(found.collect());
}

#[test]
fn every_clean_path_exists() {
    let files = files();
    let missing = CLEAN.iter().filter(|clean| !files.iter().any(|file| file.path.starts_with(**clean)));
    assert_none(missing.map(|clean| clean.to_string()).collect());
}

#[test]
fn retired_words_and_wide_lines_are_found() {
    assert_eq!(retired("/// What nobody told: fn it_is_told()"), ["nobody", "told"]);
    assert!(retired("where so many are").contains(&"so many are"));
    assert_eq!(retired("a stand-in library, folders of renewal"), [""; 0]);
    assert!(is_wrappable("a.rs", "    /// two words") && is_wrappable("a.md", "two words"));
    assert!(!is_wrappable("a.rs", "    let x = 1;") && !is_wrappable("a.md", "| a | b |"));
    assert!(!is_wrappable("a.c", "// kernel: 0 name _Z4namev"));
}
