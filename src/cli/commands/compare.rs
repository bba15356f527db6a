//! `rocshim compare`: two or more sides held against the first of them, or a program's own numbers with the shim and without.

use crate::{
    analysis::{Side, SummaryBuilder, compare as compare_sides, observe},
    args, reader, report,
};
use anyhow::{Result, anyhow, bail};
use std::{path::Path, process::ExitCode};

pub(crate) fn compare(args: &args::Compare) -> Result<ExitCode> {
    let style = super::output_style(args.full_names, args.all);
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
        super::show(&args.forms, style, &observed, |style| report::observed(&observed, style))?;
        return Ok(ExitCode::SUCCESS);
    }
    let labels = labels(args)?;
    let sides = args
        .sides
        .iter()
        .zip(labels)
        .map(|(path, label)| side(path, label))
        .collect::<Result<Vec<Side>>>()?;
    let comparison = compare_sides(&sides, &args.fail_if);
    super::show(&args.forms, style, &comparison, |style| report::compare(&comparison, style))?;
    let failed = report::failed_conditions(&comparison);
    failed.iter().for_each(|sentence| report::complain(sentence));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The labels that were given, one for each side, or letters.
fn labels(args: &args::Compare) -> Result<Vec<String>> {
    let letters = || ('A'..='Z').map(String::from).chain((27..).map(|number| format!("side {number}")));
    if args.labels.is_empty() {
        return Ok(letters().take(args.sides.len()).collect());
    }
    if args.labels.len() != args.sides.len() {
        bail!(
            "--labels has {} labels, and there are {} sides: give one for each",
            args.labels.len(),
            args.sides.len()
        );
    }
    let twice = args.labels.iter().enumerate().find(|(at, label)| args.labels[..*at].contains(label));
    match twice.map(|(_, label)| label).or_else(|| args.labels.iter().find(|label| label.is_empty())) {
        Some(label) => bail!("--labels has `{label}` twice, or an empty one: each side needs its own"),
        None => Ok(args.labels.clone()),
    }
}

fn side(path: &Path, label: String) -> Result<Side> {
    let traces = reader::find_traces(&[path.to_path_buf()])?;
    let summary = super::summary::summary_by(SummaryBuilder::with_durations(), &traces)?;
    Ok(Side { label, path: path.display().to_string(), summary })
}
