//! The screen of `rocshim top`: what the processes do now, and one table.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Cell, Clear, Paragraph, Row, Sparkline, Table, Tabs},
};
use rocshim_analysis::units::{count, percent, time};
use rocshim_analysis::{Growth, LivePhase, LiveProcess, LiveRow, LiveStats};
use rocshim_report::{
    names::{fit, tidy},
    visible,
};
use std::{cmp::Reverse, time::Duration};

/// The selected table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Kernels by launches.
    #[default]
    Kernels,
    /// Families of kernels.
    Families,
    /// GEMMs.
    Products,
    /// Convolutions.
    Convolutions,
    /// Phases of each process, with the last pass of each.
    Phases,
    /// Processes that record.
    Processes,
}

impl Tab {
    /// All tables, in the order of their numbers.
    pub const ALL: [Tab; 6] =
        [Tab::Kernels, Tab::Families, Tab::Products, Tab::Convolutions, Tab::Phases, Tab::Processes];

    fn name(self) -> &'static str {
        match self {
            Tab::Kernels => "kernels",
            Tab::Families => "families",
            Tab::Products => "products",
            Tab::Convolutions => "convolutions",
            Tab::Phases => "phases",
            Tab::Processes => "processes",
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|table| *table == self).unwrap_or_default()
    }

    /// Returns the table `by` places further.
    pub fn step(self, by: usize) -> Tab {
        Self::ALL[(self.place() + by) % Self::ALL.len()]
    }
}

/// Sort order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    PerSecond,
    All,
    Host,
    Name,
}

impl Sort {
    /// Returns the next order.
    pub fn next(self) -> Sort {
        match self {
            Sort::PerSecond => Sort::All,
            Sort::All => Sort::Host,
            Sort::Host => Sort::Name,
            Sort::Name => Sort::PerSecond,
        }
    }
}

/// The user's selections, and notes to show with the numbers.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// The names of the followed traces.
    pub what: String,
    /// Interval between two updates.
    pub every: Duration,
    /// The selected table.
    pub shown: Tab,
    /// The column by which its rows are sorted.
    pub sort: Sort,
    /// Filter: only rows that contain this are shown.
    pub filter: String,
    /// True while the filter is being typed.
    pub is_typing: bool,
    /// True while the screen is frozen.
    pub is_paused: bool,
    /// True while the help is shown.
    pub is_help: bool,
    /// Index of the first visible row.
    pub first: usize,
    /// True when colours may be used.
    pub has_colour: bool,
    /// Errors of files that could not be read.
    pub note: Option<String>,
    /// True until the first measurement, while what was written before is read.
    pub is_behind: bool,
}

/// Phases that are always shown.
const PHASES: usize = 3;

const KEYS: &str = "q quit  p pause  Tab/1-6 table  s sort  / filter  arrows move  +/- pace  ? help";

const HELP: [&str; 12] = [
    "q, Esc, Ctrl-C   end",
    "p, Space         hold the screen still; the programs go on",
    "Tab, 1 to 6      next table, or that one",
    "s                sort by a second, total, host time, name: a * marks it",
    "/                show only rows with these letters; Enter keeps them, Esc clears",
    "arrows, Page Up, Page Down, Home, End",
    "+ -              look more or less often",
    "",
    "Phases are inferred, as `rocshim phases` does it, when their pass has ended.",
    "Host time is the calls'; GPU busy needs `rocshim run --gpu-time`.",
    "A family is inferred from the kernel's name.",
    "Any key goes back.",
];

/// Draws the screen.
pub fn draw(frame: &mut Frame, stats: &LiveStats, screen: &Screen) {
    let phases = stats.phases.len().min(PHASES);
    let phases = if phases == 0 || screen.shown == Tab::Phases { 0 } else { phases as u16 + 1 };
    let lost = u16::from(!stats.losses.is_empty());
    let note = u16::from(screen.note.is_some());
    let rows = [1, 1, lost, note, 1, phases, 1].map(Constraint::Length);
    let rows = rows.into_iter().chain([Constraint::Min(2), Constraint::Length(1)]);
    let [head, rates, losses, notes, line, now, tabs, table, keys] =
        Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Paragraph::new(headline(stats, screen)), head);
    frame.render_widget(Paragraph::new(numbers(stats, screen, rates.width)), rates);
    frame.render_widget(Paragraph::new(painted(screen, lost_line(stats), Color::Red)), losses);
    let note = screen.note.clone().unwrap_or_default();
    frame.render_widget(Paragraph::new(painted(screen, note, Color::Yellow)), notes);
    let latest = stats.history.len().saturating_sub(usize::from(line.width));
    let colour = if screen.has_colour { Style::new().fg(Color::Cyan) } else { Style::new() };
    frame.render_widget(Sparkline::default().data(&stats.history[latest..]).style(colour), line);
    if phases > 0 {
        draw_phases(frame, &stats.phases, screen, now);
    }
    let titles = Tab::ALL.iter().enumerate().map(|(at, table)| format!("{} {}", at + 1, table.name()));
    let chosen = Style::new().add_modifier(Modifier::REVERSED);
    let bar = Tabs::new(titles).select(screen.shown.place()).highlight_style(chosen).divider("");
    frame.render_widget(bar.padding("", " "), tabs);
    match screen.shown {
        Tab::Phases => draw_phases(frame, &stats.phases, screen, table),
        Tab::Processes => draw_processes(frame, &stats.processes, screen, table),
        _ => draw_rows(frame, stats, screen, table),
    }
    frame.render_widget(Paragraph::new(last_line(screen)), keys);
    if screen.is_help {
        frame.render_widget(Clear, frame.area());
        frame.render_widget(Paragraph::new(HELP.map(Line::from).to_vec()), frame.area());
    }
}

