//! What the shim asks of the system fails, one request after the other, once and for good: the program notices nothing, and
//! what it called is in its traces, or counted there as lost and for which reason.
//!
//! `tests/programs/faults.c` fails the requests. Here a few of each kind; with `ROCSHIM_FAULTS=all` (`scripts/endure faults`)
//! every one, with all that it may fail with.

use object::{Object, ObjectSymbol};
use rocshim_tests::{Outcome, Traced, artifacts};
use rocshim_trace::TracePath;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// What the shim asks of the system, and what that may fail with. By what it is about: files, folders, memory, threads.
const REQUESTS: &[(&str, &[i32])] = &[
    ("open64", &[EMFILE, EINTR, EACCES, ENOSPC, EIO]),
    ("openat64", &[EMFILE, EIO]),
    ("read", &[EINTR, EIO]),
    ("pread64", &[EINTR, EIO]),
    ("lseek64", &[EIO]),
    ("write", &[EINTR, EIO, ENOSPC]),
    ("writev", &[EINTR, EIO, ENOSPC]),
    ("pwrite64", &[ENOSPC, EINTR, EIO]),
    ("ftruncate64", &[EIO, EINTR]),
    ("posix_fallocate", &[ENOSPC, EINTR, EIO]),
    ("fstat64", &[EIO]),
    ("stat64", &[EIO, EACCES]),
    ("lstat64", &[EIO, EACCES]),
    ("statx", &[EIO, EACCES]),
    ("readlink", &[EACCES, EIO]),
    ("realpath", &[EACCES, EIO]),
    ("getcwd", &[EACCES]),
    ("unlink", &[EIO, EACCES]),
    ("unlinkat", &[EIO, EACCES]),
    ("close", &[EIO, EINTR]),
    ("mkdir", &[ENOSPC, EACCES, EIO]),
    ("rmdir", &[EIO, EACCES]),
    ("opendir", &[EMFILE, EACCES, ENOMEM]),
    ("fdopendir", &[ENOMEM]),
    ("readdir64", &[EIO]),
    ("closedir", &[EINTR]),
    ("malloc", &[ENOMEM]),
    ("calloc", &[ENOMEM]),
    ("realloc", &[ENOMEM]),
    ("mmap", &[ENOMEM, EAGAIN]),
    ("mmap64", &[ENOMEM, EAGAIN]),
    ("munmap", &[ENOMEM]),
    ("mprotect", &[ENOMEM]),
    ("getrandom", &[EINTR]),
    ("getrlimit", &[EIO]),
    ("pthread_create", &[EAGAIN]),
    ("pthread_attr_init", &[ENOMEM]),
    ("pthread_attr_setstacksize", &[ENOMEM]),
    ("pthread_key_create", &[EAGAIN, ENOMEM]),
];

/// What else the shim has of the C library: it cannot fail, only looks at what the process has, or gives something back.
const NEVER_FAIL: &[&str] = &[
    "ZSTD_",
    "_ITM_",
    "_Unwind_",
    "__cxa_",
    "__errno_location",
    "__gmon_start__",
    "__register_atfork",
    "__tls_get_addr",
    "__xpg_strerror_r",
    "abort",
    "bcmp",
    "clock_gettime",
    "clock_nanosleep",
    "dirfd",
    "dl_iterate_phdr",
    "dlerror",
    "environ",
    "free",
    "getauxval",
    "getenv",
    "geteuid",
    "getpid",
    "gettid",
    "mem",
    "pause",
    "poll",
    "posix_memalign",
    "program_invocation_name",
    "pthread_attr_destroy",
    "pthread_attr_get",
    "pthread_detach",
    "pthread_getattr_np",
    "pthread_key_delete",
    "pthread_self",
    "pthread_set",
    "pthread_sigmask",
    "sched_yield",
    "sig",
    "str",
    "syscall",
    "sysconf",
];

/// Those that may be done by half.
const HALVED: [&str; 3] = ["read", "pread64", "pwrite64"];

/// Of these there are thousands.
const MEMORY: [&str; 3] = ["malloc", "calloc", "realloc"];

/// The first two requests for a key only look whether there are any.
const KEYS: &str = "pthread_key_create";

/// Which of a kind may fail, beside all: the runtime ends a process in which it has no key, or no memory to tell a thread of
/// its own from others. The shim looks whether there is some, before it begins and before it ends, and can do no more.
const FIRST: [(&str, usize); 4] = [(KEYS, 2), (MEMORY[0], 1024), (MEMORY[1], 1024), (MEMORY[2], 1024)];

/// How traces are asked for.
const FORMS: &[&[(&str, &str)]] = &[
    &[("ROCSHIM_ROTATE_MIB", "0.06")],
    &[("ROCSHIM_COMPRESS", "zstd")],
    &[("ROCSHIM_DISK_MIB", "0.4"), ("ROCSHIM_DISK_FULL", "oldest")],
];

/// How many in a row fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Times {
    Once,
    /// After one that was done by half.
    OnceInTheMiddle,
    /// As often as signals may interrupt one.
    Often,
    ForGood,
}

/// The request that fails: the `at`th of its kind, from 1.
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
            // In a small ring there is soon no room.
            Times::ForGood => program.env("ROCSHIM_RING_KIB", "64"),
        };
    }
    program.preloaded([artifacts::shim().to_owned(), artifacts::program("faults.so")])
}

