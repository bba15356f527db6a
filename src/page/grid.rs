//! Tables of the page: sortable, filterable, with the raw number of each cell next to its text.

use super::badge::{badge, outcome};
use maud::{Markup, html};
use rocshim_analysis::table::{self, CellKind, FilledHead, Form, Head, Table};
use rocshim_analysis::units::{count, percent};
use rocshim_report::names::{tidy, to_tile};

/// A table of up to this many rows gets no filter.
const FEW: usize = 8;

/// Limit of the rows of a table: the rows beyond it are merged into one, with their number and
/// sums.
const ROWS: usize = 1_500;

/// A table.
pub(super) struct Grid {
    /// Its name for scripts, and a part of its id.
    key: &'static str,
    caption: String,
    heads: Vec<FilledHead>,
    rows: Vec<Vec<Cell>>,
}

/// A cell.
struct Cell {
    shown: Markup,
    /// The sort key: the number without its unit; absent if the shown text is the key.
    value: Option<String>,
    /// Its width class in the style sheet.
    class: &'static str,
}

/// Length from which a text gets a wide column.
const LONG: usize = 26;

/// Length up to which a text is not wrapped.
const BRIEF: usize = 18;

fn class(text: &str, is_code: bool) -> &'static str {
    match (text.chars().count(), is_code) {
        (LONG.., false) => "long",
        (LONG.., true) => "code long",
        (..=BRIEF, _) => "brief",
        (_, true) => "code",
        (_, false) => "",
    }
}

impl Grid {
    /// Creates a described table of these rows, with the column that names them first.
    pub(super) fn of<'a, Row: 'static>(
        table: &'static Table<Row>,
        rows: impl IntoIterator<Item = &'a Row>,
    ) -> Grid {
        Grid::of_runs(table, rows, &[])
    }

    /// The same, with columns for each run.
    pub(super) fn of_runs<'a, Row: 'static>(
        table: &'static Table<Row>,
        rows: impl IntoIterator<Item = &'a Row>,
        runs: &[&str],
    ) -> Grid {
        let rows: Vec<&Row> = rows.into_iter().collect();
        let mut filled = table.fill(&rows, runs, Form::Page);
        if let Some(at) = filled.heads.iter().position(|head| head.head.is_name) {
            filled.heads[..=at].rotate_right(1);
            filled.rows.iter_mut().for_each(|row| row[..=at].rotate_right(1));
        }
        let cells = |row: &Vec<table::Cell>| {
            row.iter().zip(&filled.heads).map(|(cell, head)| Cell::from_described(cell, &head.head)).collect()
        };
        let rows = filled.rows.iter().map(cells).collect();
        Grid { key: table.key, caption: table.title.into(), heads: filled.heads, rows }
    }

    /// Sets another name and title than the description's, for a table that a page shows twice.
    pub(super) fn called(self, key: &'static str, caption: impl Into<String>) -> Grid {
        Grid { key, caption: caption.into(), ..self }
    }