/// Returns the number of rows of the selected table.
pub fn length(stats: &LiveStats, screen: &Screen) -> usize {
    match screen.shown {
        Tab::Phases => stats.phases.len(),
        Tab::Processes => stats.processes.len(),
        _ => rows_of(stats, screen).len(),
    }
}

fn painted(screen: &Screen, text: String, colour: Color) -> Line<'static> {
    let style = Style::new().add_modifier(Modifier::BOLD);
    Line::styled(text, if screen.has_colour { style.fg(colour) } else { style })
}

fn headline(stats: &LiveStats, screen: &Screen) -> Line<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let ended = stats.processes.len().saturating_sub(stats.running);
    let processes =
        format!("  {} running, {ended} ended  every {} s", stats.running, screen.every.as_secs_f64());
    let state = match () {
        () if screen.is_paused => "  PAUSED",
        () if screen.is_behind => "  reading what was written before",
        () => "",
    };
    Line::from_iter([
        Span::styled("rocshim top ", bold),
        Span::raw(screen.what.clone()),
        Span::raw(processes),
        Span::styled(state, bold),
    ])
}

/// Renders `launches 12 345/s  …`, as many as fit.
fn numbers(stats: &LiveStats, screen: &Screen, width: u16) -> Line<'static> {
    let lost = match stats.lost.all {
        0 => "lost 0".into(),
        all => format!("lost {}", count(all)),
    };
    let collector = stats.collectors.map(|cores| format!("collector {} of a core", percent(cores)));
    let parts = [
        Some(format!("launches {}/s", per_second(stats.launches))),
        Some(lost),
        stats.gpu_busy.map(|busy| format!("GPU busy {}", percent(busy))),
        collector,
        Some(format!("products {}/s", per_second(stats.products))),
        Some(format!("events {}/s", per_second(stats.events))),
        (stats.failed.all > 0).then(|| format!("failed {}", count(stats.failed.all))),
        screen.is_behind.then(|| format!("{} events so far", count(stats.events.all))),
    ];
    let mut line = String::new();
    for part in parts.into_iter().flatten() {
        if line.chars().count() + part.chars().count() + 2 <= usize::from(width) {
            line.push_str(if line.is_empty() { "" } else { "  " });
            line.push_str(&part);
        }
    }
    Line::raw(line)
}

fn lost_line(stats: &LiveStats) -> String {
    let reasons = stats.losses.iter().map(|(reason, lost)| format!("{} {reason}", count(*lost)));
    format!("LOST events: {}", reasons.collect::<Vec<_>>().join(", "))
}

fn last_line(screen: &Screen) -> Line<'static> {
    match (screen.is_typing, screen.filter.is_empty()) {
        (true, _) => Line::raw(format!("rows with: {}_   Enter keeps it, Esc clears it", screen.filter)),
        (false, false) => Line::raw(format!("rows with: {}   / changes it   {KEYS}", screen.filter)),
        (false, true) => Line::raw(KEYS),
    }
}

fn per_second(growth: Growth) -> String {
    match growth.per_second {
        few if few > 0.0 && few < 9.95 => format!("{few:.1}"),
        many => count(many.round() as u64),
    }
}

/// Renders the title row of a table; a title that begins with `>` is right-aligned, for numbers.
fn titles<const N: usize>(names: [String; N]) -> Row<'static> {
    let cell = |name: String| match name.strip_prefix('>') {
        Some(name) => right(name.into()),
        None => Cell::new(name),
    };
    Row::new(names.map(cell)).style(Style::new().add_modifier(Modifier::UNDERLINED))
}

/// Renders a right-aligned cell, for numbers.
fn right(text: String) -> Cell<'static> {
    Cell::new(Line::raw(text).right_aligned())
}

