//! Metrics of followed processes, as Prometheus scrapes them and as OpenTelemetry's HTTP/JSON takes
//! them.
//!
//! How many series there are is bounded: a process has one for each kernel family (71 and unknown)
//! and one for each other metric; only so many processes at a time have their own, those that
//! come when there are as many are counted together for good, as `program="others"`. So no counter
//! ever falls. A process that has ended keeps its series for five minutes, one that is out of sight
//! and silent for a day; then they are gone.

use rocshim_analysis::{LiveCounters, LiveCounts, LiveState};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// How long the series of an ended process are shown.
const KEPT_NS: u64 = 300_000_000_000;
/// How long those of a silent process of another host are: it may go on.
const SILENT_NS: u64 = 86_400_000_000_000;

/// Who a series is of: names and values of its labels.
type Labels = Vec<(&'static str, String)>;

/// Whether a value only grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
}

/// A metric. Prometheus' name follows from OpenTelemetry's by the rule of both projects.
struct Metric {
    name: &'static str,
    /// As OpenTelemetry writes units: `s`, `1` for a ratio, `{launch}` for a count.
    unit: &'static str,
    kind: Kind,
    what: &'static str,
    points: fn(&Series) -> Points,
}

/// Values with the labels that they have beside their series'.
type Points = Vec<(Labels, f64)>;

/// Whose numbers are shown.
struct Series {
    labels: Labels,
    /// When its counters began, Unix ns.
    begin_ns: u64,
    /// Absent of those that are counted together.
    is_running: Option<bool>,
    fullest_ring: Option<f64>,
    counts: LiveCounts,
}

/// The metrics of each process.
const METRICS: [Metric; 12] = [
    Metric {
        name: "rocshim.launches",
        unit: "{launch}",
        kind: Kind::Counter,
        what: "Kernel launches by family, which is inferred from the kernel's name",
        points: |of| {
            let labels = |(of, family): (&'static str, &'static str)| match family {
                "" => vec![("family", "unknown".to_owned())],
                _ => vec![("family", family.to_owned()), ("family_of", of.to_owned())],
            };
            of.counts.launches.iter().map(|(family, all)| (labels(*family), *all as f64)).collect()
        },
    },
    Metric {
        name: "rocshim.fallback.launches",
        unit: "{launch}",
        kind: Kind::Counter,
        what: "Launches of kernels out of rocBLAS's fallback library",
        points: |of| one(of.counts.fallback_launches),
    },
    Metric {
        name: "rocshim.gemms",
        unit: "{call}",
        kind: Kind::Counter,
        what: "GEMMs of BLAS libraries",
        points: |of| one(of.counts.gemms),
    },
    Metric {
        name: "rocshim.convolutions",
        unit: "{call}",
        kind: Kind::Counter,
        what: "Convolutions of MIOpen",
        points: |of| one(of.counts.convolutions),
    },
    Metric {
        name: "rocshim.failed.calls",
        unit: "{call}",
        kind: Kind::Counter,
        what: "Calls that returned an error",
        points: |of| one(of.counts.failed),
    },
    Metric {
        name: "rocshim.events",
        unit: "{event}",
        kind: Kind::Counter,
        what: "Events in the trace",
        points: |of| one(of.counts.events),
    },
    Metric {
        name: "rocshim.lost.events",
        unit: "{event}",
        kind: Kind::Counter,
        what: "Events counted as lost: all numbers lack them",
        points: |of| one(of.counts.lost),
    },
    Metric {
        name: "rocshim.gpu.busy",
        unit: "s",
        kind: Kind::Counter,
        what: "Time in which a GPU was busy with the process; only with GPU times",
        points: |of| seconds(of.counts.gpu_busy_ns),
    },
    Metric {
        name: "rocshim.gpu.delay",
        unit: "s",
        kind: Kind::Counter,
        what: "Sum of the delays from a launch to its kernel's begin on the GPU; only with GPU times",
        points: |of| seconds(of.counts.delays.map(|(_, delay)| delay)),
    },
    Metric {
        name: "rocshim.gpu.delayed.kernels",
        unit: "{kernel}",
        kind: Kind::Counter,
        what: "Kernels whose delays are summed up",
        points: |of| of.counts.delays.map_or(Vec::new(), |(kernels, _)| one(kernels)),
    },
    Metric {
        name: "rocshim.collector",
        unit: "s",
        kind: Kind::Counter,
        what: "CPU time of the thread that writes the trace",
        points: |of| seconds(of.counts.collector_ns),
    },
    Metric {
        name: "rocshim.ring",
        unit: "1",
        kind: Kind::Gauge,
        what: "Fill level of the process's fullest ring; events are lost at 1",
        points: |of| of.fullest_ring.map_or(Vec::new(), |part| vec![(Vec::new(), part)]),
    },
];

