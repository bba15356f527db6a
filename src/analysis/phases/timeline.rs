//! Timeline bars of requests, phases and passes: one row per stream group and level of each
//! process.
//!
//! A picture has room for some hundred bars per row. If a row has more slices, those of one name
//! that begin within the same part of the time become one bar, which states their number: nothing
//! is omitted.

use super::{PhaseKind, Phases, pass::Range, rows::Step};
use crate::Evidence;
use crate::units::range;
use crate::units::{count, time};
use serde::Serialize;
use std::collections::BTreeMap;

/// Limit of the bars per row and name with one row; shared by several rows, …
const MOST: u64 = 2_400;
/// … but not fewer than this.
const LEAST: u64 = 150;
/// Limit of the stream groups with their own rows: those with most passes. The others share one row
/// per level.
const GROUPS: usize = 12;

/// All rows, by process and stream group. Times are ns since the earliest epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The begin of the first phase.
    pub begin_ns: u64,
    /// The end of the last phase.
    pub end_ns: u64,
    /// The rows, each with its bars.
    pub rows: Vec<TimelineRow>,
    /// Numbers of requests, phases and steps, and of the bars that show them.
    pub levels: Vec<Drawn>,
    /// The rule by which slices became bars.
    pub rule: String,
    /// Number of stream groups that share the last rows; 0 if none.
    pub merged: u64,
}

impl Timeline {
    /// All bars, row by row.
    pub fn bars(&self) -> Vec<PlacedBar> {
        let placed = |row: &TimelineRow| {
            let (group, level) = (row.stream_group, row.level);
            row.bars.iter().cloned().map(move |bar| PlacedBar { group, level, bar }).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(placed).collect()
    }
}

/// Numbers of slices and bars of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drawn {
    /// The level.
    pub level: Level,
    /// Requests, phases or steps.
    pub slices: u64,
    /// The bars that show them.
    pub bars: u64,
}

/// Level of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Requests of a server.
    Request,
    /// Phases.
    Phase,
    /// Passes.
    Step,
}

impl Level {
    /// All levels, from the coarsest.
    pub const ALL: [Level; 3] = [Level::Request, Level::Phase, Level::Step];

    /// Returns the name that the page shows.
    pub fn name(self) -> &'static str {
        match self {
            Level::Request => "request",
            Level::Phase => "phase",
            Level::Step => "step",
        }
    }
}

/// A row of bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineRow {
    /// Its process and the number of its stream group; absent for several together.
    #[serde(rename = "lane")]
    pub stream_group: Option<(u32, usize)>,
    /// What its bars stand for.
    pub level: Level,
    /// Requests, phases or steps that its bars stand for.
    pub slices: u64,
    /// Bars in order of time.
    pub bars: Vec<Bar>,
}

/// One slice, or several neighbours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// `prompt`, `decode`, a label, `request 3`.
    pub name: String,
    /// Absent for requests.
    pub kind: Option<PhaseKind>,
    /// The begin of the first slice.
    pub begin_ns: u64,
    /// The end of the last slice.
    pub end_ns: u64,
    /// Number of slices.
    pub slices: u64,
    /// Number of passes.
    pub passes: u64,
    /// Columns (ne11) of its passes: minimum and maximum; absent when one's are unknown.
    pub columns: Option<(u64, u64)>,
    /// Evidence of the least certain.
    pub evidence: Evidence,
}

/// A bar with its row.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedBar {
    /// The process, and the number of the stream group in it.
    pub group: Option<(u32, usize)>,
    /// The level.
    pub level: Level,
    /// The bar.
    pub bar: Bar,
}

crate::table! {
    /// Bars of the timeline.
    BARS: PlacedBar = "bars", "Bars of the timeline", "a bar of the page's timeline";
    |row|
    words("group", "process, stream group", "where it ran").derived()
        => row.group.map_or("several".into(), |(pid, number)| format!("{pid}, {number}"));
    words("level", "level", "request, phase or step") => row.level.name();
    words("name", "name", "the phase, its label, or the request") => &row.bar.name;
    time("begin_ns", "begin", "begin of the first slice").no_sum() => row.bar.begin_ns;
    time("end_ns", "end", "end of the last slice").no_sum() => row.bar.end_ns;
    count("slices", "slices", "slices that it stands for") => row.bar.slices;
    count("passes", "passes", "its passes") => row.bar.passes;
    words("columns", "ne11", "columns of its passes: minimum and maximum")
        => row.bar.columns.map(|(least, most)| range(least, most));
    evidence("evidence", "evidence", "that of the least certain") => row.bar.evidence;
}

type GroupId = (u32, usize);

