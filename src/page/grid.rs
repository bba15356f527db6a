//! Tables of the page: sortable, filterable, with the raw number of each cell next to its text.

use super::badge::{badge, outcome};
use maud::{Markup, html};
use rocshim_analysis::table::{self, CellKind, Form, Head, Table};
use rocshim_analysis::units::{count, percent, time};
use rocshim_analysis::{Evidence, Outcome};
use rocshim_report::names::{tidy, to_tile};
use std::borrow::Cow;

/// So few rows need no filter.
const FEW: usize = 8;

/// Rows of a table; those of a longer one from here on are one row, with their number and sums.
const ROWS: usize = 1_500;

/// A table.
pub(super) struct Grid {
    /// Its name for scripts, and a part of its id.
    key: &'static str,
    caption: String,
    heads: Vec<(Cow<'static, str>, Cow<'static, str>, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// The alignment of a column, and whether its numbers can be added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    /// Right, and the rows that are shown as one have the sum.
    Sum,
}

/// A cell.
pub(super) struct Cell {
    shown: Markup,
    /// By what it is sorted: the number itself, without its unit; absent where that is what is
    /// shown.
    value: Option<String>,
    /// How wide it must be, by the style sheet.
    class: &'static str,
}

/// The length from which a text gets room for several words in a line.
const LONG: usize = 26;

/// The longest text that is not broken into lines.
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
    /// A described table of these rows, the column that names them first.
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
        let side = |head: &Head| match (head.is_right, head.is_sum) {
            (true, true) => Align::Sum,
            (true, false) => Align::Right,
            (false, _) => Align::Left,
        };
        let heads =
            filled.heads.into_iter().map(|head| (head.key.into(), head.title.into(), side(&head.head)));
        Grid { key: table.key, caption: table.title.into(), heads: heads.collect(), rows }
    }

    /// Under another name and title than its description has: where a page shows the table twice.
    pub(super) fn called(self, key: &'static str, caption: impl Into<String>) -> Grid {
        Grid { key, caption: caption.into(), ..self }
    }

    /// A table of these columns: name for scripts, title, alignment; numbers are right-aligned.
    pub(super) fn new(
        key: &'static str,
        caption: impl Into<String>,
        heads: &[(&'static str, &'static str, Align)],
    ) -> Grid {
        let grid = Grid { key, caption: caption.into(), heads: Vec::new(), rows: Vec::new() };
        grid.then(heads)
    }

    /// More columns.
    pub(super) fn then(mut self, heads: &[(&'static str, &'static str, Align)]) -> Grid {
        self.heads.extend(heads.iter().map(|(key, title, side)| (Cow::from(*key), Cow::from(*title), *side)));
        self
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a cell for each column of {}", self.key);
        self.rows.push(cells);
    }

    /// What the rows from `shown` on are together.
    fn rest(&self, shown: usize) -> Vec<String> {
        let rows = &self.rows[shown..];
        let sum = |at: usize| {
            let values = rows.iter().filter_map(|row| row[at].value.as_deref()?.parse::<u64>().ok());
            values.fold(0_u64, u64::saturating_add)
        };
        let mut cells: Vec<String> = self
            .heads
            .iter()
            .enumerate()
            .map(|(at, (key, _, side))| match side {
                Align::Sum if key.ends_with("_ns") => time(sum(at)),
                Align::Sum => count(sum(at)),
                _ => String::new(),
            })
            .collect();
        if let Some(at) = self.heads.iter().rposition(|(.., side)| *side == Align::Left) {
            cells[at] = format!("{} more rows together", count(rows.len() as u64));
        }
        cells
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table; `prefix` makes its id one of its run.
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
                        thead { tr { @for (key, title, side) in &self.heads {
                            th scope="col" data-key=(key) .right[*side != Align::Left] { button type="button" { (title) } }
                        } } }
                        tbody {
                            @for row in &self.rows[..shown] {
                                tr { @for (cell, (.., side)) in row.iter().zip(&self.heads) {
                                    td.(cell.class) data-v=[cell.value.as_deref()] .right[*side != Align::Left] { (cell.shown) }
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
            Of::Evidence(evidence, None) => Cell::badge(*evidence),
            Of::Evidence(evidence, Some(why)) => Cell::wide(html! { (badge(*evidence)) " " (why) }, evidence),
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

    /// Kernels with the number of their launches, each with its symbol on demand.
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

    pub(super) fn text(text: impl AsRef<str>) -> Cell {
        let text = text.as_ref();
        Cell { shown: html! { (text) }, value: None, class: class(text, false) }
    }

    /// Statements that `; ` sets apart, each on a line.
    pub(super) fn lines(text: &str) -> Cell {
        Cell::wide(html! { @for line in text.split("; ") { div { (line) } } }, text)
    }

    /// Something that is read in its own font.
    pub(super) fn code(text: impl AsRef<str>) -> Cell {
        let text = text.as_ref();
        Cell { shown: html! { code { (text) } }, value: None, class: class(text, true) }
    }

    pub(super) fn number(number: u64) -> Cell {
        Cell::markup(html! { (count(number)) }, number)
    }

    /// A number, or a dash.
    pub(super) fn maybe(number: Option<u64>) -> Cell {
        number.map_or_else(Cell::none, Cell::number)
    }

    pub(super) fn none() -> Cell {
        Cell::markup(html! { span.none { "–" } }, "")
    }

    /// The same of a text.
    pub(super) fn of(shown: impl AsRef<str>, value: impl ToString) -> Cell {
        Cell::markup(html! { (shown.as_ref()) }, value)
    }

    pub(super) fn time(ns: u64) -> Cell {
        Cell::of(time(ns), ns)
    }

    pub(super) fn share(part: f64) -> Cell {
        let shown = html! { span.bar style={ "--part:" (format!("{part:.4}")) } { (percent(part)) } };
        Cell::markup(shown, format!("{part:.6}"))
    }

    pub(super) fn badge(evidence: Evidence) -> Cell {
        Cell::markup(badge(evidence), evidence)
    }

    pub(super) fn outcome(verdict: Outcome) -> Cell {
        Cell::markup(outcome(verdict), verdict)
    }

    /// A kernel: as people call it, and on demand as the compiler does.
    pub(super) fn kernel(symbol: &str, demangled: Option<&str>) -> Cell {
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
    pub(super) fn markup(shown: Markup, value: impl ToString) -> Cell {
        Cell { shown, value: Some(value.to_string()), class: "" }
    }

    /// The same, with room for some words in a line.
    pub(super) fn wide(shown: Markup, value: impl ToString) -> Cell {
        Cell { class: "long", ..Cell::markup(shown, value) }
    }

    /// The same, with room for a kernel's name.
    pub(super) fn names(shown: Markup, value: impl ToString) -> Cell {
        Cell { class: "code long", ..Cell::markup(shown, value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_summed_and_not_left_out() {
        let mut grid = Grid::new(
            "t",
            "T",
            &[
                ("launches", "launches", Align::Sum),
                ("total_ns", "total", Align::Sum),
                ("name", "kernel", Align::Left),
            ],
        );
        (0..ROWS as u64 + 3)
            .for_each(|n| grid.row(vec![Cell::number(n), Cell::time(10), Cell::code(format!("k{n}"))]));
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
        let mut grid = Grid::new("t", "<b>", &[("name", "kernel", Align::Left)]);
        let name = "</script><img src=x onerror=alert(1)>\"'";
        grid.row(vec![Cell::kernel(name, None)]);
        grid.row(vec![Cell::kernel("_Z1a", Some(name))]);
        let page = grid.markup("").into_string();
        assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("\"'"), "{page}");
        assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;'"), "{page}");
    }
}
