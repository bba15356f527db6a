//! One program per situation in which a preloaded library may do harm: it prints and ends as
//! without the shim, and its traces account for every launch that reached the library.

use super::accounts::{Accounts, unharmed, unharmed_with};
use rocshim_tests::{Outcome, Traced, artifacts};
use std::os::unix::fs::PermissionsExt;

/// Every launch is in a trace, or counted there as lost.
#[track_caller]
fn assert_whole(outcome: &Outcome) -> Accounts {
    let accounts = Accounts::of(outcome);
    accounts.assert_whole();
    accounts
}

/// The same, and nothing is lost.
#[track_caller]
fn assert_all(outcome: &Outcome) -> Accounts {
    let accounts = assert_whole(outcome);
    assert_eq!(accounts.lost, 0, "{accounts:?}");
    accounts
}

#[test]
fn a_fork_among_threads_with_full_rings_leaves_the_child_free_to_go_on() {
    for outcome in unharmed_with("fork_threads", &["40"], |program| {
        // Two chunks, held by two of the threads.
        program.env("ROCSHIM_MEMORY_MIB", "0.0625").env("STANDIN_LOG", "")
    }) {
        let accounts = assert_whole(&outcome);
        assert!(accounts.lost > 0, "the rings were to be full");
        assert_eq!((accounts.traces, accounts.of_kernel("in_child")), (41, 40 * 20));
    }
}

#[test]
fn children_of_vfork_write_their_own_traces() {
    for outcome in unharmed("vfork_exec", &[]) {
        let accounts = assert_whole(&outcome);
        assert_eq!((accounts.traces, accounts.of_kernel("by_child")), (11, 100));
    }
}

#[test]
fn a_daemon_that_has_closed_everything_is_recorded() {
    for outcome in unharmed("daemon", &[]) {
        let accounts = assert_all(&outcome);
        assert_eq!(accounts.traces, 2, "the one in between has called nothing");
        assert_eq!(accounts.of_kernel("in_the_daemon") + accounts.of_kernel("later_in_the_daemon"), 200);
    }
}

#[test]
fn two_thousand_threads_at_once_take_memory_within_bounds() {
    for outcome in unharmed("many_alive", &["500"]) {
        assert_eq!(assert_all(&outcome).of_kernel("of_many"), 3000);
    }
    let measure = |traced: bool| {
        let program = Traced::program("many_alive").args(["2000", "measure"]).env_remove("STANDIN_LOG");
        let outcome = if traced { program.with_shim() } else { program.run() }.ok();
        let words: Vec<i64> =
            outcome.stdout.split([' ', ',', '\n']).filter_map(|word| word.parse().ok()).collect();
        assert!(outcome.stdout.ends_with("threads 2000, failed 0\n"), "{}", outcome.stdout);
        (words[0], words[2])
    };
    let ((memory, files), (bare_memory, bare_files)) = (measure(true), measure(false));
    assert_eq!(files, bare_files);
    assert!(memory - bare_memory < 400, "{memory} MiB, without the shim {bare_memory} MiB");
}

/// Of 8,400 threads and the first one, the last 209 get no ring: each of their six launches is
/// lost, and counted.
#[test]
fn beyond_8192_rings_calls_are_counted_as_lost() {
    let program = || Traced::program("many_alive").arg("8400").env_remove("STANDIN_LOG");
    let bare = program().run();
    if bare.stdout.starts_with("only ") {
        eprintln!("NOT RUN, for it takes 8,400 threads at once: {}", bare.stdout);
        return;
    }
    // The default memory is one chunk for each of 8,192 rings: some would find none for a second
    // one.
    let outcome = program().env("ROCSHIM_MEMORY_MIB", "512").with_shim().ok();
    assert_eq!(outcome.stdout, bare.stdout);
    let accounts = assert_whole(&outcome);
    let trace = outcome.trace();
    assert!(trace.gaps().all(|gap| (gap.tid, gap.reason.as_str()) == (0, "no_memory")));
    assert_eq!((accounts.lost, accounts.launches), (209 * 6, 8191 * 6));
    assert_eq!(trace.threads().filter(|thread| thread.tid != 0).count(), 8192);
}

