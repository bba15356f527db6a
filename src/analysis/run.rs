//! Everything at once: all analyses of a run, from one pass over its traces.

use super::{
    Activity, Answers, Flow, Phases, PhasesBuilder, Proxy, Replay, Replays, Session, Setting, Summary,
    Timeline, Verified, Verifier, activity::ActivityBuilder, answers::Facts, find_missing_parts,
    flow::FlowBuilder, proxy, setting::SettingBuilder,
};
use rocshim_reader::{Label, Reading, Taker, responses::Responses};
use rocshim_trace::Record;
use serde::Serialize;

/// What there is to know of a run: one or more traces that count as one.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub setting: Setting,
    pub answers: Answers,
    pub summary: Summary,
    pub phases: Phases,
    pub timeline: Timeline,
    pub activity: Activity,
    pub flow: Flow,
    pub replay: Replay,
    /// By file.
    pub verified: Vec<Verified>,
    /// Where there are responses.
    pub proxy: Option<Proxy>,
}

/// Takes the records of one file after the other.
pub struct RunBuilder {
    session: Session,
    phases: PhasesBuilder,
    setting: SettingBuilder,
    activity: ActivityBuilder,
    flow: FlowBuilder,
    replays: Replays,
    /// Of the file that is read, with its name.
    verifier: (String, Verifier),
    verified: Vec<Verified>,
}

impl RunBuilder {
    /// `labels` are what the user says, by time.
    pub fn new(labels: Vec<Label>) -> RunBuilder {
        RunBuilder {
            session: Session::default(),
            // Sides are compared by the lengths of their calls.
            phases: PhasesBuilder::new(labels).with_durations(),
            setting: SettingBuilder::default(),
            activity: ActivityBuilder::default(),
            flow: FlowBuilder::default(),
            replays: Replays::default(),
            verifier: Default::default(),
            verified: Vec::new(),
        }
    }

    /// Begins a file.
    pub fn begin_file(&mut self, trace: String) {
        self.verifier = (trace.clone(), Verifier::default());
        self.session.begin_file(trace.clone(), &mut [&mut self.flow, &mut self.replays]);
        self.phases.begin_file(trace);
    }

    /// Ends the file whose records were taken.
    pub fn end_file(&mut self, reading: Reading) {
        let (trace, verifier) = std::mem::take(&mut self.verifier);
        self.session.end_file(&reading, &mut [&mut self.flow, &mut self.replays]);
        self.verified.push(verifier.finish(trace, reading.clone()));
        self.phases.end_file(reading);
    }

    /// Notes a file that could not be read.
    pub fn pass_over(&mut self, why: String) {
        self.session.pass_over(why.clone());
        self.phases.pass_over(why);
    }

    /// All of it; held against what a server said, where that is given. `in_folders`: no file was named by itself, so that
    /// every part of a trace must be among them.
    pub fn finish(mut self, responses: Option<Responses>, in_folders: bool) -> Run {
        self.session.end(&mut [&mut self.flow, &mut self.replays]);
        let (mut phases, summary) = self.phases.finish_with_summary(responses.is_some());
        let timeline = phases.timeline();
        let passes = std::mem::take(&mut phases.passes);
        let proxy = responses.map(|responses| {
            let mut phases = phases.clone();
            phases.passes = passes;
            proxy(phases, responses)
        });
        let (setting, mut verified) = (self.setting.finish(), self.verified);
        if in_folders {
            find_missing_parts(&mut verified);
        }
        let facts = Facts { summary: &summary, phases: &phases, setting: &setting, verified: &verified };
        Run {
            answers: facts.answers(),
            setting,
            timeline,
            activity: self.activity.finish(),
            flow: self.flow.finish(),
            replay: self.replays.finish(&self.session),
            verified,
            proxy,
            summary,
            phases,
        }
    }
}

impl Taker for RunBuilder {
    fn take(&mut self, record: Record) {
        self.setting.look(&record);
        self.activity.look(&record);
        self.session.visit(&record, &mut [&mut self.flow, &mut self.replays]);
        self.verifier.1.look(&record);
        self.phases.take(record);
    }

    fn wants_arguments(&self, kernel: Option<u32>) -> bool {
        self.phases.wants_arguments(kernel)
    }
}