impl Phases {
    /// Returns the bars of a picture.
    pub fn timeline(&self) -> Timeline {
        let Some(begin) = self.phases.iter().map(|phase| phase.begin_ns).min() else {
            return Timeline::default();
        };
        let end = self.phases.iter().map(|phase| phase.end_ns).max().unwrap_or(begin);
        let mut stream_groups: BTreeMap<GroupId, u64> = BTreeMap::new();
        for phase in &self.phases {
            *stream_groups.entry((phase.pid.unwrap_or(0), phase.stream_group)).or_default() += phase.passes;
        }
        let own = own_rows(&stream_groups);
        let row_of = |stream_group: GroupId| own.contains(&stream_group).then_some(stream_group);
        let mut rows: BTreeMap<(bool, Option<GroupId>, Level), Vec<Bar>> = BTreeMap::new();
        let mut add = |stream_group: GroupId, level: Level, bar: Bar| {
            let row = row_of(stream_group);
            rows.entry((row.is_none(), row, level)).or_default().push(bar);
        };
        self.requests().into_iter().for_each(|(stream_group, bar)| add(stream_group, Level::Request, bar));
        for phase in &self.phases {
            let columns =
                phase.columns.iter().map(|columns| Range { least: columns.least, most: columns.most });
            let bar = Bar {
                name: phase.name().to_string(),
                kind: Some(phase.kind),
                begin_ns: phase.begin_ns,
                end_ns: phase.end_ns,
                slices: 1,
                passes: phase.passes,
                columns: columns.map(Some).reduce(both).flatten().map(|range| (range.least, range.most)),
                evidence: phase.evidence,
            };
            add((phase.pid.unwrap_or(0), phase.stream_group), Level::Phase, bar);
        }
        for step in &self.steps {
            let phase = &self.phases[step.phase];
            add((phase.pid.unwrap_or(0), phase.stream_group), Level::Step, self.bar(step));
        }
        let most = (MOST / rows.len().max(1) as u64).max(LEAST);
        let part = (end - begin) / most + 1;
        let rows: Vec<TimelineRow> = rows
            .into_iter()
            .map(|((_, stream_group, level), bars)| {
                let slices = bars.len() as u64;
                let bars = if slices > most { merged(bars, begin, part) } else { bars };
                TimelineRow { stream_group, level, slices, bars }
            })
            .collect();
        let drawn = |level: Level| {
            let of = || rows.iter().filter(move |row| row.level == level);
            let slices = of().map(|row| row.slices).sum();
            Drawn { level, slices, bars: of().map(|row| row.bars.len() as u64).sum() }
        };
        let levels: Vec<Drawn> = Level::ALL.into_iter().map(drawn).collect();
        let rule = match levels.iter().all(|level| level.slices == level.bars) {
            true => "each by itself".to_string(),
            false => format!(
                "in rows of more than {}, slices of one name that begin within the same {} are one bar",
                count(most),
                time(part)
            ),
        };
        let merged = (stream_groups.len() - own.len()) as u64;
        Timeline { begin_ns: begin, end_ns: end, rows, levels, rule, merged }
    }

    fn bar(&self, step: &Step) -> Bar {
        let phase = &self.phases[step.phase];
        Bar {
            name: phase.name().to_string(),
            kind: Some(phase.kind),
            begin_ns: step.begin,
            end_ns: step.end,
            slices: 1,
            passes: 1,
            columns: step.columns.map(|range| (range.least, range.most)),
            evidence: phase.evidence,
        }
    }

    /// Returns the requests: from the first phase of each to the end of its last.
    fn requests(&self) -> Vec<(GroupId, Bar)> {
        let mut places: BTreeMap<(GroupId, u64), usize> = BTreeMap::new();
        let mut requests: Vec<(GroupId, Bar)> = Vec::new();
        for phase in &self.phases {
            let Some(number) = phase.request else { continue };
            let stream_group = (phase.pid.unwrap_or(0), phase.stream_group);
            let place = *places.entry((stream_group, number)).or_insert_with(|| {
                let bar = Bar {
                    name: format!("request {number}"),
                    kind: None,
                    begin_ns: phase.begin_ns,
                    end_ns: phase.end_ns,
                    slices: 1,
                    passes: 0,
                    columns: None,
                    evidence: phase.evidence,
                };
                requests.push((stream_group, bar));
                requests.len() - 1
            });
            let bar = &mut requests[place].1;
            bar.begin_ns = bar.begin_ns.min(phase.begin_ns);
            bar.end_ns = bar.end_ns.max(phase.end_ns);
            bar.passes += phase.passes;
            bar.evidence = less_sure(bar.evidence, phase.evidence);
        }
        requests
    }
}

/// Returns the stream groups with most passes.
fn own_rows(stream_groups: &BTreeMap<GroupId, u64>) -> Vec<GroupId> {
    let mut most: Vec<(&GroupId, &u64)> = stream_groups.iter().collect();
    most.sort_by_key(|(stream_group, passes)| (std::cmp::Reverse(**passes), **stream_group));
    most.into_iter().take(GROUPS).map(|(stream_group, _)| *stream_group).collect()
}

