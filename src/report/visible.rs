//! Escapes strings of a trace before they are printed: control characters, bidirectional controls
//! and invisible characters.
//!
//! A trace is untrusted input, and a kernel may have any name: `ESC ]0;…` would set the terminal's
//! title, U+202E would reverse the rest of its line, a line feed would add rows to a table.

use std::borrow::Cow;

/// The text with control characters, bidirectional controls and invisible characters as escapes:
/// `\x1b`, `\n`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for text of several lines: line feeds stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || crate::colour::is_mark(c))
}

/// JSON that shows no such character: the same data, with `\u` escapes in its strings. `indented`
/// JSON has line feeds, and no other control character, outside of its strings.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|c| c != '\n' && is_hidden(c)) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '\n' => text.push(c),
            c if is_hidden(c) => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| text += &format!("\\u{unit:04x}"));
            }
            c => text.push(c),
        }
    }
    text.into()
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && !stays(c)) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) || stays(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            c if c.is_ascii() => shown += &format!("\\x{:02x}", u32::from(c)),
            c => shown += &format!("\\u{{{:x}}}", u32::from(c)),
        }
    }
    shown.into()
}

/// Control characters (C0, DEL, C1), line separators, bidirectional controls, characters without a
/// width, and the noncharacters that mark colours.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the title, then reverses: as an attacker would name a kernel.
    const NAME: &str = "k\x1b]0;owned\x07\u{9b}2J\u{202e}evil\n";

    #[test]
    fn what_steers_a_terminal_is_shown_instead() {
        assert_eq!(visible(NAME), r"k\x1b]0;owned\x07\u{9b}2J\u{202e}evil\n");
        assert_eq!(visible_lines("a\tb\r\n"), "a\\tb\\x0d\n");
        assert!(matches!(visible("naïve_conv<µ, 1>"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_data() {
        let json = serde_json::to_string_pretty(&[NAME]).unwrap();
        let shown = visible_json(&json);
        assert!(!shown.chars().any(|c| c != '\n' && is_hidden(c)), "{shown}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [NAME]);
    }
}
