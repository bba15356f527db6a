//! Compares a run with its references: the same program without the shim, and the stand-ins' log.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use std::collections::BTreeMap;
use std::path::Path;

/// Runs a program without the shim and with it, on one CPU and on all: output and exit must be
/// equal. Returns the two runs with it.
#[track_caller]
pub(crate) fn unharmed(name: &str, args: &[&str]) -> [Outcome; 2] {
    unharmed_with(name, args, |program| program)
}

/// The same; `with` configures each run.
#[track_caller]
pub(crate) fn unharmed_with(name: &str, args: &[&str], with: impl Fn(Traced) -> Traced) -> [Outcome; 2] {
    let program = artifacts::program(name);
    let pinned = Traced::command(Path::new("/usr/bin/taskset")).args(["-c", "0"]).arg(&program);
    let bare = with(Traced::command(&program).args(args)).run();
    [("on one CPU", pinned), ("on all CPUs", Traced::command(&program))].map(|(where_, start)| {
        let traced = with(start.args(args)).with_shim();
        let what = format!("{name} {args:?}, {where_}");
        assert_eq!(bare.stdout, traced.stdout, "stdout of {what}\n{}", traced.stderr);
        assert_eq!(bare.stderr, traced.stderr, "stderr of {what}");
        assert_eq!((bare.code, bare.signal), (traced.code, traced.signal), "end of {what}");
        traced
    })
}

/// Sums over the traces of a run.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) traces: usize,
    /// Number of launches.
    pub(crate) launches: u64,
    /// Kernel → launches.
    kernels: BTreeMap<String, u64>,
    /// Events written, by the threads' counters.
    pub(crate) produced: u64,
    pub(crate) written: u64,
    /// Events lost, by the gaps.
    pub(crate) lost: u64,
    pub(crate) late: u64,
    /// Calls in flight when a process died.
    in_flight: u64,
    /// Launches that reached the library, if there is a log.
    logged: u64,
    /// Counters that do not add up.
    wrong: Vec<String>,
}

impl Accounts {
    /// Sums of the traces and the log. Traces of killed processes are recovered first.
    #[track_caller]
    pub(crate) fn of(outcome: &Outcome) -> Accounts {
        let accounts = Accounts::alone(outcome);
        let is_logged = outcome.folder().join("standin.log").exists();
        let logged = if is_logged { outcome.standin_log().launches.len() as u64 } else { accounts.launches };
        Accounts { logged, ..accounts }
    }

    /// Sums of the traces alone.
    #[track_caller]
    pub(crate) fn alone(outcome: &Outcome) -> Accounts {
        let mut accounts = Accounts::default();
        let folder = outcome.folder().join("out");
        if folder.exists() {
            // The folder, not each file: the leftover may be a segment whose file was never
            // created.
            Traced::rocshim(["recover".as_ref(), folder.as_os_str()]).run();
        }
        for file in outcome.trace_files() {
            if file.metadata().is_ok_and(|file| file.len() == 0) {
                // Nothing could be written, and `summary` says so.
                continue;
            }
            Traced::rocshim(["summary".as_ref(), file.as_os_str()]).run().ok();
            accounts.add(&Trace::read(&file));
        }
        accounts
    }

    fn add(&mut self, trace: &Trace) {
        self.traces += 1;
        let names = trace.kernel_names();
        for launch in trace.launches() {
            self.launches += 1;
            let name = launch.kernel.map_or("-", |id| names[&id]);
            *self.kernels.entry(name.to_owned()).or_default() += 1;
        }
        for thread in trace.threads() {
            self.produced += thread.produced;
            self.written += thread.written;
            if thread.produced != thread.written + thread.lost {
                self.wrong.push(format!("{thread:?}"));
            }
        }
        self.lost += trace.gaps().map(|gap| gap.lost).sum::<u64>();
        self.late += trace.footers().map(|footer| footer.late).sum::<u64>();
        let is_in_flight =
            |record: &&rocshim_trace::Record| matches!(record, rocshim_trace::Record::InFlight(_));
        self.in_flight += trace.records.iter().filter(is_in_flight).count() as u64;
        if trace.footers().count() != 1 || trace.headers().count() != 1 {
            self.wrong.push("not one header and one footer".into());
        }
    }

    /// Launches of a kernel.
    pub(crate) fn of_kernel(&self, name: &str) -> u64 {
        self.kernels.get(name).copied().unwrap_or(0)
    }

    /// Every launch that reached the library is in a trace, or counted as lost or as after
    /// shutdown.
    #[track_caller]
    pub(crate) fn assert_whole(&self) {
        assert!(self.wrong.is_empty(), "{:?}", self.wrong);
        let most = self.launches + self.lost + self.late + self.in_flight;
        assert!((self.launches..=most).contains(&self.logged), "{self:?}");
    }
}
