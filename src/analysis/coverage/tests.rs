//! Verdicts of small hook tables.

use super::*;
use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};
use crate::interner::Id;
use rocshim_trace::Hook;

fn hook(name: &str, state: &str, library: Option<u32>) -> Hook {
    let (of, point) = ("libhipblaslt.so".to_string(), "preload".to_string());
    Hook { name: name.into(), of, point, state: state.into(), library, ..Hook::default() }
}

fn loaded() -> BTreeMap<u32, Library> {
    let path = "/opt/rocm/lib/libhipblaslt.so.1".to_string();
    BTreeMap::from([(4, Library { id: 4, path, functions: Some(1), hooked: Some(1), ..Library::default() })])
}

fn verdict(
    hooks: &[(Hook, u64)],
    libraries: BTreeMap<u32, Library>,
    gaps: VisibilityGaps,
    bypass: Option<&str>,
) -> LibraryRow {
    let mut coverage = Coverage::default();
    let seen = hooks.iter().enumerate().map(|(number, (hook, calls))| HookUse {
        function: FunctionId::at(number),
        hook,
        calls: *calls,
        silent: 0,
        is_counted: true,
        is_partial: false,
    });
    coverage.add_process(seen, &libraries, &gaps, |_| bypass.map(str::to_owned), |_| 0);
    coverage.libraries().remove(0)
}

#[test]
fn absence_is_confirmed_only_where_a_call_would_have_been_seen() {
    let armed = hook("hipblasLtMatmul", "armed", None);
    let found = |bypass: Option<&str>, libraries, gaps| {
        let row = verdict(&[(armed.clone(), 0)], libraries, gaps, bypass);
        (row.evidence, row.why)
    };
    let whole = VisibilityGaps::default;
    assert_eq!(
        found(Some("by a tunnel"), BTreeMap::new(), whole()),
        (CONFIRMED_ABSENT, "not loaded in the process".into())
    );
    assert_eq!(
        found(None, loaded(), whole()),
        (CONFIRMED_ABSENT, "loaded in the process, no call seen".into())
    );
    assert_eq!(
        found(Some("by a tunnel"), loaded(), whole()),
        (Evidence::Limited, "loaded in the process, no call seen; by a tunnel".into())
    );
    assert_eq!(found(None, loaded(), VisibilityGaps { lossy: true, ..whole() }).0, Evidence::Limited);
    let stopped = VisibilityGaps { unrecorded: Some("recording was stopped".into()), ..whole() };
    assert_eq!(
        found(None, loaded(), stopped.clone()),
        (Evidence::Limited, "loaded in the process, no call seen; recording was stopped".into())
    );
    assert_eq!(found(None, BTreeMap::new(), stopped).0, CONFIRMED_ABSENT);
    assert_eq!(
        found(None, loaded(), VisibilityGaps { running: true, ..whole() }).1,
        "loaded in the process, no call seen so far"
    );
}

#[test]
fn a_function_that_was_not_found_leaves_the_library_unresolved() {
    let unbound = Hook { why: Some("no such symbol".into()), ..hook("hipblasLtMatmul", "unbound", None) };
    let row = verdict(&[(unbound, 0)], loaded(), VisibilityGaps::default(), None);
    assert_eq!(row.evidence, Evidence::Unresolved);
    assert_eq!(row.why, "called, but the real one was not found: hipblasLtMatmul");
}

#[test]
fn calls_confirm() {
    let hooks = [(hook("hipblasLtMatmul", "bound", Some(4)), 3), (hook("hipblasLtCreate", "armed", None), 0)];
    let row = verdict(&hooks, loaded(), VisibilityGaps::default(), None);
    assert_eq!((row.evidence, row.calls, row.functions, row.functions_called), (CONFIRMED, 3, 2, 1));
    assert_eq!(row.paths, BTreeSet::from(["/opt/rocm/lib/libhipblaslt.so.1".to_string()]));
    assert_eq!(row.why, "1 of 2 hooked functions called");
}

