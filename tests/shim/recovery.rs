//! `rocshim recover` as root: it does to others' files what their owners may do, and takes no
//! process for dead that lives. What only the system's administrator can arrange is left out
//! elsewhere, and said to be.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A user with nothing of its own.
const OTHER: u32 = 65534;

fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("NOT RUN, for it takes root: {what}");
    }
    is_root
}

fn recover(rings: &Path, args: &[&str]) -> Outcome {
    Traced::rocshim(["recover"]).args(args).env("ROCSHIM_RINGS", rings).run()
}

/// Folders of the other user's in which a process of its was killed: `rings`, and `out` with its
/// trace.
fn killed_process_of_another(scratch: &Path) -> PathBuf {
    fs::set_permissions(scratch, fs::Permissions::from_mode(0o755)).unwrap();
    for (from, name) in [
        (artifacts::shim().to_owned(), "librocshim.so"),
        (artifacts::vendor().join("libamdhip64.so.6"), "libamdhip64.so.6"),
        (artifacts::program("kill_self"), "kill_self"),
        (artifacts::vendor().join("librocblas.so.4"), "librocblas.so.4"),
    ] {
        fs::copy(from, scratch.join(name)).unwrap();
    }
    for name in ["out", "rings"] {
        fs::create_dir(scratch.join(name)).unwrap();
        chown(scratch.join(name), Some(OTHER), Some(OTHER)).unwrap();
    }
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let outcome = Traced::command(Path::new("/usr/bin/setpriv"))
        .args(user)
        .arg(scratch.join("kill_self"))
        .args(["5000", "kill"])
        .env("LD_LIBRARY_PATH", scratch)
        .env("LD_PRELOAD", scratch.join("librocshim.so"))
        .env("ROCSHIM_OUT", scratch.join("out"))
        .env("ROCSHIM_RINGS", scratch.join("rings"))
        .env("STANDIN_LOG", "")
        .run();
    assert_eq!(outcome.signal, Some(9), "{}", outcome.stderr);
    let mut traces = fs::read_dir(scratch.join("out")).unwrap().map(|entry| entry.unwrap().path());
    traces.next().expect("a trace")
}

#[test]
fn root_recovers_with_the_rights_of_the_owner_and_through_no_link() {
    if !is_root("a trace of another user's") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    let trace = killed_process_of_another(&folder);
    let (out, rings, away) = (folder.join("out"), folder.join("rings"), folder.join("away"));
    let left = || fs::read_dir(&rings).unwrap().count();
    let precious = folder.join("precious");
    fs::create_dir(&precious).unwrap();
    fs::set_permissions(&precious, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(precious.join("file"), "root's own").unwrap();

    // A link in the place of the trace, to a file and to where none is yet.
    fs::rename(&trace, &away).unwrap();
    for target in ["file", "none"] {
        symlink(precious.join(target), &trace).unwrap();
        for args in [&["--finish-all"][..], &[trace.to_str().unwrap()]] {
            let outcome = recover(&rings, args);
            assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
        }
        fs::remove_file(&trace).unwrap();
    }
    fs::rename(&away, &trace).unwrap();

    // A link in the place of its folder.
    fs::rename(&out, &away).unwrap();
    symlink(&precious, &out).unwrap();
    for args in [&["--finish-all"][..], &[trace.to_str().unwrap()]] {
        let outcome = recover(&rings, args);
        assert_ne!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    }
    fs::remove_file(&out).unwrap();
    fs::rename(&away, &out).unwrap();

    // A file of root's in the place of the trace.
    fs::rename(&trace, &away).unwrap();
    fs::copy(&away, &trace).unwrap();
    let before = fs::read(&trace).unwrap();
    assert_eq!(recover(&rings, &["--finish-all"]).code, Some(1));
    assert_eq!(fs::read(&trace).unwrap(), before);
    fs::rename(&away, &trace).unwrap();

    assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "root's own");
    assert_eq!(fs::read_dir(&precious).unwrap().count(), 1, "nothing was made in root's folder");
    assert_eq!(left(), 1, "nothing was removed");
    recover(&rings, &["--finish-all"]).ok();
    assert_eq!(left(), 0);
    assert_eq!(Trace::read(&trace).launches().count(), 5000);
    assert_eq!(fs::metadata(&trace).unwrap().uid(), OTHER);
}

#[test]
fn a_live_process_of_another_pid_namespace_is_not_taken_for_dead() {
    if !is_root("a process in a PID namespace of its own") {
        return;
    }
    let rings = tempfile::tempdir().unwrap();
    let inside = ["--pid", "--fork", "--kill-child"];
    let program = Traced::command(Path::new("/usr/bin/unshare")).args(inside);
    let program = program.arg(artifacts::program("obedient")).arg("0").env("ROCSHIM_RINGS", rings.path());
    let mut running = program.env("STANDIN_LOG", "").start();
    let has_footer = |trace: &Path| Trace::read(trace).footers().count() == 1;
    assert_eq!(running.answer(), "ready 1");
    assert_eq!(running.tell("launch 100"), "ok 1 1");
    let deadline = Instant::now() + Duration::from_secs(60);
    while running.trace_files().is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let trace = running.trace_files().remove(0);
    for args in [&["--finish-all"][..], &["--discard"], &[trace.to_str().unwrap()]] {
        recover(rings.path(), args).ok();
        assert_eq!(fs::read_dir(rings.path()).unwrap().count(), 1, "its ring files are there");
        assert!(!has_footer(&trace));
    }
    assert_eq!(running.tell("launch 100"), "ok 2 1");
    running.signal(Signal::KILL);
    // The process in the namespace dies a moment later than its parent.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !has_footer(&trace) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        recover(rings.path(), &["--finish-all"]).ok();
    }
    assert_eq!(fs::read_dir(rings.path()).unwrap().count(), 0);
    assert_eq!(Trace::read(&trace).launches().count(), 200);
}
