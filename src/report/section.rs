//! Renders a section of a page (title, table, remarks) and paragraphs, as text or Markdown.

use super::{
    colour, label, markdown,
    table::{Column, Form, Style, Table, broken},
    visible::visible,
};
use rocshim_analysis::table::{Cell, Form as Shown, Table as Described};

/// A described table with its rows, and the title, lines and remarks that a page adds.
pub(super) struct Part<'a, TableRow: 'static> {
    table: &'static Described<TableRow>,
    /// Each with the lines under it.
    rows: Vec<(&'a TableRow, Vec<String>)>,
    /// The heading of each row; printed above the first of consecutive rows that share it.
    headings: Vec<String>,
    title: String,
    runs: Vec<&'a str>,
    remarks: Vec<String>,
}

impl<'a, TableRow> Part<'a, TableRow> {
    /// Creates a section of these rows under the table's own title.
    pub(super) fn new(
        table: &'static Described<TableRow>,
        rows: impl IntoIterator<Item = &'a TableRow>,
    ) -> Self {
        let rows = rows.into_iter().map(|row| (row, Vec::new())).collect();
        let (headings, title) = (Vec::new(), table.title.to_owned());
        Part { table, rows, headings, title, runs: Vec::new(), remarks: Vec::new() }
    }

    /// Sets the title, for one that depends on the rows.
    pub(super) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the names of the runs, for columns of each run.
    pub(super) fn runs(mut self, runs: &[&'a str]) -> Self {
        self.runs = runs.to_vec();
        self
    }

    /// Sets the lines below each row.
    pub(super) fn under(mut self, lines: impl Fn(&TableRow) -> Vec<String>) -> Self {
        self.rows.iter_mut().for_each(|(row, under)| *under = lines(row));
        self
    }

    /// Groups the rows under headings: in the order of each group's first row, the groups for which
    /// `is_last` is true after the others.
    pub(super) fn grouped(mut self, heading: impl Fn(&TableRow) -> (bool, String)) -> Self {
        let mut groups: Vec<(bool, String)> = Vec::new();
        let mut rows: Vec<(usize, (&'a TableRow, Vec<String>))> = Vec::new();
        for (row, under) in self.rows {
            let (is_last, heading) = heading(row);
            let known = groups.iter().position(|(_, known)| *known == heading);
            let group = known.unwrap_or_else(|| {
                groups.push((is_last, heading));
                groups.len() - 1
            });
            rows.push((group, (row, under)));
        }
        rows.sort_by_key(|(group, _)| (groups[*group].0, *group));
        self.headings = rows.iter().map(|(group, _)| groups[*group].1.clone()).collect();
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
        self
    }

    /// Adds a remark below the table.
    pub(super) fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// Adds remarks, if there are any.
    pub(super) fn remarks(mut self, remarks: impl IntoIterator<Item = String>) -> Self {
        self.remarks.extend(remarks);
        self
    }

    /// Renders the section; `None` without rows.
    pub(super) fn section(self, style: &Style) -> Option<String> {
        (!self.rows.is_empty()).then(|| self.even_empty(style))
    }

    /// Renders the section, even without rows.
    pub(super) fn even_empty(self, style: &Style) -> String {
        written(&self.title, &self.lines(style), style, &self.remarks)
    }

    /// Returns the table alone.
    pub(super) fn lines(&self, style: &Style) -> Table {
        let rows: Vec<&TableRow> = self.rows.iter().map(|(row, _)| *row).collect();
        let filled = self.table.fill(&rows, &self.runs, Shown::Text);
        let columns: Vec<Column> = filled.heads.iter().map(Column::from).collect();
        let mut table = Table::titled(&columns, filled.heads.iter().map(|head| head.title.clone()).collect());
        let mut cells: Vec<Vec<String>> = filled.rows.iter().map(|_| Vec::new()).collect();
        for (at, head) in filled.heads.iter().enumerate() {
            let of: Vec<&Cell> = filled.rows.iter().map(|row| &row[at]).collect();
            let texts = label::texts(&of, &head.head, style);
            cells.iter_mut().zip(texts).for_each(|(cells, text)| cells.push(text));
        }
        let mut last = None;
        for (row, (cells, (_, under))) in cells.into_iter().zip(&self.rows).enumerate() {
            let heading = self.headings.get(row);
            if heading != last {
                table.heading(heading.cloned().unwrap_or_default());
                last = heading;
            }
            table.row_with(cells, under.clone());
        }
        table
    }
}

/// A title, a table, and remarks under it.
fn written(title: &str, table: &Table, style: &Style, remarks: &[String]) -> String {
    let title = &visible(title);
    let remarks: Vec<String> = remarks.iter().map(|remark| visible(remark).into_owned()).collect();
    if style.form == Form::Markdown {
        let parts = [markdown::title(title), markdown::table(table)];
        let remarks = remarks.iter().map(|remark| markdown::paragraph(remark));
        return parts
            .into_iter()
            .chain(remarks)
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n");
    }
    let titles = broken(title, style.width.unwrap_or(usize::MAX));
    let titles: Vec<String> = titles.into_iter().map(|line| colour::title(line, style.colour)).collect();
    let mut text = format!("{}\n{}", titles.join("\n"), table.text(style));
    let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(4));
    for line in remarks.iter().flat_map(|remark| broken(remark, room)) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// Renders a paragraph, wrapped to the width.
pub(super) fn paragraph(words: &str, style: &Style) -> String {
    let words = visible(words);
    match style.form {
        Form::Markdown => markdown::paragraph(&words),
        Form::Text => broken(&words, style.width.unwrap_or(usize::MAX)).join("\n") + "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn a_section_is_the_same_in_text_and_in_markdown() {
        let mut table = Table::new(&[Column::Right("calls"), Column::Left("kernel")]);
        table.row_with(vec!["7".into(), "a<int>".into()], Vec::new());
        let page = |style: &Style| written("Kernels", &table, style, &["one".into(), "two".into()]);
        assert_eq!(page(&Style::default()), "Kernels\n  calls  kernel\n      7  a<int>\n  one\n  two\n");
        let markdown = Style { form: Form::Markdown, ..Style::default() };
        assert_eq!(
            page(&markdown),
            "## Kernels\n\n| calls | kernel |\n|---:|---|\n| 7 | a\\<int\\> |\n\none\n\ntwo\n"
        );
        assert_eq!(paragraph("1 process: 2 launches", &markdown), "1 process: 2 launches\n");
    }
}
