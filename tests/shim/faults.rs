//! Fault injection: each system request of the shim fails, one after the other, once and
//! permanently. The program is not affected, and its calls are in the traces, or counted there as
//! lost with the reason.

mod found;
mod requests;

use super::accounts::{Accounts, unharmed_with};
use found::{Found, look};
use object::{Object, ObjectSymbol};
use requests::{EINTR, ENOMEM, ENOSPC, FIRST, HALVED, KEYS, NEVER_FAIL, REQUESTS};
use rocshim_tests::{Outcome, Traced, artifacts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Configurations of the trace.
const FORMS: &[&[(&str, &str)]] = &[
    &[("ROCSHIM_ROTATE_MIB", "0.06")],
    &[("ROCSHIM_COMPRESS", "zstd")],
    &[("ROCSHIM_DISK_MIB", "0.4"), ("ROCSHIM_DISK_FULL", "oldest")],
];

/// How many requests in a row fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Times {
    Once,
    /// After one that was partially done.
    OnceInTheMiddle,
    /// As often as signals may interrupt one.
    Often,
    ForGood,
}

/// The request that fails: number `at` of its kind, from 1.
#[derive(Clone, Copy, Debug)]
struct Fault {
    request: &'static str,
    at: usize,
    errno: i32,
    times: Times,
    form: usize,
}

fn run(form: usize, fault: Option<Fault>) -> Outcome {
    let program = Traced::program("under_faults").env_remove("STANDIN_LOG");
    let folder = program.folder().to_path_buf();
    for name in ["rings", "tmp"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    let program = program.env("ROCSHIM_RINGS", folder.join("rings")).env("TMPDIR", folder.join("tmp"));
    let mut program = program.env("FAULT_LOG", folder.join("faults"));
    for (name, value) in FORMS[form] {
        program = program.env(name, value);
    }
    if let Some(Fault { request, at, errno, times, .. }) = fault {
        program = program.env("FAULT_CALL", request).env("FAULT_AT", at.to_string());
        program = program.env("FAULT_ERRNO", errno.to_string());
        program = match times {
            Times::Once => program.env("FAULT_FOR", "1"),
            Times::OnceInTheMiddle => program.env("FAULT_FOR", "1").env("FAULT_SHORT", "1"),
            Times::Often => program.env("FAULT_FOR", "20"),
            // A small ring is soon full.
            Times::ForGood => program.env("ROCSHIM_MEMORY_MIB", "0.25"),
        };
    }
    program.preloaded([artifacts::shim().to_owned(), artifacts::program("faults.so")])
}

/// The requests that failed, or, without a fault, that were made.
fn seen(outcome: &Outcome) -> BTreeSet<String> {
    let log = std::fs::read_to_string(outcome.folder().join("faults")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// The result of a run without faults.
struct Clean {
    bare: Outcome,
    /// The calls of each process.
    calls: BTreeSet<u64>,
}

/// The errors of a run under this fault; `None` if no request failed, because there are fewer.
fn judge(fault: Fault, clean: &Clean) -> Option<Vec<String>> {
    let (outcome, bare) = (run(fault.form, Some(fault)), &clean.bare);
    if seen(&outcome).is_empty() {
        return None;
    }
    let end =
        |outcome: &Outcome| (outcome.stdout.clone(), outcome.stderr.clone(), outcome.code, outcome.signal);
    let Found { calls, lost, unknown, mut wrong } = look(&outcome);
    if end(&outcome) != end(bare) {
        wrong.push(format!("the program noticed: {:?}", end(&outcome)));
    }
    let numbers: BTreeSet<u64> = calls.values().copied().collect();
    if !numbers.is_subset(&clean.calls) || numbers.len() != calls.len() {
        wrong.push(format!(
            "not all calls of a process are accounted for: {calls:?} of {:?}, lost {lost:?}",
            clean.calls
        ));
    }
    let reasons: &[&str] = match (fault.request, fault.errno) {
        ("mmap" | "mmap64" | "mremap", _) => &["no_memory"],
        (_, ENOSPC) => &["disk_full"],
        _ => &["disk_error"],
    };
    // Losses because the collector was late, or because no more memory was requested, are not
    // errors.
    let no_faults = ["ring_full", "part_removed"];
    if let Some(reason) =
        lost.keys().find(|lost| !reasons.contains(&lost.as_str()) && !no_faults.contains(&lost.as_str()))
    {
        wrong.push(format!("the reason should be {reasons:?}: {reason} {lost:?}"));
    }
    let may_be_unknown = matches!(fault.request, "open64" | "mmap64") && fault.times == Times::ForGood;
    if !may_be_unknown && !unknown.is_empty() {
        wrong.push(format!("losses are unknown for {unknown:?}"));
    }
    let is_lost = lost.keys().any(|reason| reasons.contains(&reason.as_str()));
    // Without memory no new recording starts, and without TLS keys none at all.
    let goes_on = fault.times != Times::ForGood && fault.errno != ENOMEM && fault.request != KEYS;
    if goes_on && (is_lost || numbers != clean.calls) {
        wrong.push(format!(
            "one fault lost something: {lost:?}, {calls:?} of {:?}, unknown {unknown:?}",
            clean.calls
        ));
    }
    if (fault.request, fault.at, fault.times) == ("pwrite64", 1, Times::ForGood) && !is_lost {
        wrong.push(format!("the rings were to be full: {lost:?}"));
    }
    Some(wrong)
}

/// The faults of one kind of request, in walks: each continues until there are no more requests.
fn walks(request: &'static str, errnos: &[i32], is_all: bool) -> Vec<Fault> {
    let of = |form: usize, errno: i32| {
        let middle = HALVED.contains(&request).then_some(Times::OnceInTheMiddle);
        let lasting = if errno == EINTR { Times::Often } else { Times::ForGood };
        let times = [Times::Once, lasting].into_iter().chain(middle);
        times.map(move |times| Fault { request, at: 1, errno, times, form })
    };
    if is_all {
        return (0..FORMS.len())
            .flat_map(|form| errnos.iter().flat_map(move |errno| of(form, *errno)))
            .collect();
    }
    let form = REQUESTS.iter().position(|row| row.0 == request).unwrap() % FORMS.len();
    of(form, errnos[0]).collect()
}

#[test]
fn whatever_fails_the_program_notices_nothing_and_the_traces_add_up() {
    let is_all = std::env::var("ROCSHIM_FAULTS").is_ok_and(|value| value == "all");
    let only = std::env::var("ROCSHIM_FAULTS").ok().filter(|_| !is_all);
    let begun = (artifacts::program("faults.so"), artifacts::command(), Instant::now()).2;
    let bare = Traced::program("under_faults").env_remove("STANDIN_LOG").run();
    let (mut made, mut clean) = (BTreeSet::new(), Clean { bare, calls: BTreeSet::new() });
    for form in 0..FORMS.len() {
        let outcome = run(form, None);
        let found = look(&outcome);
        assert_eq!(found.wrong, [""; 0]);
        made.extend(seen(&outcome));
        clean.calls.extend(found.calls.into_values());
    }
    assert_eq!(
        clean.calls.len(),
        2,
        "a process and its child, which do not call as often: {:?}",
        clean.calls
    );
    let rows = REQUESTS.iter().filter(|(request, _)| made.contains(*request));
    let rows = rows
        .filter(|(request, _)| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == *request)));
    let walks: Vec<Fault> =
        rows.flat_map(|(request, errnos)| walks(request, errnos, is_all || only.is_some())).collect();
    let (next, failed, violations) =
        (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let walk_on = || {
            while let Some(walk) = walks.get(next.fetch_add(1, Relaxed)) {
                let mut at = 1;
                while FIRST.iter().all(|(request, most)| *request != walk.request || at <= *most) {
                    let fault = Fault { at, ..*walk };
                    let Some(wrong) = judge(fault, &clean) else { break };
                    *failed.lock().unwrap().entry(walk.request).or_insert(0) += 1;
                    if !wrong.is_empty() {
                        eprintln!("{fault:?}: {wrong:#?}");
                        violations.lock().unwrap().push(fault);
                    }
                    at = if is_all || only.is_some() { at + 1 } else { 3 * at };
                }
            }
        };
        (0..6).for_each(|_| drop(scope.spawn(walk_on)));
    });
    let failed = failed.into_inner().unwrap();
    eprintln!("{:.1?}: {failed:?}", begun.elapsed());
    let violations = violations.into_inner().unwrap();
    assert!(violations.is_empty(), "{} faults did harm: {violations:#?}", violations.len());
    assert!(only.is_some() || failed.len() >= 20, "too few kinds of requests were seen: {failed:?}");
}

