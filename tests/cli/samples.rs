//! The samples that need no GPU and no PyTorch run as their own comments say.

use rocshim_tests::{Traced, artifacts};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

#[test]
fn each_task_of_a_slurm_job_writes_a_trace_that_says_its_rank() {
    let job = Traced::command(Path::new("/bin/bash"));
    let srun = job.folder().join("srun");
    let two =
        "#!/bin/sh\nfor n in 0 1; do SLURM_PROCID=$n SLURM_LOCALID=$n SLURM_NTASKS=2 \"$@\" || exit; done\n";
    fs::write(&srun, two).unwrap();
    fs::set_permissions(&srun, fs::Permissions::from_mode(0o755)).unwrap();
    let rocshim = artifacts::command().parent().unwrap();
    let path = format!("{}:{}:{}", job.folder().display(), rocshim.display(), std::env::var("PATH").unwrap());
    let out = job.folder().join("out");
    let ran = job
        .arg(artifacts::root().join("samples/job.sbatch"))
        .arg(artifacts::program("demo"))
        .env("PATH", path)
        .env("SLURM_JOB_ID", "7")
        .env("ROCSHIM_OUT", out)
        .run()
        .ok();
    assert!(ran.stdout.contains("2 processes: 1 436 launches of 13 kernels"), "{}", ran.stdout);
    let header = |file| rocshim_drain::header_of(file).unwrap().expect("a header");
    let mut tasks: Vec<_> = ran.trace_files().iter().map(|file| header(file).env).collect();
    tasks.sort_by_key(|env| env.get("SLURM_PROCID").cloned());
    let of = |name| tasks.iter().map(|env| env.get(name).map(String::as_str)).collect::<Vec<_>>();
    assert_eq!(of("SLURM_PROCID"), [Some("0"), Some("1")]);
    assert_eq!((of("SLURM_NTASKS"), of("SLURM_JOB_ID")), (vec![Some("2"); 2], vec![Some("7"); 2]));
}

#[test]
fn the_python_samples_compile() {
    for name in ["train.py", "inference.py", "prompt_ladder.py", "llm_server.py"] {
        let source = artifacts::root().join("samples").join(name);
        let compile = "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')";
        Traced::command(Path::new("/usr/bin/env")).args(["python3", "-c", compile]).arg(source).run().ok();
    }
}

#[test]
fn a_trace_that_is_cut_or_damaged_is_called_limited_first() {
    let whole = fs::read(artifacts::root().join("samples/traces/demo.ndjson")).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let middle = lines.len() / 2;
    let cut = [&lines[..middle].concat()[..], &lines[middle][..20]].concat();
    let damaged = [lines[..middle].concat(), b"nonsense\n".to_vec(), lines[middle + 1..].concat()].concat();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, summary, why) in [
        (
            "cut",
            cut,
            "Limited: the trace of process 19536 is cut: what was not written yet is not known.\n",
            "limited: process 19536: the trace is cut: what was not written yet is not known; ",
        ),
        (
            "damaged",
            damaged,
            "Limited: not all that process 19536 did could be read (notes below).\n",
            "limited: process 19536: 1 line is no record and was passed over: line ",
        ),
    ] {
        let trace = folder.path().join(name).with_extension("ndjson");
        fs::write(&trace, bytes).unwrap();
        let printed = |command: &str| {
            let output = Command::new(artifacts::command()).arg(command).arg(&trace).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        for (command, begin) in [("summary", summary), ("why", why)] {
            let text = printed(command);
            assert!(text.starts_with(begin), "{name}: {text}");
        }
    }
}