#[test]
fn the_rings_of_threads_that_have_ended_are_given_back() {
    let outcome = Traced::program("short_threads").args(["3000", "3", "measure"]).env_remove("STANDIN_LOG");
    let outcome = outcome.with_shim().ok();
    let shared: u64 = outcome.stdout.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap();
    assert!(shared < 400, "{shared} MiB of shared memory, for 3,000 threads, four at a time");
    assert_eq!(Accounts::alone(&outcome).launches, 9000);
}

#[test]
fn signal_handlers_that_launch_do_not_wait_for_what_they_interrupt() {
    for how in ["return", "altstack", "jump", "first"] {
        let run = |traced: bool| {
            let program = Traced::program("signal_launch").args([how, "3"]).env_remove("STANDIN_LOG");
            if traced { program.with_shim() } else { program.run() }.ok()
        };
        let (bare, traced) = (run(false), run(true));
        assert_eq!(bare.stdout, traced.stdout, "{how}");
        let numbers: Vec<u64> =
            traced.stderr.split([' ', ',', '\n']).filter_map(|word| word.parse().ok()).collect();
        // One further event, of code, is not a launch but may be lost.
        let (made, in_handler, jumps) = (numbers[0], numbers[1], numbers[2] + 1);
        let accounts = Accounts::alone(&traced);
        assert_eq!(accounts.produced, accounts.written + accounts.lost, "{how}: {accounts:?}");
        // A launch left by a jump was made although the program did not count it, or had not begun.
        // A handler's calls while it interrupts the runtime look like the runtime's own.
        let seen = accounts.launches + accounts.lost;
        let possible = made - jumps..=made + in_handler + jumps;
        assert!(possible.contains(&seen), "{how}: {made} and {in_handler}, jumps {jumps}: {accounts:?}");
        assert!(accounts.of_kernel("in_handler") > 0 || how == "first", "{how}: {accounts:?}");
    }
}

#[test]
fn threads_may_end_inside_a_launch() {
    for outcome in unharmed("cancel_inside", &[]) {
        assert_eq!(assert_whole(&outcome).traces, 1);
    }
}

#[test]
fn exceptions_and_jumps_pass_through_launches_inside_launches() {
    // Launches inside a launch are not recorded, but are in the stand-ins' log.
    for outcome in unharmed_with("throw_nested", &[], |program| program.env("STANDIN_LOG", "")) {
        assert_whole(&outcome);
    }
}

#[test]
fn threads_with_the_smallest_stack_launch() {
    // A line of the stand-ins' log takes more stack than the launch.
    for outcome in unharmed_with("least_stack", &["20"], |program| program.env("STANDIN_LOG", "")) {
        let accounts = Accounts::alone(&outcome);
        assert_eq!((accounts.of_kernel("on_little_stack"), accounts.lost), (2001, 0), "{accounts:?}");
        assert!(outcome.stdout.starts_with("started 20, failed 0"), "{}", outcome.stdout);
    }
}

#[test]
fn destructors_may_launch() {
    for outcome in unharmed("late_launches", &[]) {
        let accounts = assert_whole(&outcome);
        assert!(accounts.launches + accounts.lost + accounts.late >= 60, "{accounts:?}");
    }
}

#[test]
fn a_process_may_end_while_its_threads_launch() {
    for how in ["exit", "return", "thread"] {
        // Launches after shutdown are in the stand-ins' log.
        for outcome in unharmed_with("exit_race", &[how], |program| program.env("STANDIN_LOG", "")) {
            let accounts = assert_whole(&outcome);
            assert_eq!(accounts.produced, accounts.written + accounts.lost, "{how}: {accounts:?}");
            assert!(accounts.launches > 0, "{how}");
        }
    }
}

#[test]
fn the_programs_signal_handling_is_unchanged() {
    for outcome in unharmed("signals", &[]) {
        assert_eq!(assert_all(&outcome).of_kernel("unsignalled"), 30_000);
    }
}

#[test]
fn a_program_may_forbid_itself_the_time_stamp_counter() {
    for when in ["before", "after", "thread"] {
        for outcome in unharmed("tsc", &[when]) {
            let accounts = assert_whole(&outcome);
            assert_eq!((accounts.of_kernel("later"), accounts.lost), (1000, 0), "{when}: {accounts:?}");
            let trace = outcome.trace();
            let slow = trace.launches().filter(|launch| launch.call.dur > 60_000_000_000).count();
            assert_eq!(slow, 0, "{when}: no launch takes a minute");
        }
    }
}

