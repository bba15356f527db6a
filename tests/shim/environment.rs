//! In restricted, unusual or foreign environments the program runs as without the shim, and the
//! trace says what it lacks. Environments that only root can set up are tested when the tests run
//! as root; otherwise they are reported as skipped.

use super::accounts::Accounts;
use rocshim_tests::{Outcome, Traced, artifacts};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// True if the tests may mount and change users. Otherwise reports what is skipped.
fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("NOT RUN, for it takes root: {what}");
    }
    is_root
}

/// Runs the program from a shell that first applies `setup` to the mounts of its own mount
/// namespace.
fn with_mounts(setup: &str, program: &str, args: &[&str]) -> Outcome {
    let script = format!("{setup} || exit 99; exec \"$0\" \"$@\"");
    let shell = Traced::command(Path::new("/usr/bin/unshare")).args(["-m", "/bin/sh", "-c", &script]);
    shell.arg(artifacts::program(program)).args(args).with_shim().ok()
}

#[test]
fn a_small_shared_memory_takes_the_rings_that_fit() {
    if !is_root("programs with a /dev/shm of 64 MiB and less") {
        return;
    }
    for (megabytes, threads) in [(64, "200"), (1, "20")] {
        let mount = format!("mount -t tmpfs -o size={megabytes}m tmpfs /dev/shm");
        let traced = with_mounts(&mount, "many_alive", &[threads]);
        let bare = Traced::program("many_alive").arg(threads).run().ok();
        assert_eq!(traced.stdout, bare.stdout);
        let accounts = Accounts::of(&traced);
        accounts.assert_whole();
        assert_eq!((accounts.traces, accounts.lost), (1, 0), "{megabytes} MiB: {accounts:?}");
    }
}

#[test]
fn without_shared_memory_rings_are_beside_the_trace() {
    if !is_root("programs without a /dev/shm") {
        return;
    }
    let traced = with_mounts("mount -t tmpfs -o ro tmpfs /dev/shm", "many_threads", &["4", "1000", "3"]);
    let accounts = Accounts::of(&traced);
    accounts.assert_whole();
    assert_eq!((accounts.launches, accounts.lost), (4000, 0), "{accounts:?}");
    let rings = traced.trace().headers().next().unwrap().rings.clone();
    assert!(rings.starts_with(traced.folder().to_str().unwrap()), "{rings}");
}

/// A copy of a program with its libraries, the shim included, where every user can read them. (A
/// setuid program ignores `LD_PRELOAD`: it is linked against the shim.)
fn build_for_everybody(folder: &Path) -> std::path::PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(artifacts::shim(), folder.join("librocshim.so")).unwrap();
    fs::copy(artifacts::vendor().join("libamdhip64.so.6"), folder.join("libamdhip64.so.6")).unwrap();
    let program = folder.join("steps");
    let mut compiler = Command::new("cc");
    compiler.args(["-D_GNU_SOURCE=", "-pthread"]).args(artifacts::includes());
    compiler.arg(artifacts::source("steps")).arg("-o").arg(&program).arg("-L").arg(folder);
    compiler.arg(format!("-Wl,--no-as-needed,-rpath,{}", folder.display()));
    assert!(compiler.args(["-l:librocshim.so", "-l:libamdhip64.so.6"]).status().unwrap().success());
    program
}

#[test]
fn a_set_user_id_program_is_not_traced() {
    if !is_root("a program that is set-uid") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let program = build_for_everybody(scratch.path());
    for (mode, traces) in [(0o755, 1), (0o4755, 0), (0o755, 1)] {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let run = Traced::command(Path::new("/usr/bin/setpriv")).args(user).arg(&program).arg("100");
        let out = run.folder().join("out");
        fs::create_dir(&out).unwrap();
        for folder in [run.folder(), &out] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
        }
        let outcome =
            run.env("ROCSHIM_OUT", &out).env("ROCSHIM_LOG", "/dev/stderr").env("STANDIN_LOG", "").run().ok();
        assert_eq!((&outcome.stdout[..], &outcome.stderr[..]), ("launched 100\n", ""), "{mode:o}");
        assert_eq!(outcome.trace_files().len(), traces, "{mode:o}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), traces, "{mode:o}");
    }
}

#[test]
fn a_wall_clock_that_is_set_back_and_forth_moves_no_event() {
    let steps = artifacts::vendor().join("programs/clock_steps.so");
    let program = Traced::program("steps").args(["1000", "sleep 0.3", "1000"]).env("ROCSHIM_ROTATE_S", "600");
    let outcome = program.preloaded([artifacts::shim(), &steps]).ok();
    let accounts = Accounts::of(&outcome);
    accounts.assert_whole();
    assert_eq!((accounts.launches, accounts.lost), (2000, 0));
    let trace = outcome.trace();
    let times: Vec<u64> = trace.launches().map(|launch| launch.call.t).collect();
    assert!(times.is_sorted());
    let pause = times[1000] - times[999];
    assert!((300_000_000..3_000_000_000).contains(&pause), "{pause} ns");
    assert_eq!(outcome.trace_files().len(), 1);
}

/// Of the process, and of the thread. Most of it is the stand-in's own, as it would be HIP's.
#[test]
fn a_first_launch_takes_little_more_stack_than_it_does_without() {
    for (args, more) in [(&[][..], 24), (&["before"], 4)] {
        let used = |traced: bool| {
            let program = Traced::program("small_stack").args(args).env("STANDIN_LOG", "");
            let outcome = if traced { program.with_shim() } else { program.run() }.ok();
            outcome.stdout.trim().parse::<u64>().unwrap()
        };
        let (bare, traced) = (used(false), used(true));
        assert!(traced <= bare + more * 1024, "{args:?}: {bare} bytes, traced {traced}");
    }
}