/// The requests that failed, or, without a fault, that were made.
fn requests(outcome: &Outcome) -> BTreeSet<String> {
    let log = std::fs::read_to_string(outcome.folder().join("faults")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// What the traces of a run say.
#[derive(Debug, Default)]
struct Found {
    /// Process → its calls, written or lost.
    calls: BTreeMap<String, u64>,
    /// Lost, by reason.
    lost: BTreeMap<String, u64>,
    /// Processes of whose trace `rocshim` says that nobody knows what is missing: there was nowhere to keep an account.
    unknown: BTreeSet<String>,
    /// What should not be so.
    wrong: Vec<String>,
}

/// What `rocshim` says of a trace for which there was nowhere to keep an account, or no memory to tell what it needs.
const UNKNOWN: [&str; 4] = [
    "is empty: its process was killed before it wrote a line",
    "nobody knows how much",
    "came by a hook that was not defined",
    "more of this kind",
];

fn says_unknown(text: &str) -> bool {
    UNKNOWN.iter().any(|unknown| text.contains(unknown))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Recovers and verifies what a run has left.
fn look(outcome: &Outcome) -> Found {
    let (mut found, rings) = (Found::default(), outcome.folder().join("rings"));
    // Where the folder that was asked for takes no trace, it is in one under the temporary folder.
    let emergency = entries(&outcome.folder().join("tmp"));
    for folder in emergency.iter().chain([&outcome.folder().join("out")]) {
        let rocshim = |words: &[&str]| {
            let words = words.iter().map(|word| word.as_ref()).chain([folder.as_os_str()]);
            Traced::rocshim(words).env("ROCSHIM_RINGS", &rings).run()
        };
        if !entries(&rings).is_empty() || entries(folder).iter().any(|entry| entry.is_dir()) {
            let recovered = rocshim(&["recover"]);
            let is_none = entries(folder).is_empty();
            if recovered.code != Some(0) && !is_none && !says_unknown(&recovered.stdout) {
                found.wrong.push(format!("recover: {}{}", recovered.stdout, recovered.stderr));
            }
        }
        if !entries(folder).is_empty() {
            let verified = rocshim(&["verify", "--json"]);
            match serde_json::from_str::<Vec<Value>>(&verified.stdout) {
                Ok(files) => found.add(&files),
                Err(_) => found.wrong.push(format!("verify: {}{}", verified.stdout, verified.stderr)),
            }
        }
    }
    let Found { calls, unknown, .. } = &mut found;
    calls.retain(|process, _| !unknown.contains(process));
    let left = entries(&rings);
    if !left.is_empty() {
        found.wrong.push(format!("ring files that nobody reads: {left:?}: {:?}", entries(&left[0])));
    }
    found
}

impl Found {
    fn add(&mut self, files: &[Value]) {
        for file in files {
            let path = TracePath::of(Path::new(file["trace"].as_str().unwrap())).unwrap();
            let process = path.first.file_name().unwrap().to_string_lossy().into_owned();
            let number = |value: &Value| value.as_u64().unwrap();
            if file["verdict"] == "right" {
                *self.calls.entry(process).or_default() += number(&file["written"]) + number(&file["lost"]);
                for (reason, lost) in file["reasons"].as_object().unwrap() {
                    *self.lost.entry(reason.clone()).or_default() += number(lost);
                }
            } else if file["wrong"].as_array().unwrap().iter().all(|why| says_unknown(why.as_str().unwrap()))
            {
                self.unknown.insert(process);
            } else {
                self.wrong.push(format!("{}: {}", file["trace"], file["wrong"]));
            }
        }
    }
}

/// What a run without faults does.
struct Clean {
    bare: Outcome,
    /// The calls of each process.
    calls: BTreeSet<u64>,
}

/// What is wrong with a run under this fault; `None` when no request failed: there are not so many.
fn judge(fault: Fault, clean: &Clean) -> Option<Vec<String>> {
    let (outcome, bare) = (run(fault.form, Some(fault)), &clean.bare);
    if requests(&outcome).is_empty() {
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
        ("mmap" | "mmap64", _) => &["no_memory"],
        (memory, _) if MEMORY.contains(&memory) => &["no_memory"],
        (_, ENOSPC) => &["disk_full"],
        _ => &["disk_error"],
    };
    // What is lost because the collector is late, or because no more room was asked for, is no fault.
    let no_faults = ["ring_full", "part_removed"];
    if let Some(reason) =
        lost.keys().find(|lost| !reasons.contains(&lost.as_str()) && !no_faults.contains(&lost.as_str()))
    {
        wrong.push(format!("the reason should be {reasons:?}: {reason} {lost:?}"));
    }
    let may_be_unknown =
        MEMORY.contains(&fault.request) || (fault.request, fault.times) == ("open64", Times::ForGood);
    if !may_be_unknown && !unknown.is_empty() {
        wrong.push(format!("nobody knows what is missing of {unknown:?}"));
    }
    let is_lost = lost.keys().any(|reason| reasons.contains(&reason.as_str()));
    // Without memory nothing more is begun, and without keys nothing at all.
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

/// The faults of one kind of request, in walks: each goes on until there are no more requests.
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
        made.extend(requests(&outcome));
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
    let (next, failed, complaints) =
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
                        complaints.lock().unwrap().push(fault);
                    }
                    at = if (is_all || only.is_some()) && !MEMORY.contains(&walk.request) {
                        at + 1
                    } else {
                        3 * at
                    };
                }
            }
        };
        (0..6).for_each(|_| drop(scope.spawn(walk_on)));
    });
    let failed = failed.into_inner().unwrap();
    eprintln!("{:.1?}: {failed:?}", begun.elapsed());
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{} faults did harm: {complaints:#?}", complaints.len());
    assert!(only.is_some() || failed.len() >= 20, "too few kinds of requests were seen: {failed:?}");
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
        "to be added to REQUESTS here and in tests/programs/faults.c, or to NEVER_FAIL"
    );
}