#[test]
fn in_a_sandbox_the_shim_makes_no_system_call_that_could_kill_the_program() {
    for (when, how, who) in [
        ("before", "kill", "thread"),
        ("before", "errno", "all"),
        ("after", "kill", "thread"),
        ("after", "kill", "all"),
        ("after", "errno", "thread"),
        ("after", "errno", "all"),
    ] {
        // The stand-ins' log is a file.
        for outcome in unharmed_with("sandbox", &[when, how, who], |program| program.env("STANDIN_LOG", "")) {
            if when == "before" {
                assert_eq!(outcome.trace_files().len(), 0, "{how} {who}");
                continue;
            }
            let accounts = assert_whole(&outcome);
            let made = if who == "all" { 4100 } else { 4000 };
            assert_eq!(accounts.launches + accounts.lost, made, "{how} {who}: {accounts:?}");
            assert_eq!(accounts.of_kernel("late"), 2000, "{how} {who}: from the ring files, by their names");
        }
    }
}

#[test]
fn under_tight_limits_the_program_is_unaffected_and_the_trace_says_what_it_lacks() {
    let limits = |args: &[&str]| {
        unharmed_with("limits", args, |program| {
            std::fs::set_permissions(program.folder(), std::fs::Permissions::from_mode(0o777)).unwrap();
            program.env("STANDIN_LOG", "")
        })
    };
    for args in [&["nofile_later"][..], &["dropped"]] {
        for outcome in limits(args) {
            let accounts = assert_whole(&outcome);
            assert_eq!(accounts.launches + accounts.lost, 3000, "{args:?}: {accounts:?}");
        }
    }
    // Very small files: the trace ends at the file size limit.
    limits(&["fsize", "0"]);
    limits(&["fsize", "50000"]);
    // Without a file descriptor nothing can be created, and nothing is.
    assert!(limits(&["nofile"]).iter().all(|outcome| outcome.trace_files().is_empty()));
    // Without a collector thread, the contents of the rings are written at exit.
    for outcome in limits(&["nproc"]) {
        let accounts = assert_whole(&outcome);
        assert_eq!((accounts.traces, accounts.launches + accounts.lost), (1, 3000), "{accounts:?}");
    }
}

#[test]
fn a_program_may_run_out_of_address_space_at_any_point() {
    for space in (0..20).map(|step| step * 128).chain([3000, 4000, 6000, 9000]) {
        let space = space.to_string();
        let run = |traced: bool| {
            let program = Traced::program("limits").args(["space", &space]).env("STANDIN_LOG", "");
            if traced { program.with_shim() } else { program.run() }
        };
        let (bare, traced) = (run(false), run(true));
        assert_eq!(
            (&bare.stdout, bare.code),
            (&traced.stdout, traced.code),
            "{space} KiB: {}",
            traced.stderr
        );
        let accounts = Accounts::alone(&traced);
        // The module load may be lost as well.
        let made = 3000 * accounts.traces as u64;
        let seen = accounts.launches + accounts.lost;
        assert!((made..=made + 1).contains(&seen), "{space} KiB: {accounts:?}");
    }
}

#[test]
fn a_program_with_little_address_space_left_gets_most_of_it_itself() {
    // 14 MiB of 20.
    for outcome in unharmed_with("limits", &["room", "20480"], |program| program.env("STANDIN_LOG", "")) {
        assert!(outcome.stdout.contains("room 1"), "{}", outcome.stdout);
        assert_eq!(assert_all(&outcome).launches, 3000);
    }
}

#[test]
fn a_relative_folder_is_where_the_program_began() {
    let program = || Traced::program("elsewhere").args(["chdir", "/"]);
    let bare = program().run().ok();
    let traced = program().env("LD_PRELOAD", artifacts::shim()).env("ROCSHIM_OUT", "out").run().ok();
    assert_eq!(bare.stdout, traced.stdout);
    assert_eq!(assert_all(&traced).launches, 3000);
}

#[test]
fn a_program_may_change_its_root() {
    for how in ["chroot", "chroot_later"] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_str().unwrap();
        for outcome in unharmed_with("elsewhere", &[how, folder], |program| program.env("STANDIN_LOG", "")) {
            if how == "chroot_later" {
                // The collector has a root of its own; where it may not, what is left in the ring
                // files is recovered.
                let accounts = Accounts::alone(&outcome);
                assert_eq!(accounts.launches + accounts.lost, 3000, "{accounts:?}");
            }
        }
    }
}
