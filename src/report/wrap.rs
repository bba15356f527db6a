//! Prepared text, such as a help topic, in lines that fit a width.

use crate::table::broken;

/// Returns the text with every line that is wider than `width` columns broken between words. The
/// lines that follow are indented as the text is; in a list of names with explanations, as the
/// explanations are. Tables, code and headings of Markdown stay as they are.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut page = String::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code || line.starts_with(['|', '#', '{']) || line.chars().count() <= width {
            page.push_str(line);
        } else {
            let indent = hanging(line, width);
            let head: usize = line.char_indices().nth(indent).map_or(0, |(at, _)| at);
            let (head, rest) = line.split_at(head);
            page.push_str(head);
            page.push_str(&broken(rest, width - indent).join(&format!("\n{}", " ".repeat(indent))));
        }
        page.push('\n');
    }
    page
}

/// Columns before the text: its indentation, its bullet, or the names that it explains.
fn hanging(line: &str, width: usize) -> usize {
    let chars: Vec<char> = line.chars().collect();
    let own = chars.iter().take_while(|c| **c == ' ').count();
    let own = if line.trim_start().starts_with("- ") { own + 2 } else { own };
    // Two blanks end a name, if the text before them is short enough to leave room.
    let mut gap = (own..chars.len().min(width / 2))
        .filter(|at| chars[*at] != ' ' && chars[..*at].ends_with(&[' ', ' ']));
    if own > 0 { gap.next_back().unwrap_or(own) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_line_is_broken_below_its_text() {
        let text = "\
A sentence that is wide.
  name  what it says in words
- one two three four five
| a | table that is wide |
";
        let expected = "\
A sentence that is
wide.
  name  what it says
        in words
- one two three four
  five
| a | table that is wide |
";
        assert_eq!(wrapped(text, 20), expected);
        assert_eq!(wrapped(text, 40), text);
    }
}