fn draw_phases(frame: &mut Frame, phases: &[LivePhase], screen: &Screen, area: Rect) {
    let rows = phases.iter().map(|phase| {
        let idle = if phase.idle_ns > 2_000_000_000 { time(phase.idle_ns) } else { "now".into() };
        Row::new([
            right(phase.pid.to_string()),
            right(phase.stream_group.to_string()),
            Cell::new(visible(&phase.name)),
            right(phase.columns.map_or_else(|| "?".into(), |columns| columns.to_string())),
            right(per_second(phase.passes)),
            right(per_second(phase.tokens)),
            right(count(phase.launches)),
            right(time(phase.pass_ns)),
            right(idle),
            Cell::new(phase.evidence.to_string()),
        ])
    });
    let names =
        [">PID", ">group", "phase", ">ne11", ">/s", ">tokens/s", ">launches", ">pass", ">ago", "evidence"];
    let widths = [7, 5, 8, 5, 6, 8, 8, 7, 6, 10].map(Constraint::Length);
    let first = if screen.shown == Tab::Phases { screen.first } else { 0 };
    frame.render_widget(Table::new(rows.skip(first), widths).header(titles(names.map(String::from))), area);
}

fn draw_processes(frame: &mut Frame, processes: &[LiveProcess], screen: &Screen, area: Rect) {
    let part = |part: Option<f64>| part.map_or_else(|| "?".into(), percent);
    let rows = processes.iter().map(|process| {
        Row::new([
            right(process.pid.to_string()),
            Cell::new(process.end.clone()),
            right(per_second(process.launches)),
            right(count(process.launches.all)),
            right(count(process.lost)),
            right(part(process.collector)),
            right(part(process.fullest_ring)),
            Cell::new(visible(&process.program)),
        ])
    });
    let names = [">PID", "state", ">/s", ">launches", ">lost", ">collector", ">ring", "program"];
    let widths = [7, 9, 8, 10, 8, 9, 6].map(Constraint::Length).into_iter().chain([Constraint::Min(10)]);
    frame.render_widget(
        Table::new(rows.skip(screen.first), widths).header(titles(names.map(String::from))),
        area,
    );
}

/// Returns the rows of a table, filtered and sorted.
fn rows_of<'a>(stats: &'a LiveStats, screen: &Screen) -> Vec<&'a LiveRow> {
    let rows = match screen.shown {
        Tab::Families => &stats.families,
        Tab::Products => &stats.products_by_problem,
        Tab::Convolutions => &stats.convolutions,
        _ => &stats.kernels,
    };
    let part = screen.filter.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&part);
    let mut rows: Vec<&LiveRow> = rows.iter().filter(|row| has(&row.name) || has(&row.of)).collect();
    // Rows tie while nothing happens: then those with most calls first, then by name.
    rows.sort_by(|a, b| (Reverse(a.calls.all), &a.name).cmp(&(Reverse(b.calls.all), &b.name)));
    match screen.sort {
        Sort::PerSecond => rows.sort_by(|a, b| b.calls.per_second.total_cmp(&a.calls.per_second)),
        Sort::All => {}
        Sort::Host => rows.sort_by_key(|row| Reverse(row.host_ns)),
        Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    rows
}

fn draw_rows(frame: &mut Frame, stats: &LiveStats, screen: &Screen, area: Rect) {
    let rows = rows_of(stats, screen);
    let all: u64 = rows.iter().map(|row| row.calls.all).sum();
    // Numbers take 36 columns; the owner takes a third of the rest, at most 34.
    let left = usize::from(area.width).saturating_sub(36);
    let of = (left / 3).min(34);
    let name = left.saturating_sub(of);
    let cells = rows.iter().map(|row| {
        Row::new([
            right(per_second(row.calls)),
            right(count(row.calls.all)),
            right(percent(row.calls.all as f64 / all.max(1) as f64)),
            right(time(row.host_ns)),
            Cell::new(fit(&visible(&tidy(&row.name)), name)),
            Cell::new(fit(&row.of, of)),
        ])
    });
    let mark = |sort: Sort, name: &str| if screen.sort == sort { format!("{name}*") } else { name.into() };
    let number = |sort: Sort, name: &str| format!(">{}", mark(sort, name));
    let what = screen.shown.name().trim_end_matches('s');
    let names = [
        number(Sort::PerSecond, "/s"),
        number(Sort::All, "total"),
        ">share".into(),
        number(Sort::Host, "host"),
        mark(Sort::Name, if screen.shown == Tab::Families { "family" } else { what }),
        String::new(),
    ];
    let widths = [8, 10, 6, 7].map(Constraint::Length);
    let widths = widths.into_iter().chain([Constraint::Length(name as u16), Constraint::Length(of as u16)]);
    frame.render_widget(Table::new(cells.skip(screen.first), widths).header(titles(names)), area);
}

#[cfg(test)]
mod tests;
