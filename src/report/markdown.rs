//! Tables in Markdown, as GitHub reads it: every row, every name in full, nothing in them taken for
//! markup.

use super::table::{Column, Table};

/// A heading.
pub(super) fn title(text: &str) -> String {
    format!("## {}\n", plain(text))
}

/// A paragraph.
pub(super) fn paragraph(text: &str) -> String {
    format!("{}\n", plain(text))
}

/// A table; empty without rows. The lines under a row are in its last cell.
pub(super) fn table(table: &Table) -> String {
    if table.rows().is_empty() {
        return String::new();
    }
    let mut text = line(table.titles().iter().map(|title| plain(title)));
    let marks = table.columns().iter().map(|column| match column {
        Column::Right(_) | Column::Missable(_) => "---:",
        Column::Left(_) | Column::Text(_) | Column::Path(_) => "---",
    });
    text.push_str(&format!("|{}|\n", marks.collect::<Vec<_>>().join("|")));
    let before = table.columns().len() - 1;
    for row in table.rows() {
        if let Some(above) = &row.above {
            let cells = std::iter::repeat_n(String::new(), before);
            text.push_str(&line(cells.chain([format!("**{}**", plain(above))])));
        }
        let mut cells: Vec<String> = row.cells.iter().map(|cell| plain(cell)).collect();
        for under in &row.under {
            cells[before].push_str(&format!("<br>{}", plain(under)));
        }
        text.push_str(&line(cells.into_iter()));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// The text so that Markdown shows it as it is. An underscore inside of a word means nothing.
fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    let mut out = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let means = match c {
            '\\' | '`' | '*' | '<' | '>' | '|' | '[' | ']' | '&' | '~' | '#' => true,
            '_' => !(is_word(at.checked_sub(1)) && is_word(Some(at + 1))),
            _ => false,
        };
        if means {
            out.push('\\');
        }
        out.push(if *c == '\n' { ' ' } else { *c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_markup_is_shown_as_it_is() {
        assert_eq!(
            plain("add<float*>(a|b) & __half, mul_mat_q"),
            r"add\<float\*\>(a\|b) \& \_\_half, mul_mat_q"
        );
        assert_eq!(plain("_Z3add #1"), r"\_Z3add \#1");
    }

    #[test]
    fn headings_and_lines_under_a_row_stay_inside_of_the_table() {
        let mut example = Table::new(&[Column::Missable("mean"), Column::Text("why")]);
        example.heading("forward".into());
        example.row_with(vec!["2".into(), "x".into()], vec!["then y".into(), "z".into()]);
        assert_eq!(
            table(&example),
            "| mean | why |\n|---:|---|\n|  | **forward** |\n| 2 | x<br>then y<br>z |\n"
        );
        assert_eq!(table(&Table::new(&[Column::Left("a")])), "");
    }
}
