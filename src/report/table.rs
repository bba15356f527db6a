//! Lays out rows as aligned lines that fit a width.
//!
//! The last column is the flexible one: it gets what the others leave. A name is shortened to that,
//! a text is broken into lines. When it is too little, optional columns are left out, last first.

use super::{
    colour,
    names::{fit, fit_path},
    visible::visible,
};
use rocshim_analysis::table::{CellKind, FilledHead};

/// How a page is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Text or Markdown.
    pub form: Form,
    /// Titles and evidence words are coloured.
    pub colour: bool,
    /// Columns of the terminal; `None` to shorten nothing.
    pub width: Option<usize>,
    /// Names are shown as in the trace.
    pub full_names: bool,
    /// Limit of the rows of a table; `None` for all.
    pub rows: Option<usize>,
    /// Tables of details are shown too, and more lines below each row.
    pub all: bool,
}

/// The form of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Aligned lines.
    #[default]
    Text,
    /// Tables as GitHub reads them.
    Markdown,
}

/// A column's title, alignment, and what happens when there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Right-aligned: numbers.
    Right(&'static str),
    /// Right-aligned, and left out when there is no room.
    Missable(&'static str),
    /// Left-aligned: words.
    Left(&'static str),
    /// The last column, if it is a sentence rather than a name.
    Text(&'static str),
    /// The last column, if it is a path, whose end is kept.
    Path(&'static str),
}

impl Column {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Column::Right(title)
            | Column::Missable(title)
            | Column::Left(title)
            | Column::Text(title)
            | Column::Path(title) => title,
        }
    }
}

/// A table.
pub(crate) struct Table {
    columns: Vec<Column>,
    titles: Vec<String>,
    rows: Vec<TableRow>,
    /// Heading above the next row.
    heading: Option<String>,
}

/// A row with the lines above and under it.
pub(crate) struct TableRow {
    pub above: Option<String>,
    pub cells: Vec<String>,
    pub under: Vec<String>,
}

/// The width that the last column gets before optional columns are kept.
const COMFORT: usize = 32;
/// The gap between two columns.
const GAP: &str = "  ";

impl From<&FilledHead> for Column {
    fn from(FilledHead { head, .. }: &FilledHead) -> Column {
        match head.kind {
            CellKind::Sentence => Column::Text(head.title),
            CellKind::Path => Column::Path(head.title),
            _ if head.is_optional => Column::Missable(head.title),
            _ if head.is_right => Column::Right(head.title),
            _ => Column::Left(head.title),
        }
    }
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let titles = columns.iter().map(|column| column.title().to_string()).collect();
        Table { columns: columns.to_vec(), titles, rows: Vec::new(), heading: None }
    }

    /// Creates a table with the alignment of `columns` and titles that are known at run time only.
    pub(crate) fn titled(columns: &[Column], titles: Vec<String>) -> Self {
        debug_assert_eq!(columns.len(), titles.len());
        let titles: Vec<String> = titles.iter().map(|title| visible(title).into_owned()).collect();
        Table { titles, ..Table::new(columns) }
    }

    /// Adds a heading above the next row.
    pub(crate) fn heading(&mut self, text: String) {
        self.heading = Some(visible(&text).into_owned());
    }

    /// Adds a row with one cell for each column, and lines under it. This is where a trace's
    /// strings enter a page: made visible.
    pub(crate) fn row_with(&mut self, cells: Vec<String>, under: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        let shown = |texts: Vec<String>| texts.into_iter().map(|text| visible(&text).into_owned()).collect();
        self.rows.push(TableRow { above: self.heading.take(), cells: shown(cells), under: shown(under) });
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn titles(&self) -> &[String] {
        &self.titles
    }

    pub(crate) fn rows(&self) -> &[TableRow] {
        &self.rows
    }

    /// Returns the table as text: titles, rows, and the number of omitted rows.
    pub(crate) fn text(&self, style: &Style) -> String {
        let shown = &self.rows[..style.rows.unwrap_or(usize::MAX).min(self.rows.len())];
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = shown.iter().map(|row| length(&row.cells[at]));
                cells.chain([length(&self.titles[at])]).max().unwrap_or(0)
            })
            .collect();
        let kept = self.kept(&mut widths, style);
        let mut text = String::new();
        if !shown.is_empty() {
            self.line(&mut text, &self.titles, &kept, &widths, &Style::default());
        }
        let room = |indent: usize| style.width.map_or(usize::MAX, |width| width.saturating_sub(indent));
        for row in shown {
            if let Some(above) = &row.above {
                text.push_str(&format!("{GAP}{}\n", fit(above, room(2))));
            }
            self.line(&mut text, &row.cells, &kept, &widths, style);
            for line in row.under.iter().flat_map(|line| broken(line, room(6))) {
                text.push_str(&format!("      {}\n", fit(&line, room(6))));
            }
        }
        if shown.len() < self.rows.len() {
            text.push_str(&format!("{GAP}… {} more, with --all\n", self.rows.len() - shown.len()));
        }
        text
    }

    /// Returns the columns that are kept, and sets the last one's width to what the others leave.
    fn kept(&self, widths: &mut [usize], style: &Style) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let last = self.columns.len() - 1;
        let Some(width) = style.width else { return kept };
        let wanted = widths[last].min(COMFORT);
        loop {
            let taken: usize = kept[..kept.len() - 1].iter().map(|at| widths[*at] + GAP.len()).sum();
            let left = width.saturating_sub(taken + GAP.len());
            let missable = kept.iter().rposition(|at| matches!(self.columns[*at], Column::Missable(_)));
            match missable {
                Some(at) if left < wanted => drop(kept.remove(at)),
                _ => {
                    widths[last] = widths[last].min(left.max(8));
                    return kept;
                }
            }
        }
    }

    fn line(&self, text: &mut String, cells: &[String], kept: &[usize], widths: &[usize], style: &Style) {
        let (mut line, mut indent) = (String::new(), 0);
        for at in kept {
            let width = widths[*at];
            indent += GAP.len();
            line.push_str(GAP);
            let cell = match self.columns[*at] {
                Column::Path(_) => fit_path(&cells[*at], width),
                Column::Left(_) => format!("{:<width$}", fit(&cells[*at], width)),
                Column::Right(_) | Column::Missable(_) => format!("{:>width$}", fit(&cells[*at], width)),
                Column::Text(_) => broken(&cells[*at], width).join(&format!("\n{}", " ".repeat(indent))),
            };
            indent += width;
            line.push_str(&colour::cell(cell, style.colour));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Breaks a text between words into lines of at most `width` columns.
pub(crate) fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if length(line) + 1 + length(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&[Column::Right("calls"), Column::Missable("mean"), Column::Left("kernel")]);
        table.row_with(
            vec!["1 200".into(), "1.20 µs".into(), "a_kernel_with_a_long_name_of_40_characters_".into()],
            vec!["under it".into()],
        );
        table.row_with(vec!["7".into(), "900 ns".into(), "b".into()], Vec::new());
        table
    }

    #[test]
    fn without_a_width_everything_is_written() {
        assert_eq!(
            table().text(&Style::default()),
            "  calls     mean  kernel\n  \
             1 200  1.20 µs  a_kernel_with_a_long_name_of_40_characters_\n      under it\n      \
             7   900 ns  b\n"
        );
    }

    #[test]
    fn a_narrow_terminal_loses_a_column_then_letters() {
        // 48 - (2+5) - (2+7) - 2 = 30 columns for the name are less than 32, so the mean goes: 39
        // are left, 26 letters of the head, the mark, 12 of the tail.
        let narrow = Style { width: Some(48), ..Style::default() };
        assert_eq!(
            table().text(&narrow),
            "  calls  kernel\n  1 200  a_kernel_with_a_long_name_…_characters_\n      under it\n      7  b\n"
        );
    }

    #[test]
    fn rows_that_are_left_out_are_counted() {
        let short = Style { rows: Some(1), ..Style::default() };
        assert!(table().text(&short).ends_with("      under it\n  … 1 more, with --all\n"));
    }
}
