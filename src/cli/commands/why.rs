//! `rocshim why`: explains what decided each distinct GEMM, convolution and ggml product.

use super::summary::read_each;
use crate::args;
use anyhow::{Result, bail};
use rocshim_analysis::{CatalogFolder, WantedCatalog, Why, WhyBuilder, steering_variables};
use rocshim_catalog::{Folder, has_content};
use rocshim_reader as reader;
use rocshim_report as report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn why(args: &args::Why) -> Result<ExitCode> {
    let Some(trace) = &args.trace else {
        super::show(&args.forms, &steering_variables(), report::steering_variables)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut why = why_of(trace, args.process_root.as_deref())?;
    let what = args.what.as_deref();
    if let Some(what) = what {
        why.decisions.retain(|decision| decision.is_named(what));
        if why.decisions.is_empty() {
            bail!("no decision is named `{what}`: `rocshim why {}` lists them", trace.display());
        }
    }
    super::show(&args.forms, &why, |style| report::why(&why, what, style))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads traces, and the catalogs that explain them.
fn why_of(trace: &Path, root: Option<&Path>) -> Result<Why> {
    let traces = reader::find_traces(&[trace.to_owned()])?;
    let mut builder = WhyBuilder::default();
    let read = |path: &Path| reader::read_trace(path, &mut builder).map(|reading| builder.end_file(reading));
    read_each(&traces, read)?.into_iter().for_each(|why| builder.pass_over(why));
    let catalogs: Vec<CatalogFolder> = builder.wanted().iter().map(|wanted| open(wanted, root)).collect();
    Ok(builder.finish(&catalogs))
}

/// Reads a catalog and the solution files for the selected problems.
fn open(wanted: &WantedCatalog, root: Option<&Path>) -> CatalogFolder {
    let place = |path: &str| match root {
        Some(root) => root.join(path.trim_start_matches('/')),
        None => PathBuf::from(path),
    };
    let mut folder = Folder::open(&place(&wanted.path), &wanted.target);
    wanted.products.iter().for_each(|product| folder.load(product));
    let contents = wanted
        .objects
        .iter()
        .map(|object| has_content(&place(object.file.as_deref()?), object.bytes?, object.xxh3.as_deref()?));
    let contents: Vec<Option<bool>> = contents.collect();
    let content = match contents.contains(&Some(false)) {
        true => Some(false),
        false => (!contents.is_empty() && !contents.contains(&None)).then_some(true),
    };
    CatalogFolder {
        process: wanted.process,
        loaded: contents.contains(&Some(true)),
        here: root.is_none() && host() == Some(wanted.host.clone()),
        unchanged: folder.changed.map(|changed| changed < i128::from(wanted.epoch)),
        content,
        folder,
    }
}

/// Returns the name of this machine, as in a trace's header.
fn host() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?.trim().to_owned())
}
