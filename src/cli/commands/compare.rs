//! `rocshim compare`: compares runs with a baseline, or a program's own results with and without
//! the shim.

use super::{
    phases::phases_of,
    summary::{scope, summary_by},
};
use crate::args;
use anyhow::{Context, Result, anyhow, bail};
use rocshim_analysis::{ComparedRun, Session, SummaryBuilder, compare as compare_runs, observe};
use rocshim_reader as reader;
use rocshim_report as report;
use std::{path::Path, process::ExitCode};

pub(crate) fn compare(args: &args::Compare) -> Result<ExitCode> {
    if args.observer {
        let [traced, untraced, more @ ..] = args.runs.as_slice() else {
            bail!(
                "--observer takes the results of the traced run, then those of one or more without the shim"
            )
        };
        let [traced, mut untraced] = [reader::read_results(traced)?, reader::read_results(untraced)?];
        for path in more {
            untraced.add(reader::read_results(path)?)?;
        }
        let observed = observe(&traced, &untraced).map_err(|why| anyhow!(why))?;
        super::show(&args.forms, &observed, |style| report::observed(&observed, style))?;
        return Ok(ExitCode::SUCCESS);
    }
    let labels = labels(args)?;
    let runs = runs(args, labels)?;
    let comparison = compare_runs(&runs, &args.fail_if);
    super::show(&args.forms, &comparison, |style| report::compare(&comparison, style))?;
    let failed = report::failed_conditions(&comparison);
    failed.iter().for_each(|sentence| report::print_error(sentence));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the names of the runs as given; otherwise letters, phases, or both.
fn labels(args: &args::Compare) -> Result<Vec<String>> {
    let runs = args.runs.len() * args.phase.len().max(1);
    if runs < 2 {
        bail!("compare needs two runs: name another trace or folder, or two phases of this one with --phase");
    }
    run_labels(&args.names, runs, "--names", || {
        let letters = letters(args.runs.len());
        match (args.phase.as_slice(), args.runs.len()) {
            ([] | [_], _) => letters,
            (phases, 1) => phases.to_vec(),
            (phases, _) => letters
                .iter()
                .flat_map(|run| phases.iter().map(move |phase| format!("{run} {phase}")))
                .collect(),
        }
    })
}

/// Returns names for `runs` runs without given names.
pub(super) fn letters(runs: usize) -> Vec<String> {
    let letters = ('A'..='Z').map(String::from).chain((27..).map(|number| format!("run {number}")));
    letters.take(runs).collect()
}

/// Returns the names `given` by `option`, which must be distinct, one per run; `usual` if none were
/// given.
pub(super) fn run_labels(
    given: &[String],
    runs: usize,
    option: &str,
    usual: impl FnOnce() -> Vec<String>,
) -> Result<Vec<String>> {
    if given.is_empty() {
        return Ok(usual());
    }
    if given.len() != runs {
        bail!("{option} has {} names for {runs} runs: give one for each", given.len());
    }
    let twice = given.iter().enumerate().find(|(at, label)| given[..*at].contains(label));
    match twice.map(|(_, label)| label).or_else(|| given.iter().find(|label| label.is_empty())) {
        Some(label) => bail!("{option} has `{label}` twice, or an empty name: each run needs its own"),
        None => Ok(given.to_vec()),
    }
}

/// Returns the runs: each argument, or each phase of each.
fn runs(args: &args::Compare, labels: Vec<String>) -> Result<Vec<ComparedRun>> {
    let (mut runs, mut labels) = (Vec::new(), labels.into_iter());
    let mut add = |path: &Path, summary| {
        let label = labels.next().unwrap_or_default();
        runs.push(ComparedRun { label, path: path.display().to_string(), summary });
    };
    for path in &args.runs {
        let traces = reader::find_traces(std::slice::from_ref(path))?;
        if args.phase.is_empty() {
            add(path, summary_by(Session::default(), SummaryBuilder::default(), &traces)?);
            continue;
        }
        let phases = phases_of(&traces, Vec::new(), false)?;
        for phase in &args.phase {
            let scope =
                scope(&phases, phase).with_context(|| format!("cannot compare {}", path.display()))?;
            let session = Session::scoped(scope);
            add(path, summary_by(session, SummaryBuilder::default(), &traces)?);
        }
    }
    Ok(runs)
}
