//! Runs all analyses on a run, in one pass over its traces.

use super::{
    Activity, Answers, Environment, Flow, Phases, PhasesBuilder, Proxy, Ranks, RanksBuilder, Replay, Replays,
    Session, Summary, SummaryBuilder, Timeline, Verified, Verifier, activity::ActivityBuilder,
    answers::Facts, environment::EnvironmentBuilder, find_missing_parts, flow::FlowBuilder, proxy,
};
use rocshim_reader::{Label, Reading, RecordVisitor, responses::Responses};
use rocshim_trace::Record;
use serde::Serialize;

/// The results of all analyses of a run: one or more traces that count as one.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Machine, GPUs, libraries and variables.
    pub environment: Environment,
    /// Answers to the questions at the top of the page.
    pub answers: Answers,
    /// Launches and calls.
    pub summary: Summary,
    /// Phases and passes.
    pub phases: Phases,
    /// Phases as bars of a timeline.
    pub timeline: Timeline,
    /// Calls over time.
    pub activity: Activity,
    /// Calls between layers.
    pub flow: Flow,
    /// Commands that run the problems again.
    pub replay: Replay,
    /// The ranks of a job, aligned; absent with fewer than two.
    pub ranks: Option<Ranks>,
    /// The verification of each file's counts.
    pub verified: Vec<Verified>,
    /// The comparison with the server's responses; absent without responses.
    pub proxy: Option<Proxy>,
}

/// Receives the records of one file after the other.
pub struct RunBuilder {
    session: Session,
    phases: PhasesBuilder,
    summary: SummaryBuilder,
    environment: EnvironmentBuilder,
    activity: ActivityBuilder,
    flow: FlowBuilder,
    replays: Replays,
    ranks: RanksBuilder,
    verifier: Verifier,
}

/// Calls a method of the session of a [`RunBuilder`] with all its analyses.
macro_rules! pass {
    ($builder:ident.$method:ident($($argument:expr),*)) => {
        $builder.session.$method($($argument,)* &mut [
            &mut $builder.phases,
            &mut $builder.summary,
            &mut $builder.environment,
            &mut $builder.activity,
            &mut $builder.flow,
            &mut $builder.replays,
            &mut $builder.ranks,
            &mut $builder.verifier,
        ])
    };
}

impl RunBuilder {
    /// Creates a builder for a run, with the user's labels of time ranges.
    pub fn new(labels: Vec<Label>) -> RunBuilder {
        RunBuilder {
            session: Session::default(),
            phases: PhasesBuilder::new(labels),
            // Runs are compared by the lengths of their calls.
            summary: SummaryBuilder::default(),
            environment: EnvironmentBuilder::default(),
            activity: ActivityBuilder::default(),
            flow: FlowBuilder::default(),
            replays: Replays::default(),
            ranks: RanksBuilder::default(),
            verifier: Verifier::default(),
        }
    }

    /// Begins a file.
    pub fn begin_file(&mut self, trace: String) {
        pass!(self.begin_file(trace));
    }

    /// Ends the current file.
    pub fn end_file(&mut self, reading: Reading) {
        pass!(self.end_file(&reading));
    }

    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.session.pass_over(why);
    }

    /// Returns all results, with a comparison with `responses` if given. `in_folders`: no file was
    /// named itself, so every segment of a trace must be among the files.
    pub fn finish(mut self, responses: Option<Responses>, in_folders: bool) -> Run {
        pass!(self.end());
        let mut summary = self.summary.finish(&self.session);
        let mut phases = self.phases.finish(&self.session, &summary, responses.is_some());
        let timeline = phases.timeline();
        let passes = std::mem::take(&mut phases.passes);
        let proxy = responses.map(|responses| {
            let mut phases = phases.clone();
            phases.passes = passes;
            proxy(phases, responses)
        });
        let (environment, mut verified) = (self.environment.finish(), self.verifier.finish());
        if in_folders {
            find_missing_parts(&mut verified);
        }
        for row in &mut summary.processes {
            let recounted = verified.iter().find(|one| one.trace == row.trace);
            row.recount = recounted.map(|one| one.wrong.first().map_or("adds up", String::as_str).to_owned());
        }
        let facts =
            Facts { summary: &summary, phases: &phases, environment: &environment, verified: &verified };
        Run {
            answers: facts.answers(),
            environment,
            timeline,
            activity: self.activity.finish(),
            flow: self.flow.finish(),
            replay: self.replays.finish(&self.session),
            ranks: Some(self.ranks.finish(true)).filter(|ranks| ranks.ranks.len() > 1),
            verified,
            proxy,
            summary,
            phases,
        }
    }
}

impl RecordVisitor for RunBuilder {
    fn visit(&mut self, record: &Record) {
        pass!(self.visit(record));
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        self.session.wants_arguments(kernel)
    }
}
