//! `rocshim export` on samples and on traces of real processes: text formats contain what the
//! traces contain, and omissions are reported. Formats that need other readers are in
//! real/export.rs.

pub(crate) mod held;

use held::{export, held, sample, traced};
use rocshim_tests::{Outcome, Traced, artifacts};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

const FORMS: [&str; 4] = ["perfetto", "chrome", "csv", "parquet"];

#[test]
fn chrome_and_csv_hold_what_the_traces_hold() {
    for form in ["chrome", "csv"] {
        for name in ["graphs.ndjson", "demo.ndjson", "gfx900.ndjson"] {
            held(form, &[sample(name)], Path::new(""));
        }
        for outcome in traced() {
            held(form, &outcome.trace_files(), Path::new(""));
        }
    }
}

/// It is interrupted: no file is left, and it ends by the signal.
#[test]
fn an_interrupted_export_leaves_no_file() {
    let scratch = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(sample("demo.ndjson")).unwrap();
    let launches: String =
        text.lines().filter(|line| line.contains("\"type\":\"launch\"")).collect::<Vec<_>>().join("\n");
    let (first, rest) = text.split_once('\n').unwrap();
    let trace = scratch.path().join("long.ndjson");
    fs::write(&trace, format!("{first}\n{}{rest}", format!("{launches}\n").repeat(600))).unwrap();
    let before = names(scratch.path());
    for form in FORMS {
        let mut command = Command::new(artifacts::command());
        command.args(["export", "--to", form, "-o"]).arg(scratch.path().join("out")).arg(&trace);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        while names(scratch.path()) == before && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let signal = child.wait().unwrap().signal();
        assert_eq!((signal, names(scratch.path())), (Some(2), before.clone()), "{form}");
    }
}

