//! The section on time: requests, phases and steps as bars, and how busy each thread and GPU queue
//! was.

use super::{
    figure::{Figure, View, colour, label},
    grid::Grid,
};
use maud::{Markup, html};
use rocshim_analysis::units::{count, counted, percent, range, time};
use rocshim_analysis::{BARS, Bar, Level, PhaseKind, Run, THREADS, TimelineRow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn section(prefix: &str, run: &Run) -> Option<Markup> {
    let threads = &run.summary.threads;
    let caption = format!("Threads ({})", count(threads.len() as u64));
    let threads = Grid::of(&THREADS, threads).called("threads", caption);
    (!run.timeline.rows.is_empty() || !run.activity.threads.is_empty())
        .then(|| html! { (figure(run).markup(prefix)) (threads.markup(prefix)) })
}

/// A bar is wide if at most this many of them fill the figure.
const WIDE: u64 = 200;

/// Returns the unit of the time axis: its name and its length in ns.
fn unit(span: u64) -> (&'static str, f64) {
    match span {
        0..10_000 => ("ns", 1.0),
        10_000..10_000_000 => ("µs", 1e3),
        10_000_000..10_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

fn figure(run: &Run) -> Figure {
    let (timeline, activity) = (&run.timeline, &run.activity);
    let rows: Vec<String> = timeline.rows.iter().map(|row| name(run, row)).collect();
    let threads: Vec<String> = activity
        .threads
        .iter()
        .map(|row| match (row.pid, row.tid) {
            (Some(pid), Some(tid)) => format!("{pid} thread {tid}"),
            (Some(pid), None) => row
                .queue
                .map_or_else(String::new, |(device, queue)| format!("{pid} GPU {device} queue {queue}")),
            _ => format!("{} others", counted(activity.merged, "thread")),
        })
        .collect();
    let busy_end = activity.begin_ns + activity.bins * activity.bin_ns;
    let begin = [timeline.begin_ns, activity.begin_ns].into_iter().min().unwrap_or(0);
    let end = timeline.end_ns.max(busy_end);
    let (unit, ns) = unit(end - begin);
    let [above, below] = [rows.len(), threads.len()].map(|rows| 28.0 * rows as f64);
    let split = if above + below > 0.0 { below / (above + below) } else { 0.0 };
    let gap = if above > 0.0 && below > 0.0 { 0.015 } else { 0.0 };
    let margin = (end - begin) as f64 / ns * 0.01;
    let span = [begin as f64 / ns - margin, end as f64 / ns + margin];
    let layout = json!({
        "height": above + below + 110.0,
        "margin": { "l": 8, "r": 12, "t": 30, "b": 48 },
        "barmode": "overlay",
        "bargap": 0.25,
        "hovermode": "closest",
        "dragmode": "zoom",
        "legend": { "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal" },
        "xaxis": { "title": { "text": format!("{unit} since the first process began") }, "range": span, "anchor": if below > 0.0 { "y2" } else { "y" }, "showgrid": true },
        "yaxis": axis(&rows, [split + gap, 1.0]),
        "yaxis2": axis(&threads, [0.0, (split - gap).max(0.0)]),
    });
    let mut data = bars(run, &rows, ns, &|_| 0);
    if !threads.is_empty() {
        data.push(busy(run, &threads, ns));
        data.extend(arrows(run, &threads, ns));
    }
    let mut views = vec![View { name: "By the clock", data, layout: json!({}) }];
    views.extend(aligned(run, &rows));
    let words: Vec<String> = timeline
        .levels
        .iter()
        .map(|level| {
            format!("{} drawn as {}", counted(level.slices, level.level.name()), counted(level.bars, "bar"))
        })
        .collect();
    let merged = match timeline.merged {
        0 => String::new(),
        some => format!(" The {} with fewest passes share rows.", counted(some, "stream group")),
    };
    Figure {
        key: "timeline",
        title: "Requests, phases and steps; how busy each thread and GPU queue was",
        words: format!(
            "From {} to {}: {}. {} with calls; a cell is {} of a thread, the darker the more of it was spent in calls.{}",
            time(begin),
            time(end),
            words.join(", "),
            counted(activity.threads.len() as u64, "thread row"),
            time(activity.bin_ns),
            gpu_words(run)
        ),
        note: Some(format!(
            "{}: {}.{merged} Drag to zoom, double-click to see all.",
            words.join(", "),
            timeline.rule
        )),
        layout,
        views,
        data: Grid::of(&BARS, &run.timeline.bars()),
        narrow: json!({}),
        zooms: true,
        least_width: 560,
    }
}

/// Returns a sentence that explains the rows of queues, or how to record them.
fn gpu_words(run: &Run) -> String {
    let queues = run.activity.threads.iter().filter(|row| row.queue.is_some()).count() as u64;
    match queues {
        0 => " No GPU times in this trace: `rocshim run --gpu-time` records them.".into(),
        queues => {
            let arrows = match run.summary.gpu.as_ref().map_or(0, |gpu| gpu.arrows.len() as u64) {
                0 => String::new(),
                some => format!(
                    " Lines go from {} to the kernels, evenly spread over all.",
                    counted(some, "launch")
                ),
            };
            format!(" {}: the time in which its commands ran.{arrows}", counted(queues, "GPU queue row"))
        }
    }
}

/// Returns the name of a row.
fn name(run: &Run, row: &TimelineRow) -> String {
    let level = match row.level {
        Level::Request => "requests",
        Level::Phase => "phases",
        Level::Step => "steps",
    };
    let several = run.timeline.rows.iter().any(|row| row.stream_group.is_some_and(|(_, number)| number > 0));
    match row.stream_group {
        Some((pid, number)) if several => format!("{pid} group {number} {level}"),
        Some((pid, _)) => format!("{pid} {level}"),
        None => format!("others {level}"),
    }
}

/// Returns a view of processes that ran one after the other, each aligned at its first launch.
fn aligned(run: &Run, rows: &[String]) -> Option<View> {
    let mut begins: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut longest = 0;
    for row in &run.timeline.rows {
        let Some(first) = row.bars.iter().map(|bar| bar.begin_ns).min() else { continue };
        let begin = begins.entry(row.stream_group.map(|(pid, _)| pid)).or_insert(first);
        *begin = first.min(*begin);
    }
    let begin_of =
        |row: &TimelineRow| begins.get(&row.stream_group.map(|(pid, _)| pid)).copied().unwrap_or(0);
    for row in &run.timeline.rows {
        longest = row.bars.iter().map(|bar| bar.end_ns - begin_of(row)).fold(longest, u64::max);
    }
    let (unit, ns) = unit(longest);
    let whole = longest as f64 / ns;
    (begins.len() > 1).then(|| View {
        name: "Each process from its first launch",
        data: bars(run, rows, ns, &begin_of),
        layout: json!({
            "xaxis": { "title": { "text": format!("{unit} since each process's first launch") }, "range": [-0.01 * whole, 1.01 * whole], "anchor": "y" },
            "yaxis": axis(rows, [0.0, 1.0]),
        }),
    })
}

fn axis(names: &[String], domain: [f64; 2]) -> Value {
    json!({
        "domain": domain, "type": "category", "categoryorder": "array", "categoryarray": names,
        "autorange": "reversed", "showgrid": false, "fixedrange": true, "ticklabelposition": "outside",
    })
}

/// Returns a plotly trace of bars for each name, so that the legend can switch them. Times are
/// relative to `begin_of` a row.
fn bars(run: &Run, rows: &[String], ns: f64, begin_of: &dyn Fn(&TimelineRow) -> u64) -> Vec<Value> {
    let mut names: Vec<(&str, Option<PhaseKind>)> = Vec::new();
    for bar in run.timeline.rows.iter().flat_map(|row| &row.bars) {
        let name = if bar.kind.is_none() { "request" } else { bar.name.as_str() };
        if !names.iter().any(|(known, kind)| *known == name && *kind == bar.kind) {
            names.push((name, bar.kind));
        }
    }
    // The shortest are drawn last, above the others.
    names.sort_by_key(|(name, kind)| {
        let bars = run.timeline.rows.iter().flat_map(|row| &row.bars);
        let of = bars.filter(|bar| bar.kind == *kind && (kind.is_none() || bar.name == *name));
        std::cmp::Reverse(of.map(|bar| bar.end_ns - bar.begin_ns).fold(0, u64::saturating_add))
    });
    let trace = |(at, (name, kind)): (usize, &(&str, Option<PhaseKind>))| {
        let (mut y, mut x, mut base, mut text) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut edges = Vec::new();
        let colour = kind_colour(*kind, at);
        for (row, title) in run.timeline.rows.iter().zip(rows) {
            let is_of = |bar: &&Bar| bar.kind == *kind && (kind.is_none() || bar.name == *name);
            for bar in row.bars.iter().filter(is_of) {
                y.push(json!(title));
                x.push(json!((bar.end_ns - bar.begin_ns) as f64 / ns));
                base.push(json!(bar.begin_ns.saturating_sub(begin_of(row)) as f64 / ns));
                // Edges separate neighbouring bars, but would cover bars of a few pixels.
                let is_wide = (bar.end_ns - bar.begin_ns).saturating_mul(WIDE)
                    > run.timeline.end_ns - run.timeline.begin_ns;
                edges.push(if is_wide { "@ground" } else { colour.as_str() }.to_string());
                text.push(json!(hover(row.level, bar)));
            }
        }
        json!({
            "type": "bar", "orientation": "h", "name": label(name), "y": y, "x": x, "base": base, "hovertext": text,
            "hoverinfo": "text", "textposition": "none", "marker": { "color": colour, "line": { "color": edges, "width": 1 } },
        })
    };
    names.iter().enumerate().map(trace).collect()
}

pub(super) fn kind_colour(kind: Option<PhaseKind>, at: usize) -> String {
    match kind {
        None => "@c8".into(),
        Some(PhaseKind::Prompt | PhaseKind::Optimiser) => "@c1".into(),
        Some(PhaseKind::Decode | PhaseKind::Forward) => "@c0".into(),
        Some(PhaseKind::WarmUp) => "@c5".into(),
        Some(PhaseKind::Backward) => "@c3".into(),
        Some(PhaseKind::Step) => "@c4".into(),
        Some(PhaseKind::Labelled) => colour(at),
    }
}

fn hover(level: Level, bar: &Bar) -> String {
    let columns =
        bar.columns.map_or(String::new(), |(least, most)| format!("<br>ne11 {}", range(least, most)));
    let together = if bar.slices > 1 {
        format!("<br>{} as one bar", counted(bar.slices, level.name()))
    } else {
        String::new()
    };
    format!(
        "<b>{}</b> {}<br>{} to {} ({})<br>{}{columns}{together}",
        label(&bar.name),
        bar.evidence,
        time(bar.begin_ns),
        time(bar.end_ns),
        time(bar.end_ns - bar.begin_ns),
        counted(bar.passes, "pass"),
    )
}

/// Returns the share of each bin that every thread spent in calls.
fn busy(run: &Run, threads: &[String], ns: f64) -> Value {
    let activity = &run.activity;
    let bin = activity.bin_ns;
    let part = |busy: &u64| *busy as f64 / bin as f64;
    let parts: Vec<Vec<f64>> = activity
        .threads
        .iter()
        .map(|row| row.busy_ns.iter().map(|busy| (part(busy) * 1e4).round() / 1e4).collect())
        .collect();
    let texts: Vec<Vec<String>> = activity
        .threads
        .iter()
        .zip(threads)
        .map(|(row, name)| {
            let what = if row.queue.is_some() { "busy" } else { "in calls" };
            row.busy_ns.iter().map(|busy| format!("{name}: {} {what}", percent(part(busy)))).collect()
        })
        .collect();
    json!({
        "type": "heatmap", "name": "in calls", "x0": (activity.begin_ns as f64 + bin as f64 / 2.0) / ns, "dx": bin as f64 / ns,
        "y": threads, "z": parts, "zmin": 0, "zmax": 1, "text": texts, "hoverinfo": "text", "yaxis": "y2", "ygap": 4, "showscale": false,
        "colorscale": [[0, "@raised"], [0.02, "@zone-a"], [1, "@c6"]],
    })
}

/// Returns lines from launches to the begins of their kernels, from the thread's row to the
/// queue's.
fn arrows(run: &Run, rows: &[String], ns: f64) -> Option<Value> {
    let gpu = run.summary.gpu.as_ref()?;
    let epoch: u64 = run.summary.epoch.as_ref()?.parse().ok()?;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for arrow in &gpu.arrows {
        let from = format!("{} thread {}", arrow.pid, arrow.tid);
        let to = format!("{} GPU {} queue {}", arrow.pid, arrow.device, arrow.queue);
        if rows.contains(&from) && rows.contains(&to) {
            let at = |time: u64| json!(time.saturating_sub(epoch) as f64 / ns);
            x.extend([at(arrow.launched_ns), at(arrow.begin_ns), Value::Null]);
            y.extend([json!(from), json!(to), Value::Null]);
        }
    }
    let markers = json!({ "symbol": "arrow", "angleref": "previous", "size": 7, "color": "@c3" });
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "lines+markers", "name": "launch to kernel", "x": x, "y": y, "yaxis": "y2",
            "line": { "color": "@c3", "width": 1 }, "marker": markers, "hoverinfo": "skip", "opacity": 0.7,
        })
    })
}
