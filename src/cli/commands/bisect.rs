//! `rocshim bisect`: finds the difference between two environments that flips a decision.

use super::trying::UNDECIDED;
use crate::{
    args,
    experiment::{Environments, KnownRun, Runner, State, seed},
};
use anyhow::{Result, bail};
use rocshim_analysis::{Bench, BisectPage, Decisions, Differences, bisect as bisect_differences};
use rocshim_report as report;
use std::process::ExitCode;

pub(crate) fn bisect(args: &args::Bisect) -> Result<ExitCode> {
    let mut runner = match Runner::new(&args.runs)? {
        Ok(runner) => runner,
        Err(not_started) => {
            report::print_error(&not_started.why);
            return Ok(ExitCode::from(not_started.code));
        }
    };
    if args.runs.warm_up {
        bail!("bisect has no --warm-up: run the program before it");
    }
    let environments = Environments::read(&args.a, &args.b, runner.folder())?;
    let differences = environments.differences.clone();
    if differences.is_empty() {
        bail!("{} and {} do not differ in anything that can be set", args.a.display(), args.b.display());
    }
    let command = args.runs.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let state = State::open(&args.state, command, &differences, args.runs.each, seed())?;
    runner.continue_from(state.runs.len(), state.usual);
    let seed = state.seed;
    let mut program = Program { runner, environments, state, asked: 0 };
    let found = bisect_differences(&mut program, differences.len(), args.runs.each, seed)?;
    let page = BisectPage { format: 1, differences, found };
    super::show(&args.runs.forms, &page, |style| report::bisection(&page, style))?;
    let is_confirmed = page.found.causes.iter().any(|cause| cause.evidence.is_confirmed());
    let found = &page.found;
    let is_none = found.causes.is_empty() && found.unstable.is_empty() && found.limited.is_empty();
    Ok(ExitCode::from(match (is_confirmed, is_none) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => UNDECIDED,
    }))
}

/// The program, with the known runs.
struct Program<'a> {
    runner: Runner<'a>,
    environments: Environments,
    state: State,
    /// Limit of the runs.
    asked: usize,
}

impl Bench for Program<'_> {
    type Error = anyhow::Error;

    fn run(&mut self, differences: &Differences) -> Result<Decisions> {
        self.asked += 1;
        if let Some(known) = self.state.runs.get(self.asked - 1) {
            if known.differences != *differences {
                bail!("the state file does not belong to this version of rocshim: remove it");
            }
            return Ok(known.decisions.clone());
        }
        let all = self.environments.differences.len();
        let what = match differences.len() {
            0 => "A".to_string(),
            some if some == all => "B".to_string(),
            some => format!("A with {some} of {all} differences"),
        };
        let ran = self.runner.run(&self.environments.setup(differences)?, &what)?;
        if !ran.has_trace && self.asked == 1 {
            bail!("the run recorded nothing: `rocshim doctor -- CMD` says what would be seen");
        }
        self.state.usual = self.runner.usual();
        self.state.add(KnownRun { differences: differences.clone(), decisions: ran.decisions.clone() })?;
        Ok(ran.decisions)
    }
}
