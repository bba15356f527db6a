//! Plain language: comments and Markdown keep to 100 columns, and words of our own that have a
//! standard term do not come back.

use super::source::{File, assert_none, files};

/// Paths that are excepted: this file, which needs the words, and foreign code.
const EXCEPT: &[&str] = &["src/page/plotly", "tests/gate/words.rs"];

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
    "safety: as above",
    "safety: as before",
    "sees inside",
    "so many are",
    "stands in ",
];

/// The maximum width of a comment or Markdown line, in columns.
const WIDEST: usize = 100;

fn checked_files() -> impl Iterator<Item = File> {
    let is_excepted = |path: &str| EXCEPT.iter().any(|excepted| path.starts_with(excepted));
    files().into_iter().filter(move |file| !is_excepted(&file.path))
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
    let found = checked_files().flat_map(|file| {
        let found = (1..).zip(file.text.lines()).flat_map(|(at, line)| {
            retired(line).into_iter().map(|word| format!("{}:{at}: {word}", file.path)).collect::<Vec<_>>()
        });
        found.collect::<Vec<_>>()
    });
    assert_none(found.collect());
}

#[test]
fn comments_and_markdown_keep_to_100_columns() {
    let found = checked_files().flat_map(|file| {
        let wide = lines(&file)
            .filter(|(_, line)| line.chars().count() > WIDEST && is_wrappable(&file.path, line))
            .map(|(at, line)| format!("{}:{at}: {} columns", file.path, line.chars().count()));
        wide.collect::<Vec<_>>()
    });
    assert_none(found.collect());
}

#[test]
fn every_excepted_path_exists() {
    let files = files();
    let missing = EXCEPT.iter().filter(|path| !files.iter().any(|file| file.path.starts_with(**path)));
    assert_none(missing.map(|path| path.to_string()).collect());
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
