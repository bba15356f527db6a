//! `rocshim compare`: compares runs with a baseline, or a program's own results with and without
//! the shim.

use super::{
    phases::phases_of,
    summary::{scope, summary_by},
};
use crate::args;
use anyhow::{Context, Result, anyhow, bail};
use rocshim_analysis::{Session, Side, SummaryBuilder, compare as compare_sides, observe};
use rocshim_reader as reader;
use rocshim_report as report;
use std::{path::Path, process::ExitCode};

pub(crate) fn compare(args: &args::Compare) -> Result<ExitCode> {
    if args.observer {
        let [traced, untraced, more @ ..] = args.sides.as_slice() else {
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
    let sides = sides(args, labels)?;
    let comparison = compare_sides(&sides, &args.fail_if);
    super::show(&args.forms, &comparison, |style| report::compare(&comparison, style))?;
    let failed = report::failed_conditions(&comparison);
    failed.iter().for_each(|sentence| report::print_error(sentence));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the names of the runs as given; otherwise letters, phases, or both.
fn labels(args: &args::Compare) -> Result<Vec<String>> {
    let sides = args.sides.len() * args.phase.len().max(1);
    if sides < 2 {
        bail!("compare needs two runs: name another trace or folder, or two phases of this one with --phase");
    }
    side_labels(&args.names, sides, "--names", || {
        let letters = letters(args.sides.len());
        match (args.phase.as_slice(), args.sides.len()) {
            ([] | [_], _) => letters,
            (phases, 1) => phases.to_vec(),
            (phases, _) => letters
                .iter()
                .flat_map(|side| phases.iter().map(move |phase| format!("{side} {phase}")))
                .collect(),
        }
    })
}

/// Returns names for `sides` runs without given names.
pub(super) fn letters(sides: usize) -> Vec<String> {
    let letters = ('A'..='Z').map(String::from).chain((27..).map(|number| format!("run {number}")));
    letters.take(sides).collect()
}

/// Returns the names `given` by `option`, which must be distinct, one per run; `usual` if none were
/// given.
pub(super) fn side_labels(
    given: &[String],
    sides: usize,
    option: &str,
    usual: impl FnOnce() -> Vec<String>,
) -> Result<Vec<String>> {
    if given.is_empty() {
        return Ok(usual());
    }
    if given.len() != sides {
        bail!("{option} has {} names for {sides} runs: give one for each", given.len());
    }
    let twice = given.iter().enumerate().find(|(at, label)| given[..*at].contains(label));
    match twice.map(|(_, label)| label).or_else(|| given.iter().find(|label| label.is_empty())) {
        Some(label) => bail!("{option} has `{label}` twice, or an empty name: each run needs its own"),
        None => Ok(given.to_vec()),
    }
}

/// Returns the runs: each argument, or each phase of each.
fn sides(args: &args::Compare, labels: Vec<String>) -> Result<Vec<Side>> {
    let (mut sides, mut labels) = (Vec::new(), labels.into_iter());
    let mut add = |path: &Path, summary| {
        let label = labels.next().unwrap_or_default();
        sides.push(Side { label, path: path.display().to_string(), summary });
    };
    for path in &args.sides {
        let traces = reader::find_traces(std::slice::from_ref(path))?;
        if args.phase.is_empty() {
            add(path, summary_by(Session::default(), SummaryBuilder::with_durations(), &traces)?);
            continue;
        }
        let phases = phases_of(&traces, Vec::new(), false)?;
        for phase in &args.phase {
            let scope =
                scope(&phases, phase).with_context(|| format!("cannot compare {}", path.display()))?;
            let session = Session::scoped(scope);
            add(path, summary_by(session, SummaryBuilder::with_durations(), &traces)?);
        }
    }
    Ok(sides)
}
