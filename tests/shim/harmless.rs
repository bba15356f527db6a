//! The shim does not change what the program does.

use rocshim_tests::{Traced, artifacts};

/// Every program whose output shows what it did, with arguments.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("by_dlsym", &[]),
    ("by_dlvsym", &[]),
    ("arguments", &["ask"]),
    ("by_get_proc_address", &[]),
    ("by_ptr", &[]),
    ("close_all_fds", &[]),
    ("collectives", &[]),
    ("conv", &[]),
    ("conv_solutions", &[]),
    ("copies", &[]),
    ("demo", &[]),
    ("devices", &[]),
    ("dlsym_early", &[]),
    ("errno_kept", &[]),
    ("exit_launches", &[]),
    ("failing", &[]),
    ("fork_both", &[]),
    ("fork_exec", &[]),
    ("gemm", &[]),
    ("gemm_forms", &[]),
    ("blas_calls", &[]),
    ("graph_capture", &[]),
    ("graph_fork", &[]),
    ("graph_nodes", &[]),
    ("handle_reuse", &[]),
    ("stream_reuse", &[]),
    ("hot_path", &[]),
    ("lacks", &[]),
    ("kill_self", &["1000", "kill"]),
    ("kill_self", &["1000", "segv"]),
    ("kill_self", &["1000", "abort"]),
    ("kill_self", &["1000", "exit"]),
    ("kill_self", &["1000", "_exit"]),
    ("kill_self", &["1000", "quick_exit"]),
    ("launch_forms", &[]),
    ("layers", &[]),
    ("libraries", &[]),
    ("load_deep", &[]),
    ("load_global", &[]),
    ("load_local", &[]),
    ("longjmp_through", &[]),
    ("many_threads", &[]),
    ("matmul", &[]),
    ("marks", &[]),
    ("marks_local", &[]),
    ("register_race", &[]),
    ("reload", &[]),
    ("reload", &["dlsym"]),
    ("short_threads", &[]),
    ("silent", &[]),
    ("throw_through", &[]),
    ("tuner", &[]),
    ("two_copies", &["plt"]),
    ("two_copies", &["dlsym"]),
    ("two_copies_linked", &[]),
    ("two_copies_linked", &["deep"]),
    ("unregister", &[]),
];

#[test]
fn every_program_prints_and_ends_as_it_does_without_the_shim() {
    for (name, args) in PROGRAMS {
        let (bare, traced) =
            (Traced::program(name).args(*args).run(), Traced::program(name).args(*args).with_shim());
        assert_eq!(bare.stdout, traced.stdout, "stdout of {name} {args:?}");
        assert_eq!(bare.stderr, traced.stderr, "stderr of {name} {args:?}");
        assert_eq!((bare.code, bare.signal), (traced.code, traced.signal), "end of {name} {args:?}");
    }
}

/// Programs for stand-ins of other HIP releases: one that registers its dispatch tables, one as old
/// as ROCm 6.0.
const ON_OTHERS: &[(&str, &str, &[&str])] = &[
    ("registering", "by_dlsym", &[]),
    ("registering", "by_get_proc_address", &[]),
    ("registering", "by_ptr", &[]),
    ("registering", "conv", &[]),
    ("registering", "dlsym_early", &[]),
    ("registering", "failing", &[]),
    ("registering", "fork_both", &[]),
    ("registering", "graph_capture", &[]),
    ("registering", "graph_fork", &[]),
    ("registering", "launch_forms", &[]),
    ("registering", "load_deep", &[]),
    ("registering", "longjmp_through", &[]),
    ("registering", "register_race", &[]),
    ("registering", "reload", &["dlsym"]),
    ("registering", "throw_through", &[]),
    ("registering", "unregister", &[]),
    ("old", "by_dlsym", &[]),
    ("old", "by_ptr", &[]),
    ("old", "lacks", &[]),
    ("old", "load_local", &[]),
];