#[test]
fn the_numbering_of_solutions_is_known_from_rocblas_4_2_on() {
    let numbering = |paths: &[&str]| {
        let library = |path: &&str| Library { path: path.to_string(), ..Library::default() };
        let libraries = paths.iter().map(library).enumerate().map(|(id, l)| (id as u32, l)).collect();
        let mut coverage = Coverage::default();
        coverage.add_process(std::iter::empty(), &libraries, &VisibilityGaps::default(), |_| None, |_| 0);
        let found = coverage.numbering();
        (found.by_target, found.hipblaslt)
    };
    let (old, some, new) = ("/l/librocblas.so.3.1", "/l/librocblas.so.4", "/l/librocblas.so.4.2.60200");
    assert_eq!(numbering(&[]), (false, false));
    assert_eq!([old, some, new].map(|path| numbering(&[path]).0), [false, false, true]);
    assert_eq!(numbering(&["/l/librocblas.so.5"]), (true, false));
    assert_eq!(numbering(&["/l/librocblas.so.5", old]), (false, false));
    assert_eq!(numbering(&["/l/librocblas.so.5", "/l/libhipblaslt.so.1"]), (true, true));
}

#[test]
fn a_library_is_not_its_namesake() {
    let blas = |path: &str| Library { path: path.into(), ..Library::default() };
    assert!(is_of(&blas("/a/libhipblas.so.3.1"), "libhipblas.so"));
    assert!(!is_of(&blas("/a/libhipblaslt.so"), "libhipblas.so"));
    assert!(!is_of(&blas("/libhipblas.so/x"), "libhipblas.so"));
}

#[test]
fn of_a_library_that_is_not_hooked_whole_it_is_limited_that_it_was_not_called() {
    let some = Library {
        path: "/opt/rocm/lib/libhipblaslt.so.1".into(),
        functions: Some(90),
        hooked: Some(1),
        ..Library::default()
    };
    let row = verdict(
        &[(hook("hipblasLtMatmul", "armed", None), 0)],
        BTreeMap::from([(4, some)]),
        VisibilityGaps::default(),
        None,
    );
    assert_eq!(
        (row.evidence, row.why.as_str()),
        (Evidence::Limited, "loaded in the process, no call seen; 1 of its 90 functions are hooked")
    );
}

/// A process that was killed left no footer: hipBLAS looks rocSOLVER's functions up, whether it
/// needs them or not.
#[test]
fn what_was_looked_up_was_not_therefore_called() {
    let looked_up = Hook { point: "dlsym".into(), ..hook("hipblasLtMatmul", "bound", Some(4)) };
    let found = |is_counted, calls| {
        let mut coverage = Coverage::default();
        let function = FunctionId::at(0);
        let seen = HookUse { function, hook: &looked_up, calls, silent: 0, is_counted, is_partial: false };
        coverage.add_process([seen].into_iter(), &loaded(), &VisibilityGaps::default(), |_| None, |_| 0);
        let row = coverage.libraries().remove(0);
        (row.evidence, row.functions_called)
    };
    assert_eq!(found(false, 0), (Evidence::Limited, 0));
    assert_eq!(found(true, 0), (CONFIRMED_ABSENT, 0));
    assert_eq!(found(false, 2), (CONFIRMED, 1));
}

#[test]
fn a_process_has_rows_of_its_own() {
    let mut coverage = Coverage::default();
    for (calls, state) in [(0, "armed"), (3, "bound")] {
        let hook = hook("hipblasLtMatmul", state, None);
        let function = FunctionId::at(0);
        let seen = HookUse { function, hook: &hook, calls, silent: 0, is_counted: true, is_partial: false };
        coverage.add_process([seen].into_iter(), &loaded(), &VisibilityGaps::default(), |_| None, |_| 0);
    }
    let own: Vec<_> = coverage.by_process().iter().map(|rows| (rows[0].calls, rows[0].evidence)).collect();
    assert_eq!(own, [(0, CONFIRMED_ABSENT), (3, CONFIRMED)]);
    assert_eq!(coverage.libraries()[0].evidence, CONFIRMED);
}
