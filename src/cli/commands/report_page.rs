//! `rocshim report`: writes an HTML page with figures of one run, or a comparison of several.

use super::{
    compare::{letters, run_labels},
    summary::read_each,
};
use crate::args;
use anyhow::{Context, Result, bail};
use rocshim_analysis::{ComparedRun, Run, RunBuilder, compare};
use rocshim_reader as reader;
use rocshim_reader::responses::read_responses;
use rocshim_report as report;
use rocshim_report::FilePlace;
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(crate) fn report(args: &args::Report) -> Result<ExitCode> {
    FilePlace::check(&args.out, args.force)?;
    let mut shown = Vec::new();
    if args.compare {
        let runs = args.traces.len();
        if runs < 2 {
            bail!("there is one run: --compare needs another trace or folder");
        }
        let labels = run_labels(&args.names, runs, "--names", || letters(runs))?;
        for (path, label) in args.traces.iter().zip(labels) {
            let run = run_of(std::slice::from_ref(path), args)?;
            shown.push(rocshim_page::Shown { label: Some(label), path: path.display().to_string(), run });
        }
    } else {
        let paths: Vec<String> = args.traces.iter().map(|path| path.display().to_string()).collect();
        shown.push(rocshim_page::Shown {
            label: None,
            path: paths.join(" "),
            run: run_of(&args.traces, args)?,
        });
    }
    let comparison = args.compare.then(|| {
        let run = |one: &rocshim_page::Shown| ComparedRun {
            label: one.label.clone().unwrap_or_default(),
            path: one.path.clone(),
            summary: one.run.summary.clone(),
        };
        compare(&shown.iter().map(run).collect::<Vec<_>>(), &[])
    });
    let page = rocshim_page::page(&shown, comparison.as_ref());
    let (place, mut file) = FilePlace::open(&args.out)?;
    let written = file.write_all(page.as_bytes()).and_then(|()| file.flush());
    written.with_context(|| format!("cannot write {}", args.out.display()))?;
    place.finish()?;
    if args.out != Path::new("-") {
        report::print_status(&format!("rocshim: the page is {}\n", args.out.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs all analyses on the traces that these arguments name.
fn run_of(arguments: &[PathBuf], args: &args::Report) -> Result<Run> {
    let responses = match args.responses.as_slice() {
        [] => None,
        paths => Some(read_responses(paths)?),
    };
    let labels = args.labels.as_deref().map(reader::read_labels).transpose()?.unwrap_or_default();
    let traces = reader::find_traces(arguments)?;
    let mut builder = RunBuilder::new(labels);
    let read = |path: &Path| {
        builder.begin_file(reader::name_of(path));
        reader::read_trace(path, &mut builder).map(|reading| builder.end_file(reading))
    };
    read_each(&traces, read)?.into_iter().for_each(|why| builder.pass_over(why));
    let run = builder.finish(responses, !traces.iter().any(|trace| trace.named));
    match run.proxy.as_ref().and_then(|proxy| proxy.mismatch.clone()) {
        Some(mismatch) => bail!(mismatch),
        None => Ok(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_reader::format_error;
    use std::fs;

    const TRACE: &str = r#"{"type":"header","format":1,"rocshim":"0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{},"host":"h","clock":"tsc","tick_hz":1,"epoch":"0","rings":""}
{"type":"footer","t":9,"end":"exit"}
"#;

    /// Returns a folder with a trace, and the options that write a page of it there.
    fn scratch() -> (tempfile::TempDir, args::Report) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let trace = folder.path().join("t.ndjson");
        fs::write(&trace, TRACE).expect("written");
        let out = folder.path().join("page.html");
        let args = args::Report {
            traces: vec![trace],
            out,
            force: false,
            responses: Vec::new(),
            labels: None,
            compare: false,
            names: Vec::new(),
        };
        (folder, args)
    }

    /// Returns the error message, without the folder's name.
    #[track_caller]
    fn complaint(folder: &tempfile::TempDir, args: &args::Report) -> String {
        let message = format_error(&report(args).expect_err("an error"));
        let left: Vec<_> =
            fs::read_dir(folder).expect("listed").flatten().map(|entry| entry.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains("unfinished")), "{left:?}");
        message.replace(&folder.path().display().to_string(), "DIR")
    }

    #[test]
    fn the_page_is_written_once_and_replaced_when_asked() {
        let (folder, mut args) = scratch();
        report(&args).expect("a page");
        let page = fs::read_to_string(&args.out).expect("the page");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("no kernel was launched"));
        let expected =
            "DIR/page.html exists: remove it, name another file with -o, or replace it with --force";
        assert_eq!(complaint(&folder, &args), expected);
        fs::write(&args.out, "old").expect("written");
        args.force = true;
        report(&args).expect("a page");
        assert_eq!(fs::read_to_string(&args.out).expect("the page"), page);
    }

    #[test]
    fn a_place_where_no_page_can_be_is_reported_before_anything_is_read() {
        let (folder, mut args) = scratch();
        args.traces = vec!["/no/such/trace".into()];
        args.out = folder.path().to_path_buf();
        assert_eq!(complaint(&folder, &args), "DIR is a folder: name a file in it");
        args.out = folder.path().join("none/page.html");
        let message = complaint(&folder, &args);
        assert!(message.starts_with("cannot write DIR/none/page.html: "), "{message}");
    }

    #[test]
    fn what_is_no_trace_is_reported_and_leaves_no_page() {
        let (folder, args) = scratch();
        let trace = &args.traces[0];
        for (bytes, expected) in [
            ("", "DIR/t.ndjson is empty: its process was killed before it wrote a line, or this is no trace"),
            ("{\"a\":1}\n", "DIR/t.ndjson is not a rocshim trace: its first line is not a header"),
        ] {
            fs::write(trace, bytes).expect("written");
            let message = complaint(&folder, &args);
            assert!(message.starts_with(expected), "{message}");
            assert!(!args.out.exists());
        }
    }

    #[test]
    fn a_trace_that_was_cut_makes_a_page_that_says_so() {
        let (_folder, args) = scratch();
        fs::write(&args.traces[0], &TRACE[..TRACE.len() - 20]).expect("written");
        report(&args).expect("a page");
        let page = fs::read_to_string(&args.out).expect("the page");
        assert!(page.contains("data-banner=\"warn\"") && page.contains("has no footer"));
    }

    #[test]
    fn responses_of_another_run_and_a_lonely_side_are_refused() {
        let (folder, mut args) = scratch();
        let responses = folder.path().join("answers.ndjson");
        let answer = r#"{"sent":"1790000000000000000","received":"1790000001000000000","response":{"content":"a","timings":{"prompt_n":9,"cache_n":0,"prompt_ms":1,"predicted_n":4,"predicted_ms":1}}}"#;
        fs::write(&responses, answer).expect("written");
        args.responses = vec![responses];
        args.traces = vec![concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/traces/demo.ndjson").into()];
        let message = complaint(&folder, &args);
        assert!(message.starts_with("nothing was launched in the time of any response: "), "{message}");
        args.responses = Vec::new();
        args.compare = true;
        assert_eq!(complaint(&folder, &args), "there is one run: --compare needs another trace or folder");
    }
}
