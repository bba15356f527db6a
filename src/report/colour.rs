//! Colour, on a terminal that has not been asked to do without: titles, and how sure a statement is.

/// A title.
pub(super) fn title(line: String, colour: bool) -> String {
    if colour { painted(&line, "1") } else { line }
}

/// A cell that is as wide as its column: a word that tells how sure a statement is, is painted.
pub(super) fn cell(cell: String, colour: bool) -> String {
    let word = cell.trim();
    let code = match word {
        "confirmed" | "confirmed absent" => "32",
        "inferred" => "36",
        "limited" | "unresolved" => "33",
        _ => return cell,
    };
    if colour { cell.replacen(word, &painted(word, code), 1) } else { cell }
}

fn painted(text: &str, code: &str) -> String {
    format!("\x1b[{code}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_evidence_are_painted_and_only_where_colour_is_wanted() {
        assert_eq!(cell("limited   ".into(), true), "\x1b[33mlimited\x1b[0m   ");
        assert_eq!(cell("limited   ".into(), false), "limited   ");
        assert_eq!(cell("unlimited ".into(), true), "unlimited ");
        assert_eq!(
            (title("T".into(), true), title("T".into(), false)),
            ("\x1b[1mT\x1b[0m".into(), "T".into())
        );
    }
}