/// The shim's memory is its own. All that asks the program's `malloc` is the C library, as the
/// collector's thread is started; without one, the rings are written at exit.
#[test]
fn a_program_whose_malloc_refuses_everything_lives_and_nothing_is_lost() {
    for first in ["0", "1", "2", "never"] {
        for outcome in unharmed_with("no_malloc", &[first], |program| program.env("STANDIN_LOG", "")) {
            let accounts = Accounts::of(&outcome);
            accounts.assert_whole();
            assert_eq!((accounts.lost, accounts.launches), (0, 8000), "from {first} on: {accounts:?}");
        }
    }
}

#[test]
fn every_request_that_the_shim_can_make_is_in_the_table_of_those_that_fail() {
    let bytes = std::fs::read(artifacts::shim()).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    let asked =
        file.dynamic_symbols().filter(|symbol| symbol.is_undefined()).map(|symbol| symbol.name().unwrap());
    let is_known = |name: &str| {
        REQUESTS.iter().any(|(request, _)| *request == name)
            || NEVER_FAIL.iter().any(|begin| name.starts_with(begin))
    };
    let unknown: Vec<&str> = asked.filter(|name| !name.is_empty() && !is_known(name)).collect();
    assert_eq!(
        unknown, [""; 0],
        "to be added to REQUESTS here and in tests/programs/limits/faults.c, or to NEVER_FAIL"
    );
}
