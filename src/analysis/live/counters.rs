//! Counters of each followed process that only grow, for monitoring systems.

use super::{Collector, Live, TraceState};
use crate::Summary;
use rocshim_trace::{Header, file_name};
use std::collections::BTreeMap;

/// What a process, or several, did since its begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveCounts {
    /// Kernel launches by whose kernels they are and their family, both inferred from the kernel's
    /// name; both empty for the names that match no family.
    pub launches: BTreeMap<(&'static str, &'static str), u64>,
    /// Launches of kernels out of rocBLAS's fallback library.
    pub fallback_launches: u64,
    /// BLAS GEMMs.
    pub gemms: u64,
    /// Convolution calls.
    pub convolutions: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Events in the trace.
    pub events: u64,
    /// Events counted as lost.
    pub lost: u64,
    /// Time in which a GPU was busy, ns; absent without GPU times.
    pub gpu_busy_ns: Option<u64>,
    /// Kernels whose delay from the entry of the launch call to their begin on the GPU is known,
    /// and the sum of these delays in ns; absent without GPU times.
    pub delays: Option<(u64, u64)>,
    /// CPU time of the collector thread, ns; absent where it is not known.
    pub collector_ns: Option<u64>,
}

impl LiveCounts {
    /// Adds those of another process.
    pub fn add(&mut self, other: &LiveCounts) {
        for (family, launches) in &other.launches {
            *self.launches.entry(*family).or_default() += launches;
        }
        self.fallback_launches += other.fallback_launches;
        self.gemms += other.gemms;
        self.convolutions += other.convolutions;
        self.failed += other.failed;
        self.events += other.events;
        self.lost += other.lost;
        if let Some(busy) = other.gpu_busy_ns {
            *self.gpu_busy_ns.get_or_insert(0) += busy;
        }
        if let Some((kernels, delay_ns)) = other.delays {
            let sum = self.delays.get_or_insert((0, 0));
            *sum = (sum.0 + kernels, sum.1 + delay_ns);
        }
        if let Some(collector) = other.collector_ns {
            *self.collector_ns.get_or_insert(0) += collector;
        }
    }

    fn of(summary: &Summary, collector: Option<&Collector>) -> LiveCounts {
        let families = summary.families.iter();
        let delay = summary.gpu.as_ref().and_then(|gpu| gpu.delay);
        LiveCounts {
            launches: families
                .map(|row| ((row.of.unwrap_or(""), row.family.unwrap_or("")), row.launches))
                .collect(),
            fallback_launches: summary.fallback.kernels.iter().map(|row| row.launches).sum(),
            gemms: summary.totals.gemms,
            convolutions: summary.totals.convolutions,
            failed: summary.totals.failed,
            events: summary.totals.events,
            lost: summary.totals.lost,
            gpu_busy_ns: summary.gpu.as_ref().map(|gpu| gpu.busy_ns),
            delays: delay.map(|delay| (delay.kernels, delay.total_ns)),
            collector_ns: collector.map(|collector| collector.busy_ns),
        }
    }
}

/// Whether more may come from a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveState {
    /// It records.
    Running,
    /// Its trace has no end, and its process is not visible from here; nothing comes now.
    OutOfSight,
    /// Its trace has ended.
    Ended,
}

/// A followed process with its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveCounters {
    /// The number of its trace.
    pub trace: usize,
    /// The name of its host.
    pub host: String,
    /// The file name of its executable.
    pub program: String,
    /// Its process id.
    pub pid: u32,
    /// Its number in the job, where a launcher gave it one.
    pub rank: Option<u32>,
    /// The model that its command line names, in short.
    pub model: Option<String>,
    /// When its trace begins, Unix ns.
    pub begin_ns: u64,
    /// Whether more may come.
    pub state: LiveState,
    /// What it did.
    pub counts: LiveCounts,
    /// The fill level of the fullest ring, 0 to 1; absent where it is not known.
    pub fullest_ring: Option<f64>,
}

impl Live {
    /// Returns the counters of every process; `collectors` are those that replied, by trace.
    pub fn counters(&self, collectors: &BTreeMap<usize, Collector>) -> Vec<LiveCounters> {
        let mut all = Vec::new();
        for (number, trace) in &self.traces {
            let Some(header) = &trace.header else { continue };
            let (summary, state) = match &trace.state {
                TraceState::Open(reading) if trace.is_silent => (&reading.so_far(), LiveState::OutOfSight),
                TraceState::Open(reading) => (&reading.so_far(), LiveState::Running),
                TraceState::Ended(summary) => (&**summary, LiveState::Ended),
            };
            let collector = collectors.get(number).filter(|_| state == LiveState::Running);
            all.push(LiveCounters {
                trace: *number,
                host: header.host.clone(),
                program: file_name(&header.exe).to_owned(),
                pid: header.pid,
                rank: rank(header),
                model: model(&header.argv),
                begin_ns: header.epoch.parse().unwrap_or(0),
                state,
                counts: LiveCounts::of(summary, collector),
                fullest_ring: collector.map(|collector| collector.fullest_ring),
            });
        }
        all
    }

    /// Forgets a process, from which nothing more is expected.
    pub fn forget(&mut self, trace: usize) {
        self.traces.remove(&trace);
    }
}

fn rank(header: &Header) -> Option<u32> {
    rocshim_trace::launcher::rank(|name| header.env.get(name)).map(|(number, ..)| number)
}

/// The model that a server's command line names (`-m FILE`, `--model NAME`, `vllm serve NAME`): the
/// last part of its path; of one of Ollama's blobs the first digits of its hash.
fn model(argv: &[String]) -> Option<String> {
    let after = |options: &[&str]| {
        let at = argv.iter().position(|word| options.contains(&word.as_str()))?;
        argv.get(at + 1).map(String::as_str)
    };
    let joined = || argv.iter().find_map(|word| word.strip_prefix("--model="));
    let name = after(&["--model", "-m", "--model-path"]).or_else(joined).or_else(|| after(&["serve"]))?;
    let name = file_name(name.trim_end_matches('/'));
    let is_blob = name.starts_with("sha256-") && name.is_ascii();
    let name = if is_blob { &name[..name.len().min("sha256-".len() + 12)] } else { name };
    (!name.is_empty() && !name.starts_with('-')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_the_model() {
        let of = |line: &str| model(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let blob = format!("ollama runner --model /m/blobs/sha256-{} --port 1", "0123456789abcdef".repeat(4));
        assert_eq!(of(&blob).as_deref(), Some("sha256-0123456789ab"));
        assert_eq!(of("llama-server -m /m/a.gguf -ngl 99").as_deref(), Some("a.gguf"));
        assert_eq!(of("vllm serve meta/Llama-3/").as_deref(), Some("Llama-3"));
        assert_eq!(of("train --model=/m/opt").as_deref(), Some("opt"));
        assert_eq!(of("ollama serve"), None);
        assert_eq!(of("x serve --port"), None);
    }
}