fn names(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A sample as if from another host, 1 s later.
fn elsewhere(folder: &Path) -> PathBuf {
    let text = fs::read_to_string(sample("demo.ndjson")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(first).unwrap();
    let epoch: u64 = header["epoch"].as_str().unwrap().parse().unwrap();
    header["host"] = "other".into();
    header["epoch"] = (epoch + 1_000_000_000).to_string().into();
    // "type" comes first.
    let line = header.to_string().replace(r#","type":"header""#, "");
    let path = folder.join("elsewhere.ndjson");
    fs::write(&path, format!("{}\n{rest}", line.replacen('{', r#"{"type":"header","#, 1))).unwrap();
    path
}

#[test]
fn hosts_share_one_clock_and_processes_with_equal_pids_are_separate() {
    let scratch = tempfile::tempdir().unwrap();
    let traces = [sample("demo.ndjson"), elsewhere(scratch.path())];
    let events: Vec<Value> = {
        let exported = export("chrome", &traces).ok();
        serde_json::from_str(&fs::read_to_string(exported.folder().join("out")).unwrap()).unwrap()
    };
    let calls = |pid: u64| {
        let of = events.iter().filter(move |event| event["pid"] == pid && event["cat"] == "launches");
        of.map(|event| (event["ts"].as_f64().unwrap() * 1000.0).round() as u64).collect::<Vec<_>>()
    };
    let pids: BTreeSet<u64> = events.iter().map(|event| event["pid"].as_u64().unwrap()).collect();
    let [one, other] = pids.into_iter().collect::<Vec<_>>()[..] else { panic!("two processes") };
    assert_eq!(other, one + (1 << 22));
    assert_eq!(calls(one).len(), 718);
    assert_eq!(calls(other), calls(one).iter().map(|t| t + 1_000_000_000).collect::<Vec<_>>());
    let exported = export("parquet", &traces).ok();
    for host in ["vm", "other"] {
        let folder = exported.folder().join(format!("out/launches/host={host}/pid={one}"));
        assert!(folder.join("launches-0.parquet").exists(), "{}", folder.display());
    }
    let exported = export("csv", &traces).ok();
    let rows = fs::read_to_string(exported.folder().join("out/launches.csv")).unwrap();
    assert_eq!(
        ["vm,", "other,"].map(|host| rows.lines().filter(|row| row.starts_with(host)).count()),
        [718; 2]
    );
}

#[test]
fn standard_output_gets_what_a_file_gets() {
    let trace = sample("graphs.ndjson");
    let piped = Traced::rocshim(["export", "--to", "chrome", "-o", "-"]).arg(&trace).run().ok();
    let exported = export("chrome", &[trace]).ok();
    assert_eq!(piped.stdout, fs::read_to_string(exported.folder().join("out")).unwrap());
}

/// Every file in the folder of an outcome, except those that the test created.
fn left(outcome: &Outcome) -> Vec<PathBuf> {
    let entries = fs::read_dir(outcome.folder()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().contains("out")).collect()
}

#[test]
fn a_truncated_trace_is_exported_up_to_the_cut() {
    let scratch = tempfile::tempdir().unwrap();
    let text = fs::read(sample("demo.ndjson")).unwrap();
    let cut = scratch.path().join("cut.ndjson");
    fs::write(&cut, &text[..text.len() / 2]).unwrap();
    for form in FORMS {
        export(form, std::slice::from_ref(&cut)).ok();
    }
    let exported = export("chrome", &[cut]).ok();
    let events: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(exported.folder().join("out")).unwrap()).unwrap();
    let process = events.iter().find(|event| event["cat"] == "processes").unwrap();
    assert_eq!(
        (&process["args"]["end"], &process["args"]["notes"]),
        (&"cut".into(), &"the last line is cut".into())
    );
}

#[test]
fn traces_that_cannot_be_exported_are_an_error_and_leave_no_file() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (alien, empty) = (file("alien.ndjson", "{\"ts\":1}\n"), file("empty.ndjson", ""));
    let good = sample("graphs.ndjson").display().to_string();
    let (taken, mine) = (file("taken", "mine"), scratch.path().display().to_string());
    for form in FORMS {
        let one_file = ["perfetto", "chrome"].contains(&form);
        let cases: [(&str, &str, &str); 5] = [
            (&alien, "out", "alien.ndjson is not a rocshim trace: its first line is not a header"),
            (
                &empty,
                "out",
                "empty.ndjson is empty: its process was killed before it wrote a line, or this is no trace",
            ),
            ("/no/such.ndjson", "out", "there is no file or folder /no/such.ndjson: `rocshim run -o DIR"),
            (&good, "/proc/out", "cannot write /proc/out: "),
            (
                &good,
                &taken,
                if one_file {
                    "taken exists: remove it, name another file with -o, or replace it with --force"
                } else {
                    "taken is a file: this form is a folder of files, name one with -o"
                },
            ),
        ];
        for (trace, out, sentence) in cases {
            let printed = Traced::rocshim(["export", "--to", form, "-o", out, trace]).run();
            assert_eq!(printed.code, Some(1), "{form} {trace} {out}: {}", printed.stderr);
            assert!(
                printed.stderr.contains(sentence) && printed.stderr.lines().count() == 1,
                "{form}: {}",
                printed.stderr
            );
            assert_eq!(left(&printed), [""; 0].map(PathBuf::from), "{form} {trace} {out}");
        }
        // A folder with other files is not replaced.
        let printed = Traced::rocshim(["export", "--force", "--to", form, "-o", &mine, &good]).run();
        let sentence = if one_file {
            "is a folder: name a file in it"
        } else {
            "which no export made: name another folder with -o"
        };
        assert!(printed.code == Some(1) && printed.stderr.contains(sentence), "{form}: {}", printed.stderr);
    }
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    let printed = Traced::rocshim(["export", "--to", "csv", "-o", "-", &good]).run();
    assert!(
        printed.code == Some(1)
            && printed.stderr.contains("a folder of files and cannot go to standard output")
    );
    let printed = Traced::rocshim(["export", "--to", "svg", "-o", "x", &good]).run();
    assert!(
        printed.code == Some(2)
            && printed.stderr.contains("[possible values: perfetto, chrome, csv, parquet, dataset]"),
        "{}",
        printed.stderr
    );
}

#[test]
fn an_earlier_export_is_replaced_where_that_is_asked_for() {
    for form in FORMS {
        let script = "$ROCSHIM export --to $FORM -o out/ $TRACE || $ROCSHIM export --to $FORM -o out $TRACE && ! $ROCSHIM export --to $FORM -o out $TRACE && $ROCSHIM export --force --to $FORM -o out $TRACE";
        let printed = Traced::command("/bin/sh".as_ref()).args(["-c", script]).env("FORM", form);
        let printed =
            printed.env("TRACE", sample("graphs.ndjson")).env("ROCSHIM", artifacts::command()).run().ok();
        assert!(printed.stderr.contains("or replace it with --force\n"), "{form}: {}", printed.stderr);
        assert_eq!(left(&printed), [printed.folder().join("out")]);
    }
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_file() {
    let may = std::process::Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("no mount namespace can be made here: not tested");
        return;
    }
    // Larger than a file system of 1 MiB in every format.
    let program = Traced::program("many_threads").args(["4", "25000", "3"]);
    let traced = program.with_shim().ok();
    for form in FORMS {
        let script = "mkdir disk && mount -t tmpfs -o size=1m none disk && head -c 900000 /dev/zero >disk/ballast; \
                      \"$@\"; code=$?; ls disk; exit $code";
        let command =
            Traced::command("/usr/bin/env".as_ref()).args(["unshare", "-rm", "sh", "-c", script, "sh"]);
        let command = command.arg(artifacts::command()).args(["export", "--to", form, "-o", "disk/out"]);
        let printed = command.args(traced.trace_files()).run();
        assert_eq!(
            (printed.code, printed.stdout.as_str()),
            (Some(1), "ballast\n"),
            "{form}: {}",
            printed.stderr
        );
        assert!(
            printed.stderr.starts_with("rocshim: the export to disk/out failed and was removed: "),
            "{form}: {}",
            printed.stderr
        );
        assert!(
            printed.stderr.contains("No space left on device") && printed.stderr.lines().count() == 1,
            "{form}: {}",
            printed.stderr
        );
    }
}

#[test]
fn the_columns_can_be_asked_for() {
    let printed = Traced::rocshim(["export", "--columns"]).run().ok();
    assert!(printed.stdout.contains(
        "\nlaunches: a kernel launch (a call)\n  kernel           text     symbol of the kernel\n"
    ));
    let printed = Traced::rocshim(["export", "-o", "x"]).run();
    assert_eq!(printed.code, Some(2));
}
