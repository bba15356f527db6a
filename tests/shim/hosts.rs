//! Programs in other surroundings: another allocator, another run-time system, an instrumented
//! processor, no dynamic linker, other rights. Output and status are those of the bare run, and
//! every launch is in the traces.

use super::accounts::Accounts;
use rocshim_tests::{Outcome, Traced, artifacts};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fails unless both runs print and end alike.
#[track_caller]
fn assert_alike(bare: &Outcome, traced: &Outcome, what: &str) {
    assert_eq!(bare.stdout, traced.stdout, "stdout of {what}\n{}", traced.stderr);
    assert_eq!(bare.stderr, traced.stderr, "stderr of {what}");
    assert_eq!((bare.code, bare.signal), (traced.code, traced.signal), "end of {what}");
}

/// Fails unless every launch is in the traces, of which there are `traces`.
#[track_caller]
fn assert_all(outcome: &Outcome, traces: usize, launches: u64, what: &str) {
    let accounts = Accounts::of(outcome);
    accounts.assert_whole();
    assert_eq!(
        (accounts.traces, accounts.launches, accounts.lost),
        (traces, launches, 0),
        "{what}: {accounts:?}"
    );
}

/// The first of these files that there is; says so when there is none.
fn found(files: &[&str], what: &str) -> Option<PathBuf> {
    let file = files.iter().map(PathBuf::from).find(|file| file.exists());
    if file.is_none() {
        eprintln!("NOT RUN, for it takes {what}: none of {files:?}");
    }
    file
}

/// Runs a compiler; false, with its words, when it fails.
fn compiles(compiler: &mut Command) -> bool {
    let output = compiler.output();
    let is_done = output.as_ref().is_ok_and(|output| output.status.success());
    if !is_done {
        eprintln!("NOT RUN, for it takes this: {compiler:?}: {output:?}");
    }
    is_done
}

/// Options that link a program with the stand-in HIP.
fn linked() -> Vec<String> {
    let path = artifacts::vendor().display();
    vec![format!("-L{path}"), "-l:libamdhip64.so.6".into(), format!("-Wl,-rpath,{path}")]
}

#[test]
fn a_program_has_its_own_allocator_in_front_of_the_shim_or_behind_it() {
    let folder = |name: &str| format!("/usr/lib/x86_64-linux-gnu/{name}");
    for (name, what) in [("libjemalloc.so.2", "libjemalloc2"), ("libmimalloc.so.2", "libmimalloc2.0")] {
        let Some(allocator) = found(&[&folder(name)], what) else { continue };
        for (program, args, traces, launches) in
            [("many_threads", &["4", "500", "3"][..], 1, 2000), ("fork_both", &[], 2, 4000)]
        {
            let run = || Traced::program(program).args(args);
            let bare = run().preloaded([&allocator]);
            let shim = artifacts::shim().to_owned();
            let after = run().preloaded([&shim, &allocator]);
            let before = run().preloaded([&allocator, &shim]);
            for (outcome, order) in [(after, "behind"), (before, "in front")] {
                let what = format!("{program} with {name} {order}");
                assert_alike(&bare, &outcome, &what);
                assert_all(&outcome, traces, launches, &what);
            }
        }
    }
}

#[test]
fn a_program_is_linked_with_its_own_allocator() {
    let folder = "/usr/lib/x86_64-linux-gnu";
    let allocators = ["libjemalloc.so.2", "libmimalloc.so.2", "libjemalloc.a", "libmimalloc.a"];
    let (scratch, sources) = (tempfile::tempdir().unwrap(), artifacts::root().join("tests/programs/hosts"));
    for name in allocators {
        let Some(allocator) = found(&[&format!("{folder}/{name}")], name) else { continue };
        let path = scratch.path().join(name.replace('.', "-"));
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-pthread", "-D_GNU_SOURCE="]).args(artifacts::includes());
        cc.arg(sources.join("own_allocator.c")).arg("-Wl,--no-as-needed").arg(&allocator);
        if !compiles(cc.args(linked()).args(["-lm", "-ldl", "-lstdc++"]).arg("-o").arg(&path)) {
            continue;
        }
        let (bare, traced) = (Traced::command(&path).run(), Traced::command(&path).with_shim());
        assert_eq!((bare.stdout.as_str(), bare.code), ("failed 0, child 0\n", Some(0)), "{}", bare.stderr);
        assert_alike(&bare, &traced, name);
        assert_all(&traced, 2, 2500, name);
    }
}

#[test]
fn a_program_under_valgrind_has_no_error_that_it_has_not_alone() {
    let Some(valgrind) = found(&["/usr/bin/valgrind"], "valgrind") else { return };
    let run = || {
        let checked =
            Traced::command(&valgrind).args(["-q", "--error-exitcode=99", "--child-silent-after-fork=yes"]);
        checked.arg(artifacts::program("fork_both")).env("STANDIN_LOG", "")
    };
    let (bare, traced) = (run().run(), run().with_shim());
    assert_eq!(bare.code, Some(0), "{}", bare.stderr);
    assert_alike(&bare, &traced, "fork_both under valgrind");
    assert_all(&traced, 2, 4000, "fork_both under valgrind");
}