/// Merges those of one name that begin in the same part of the time.
fn merged(bars: Vec<Bar>, begin: u64, part: u64) -> Vec<Bar> {
    let mut merged: Vec<Bar> = Vec::new();
    for bar in bars {
        let place = (bar.begin_ns - begin) / part;
        let mut here = merged.iter_mut().rev().take_while(|last| (last.begin_ns - begin) / part == place);
        let Some(last) = here.find(|last| last.kind.is_none() || last.name == bar.name) else {
            merged.push(bar);
            continue;
        };
        last.end_ns = last.end_ns.max(bar.end_ns);
        last.slices += bar.slices;
        last.passes += bar.passes;
        let range = |(least, most)| Range { least, most };
        last.columns =
            both(last.columns.map(range), bar.columns.map(range)).map(|range| (range.least, range.most));
        last.evidence = less_sure(last.evidence, bar.evidence);
        if last.kind.is_none() {
            last.name = format!("{} requests", last.slices);
        }
    }
    merged
}

/// Returns the minimum and maximum of two, if both are known.
fn both(one: Option<Range>, other: Option<Range>) -> Option<Range> {
    let (one, other) = (one?, other?);
    Some(Range { least: one.least.min(other.least), most: one.most.max(other.most) })
}

fn less_sure(one: Evidence, other: Evidence) -> Evidence {
    let order = |evidence: Evidence| match evidence {
        Evidence::Confirmed(_) | Evidence::ConfirmedAbsent(_) => 0,
        Evidence::Inferred => 1,
        Evidence::Limited => 2,
        Evidence::Unresolved => 3,
    };
    if order(other) > order(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Text;

    /// Name, begin, end, slices, and columns.
    type FoundPhase<'a> = (&'a str, u64, u64, u64, Option<(u64, u64)>);

    fn found(row: &TimelineRow) -> Vec<FoundPhase<'_>> {
        row.bars.iter().map(|bar| (&*bar.name, bar.begin_ns, bar.end_ns, bar.slices, bar.columns)).collect()
    }

    #[test]
    fn requests_phases_and_steps_are_bars() {
        // Call N is entered at 100 N and takes 10: a prompt of five columns (calls 1 to 6), two
        // tokens (7 to 12, 13 to 18).
        let mut text = Text::new(0);
        text.pass(&[5, 5, 1]);
        (0..2).for_each(|_| text.pass(&[1, 1, 1]));
        let timeline = text.phases(Vec::new()).timeline();
        let levels: Vec<_> = timeline.rows.iter().map(|row| (row.stream_group, row.level)).collect();
        assert_eq!(levels, Level::ALL.map(|level| (Some((7, 0)), level)));
        assert_eq!(found(&timeline.rows[0]), [("request 1", 100, 1810, 1, None)]);
        let phases = [("prompt", 100, 610, 1, Some((5, 5))), ("decode", 700, 1810, 1, Some((1, 1)))];
        assert_eq!(found(&timeline.rows[1]), phases);
        let steps = [
            ("prompt", 100, 610, 1, Some((5, 5))),
            ("decode", 700, 1210, 1, Some((1, 1))),
            ("decode", 1300, 1810, 1, Some((1, 1))),
        ];
        assert_eq!(found(&timeline.rows[2]), steps);
        assert_eq!((timeline.begin_ns, timeline.end_ns, timeline.merged), (100, 1810, 0));
        assert_eq!(timeline.rule, "each by itself");
    }

    #[test]
    fn steps_that_take_turns_are_fewer_bars_too() {
        let mut text = Text::new(0);
        (0..1_500).for_each(|_| {
            text.pass(&[5, 5, 1]);
            text.pass(&[1, 1, 1]);
        });
        let timeline = text.phases(Vec::new()).timeline();
        // 800 parts, in each of which a prompt begins, a token, or both.
        for level in &timeline.levels[1..] {
            assert_eq!(level.slices, 3_000, "{level:?}");
            assert!(level.bars > 800 && level.bars <= 1_600, "{level:?}");
        }
        let [request, ..] = timeline.levels[..] else { panic!("three levels") };
        assert_eq!((request.slices, request.bars), (1_500, 800));
        assert_eq!(timeline.rows[0].bars[0].name, "2 requests");
    }

    #[test]
    fn too_many_steps_are_fewer_bars_and_none_is_left_out() {
        let mut text = Text::new(0);
        text.pass(&[5, 5, 1]);
        (0..3_000).for_each(|_| text.pass(&[1, 1, 1]));
        let timeline = text.phases(Vec::new()).timeline();
        // Three rows share 2,400 bars. From 100 to 1,800,610 + … there are 800 parts, each of two
        // to three passes of 600 ns.
        let [request, phase, step] = timeline.levels[..] else { panic!("three levels") };
        assert_eq!((request.slices, request.bars, phase.slices, phase.bars), (1, 1, 2, 2));
        assert_eq!((step.slices, step.bars), (3_001, 801));
        let bars = &timeline.rows[2].bars;
        assert_eq!(bars.iter().map(|bar| bar.slices).sum::<u64>(), 3_001);
        // The prompt is no neighbour of the decode steps, whose names differ.
        assert_eq!((bars[0].name.as_str(), bars[0].slices), ("prompt", 1));
        assert_eq!(
            timeline.rule,
            "in rows of more than 800, slices of one name that begin within the same 2.25 µs are one bar"
        );
    }
}