    /// What the rows from `shown` on are together.
    fn rest(&self, shown: usize) -> Vec<String> {
        let rows = &self.rows[shown..];
        let sum = |at: usize| {
            let values = rows.iter().filter_map(|row| row[at].value.as_deref()?.parse::<u64>().ok());
            values.fold(0_u64, u64::saturating_add)
        };
        let cell = |(at, head): (usize, &FilledHead)| match head.head.is_sum {
            true => table::Cell::Number(sum(at)).text(&head.head),
            false => String::new(),
        };
        let mut cells: Vec<String> = self.heads.iter().enumerate().map(cell).collect();
        if let Some(at) = self.heads.iter().rposition(|head| !head.head.is_right) {
            cells[at] = format!("{} more rows together", count(rows.len() as u64));
        }
        cells
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Renders the table; `prefix` makes its id unique to its run.
    pub(super) fn markup(&self, prefix: &str) -> Markup {
        let id = format!("{prefix}{}-table", self.key);
        let shown = self.rows.len().min(ROWS);
        html! {
            div.grid id=(id) {
                div.tools {
                    h3 id={ (id) "-caption" } { (self.caption) }
                    @if self.rows.len() > FEW {
                        label.filter { span { "Filter" } input type="search" aria-label={ "Filter: " (self.caption) }; }
                        span.shown role="status" { (count(self.rows.len() as u64)) " rows" }
                    }
                }
                div.scroll tabindex="0" role="group" aria-labelledby={ (id) "-caption" } {
                    table data-table=(self.key) {
                        thead { tr { @for head in &self.heads {
                            th scope="col" data-key=(head.key) .right[head.head.is_right] { button type="button" { (head.title) } }
                        } } }
                        tbody {
                            @for row in &self.rows[..shown] {
                                tr { @for (cell, head) in row.iter().zip(&self.heads) {
                                    td.(cell.class) data-v=[cell.value.as_deref()] .right[head.head.is_right] { (cell.shown) }
                                } }
                            }
                            @if shown < self.rows.len() {
                                tr.rest { @for cell in self.rest(shown) { td.right { (cell) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Cell {
    fn from_described(cell: &table::Cell, head: &Head) -> Cell {
        use table::Cell as Of;
        match cell {
            Of::Absent => Cell::none(),
            Of::Number(number) => Cell::of(cell.text(head), number),
            Of::Real(part) if head.kind == CellKind::Share => Cell::share(*part),
            Of::Real(value) => Cell::of(cell.text(head), value),
            Of::Shown(text, value) => Cell::of(text, value),
            Of::Text(text) if matches!(head.kind, CellKind::Code | CellKind::Path) => Cell::code(text),
            Of::Text(text) => Cell::text(text),
            Of::Evidence(evidence, None) => Cell::markup(badge(*evidence), evidence),
            Of::Evidence(evidence, Some(why)) => Cell::wide(html! { (badge(*evidence)) " " (why) }, evidence),
            Of::Outcome(verdict) => Cell::markup(outcome(*verdict), verdict),
            Of::Kernel(symbol, demangled) => Cell::kernel(symbol, demangled.as_deref()),
            Of::Kernels(kernels) => Cell::kernels(kernels),
            Of::Statements(all) => Cell::wide(
                html! { @for (text, evidence) in all {
                    div { (text) @if let Some((class, why)) = evidence { " " (badge(*class)) @if let Some(why) = why { " " (why) } } }
                } },
                cell.text(head),
            ),
        }
    }

    /// Renders kernels with their numbers of launches; each shows its symbol on demand.
    fn kernels(kernels: &[(u64, String, Option<String>)]) -> Cell {
        let names = kernels.iter().map(|(launches, symbol, demangled)| {
            let name = tidy(demangled.as_deref().unwrap_or(symbol));
            (launches, to_tile(&name).unwrap_or(&name).to_string(), symbol)
        });
        let value: Vec<String> = names.clone().map(|(_, name, _)| name).collect();
        let shown = html! {
            @if kernels.is_empty() { span.none { "none seen" } }
            @for (launches, short, symbol) in names {
                details.name { summary { (count(*launches)) " × " code { (short) } } p { "symbol " code { (symbol) } } }
            }
        };
        Cell::names(shown, value.join(" "))
    }

    fn text(text: impl AsRef<str>) -> Cell {
        let text = text.as_ref();
        Cell { shown: html! { (text) }, value: None, class: class(text, false) }
    }

    /// Something that is read in its own font.
    fn code(text: impl AsRef<str>) -> Cell {
        let text = text.as_ref();
        Cell { shown: html! { code { (text) } }, value: None, class: class(text, true) }
    }

    fn none() -> Cell {
        Cell::markup(html! { span.none { "–" } }, "")
    }

    /// The same of a text.
    fn of(shown: impl AsRef<str>, value: impl ToString) -> Cell {
        Cell::markup(html! { (shown.as_ref()) }, value)
    }

    fn share(part: f64) -> Cell {
        let shown = html! { span.bar style={ "--part:" (format!("{part:.4}")) } { (percent(part)) } };
        Cell::markup(shown, format!("{part:.6}"))
    }

    /// A kernel: as people call it, and on demand as the compiler does.
    fn kernel(symbol: &str, demangled: Option<&str>) -> Cell {
        let full = demangled.unwrap_or(symbol);
        let short = &*tidy(full);
        let (value, class) = (Some(symbol.to_string()), class(short, true));
        if short == symbol && symbol.len() < 60 {
            return Cell { shown: html! { code { (short) } }, value, class };
        }
        let shown = html! {
            details.name { summary { code { (short) } }
                @if demangled.is_some() { p { "in full " code { (full) } } }
                p { "symbol " code { (symbol) } }
            }
        };
        Cell { shown, value, class }
    }

    /// What `shown` is for people, sorted by `value`.
    fn markup(shown: Markup, value: impl ToString) -> Cell {
        Cell { shown, value: Some(value.to_string()), class: "" }
    }

    /// The same, with room for some words in a line.
    fn wide(shown: Markup, value: impl ToString) -> Cell {
        Cell { class: "long", ..Cell::markup(shown, value) }
    }

    /// The same, with room for a kernel's name.
    fn names(shown: Markup, value: impl ToString) -> Cell {
        Cell { class: "code long", ..Cell::markup(shown, value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    rocshim_analysis::table! {
        ROWS_OF: (u64, String, Option<String>) = "t", "<b>", "a kernel";
        |row|
        count("launches", "launches", "") => row.0;
        time("total_ns", "total", "") => 10_u64;
        kernel("name", "kernel", "") => table::Cell::Kernel(row.1.clone(), row.2.clone());
    }

    #[test]
    fn what_is_too_long_is_summed_and_not_left_out() {
        let rows: Vec<_> = (0..ROWS as u64 + 3).map(|n| (n, format!("k{n}"), None)).collect();
        let grid = Grid::of(&ROWS_OF, &rows);
        // 1500 + 1501 + 1502 launches of 10 ns each.
        assert_eq!(grid.rest(ROWS), ["4 503", "30 ns", "3 more rows together"]);
        let page = grid.markup("").into_string();
        assert!(
            page.contains("<tr class=\"rest\"><td class=\"right\">4 503</td>"),
            "{}",
            &page[page.len() - 300..]
        );
        assert_eq!(page.matches("<tr>").count(), 1 + ROWS);
    }

    #[test]
    fn foreign_text_is_no_markup() {
        let name = "</script><img src=x onerror=alert(1)>\"'";
        let grid = Grid::of(&ROWS_OF, &[(1, name.into(), None), (1, "_Z1a".into(), Some(name.into()))]);
        let page = grid.markup("").into_string();
        assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("\"'"), "{page}");
        assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;'"), "{page}");
    }
}