#[test]
fn a_static_program_and_one_with_other_rights_run_as_they_do_alone() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let (source, path) = (scratch.path().join("static.c"), scratch.path().join("static"));
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"static\") == EOF; }\n")
        .unwrap();
    if compiles(Command::new("cc").arg("-static").arg(&source).arg("-o").arg(&path)) {
        let (bare, traced) = (Traced::command(&path).run(), Traced::command(&path).with_shim());
        assert_alike(&bare, &traced, "a static program");
        assert!(traced.trace_files().is_empty());
    }
    // The loader preloads nothing into it that is not in the system's folders.
    let path = scratch.path().join("set_user_id");
    std::fs::copy(artifacts::program("fork_both"), &path).unwrap();
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT RUN, for it takes root: a program that runs as another user than its caller");
        return;
    }
    let mount = rustix::fs::statvfs(scratch.path()).unwrap().f_flag;
    if mount.contains(rustix::fs::StatVfsMountFlags::NOSUID) {
        eprintln!("NOT RUN, for {} is mounted nosuid: a set-user-ID program", scratch.path().display());
        return;
    }
    std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o4755)).unwrap();
    let run = || Traced::command(&path).env("STANDIN_LOG", "");
    let (bare, traced) = (run().run(), run().preloaded([artifacts::shim()]));
    assert_eq!((bare.stdout, bare.code), (traced.stdout.clone(), traced.code), "{}", traced.stderr);
    assert!(traced.trace_files().is_empty());
}

#[test]
fn goroutines_that_are_preempted_by_signals_launch_through_cgo() {
    let Some(go) = found(&["/usr/local/go/bin/go", "/usr/bin/go"], "Go") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("launches");
    let source = artifacts::root().join("tests/programs/hosts/launches.go");
    let mut build = Command::new(go);
    build.args(["build", "-o"]).arg(&path).arg(source).current_dir(scratch.path());
    build.env("CGO_CFLAGS", artifacts::includes().join(" ")).env("CGO_LDFLAGS", linked().join(" "));
    if !compiles(&mut build) {
        return;
    }
    for preempts in ["asyncpreemptoff=0", "asyncpreemptoff=1"] {
        let run = || Traced::command(&path).env("STANDIN_LOG", "").env("GODEBUG", preempts);
        let (bare, traced) = (run().run(), run().with_shim());
        assert_alike(&bare, &traced, preempts);
        assert_all(&traced, 2, 8100, preempts);
    }
}

/// Without C there is nothing to preload into: the program runs as it does alone, leaves no trace,
/// and `rocshim run` says why.
#[test]
fn a_go_program_without_c_is_unaffected_and_leaves_no_trace() {
    let Some(go) = found(&["/usr/local/go/bin/go", "/usr/bin/go"], "Go") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("plain");
    let source = artifacts::root().join("tests/programs/hosts/plain.go");
    let mut build = Command::new(go);
    build.args(["build", "-o"]).arg(&path).arg(source).current_dir(scratch.path());
    if !compiles(build.env("CGO_ENABLED", "0")) {
        return;
    }
    let (bare, traced) = (Traced::command(&path).run().ok(), Traced::command(&path).with_shim());
    assert_alike(&bare, &traced, "a Go program without C");
    assert!(traced.trace_files().is_empty());
    let out = scratch.path().join("out");
    let run = Traced::rocshim(["run".as_ref(), "-o".as_ref(), out.as_os_str(), path.as_os_str()]).run();
    assert_eq!((&run.stdout, run.code), (&bare.stdout, bare.code), "{}", run.stderr);
    assert!(run.stderr.contains("statically linked"), "{}", run.stderr);
}

#[test]
fn java_threads_launch_through_jni() {
    let java = |tool: &str| found(&[&format!("/usr/bin/{tool}")], "a JDK")?.canonicalize().ok();
    let (Some(java), Some(javac)) = (java("java"), java("javac")) else { return };
    let home = javac.parent().and_then(Path::parent).expect("…/bin/javac").join("include");
    let (scratch, sources) = (tempfile::tempdir().unwrap(), artifacts::root().join("tests/programs/hosts"));
    let library = scratch.path().join("launches.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-D_GNU_SOURCE=", "-x", "c"]).args(artifacts::includes());
    cc.arg(format!("-I{}", home.display())).arg(format!("-I{}/linux", home.display()));
    cc.arg(sources.join("launches_jni.h")).args(["-x", "none"]).args(linked()).arg("-o").arg(&library);
    let mut classes = Command::new(javac);
    classes.arg("-d").arg(scratch.path()).arg(sources.join("Launches.java"));
    if !compiles(&mut cc) || !compiles(&mut classes) {
        return;
    }
    let run = || {
        let run = Traced::command(&java).arg("-cp").arg(scratch.path()).args(["-Xmx64m", "Launches"]);
        run.arg(&library).env("STANDIN_LOG", "")
    };
    let (bare, traced) = (run().run(), run().with_shim());
    assert_eq!(bare.code, Some(0), "{}", bare.stderr);
    assert_alike(&bare, &traced, "Java");
    assert_all(&traced, 1, 4000, "Java");
}
