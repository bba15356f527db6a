//! `rocshim why`: explains what decided each distinct GEMM, convolution and ggml product.

use super::summary::read_each;
use crate::args;
use anyhow::{Result, bail};
use rocshim_analysis::{
    CatalogFolder, FoundProblem, OnDisk, WantedCatalog, WantedProblem, Why, WhyBuilder, steering_variables,
};
use rocshim_catalog::{FindDatabase, Folder, functions, has_content, has_text};
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
        why.first_launches
            .retain(|launch| launch.is_named(what) || why.decisions.iter().any(|of| of.launches(launch)));
        if why.decisions.is_empty() && why.first_launches.is_empty() {
            bail!("no decision or kernel is named `{what}`: `rocshim why {}` lists them", trace.display());
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
    let catalogs = builder.wanted().iter().map(|wanted| open(wanted, root)).collect();
    let functions = builder.binaries().into_iter().map(|(file, addresses)| {
        let path = place(&file.path, root);
        let debug = place("/usr/lib/debug", root);
        let found = functions(&path, file.build_id.as_deref(), addresses, &debug);
        (file, found)
    });
    let functions = functions.collect();
    let problems = builder.problems().into_iter().map(|wanted| (wanted.clone(), look_up(&wanted, root)));
    let problems = problems.collect();
    let texts = builder.texts().into_iter().map(|wanted| {
        let has = has_text(&place(&wanted.path, root), &wanted.build_id, wanted.text);
        (wanted, has)
    });
    let texts = texts.collect();
    Ok(builder.finish(&OnDisk { catalogs, functions, problems, texts }))
}

/// Looks a convolution up in MIOpen's find databases.
fn look_up(wanted: &WantedProblem, root: Option<&Path>) -> FoundProblem {
    let database = |folder: &Option<String>, suffix: &str| {
        let folder = place(folder.as_ref()?, root);
        Some(FindDatabase::look_up(&folder, &wanted.target, suffix, &wanted.key))
    };
    FoundProblem {
        here: root.is_none() && host() == Some(wanted.host.clone()),
        user: database(&wanted.user, "ufdb.txt"),
        installed: database(&wanted.installed, "fdb.txt"),
    }
}

/// Where to read what the process knew as `path`.
fn place(path: &str, root: Option<&Path>) -> PathBuf {
    match root {
        Some(root) => root.join(path.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

/// Reads a catalog and the solution files for the selected problems.
fn open(wanted: &WantedCatalog, root: Option<&Path>) -> CatalogFolder {
    let place = |path: &str| place(path, root);
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
