//! `rocshim try`: runs a program with a change and without, and prints which decisions follow the
//! change.

use crate::{
    args,
    experiment::{Runner, Setup, seed},
};
use anyhow::{Result, bail};
use rocshim_analysis::{
    Experiment, ExperimentRun, FollowVerdict, LEAST_RUNS, Order, Trial, TrialRun, judge, times,
};
use rocshim_report as report;
use std::process::ExitCode;

/// Exit code when nothing is decided.
pub(super) const UNDECIDED: u8 = 3;

pub(crate) fn try_change(args: &args::Try) -> Result<ExitCode> {
    let change = Setup::of(args)?;
    let mut runner = match Runner::new(&args.runs)? {
        Ok(runner) => runner,
        Err(not_started) => {
            report::print_error(&not_started.why);
            return Ok(ExitCode::from(not_started.code));
        }
    };
    let without = Setup::default();
    let words = |changed: bool| if changed { "with the change" } else { "without" };
    if args.runs.warm_up {
        for changed in [false, true] {
            let setup = if changed { &change } else { &without };
            runner.run(setup, &format!("{}, not counted", words(changed)))?;
        }
    }
    let order = Order::draw(args.runs.each, seed());
    let (mut runs, mut rows, mut measures) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_trace = false;
    for changed in &order.changed {
        let ran = runner.run(if *changed { &change } else { &without }, words(*changed))?;
        has_trace |= ran.has_trace;
        rows.push(TrialRun { changed: *changed, ending: ran.ending });
        runs.push(ExperimentRun { changed: *changed, decisions: ran.decisions });
        measures.push((*changed, ran.measures));
        if runs.len() >= 2 * LEAST_RUNS && !judge(&runs, &order).is_open() {
            break;
        }
    }
    if !has_trace {
        bail!("no run recorded anything: `rocshim doctor -- CMD` says what would be seen");
    }
    let trial = Trial {
        format: 1,
        change: change.words(),
        experiment: judge(&runs, &order),
        times: times(&measures, &order),
        runs: rows,
    };
    super::show(&args.runs.forms, &trial, |style| report::trial(&trial, style))?;
    Ok(ExitCode::from(code(&trial.experiment)))
}

fn code(experiment: &Experiment) -> u8 {
    let all_stay = experiment.decisions.iter().all(|row| row.verdict == FollowVerdict::Stays);
    match (experiment.has_effect(), all_stay) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => UNDECIDED,
    }
}