#[test]
fn on_other_releases_of_hip_a_program_prints_and_ends_as_it_does_without_the_shim() {
    for (release, name, args) in ON_OTHERS {
        let program = || Traced::program(name).args(*args).on(&[*release]);
        let (bare, traced) = (program().run(), program().with_shim());
        assert_eq!(bare.stdout, traced.stdout, "stdout of {name} {args:?} on {release}");
        assert_eq!(bare.stderr, traced.stderr, "stderr of {name} {args:?} on {release}");
        assert_eq!(
            (bare.code, bare.signal),
            (traced.code, traced.signal),
            "end of {name} {args:?} on {release}"
        );
    }
}

#[test]
fn errno_passes_through_in_both_directions() {
    for errno in [None, Some("11")] {
        let run = |traced: bool| {
            let program = Traced::program("errno_kept");
            let program = errno.into_iter().fold(program, |p, errno| p.env("STANDIN_ERRNO", errno));
            if traced { program.with_shim() } else { program.run() }
        };
        assert_eq!(run(false).stdout, run(true).stdout);
    }
}

#[test]
fn a_process_that_calls_no_hooked_function_starts_no_thread_opens_no_file_prints_nothing() {
    let (bare, traced) = (Traced::program("silent").run(), Traced::program("silent").with_shim());
    assert_eq!((&bare.stdout, &bare.stderr), (&traced.stdout, &traced.stderr));
    assert!(traced.stdout.contains("threads 1"), "{}", traced.stdout);
    assert!(!traced.folder().join("out").exists(), "no folder was made");
}

#[test]
fn a_program_whose_folder_cannot_be_written_runs_unharmed_and_is_traced_elsewhere() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("a-file-in-the-way");
    std::fs::write(&file, "").unwrap();
    let program = Traced::program("demo").env("LD_PRELOAD", artifacts::shim());
    let outcome = program.env("ROCSHIM_OUT", file.join("out")).env("TMPDIR", scratch.path()).run().ok();
    assert_eq!(outcome.stderr, "");
    let emergency = scratch.path().join(format!("rocshim-{}", rustix::process::getuid().as_raw()));
    let trace = std::fs::read_dir(&emergency).unwrap().flatten().next().expect("a trace").path();
    let trace = rocshim_tests::Trace::read(&trace);
    let note = trace.headers().next().unwrap().note.clone().expect("the header says why");
    assert!(note.contains("a-file-in-the-way") && note.contains("the trace is here instead"), "{note}");
    // The folder that was asked for leads to it.
    let summary = Traced::rocshim(["summary"]).arg(file.join("out")).env("TMPDIR", scratch.path()).run().ok();
    assert!(summary.stdout.contains("718 launches"), "{}", summary.stdout);
    assert!(summary.stdout.contains("the trace is here instead"), "{}", summary.stdout);
}

#[test]
fn without_any_folder_the_program_runs_and_the_log_says_why() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("a-file-in-the-way");
    std::fs::write(&file, "").unwrap();
    let program = Traced::program("demo").env("LD_PRELOAD", artifacts::shim()).env("ROCSHIM_LOG", "stderr");
    let outcome = program.env("ROCSHIM_OUT", &file).env("TMPDIR", &file).run().ok();
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no trace file could be created"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing is recorded"), "{}", outcome.stderr);
}

#[test]
fn switched_off_it_records_nothing() {
    let outcome = Traced::program("demo").env("ROCSHIM_OFF", "1").with_shim().ok();
    assert!(!outcome.folder().join("out").exists());
}

#[test]
fn after_its_first_event_a_thread_never_waits_faults_or_enters_the_kernel() {
    // The stand-ins' log makes system calls; without the log they make none.
    let program = || Traced::program("hot_path").env_remove("STANDIN_LOG");
    let (bare, traced) = (program().run().ok(), program().with_shim().ok());
    assert_eq!(bare.stdout, "page faults 0, waits 0\nlaunched 12004, sandboxed 1\n", "the program itself");
    assert_eq!(traced.stdout, bare.stdout);
    let trace = traced.trace();
    let with_arguments = trace.launches().filter(|launch| launch.args.len() == 2).count();
    // In its sandbox a thread reserves no more ring memory: what finds none is lost, and counted.
    let lost: u64 = trace.gaps().map(|gap| gap.lost).sum();
    assert_eq!(trace.launches().count() as u64 + lost, 12004);
    assert!((3001..=6002).contains(&with_arguments), "{with_arguments}");
}
