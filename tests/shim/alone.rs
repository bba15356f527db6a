//! What a program has for itself stays its own: descriptor numbers, its root, the rings of its
//! process, the system calls that its filter allows.

use super::accounts::{Accounts, unharmed_with};
use rocshim_tests::{Outcome, Traced, artifacts};

/// Every launch is in a trace, and none was lost.
#[track_caller]
fn assert_all(outcome: &Outcome) -> Accounts {
    let accounts = Accounts::of(outcome);
    accounts.assert_whole();
    assert_eq!(accounts.lost, 0, "{accounts:?}");
    accounts
}

#[test]
fn a_program_gets_the_descriptor_numbers_that_it_gets_alone() {
    if Traced::program("descriptor_numbers").arg("ask").run().code != Some(0) {
        eprintln!("NOT RUN, for it takes Linux 5.9: a thread with a descriptor table of its own");
        return;
    }
    for (how, rounds) in [("zero", "30000"), ("all", "3000")] {
        for outcome in unharmed_with("descriptor_numbers", &[how, rounds], |program| {
            // Its log is a file that the launching thread opens.
            program.env("STANDIN_LOG", "")
        }) {
            assert_eq!(assert_all(&outcome).traces, 1, "{how}");
        }
    }
}

#[test]
fn a_filter_around_the_program_may_refuse_any_request() {
    let refuse = |calls: &str, errno: &str| {
        let program = artifacts::program("close_all_fds");
        let args = [errno, calls, program.to_str().unwrap()];
        unharmed_with("refused", &args, |program| program.env("STANDIN_LOG", ""))
    };
    // Before Linux 5.9, and in containers: the table and the root are shared with the program.
    for errno in ["38", "1"] {
        for outcome in refuse("close_range,unshare", errno) {
            assert_eq!(assert_all(&outcome).of_kernel("after_close"), 10_000, "{errno}");
        }
    }
    for call in ["madvise", "timer_create", "fallocate", "prctl", "statx", "ftruncate", "unlink"] {
        for outcome in refuse(call, "1") {
            let accounts = Accounts::of(&outcome);
            accounts.assert_whole();
            // The module that is loaded is one more event.
            assert_eq!(accounts.produced, accounts.written + accounts.lost, "{call}: {accounts:?}");
            assert_eq!(accounts.produced, 11_001, "{call}: {accounts:?}");
        }
    }
}

/// Each system call that the shim makes, refused alone. Some are the loader's too, and then the
/// program does not begin, with or without the shim.
#[test]
fn whichever_system_call_is_refused_the_program_runs_as_it_does_alone() {
    let calls = Traced::program("refused").arg("list").run().stdout;
    let run = |call: &str, errno: &str, traced: bool| {
        let run = Traced::program("refused").args([errno, call]).arg(artifacts::program("fork_both"));
        let run = run.env("STANDIN_LOG", "");
        if traced { run.with_shim() } else { run.run() }
    };
    let mut recorded = 0;
    for call in calls.lines() {
        for errno in if call == "close_range" { &["1", "22", "38"][..] } else { &["1"] } {
            let (bare, traced) = (run(call, errno, false), run(call, errno, true));
            // The loader prints that it could not preload.
            let of = |outcome: &Outcome| (outcome.stdout.clone(), outcome.code, outcome.signal);
            assert_eq!(of(&bare), of(&traced), "{call}, {errno}: {}", traced.stderr);
            if bare.code == Some(0) && !traced.trace_files().is_empty() {
                let accounts = assert_all(&traced);
                assert_eq!(accounts.launches, 4000, "{call}, {errno}: {accounts:?}");
                recorded += 1;
            }
        }
    }
    assert!(recorded > 30, "only {recorded} runs were recorded");
}

#[test]
fn a_list_of_allowed_system_calls_ends_no_program_for_ours() {
    for how in ["prctl", "seccomp"] {
        for who in ["thread", "all"] {
            let outcomes = unharmed_with("allow_list", &[how, who], |program| program.env("STANDIN_LOG", ""));
            for outcome in outcomes {
                assert_eq!(outcome.code, Some(7));
                let accounts = assert_all(&outcome);
                let launches = (accounts.of_kernel("early"), accounts.of_kernel("late"));
                assert_eq!((accounts.traces, launches), (1, (3000, 2000)), "{how} {who}");
            }
        }
    }
}

#[test]
fn children_that_no_fork_handler_sees_write_their_own_traces() {
    // A child that inherits a lock of the shim, held by a thread that it does not have, writes no
    // trace: it would wait for ever. What the others write is whole.
    let forms = [("fork", 6, 200, 0), ("clone", 6, 200, 0), ("_Fork", 6, 200, 0)];
    let of_threads = [("thread", 6, 400, 200), ("again", 16, 200, 0)];
    for (how, traces, by_child, by_thread) in forms.into_iter().chain(of_threads) {
        for outcome in unharmed_with("unseen_children", &[how, "5"], |program| {
            // What the log has not written yet, children of this kind write once more.
            program.env("STANDIN_LOG", "")
        }) {
            let accounts = assert_all(&outcome);
            assert!(accounts.traces > 1 && accounts.traces <= traces, "{how}: {}", accounts.traces);
            let children = accounts.traces as u64 - 1;
            let launches = (accounts.of_kernel("in_child"), accounts.of_kernel("in_thread"));
            assert_eq!(launches, (children * by_child, children * by_thread), "{how}");
        }
    }
}

#[test]
fn a_run_without_a_trace_says_what_its_program_lacked() {
    let cases = [(&["nofile"][..], "raise `ulimit -n`"), (&["fsize", "0"], "raise `ulimit -f`")];
    for (limits, advice) in cases {
        let program = artifacts::program("limits");
        let bare = Traced::command(&program).args(limits).env("STANDIN_LOG", "").run();
        let run = Traced::rocshim(["run"]).env("STANDIN_LOG", "");
        let out = run.folder().join("out");
        let run = run.arg("--out").arg(&out).arg("--").arg(&program).args(limits).run();
        assert_eq!((&run.stdout, run.code), (&bare.stdout, bare.code), "{}", run.stderr);
        let said = "1 process called a hooked function and could not be recorded: ";
        assert!(run.stderr.contains(said) && run.stderr.contains(advice), "{limits:?}: {}", run.stderr);
        assert!(!run.stderr.contains("no process of this run"), "{limits:?}: {}", run.stderr);
    }
}

#[test]
fn odd_control_flow_leaves_program_and_trace_whole() {
    let programs = [
        ("coroutines", "of_a_coroutine", 9600),
        ("waits_for_all", "beside_one_that_waits", 2000),
        // A launch that was left by a jump is recorded without its end.
        ("jump_from_fault", "beside_faults", 400),
        ("debugged", "debugged", 3000),
    ];
    for (program, kernel, launches) in programs {
        for outcome in unharmed_with(program, &[], |program| program.env("STANDIN_LOG", "")) {
            assert_eq!(assert_all(&outcome).of_kernel(kernel), launches, "{program}");
        }
    }
}
