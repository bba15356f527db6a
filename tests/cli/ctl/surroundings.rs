//! Processes that are hard to reach: private memory, another user, a namespace, a sandbox, excluded
//! by a list.

use super::{asked, begun, obedient, refused};
use rocshim_tests::{Running, Traced, artifacts};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// True if the tests may mount and change users. Otherwise reports what is skipped.
fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("NOT RUN, for it takes root: {what}");
    }
    is_root
}

/// `obedient` in the namespaces that `options` of unshare create, after `setup` in a shell there.
fn unshared(options: &[&str], setup: &str) -> Running {
    let shell = Traced::command(Path::new("/usr/bin/unshare")).args(options);
    let script = format!("{setup} && exec \"$0\" 1");
    shell.args(["/bin/sh", "-c", &script]).arg(artifacts::program("obedient")).start()
}

fn ctl(pid: u32, words: &[&str]) -> rocshim_tests::Outcome {
    Traced::rocshim(["ctl", &pid.to_string()]).args(words).run()
}

#[test]
fn a_process_with_private_rings_is_reported() {
    if !is_root("a process that can make no ring file") {
        return;
    }
    // Room for the trace's directory entry, and for no other.
    let setup = "mkdir out && mount -t tmpfs -o nr_inodes=2 tmpfs out && export ROCSHIM_RINGS=/nowhere";
    let mut running = unshared(&["-m"], setup);
    assert_eq!(running.answer(), format!("ready {}", running.pid()));
    running.tell("launch 10");
    for verb in ["status", "stop", "flush", "snapshot"] {
        let sentence = refused(running.ctl(&[verb]));
        assert!(
            sentence.contains("records into memory of its own") && sentence.contains("set ROCSHIM_RINGS"),
            "{sentence}"
        );
    }
    let list = Traced::rocshim(["ctl"]).run().ok().stdout;
    assert!(list.contains(&format!("process {} records into memory of its own", running.pid())), "{list}");
    running.finish().ok();
}

#[test]
fn a_process_of_another_user_is_not_asked() {
    if !is_root("a command of another user") {
        return;
    }
    let mut running = obedient(&[], &[]);
    running.tell("launch 10");
    // Where every user may execute it.
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
    let command = folder.path().join("rocshim");
    fs::copy(artifacts::command(), &command).expect("a copy");
    let as_other_user = |words: &[&str]| {
        let other = Traced::command(Path::new("/usr/bin/setpriv")).args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]);
        other.arg(&command).args(words).run()
    };
    let pid = running.pid().to_string();
    for verb in ["status", "stop", "flush", "snapshot"] {
        let sentence = refused(as_other_user(&["ctl", &pid, verb]));
        assert_eq!(
            sentence,
            format!("rocshim: process {pid} belongs to another user: ask as that user, or as root\n")
        );
    }
    assert!(as_other_user(&["ctl"]).ok().stdout.contains("no process of yours has librocshim.so loaded"));
    assert!(asked(&running, &["status"]).contains("recording, for "), "nothing was asked of it");
    assert_eq!(running.finish().ok().trace().recordings().count(), 0);
}

#[test]
fn a_process_in_a_container_is_asked_from_outside() {
    if !is_root("a process in namespaces of its own") {
        return;
    }
    let setup =
        "mount -t tmpfs tmpfs /dev/shm && mkdir out && mount -t tmpfs tmpfs out && mount -t tmpfs tmpfs /run";
    let mut running = unshared(&["-mpf", "--mount-proc"], setup);
    let inside = running.answer();
    let children = format!("/proc/{0}/task/{0}/children", running.pid());
    let pid: u32 = fs::read_to_string(children).expect("its children").trim().parse().expect("one child");
    assert_ne!(inside, format!("ready {pid}"), "it has a number of its own inside");
    running.tell("launch 10");
    let said = |words: &[&str]| ctl(pid, words).ok().stdout;
    assert!(said(&["status"]).contains(&format!("{pid}: ")));
    assert!(said(&["stop"]).contains("stopped; "));
    running.tell("launch 20");
    assert!(said(&["start"]).contains("recording, to "));
    running.tell("launch 30");
    assert!(said(&["flush"]).contains(&format!("/proc/{pid}/root")), "as it can be opened from outside");
    let copy = running.folder().join("copy.ndjson");
    said(&["snapshot", "-o", copy.to_str().expect("a path")]);
    let printed = |launch: &&rocshim_trace::Launch| launch.block == [64, 1, 1];
    assert_eq!(rocshim_tests::Trace::read(&copy).launches().filter(printed).count(), 40);
    Traced::rocshim(["verify".as_ref(), copy.as_os_str()]).run().ok();
    let doctor = Traced::rocshim(["doctor", &pid.to_string()]).run().stdout;
    assert!(doctor.contains("it records, to "), "{doctor}");
    running.finish().ok();
}

#[test]
fn a_process_in_its_own_sandbox_is_reported_and_recovered() {
    let mut running = begun(Traced::program("obedient").env("STANDIN_LOG", ""));
    running.tell("launch 10");
    asked(&running, &["flush"]);
    running.tell("sandbox");
    running.tell("launch 20");
    let sentence = refused(running.ctl(&["stop", "--wait", "1"]));
    assert!(
        sentence.contains("is in a sandbox (seccomp)") && sentence.contains("rocshim recover"),
        "{sentence}"
    );
    let status = asked(&running, &["status"]);
    assert!(status.contains("locked itself into its sandbox"), "{status}");
    assert!(running.tell("launch 30").starts_with("ok 4"), "it goes on");
    let outcome = running.finish().ok();
    let out = outcome.folder().join("out");
    Traced::rocshim(["recover".as_ref(), out.as_os_str()]).run().ok();
    Traced::rocshim(["verify".as_ref(), out.as_os_str()]).run().ok();
    assert_eq!(outcome.trace().launches().count(), 60);
}

#[test]
fn a_flight_recorder_in_a_sandbox_is_reported_and_its_snapshot_needs_no_reply() {
    let mut running =
        begun(Traced::program("obedient").env("STANDIN_LOG", "").env("ROCSHIM_FULL", "overwrite"));
    running.tell("sandbox");
    running.tell("launch 20");
    let copy = running.folder().join("copy.ndjson");
    asked(&running, &["snapshot", "-o", copy.to_str().expect("a path")]);
    assert_eq!(rocshim_tests::Trace::read(&copy).launches().count(), 20);
    running.finish().ok();
}

#[test]
fn a_process_excluded_by_a_list_is_reported() {
    for (name, value) in [("ROCSHIM_SKIP", "obed*"), ("ROCSHIM_ONLY", "ollama,llama*"), ("ROCSHIM_OFF", "1")]
    {
        let mut running = begun(Traced::program("obedient").env(name, value));
        running.tell("launch 10");
        let what = match name {
            "ROCSHIM_OFF" => "was started with ROCSHIM_OFF".to_owned(),
            name => format!("is left alone, by {name}={value}"),
        };
        let sentence = refused(running.ctl(&["status"]));
        assert!(sentence.contains(&what), "{sentence}");
        let doctor = Traced::rocshim(["doctor", &running.pid().to_string()]).run();
        assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
        let line = doctor.stdout.lines().find(|line| line.starts_with("fail"));
        assert!(line.is_some_and(|line| line.contains(&what)), "{}", doctor.stdout);
        assert!(running.finish().ok().trace_files().is_empty());
    }
}