fn one(count: u64) -> Points {
    vec![(Vec::new(), count as f64)]
}

fn seconds(ns: Option<u64>) -> Points {
    ns.map_or(Vec::new(), |ns| vec![(Vec::new(), ns as f64 / 1e9)])
}

/// The metrics of all followed processes.
pub struct Metrics {
    /// The most processes at a time that have series of their own.
    most: usize,
    /// Traces whose process has series of its own.
    own: BTreeSet<usize>,
    /// When each was first seen to have ended.
    ended: BTreeMap<usize, u64>,
    /// What processes without series did that were forgotten.
    folded: LiveCounts,
    begin_ns: u64,
    series: Vec<Series>,
    running: u64,
    seen: BTreeSet<usize>,
    unread: u64,
}

impl Metrics {
    /// At most `most` processes at a time have series of their own. It begins at `begin_ns`, Unix
    /// ns.
    pub fn new(most: usize, begin_ns: u64) -> Metrics {
        Metrics {
            most,
            own: BTreeSet::new(),
            ended: BTreeMap::new(),
            folded: LiveCounts::default(),
            begin_ns,
            series: Vec::new(),
            running: 0,
            seen: BTreeSet::new(),
            unread: 0,
        }
    }

    /// Takes the counters at a time on a monotonic clock, and how many files could not be read.
    /// Returns the traces that are not needed any more.
    pub fn update(&mut self, processes: Vec<LiveCounters>, unread: usize, at_ns: u64) -> Vec<usize> {
        self.series.clear();
        self.unread = unread as u64;
        let running = processes.iter().filter(|process| process.state == LiveState::Running);
        self.running = running.count() as u64;
        let (mut over, mut others) = (Vec::new(), self.folded.clone());
        for process in processes {
            let is_new = self.seen.insert(process.trace);
            if is_new && self.own.len() < self.most {
                self.own.insert(process.trace);
            }
            let kept = match process.state {
                LiveState::Running => None,
                LiveState::OutOfSight => Some(SILENT_NS),
                LiveState::Ended => Some(KEPT_NS),
            };
            match kept {
                None => drop(self.ended.remove(&process.trace)),
                Some(kept) => {
                    let since = *self.ended.entry(process.trace).or_insert(at_ns);
                    if at_ns.saturating_sub(since) >= kept {
                        over.push(process.trace);
                    }
                }
            }
            if self.own.contains(&process.trace) {
                self.series.push(series(process));
            } else {
                others.add(&process.counts);
                if over.last() == Some(&process.trace) {
                    self.folded.add(&process.counts);
                }
            }
        }
        // One that has ended leaves its place to the next that comes.
        for trace in &over {
            self.own.remove(trace);
            self.ended.remove(trace);
        }
        if others != LiveCounts::default() {
            self.series.push(Series {
                labels: vec![("program", "others".to_owned())],
                begin_ns: self.begin_ns,
                is_running: None,
                fullest_ring: None,
                counts: others,
            });
        }
        over
    }

