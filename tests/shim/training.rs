//! A PyTorch-like training loop is recorded as it ran: the launches and calls of each part of each
//! step, by thread and range.

use rocshim_tests::{Outcome, Trace, Traced};
use rocshim_trace::Call;
use std::collections::BTreeMap;

/// Numbers of the program's own launches, GEMMs, hipBLASLt GEMMs, convolutions.
type Counts = [usize; 4];

const PARTS: [&str; 3] = ["forward", "backward", "optimizer"];

/// The numbers that the program prints, by step and part.
fn said(stdout: &str) -> BTreeMap<(usize, String), Counts> {
    let line = |line: &str| {
        let (place, counts) = line.strip_prefix("step ")?.split_once(": ")?;
        let (step, part) = place.split_once(' ')?;
        let numbers: Vec<usize> =
            counts.split(", ").filter_map(|count| count.split(' ').next()?.parse().ok()).collect();
        Some(((step.parse().ok()?, part.to_owned()), numbers.try_into().ok()?))
    };
    stdout.lines().filter_map(line).collect()
}

/// Sums over the steps of one part.
fn part(said: &BTreeMap<(usize, String), Counts>, part: &str) -> Counts {
    let of_part = said.iter().filter(|((_, name), _)| name == part);
    of_part.fold([0; 4], |sum, (_, counts)| std::array::from_fn(|i| sum[i] + counts[i]))
}

/// The calls in the trace that the program made itself, those that `meant` selects.
fn recorded(trace: &Trace, meant: impl Fn(&Call) -> bool) -> Counts {
    let own = |call: &Call| call.parent.is_none() && call.status == 0 && meant(call);
    [
        trace.launches().filter(|launch| own(&launch.call)).count(),
        trace.gemms().filter(|gemm| own(&gemm.call)).count(),
        trace.matmuls().filter(|matmul| own(&matmul.call)).count(),
        trace.convs().filter(|conv| conv.action == "immediate" && own(&conv.call)).count(),
    ]
}

/// The calls that reached the libraries: launches with their kernels, GEMMs, convolutions.
fn reached(outcome: &Outcome) -> (Vec<(String, [u32; 3])>, usize, usize) {
    let log = outcome.standin_log();
    let launches = log.launches.into_iter().map(|launch| (launch.kernel, launch.grid)).collect();
    (launches, log.gemms.len(), log.convs.len())
}

/// The same program with the shim; it must behave as without.
fn trained(words: &[&str]) -> (Outcome, Trace) {
    let bare = Traced::program("training").args(words).run().ok();
    let outcome = Traced::program("training").args(words).with_shim().ok();
    assert_eq!((&outcome.stdout, outcome.stderr.as_str()), (&bare.stdout, ""));
    assert_eq!(reached(&outcome), reached(&bare));
    let trace = outcome.trace();
    (outcome, trace)
}

#[test]
fn each_part_of_a_step_is_recorded_on_the_thread_that_made_it() {
    let (outcome, trace) = trained(&["4"]);
    let said = said(&outcome.stdout);
    assert_eq!(said.len(), 4 * PARTS.len());
    let main = trace.headers().next().expect("a header").pid;
    let on_main = recorded(&trace, |call| call.tid == main);
    let [forward, backward, optimizer] = PARTS.map(|name| part(&said, name));
    assert_eq!(on_main, std::array::from_fn(|i| forward[i] + optimizer[i]));
    assert_eq!(recorded(&trace, |call| call.tid != main), backward);
    assert!(backward.iter().all(|count| *count > 0), "{backward:?}");
    let items =
        trace.copies().filter(|copy| copy.kind.as_deref() == Some("d2h") && copy.bytes == Some(4)).count();
    assert_eq!(items, 4, "the loss of each step");
}

#[test]
fn ranges_enclose_the_parts_of_the_main_thread() {
    let (outcome, trace) = trained(&["3", "ranges", "quiet"]);
    let said = said(&outcome.stdout);
    assert!(!trace.copies().any(|copy| copy.kind.as_deref() == Some("d2h")));
    let main = trace.headers().next().expect("a header").pid;
    let mut marks: Vec<_> = trace.marks().filter(|mark| mark.call.tid == main).collect();
    marks.sort_by_key(|mark| mark.call.t);
    assert_eq!(marks.len(), 2 * said.len());
    for (at, pair) in marks.chunks(2).enumerate() {
        let (step, name) = (at / PARTS.len() + 1, PARTS[at % PARTS.len()]);
        assert_eq!((pair[0].action.as_str(), pair[0].text.as_deref()), ("push", Some(name)));
        assert_eq!((pair[1].action.as_str(), pair[1].level), ("pop", Some(0)));
        // The backward thread works while the main one waits in its range.
        let inside = recorded(&trace, |call| (pair[0].call.t..pair[1].call.t).contains(&call.t));
        assert_eq!(inside, said[&(step, name.to_owned())], "step {step}, {name}");
    }
}

/// The numbers that `phases` prints for each part: launches of PyTorch's kernels, GEMM calls,
/// convolution calls.
fn printed(outcome: &Outcome, names: [&str; 3]) -> [Counts; 3] {
    let out = outcome.folder().join("out");
    let json = Traced::rocshim(["phases".as_ref(), "--json".as_ref(), out.as_os_str()]).run().ok().stdout;
    let phases: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let sum = |rows: &serde_json::Value, number: &str, meant: &dyn Fn(&serde_json::Value) -> bool| {
        let rows = rows.as_array().expect("rows").iter().filter(|row| meant(row));
        rows.map(|row| row[number].as_u64().expect("a number") as usize).sum::<usize>()
    };
    let calls = |kind: &serde_json::Value, function: &str| {
        let libraries = kind["libraries"].as_array().expect("libraries").iter();
        let functions = libraries.flat_map(|library| library["functions"].as_object().expect("functions"));
        functions
            .filter(|(name, _)| name.contains(function))
            .map(|(_, n)| n.as_u64().unwrap() as usize)
            .sum::<usize>()
    };
    names.map(|name| {
        let kinds = phases["kinds"].as_array().expect("kinds").iter();
        let of_name =
            kinds.filter(|kind| kind["label"] == name || (kind["label"].is_null() && kind["kind"] == name));
        of_name.fold([0; 4], |all, kind| {
            let here = [
                sum(&kind["families"], "launches", &|row| row["of"] == "PyTorch"),
                calls(kind, "rocblas_gemm_ex"),
                calls(kind, "hipblasLtMatmul"),
                calls(kind, "Immediate"),
            ];
            std::array::from_fn(|i| all[i] + here[i])
        })
    })
}

#[test]
fn phases_finds_the_parts_of_a_step_with_and_without_ranges() {
    for (words, names) in [
        (&["4"][..], ["forward", "backward", "optimiser"]),
        (&["4", "quiet"], ["forward", "backward", "optimiser"]),
        (&["3", "ranges"], PARTS),
    ] {
        let (outcome, _) = trained(words);
        let said = said(&outcome.stdout);
        // MIOpen's stand-in implements each convolution with a GEMM of rocBLAS.
        let expected = PARTS.map(|name| {
            let [launches, gemms, matmuls, convolutions] = part(&said, name);
            [launches, gemms + convolutions, matmuls, convolutions]
        });
        assert_eq!(printed(&outcome, names), expected, "{words:?}");
    }
}
