//! Colours titles and evidence classes, on a terminal that supports it unless the user declined.
//!
//! A page carries noncharacters of Unicode where colours begin and end; `print` replaces them by
//! terminal sequences after every other control character was made visible (`visible`).

/// Where a colour begins or ends, and the terminal's sequence for it.
const MARKS: [(char, &str); 5] =
    [(BOLD, "\x1b[1m"), (GREEN, "\x1b[32m"), (CYAN, "\x1b[36m"), (YELLOW, "\x1b[33m"), (END, "\x1b[0m")];
const BOLD: char = '\u{fdd0}';
const GREEN: char = '\u{fdd1}';
const CYAN: char = '\u{fdd2}';
const YELLOW: char = '\u{fdd3}';
const END: char = '\u{fdd4}';

/// Returns true for a character that marks a colour.
pub(super) fn is_mark(c: char) -> bool {
    MARKS.iter().any(|(mark, _)| *mark == c)
}

/// Replaces the marks in a text by terminal sequences.
pub(super) fn for_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match MARKS.iter().find(|(mark, _)| *mark == c) {
            Some((_, sequence)) => out.push_str(sequence),
            None => out.push(c),
        }
    }
    out
}

/// Returns a title, coloured if `colour`.
pub(super) fn title(line: String, colour: bool) -> String {
    if colour { painted(&line, BOLD) } else { line }
}

/// Returns a cell that is padded to its column's width; coloured if it is an evidence class.
pub(super) fn cell(cell: String, colour: bool) -> String {
    let word = cell.trim();
    let paint = match word {
        "confirmed" | "confirmed absent" => GREEN,
        "inferred" => CYAN,
        "limited" | "unresolved" => YELLOW,
        _ => return cell,
    };
    if colour { cell.replacen(word, &painted(word, paint), 1) } else { cell }
}

fn painted(text: &str, paint: char) -> String {
    format!("{paint}{text}{END}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_evidence_are_painted_and_only_where_colour_is_wanted() {
        assert_eq!(for_terminal(&cell("limited   ".into(), true)), "\x1b[33mlimited\x1b[0m   ");
        assert_eq!(cell("limited   ".into(), false), "limited   ");
        assert_eq!(cell("unlimited ".into(), true), "unlimited ");
        assert_eq!(for_terminal(&title("T".into(), true)), "\x1b[1mT\x1b[0m");
        assert_eq!(title("T".into(), false), "T");
    }
}