    /// Returns all in Prometheus' text format, version 0.0.4.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for metric in &METRICS {
            let points = self.series.iter().flat_map(|of| {
                let all = |(own, value)| (of.labels.iter().cloned().chain(own).collect(), value);
                (metric.points)(of).into_iter().map(all).collect::<Points>()
            });
            family(&mut text, metric, points.collect());
        }
        let running = self.series.iter().filter_map(|of| {
            let value = if of.is_running? { 1.0 } else { 0.0 };
            Some((of.labels.clone(), value))
        });
        family(&mut text, &RUNNING, running.collect());
        for (metric, value) in self.own_metrics() {
            family(&mut text, metric, one(value));
        }
        text
    }

    /// Returns all as an OTLP `ExportMetricsServiceRequest` in JSON, of `unix_ns`.
    pub fn otlp(&self, unix_ns: u64) -> String {
        let point = |labels: &[&Labels], begin_ns: u64, value: f64| {
            let attributes = labels.iter().flat_map(|labels| labels.iter());
            let attribute =
                |(name, value): &(&str, String)| json!({"key": name, "value": {"stringValue": value}});
            json!({
                "attributes": attributes.map(attribute).collect::<Vec<_>>(),
                "startTimeUnixNano": begin_ns.to_string(),
                "timeUnixNano": unix_ns.to_string(),
                "asDouble": value,
            })
        };
        let metric = |metric: &Metric, points: Vec<Value>| {
            let data = match metric.kind {
                Kind::Counter => {
                    json!({"sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": points}})
                }
                Kind::Gauge => json!({"gauge": {"dataPoints": points}}),
            };
            let mut object = json!({"name": metric.name, "unit": metric.unit, "description": metric.what});
            object.as_object_mut().expect("an object").extend(data.as_object().expect("an object").clone());
            object
        };
        let mut metrics = Vec::new();
        for of in &METRICS {
            let points = |series: &Series| {
                let all = (of.points)(series).into_iter();
                all.map(|(own, value)| point(&[&series.labels, &own], series.begin_ns, value))
                    .collect::<Vec<_>>()
            };
            let points: Vec<Value> = self.series.iter().flat_map(points).collect();
            if !points.is_empty() {
                metrics.push(metric(of, points));
            }
        }
        for (of, value) in self.own_metrics() {
            metrics.push(metric(of, vec![point(&[], self.begin_ns, value as f64)]));
        }
        let scope = json!({"name": "rocshim", "version": env!("CARGO_PKG_VERSION")});
        let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "rocshim"}}]});
        let scopes = json!([{"scope": scope, "metrics": metrics}]);
        json!({"resourceMetrics": [{"resource": resource, "scopeMetrics": scopes}]}).to_string()
    }

    fn own_metrics(&self) -> [(&'static Metric, u64); 3] {
        [(&PROCESSES, self.running), (&SEEN, self.seen.len() as u64), (&UNREAD, self.unread)]
    }
}

/// The metrics as Prometheus names them, each with what it counts, for help.
pub fn metric_names() -> impl Iterator<Item = (String, &'static str)> {
    METRICS.iter().chain([&RUNNING, &PROCESSES, &SEEN, &UNREAD]).map(|metric| (metric.exposed(), metric.what))
}

const RUNNING: Metric = Metric::valued(
    "rocshim.running",
    "",
    Kind::Gauge,
    "1 while the process records, 0 after its end or while it is out of sight",
);
const PROCESSES: Metric =
    Metric::valued("rocshim.processes", "{process}", Kind::Gauge, "Processes that record now");
const SEEN: Metric = Metric::valued(
    "rocshim.seen.processes",
    "{process}",
    Kind::Counter,
    "Processes that were followed since this exporter began",
);
const UNREAD: Metric = Metric::valued(
    "rocshim.unread.files",
    "{file}",
    Kind::Gauge,
    "Files among the traces that could not be read",
);

impl Metric {
    /// A metric whose value does not come from a series' counters.
    const fn valued(name: &'static str, unit: &'static str, kind: Kind, what: &'static str) -> Metric {
        Metric { name, unit, kind, what, points: |_| Vec::new() }
    }
}

fn series(process: LiveCounters) -> Series {
    let rank = process.rank.map(|rank| rank.to_string());
    let labels = [
        ("host", Some(process.host)),
        ("program", Some(process.program)),
        ("pid", Some(process.pid.to_string())),
        ("rank", rank),
        ("model", process.model),
    ];
    Series {
        labels: labels.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        begin_ns: process.begin_ns,
        is_running: Some(process.state == LiveState::Running),
        fullest_ring: process.fullest_ring,
        counts: process.counts,
    }
}

impl Metric {
    /// Prometheus' name: with the unit, and `_total` of a counter.
    fn exposed(&self) -> String {
        let unit = match (self.unit, self.kind) {
            ("s", _) => "_seconds",
            ("1", Kind::Gauge) => "_ratio",
            _ => "",
        };
        let total = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("{}{unit}{total}", self.name.replace('.', "_"))
    }
}

/// Writes a metric with its values; nothing where it has none.
fn family(text: &mut String, metric: &Metric, points: Points) {
    if points.is_empty() {
        return;
    }
    let name = metric.exposed();
    let kind = if metric.kind == Kind::Counter { "counter" } else { "gauge" };
    // A string takes everything.
    let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", metric.what);
    for (labels, value) in points {
        let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
        let labels = labels.iter().map(label).collect::<Vec<_>>().join(",");
        let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
