//! `rocshim why` on the real hipBLASLt and rocBLAS: how many results were asked for, the workspace,
//! the alignment of pointers, and the variable by which rocBLAS would go to hipBLASLt.

use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::why::{decisions, links};
use rocshim_tests::rocm::{Bench, HIP7};
use serde_json::Value;

/// `NAME: COUNT results, INDEX runs, needs BYTES: STATUS`, a line for each choice of the program.
#[derive(Debug)]
struct Said {
    results: u64,
    runs: i64,
    needs: u64,
}

fn said(out: &str) -> Vec<Said> {
    let line = |line: &str| {
        let (rest, status) = line.rsplit_once(": ")?;
        assert_eq!(status, "0", "{line}");
        let words: Vec<&str> = rest.rsplit_once(": ")?.1.split([' ', ',']).collect();
        Some(Said {
            results: words[0].parse().ok()?,
            runs: words[3].parse().ok()?,
            needs: words.last()?.parse().ok()?,
        })
    };
    out.lines().map(|of| line(of).unwrap_or_else(|| panic!("{of}"))).collect()
}

#[test]
fn results_workspace_and_alignment_have_their_part_in_what_ran() {
    let bench = Bench::new(&HIP7, "gfx1201");
    // Not twice: beyond the first result their order differs from run to run.
    let (out, err, code) = run(bench.traced().arg(HIP7.program("hipblaslt_choices")));
    assert_eq!(code, Some(0), "{err}");
    let said = said(&out);
    let [one, many, second, room, misaligned, without, with] = said.as_slice() else { panic!("{out}") };
    let why = bench.printed(["why"], []);
    let decisions = why["decisions"].as_array().expect("decisions");
    let of = |shape: &str, index: i64, workspace: u64| -> &Value {
        let begin = format!("TN {shape} ");
        let asked = format!("workspace {workspace} bytes");
        let is_so = |decision: &&Value| {
            decision["title"].as_str().is_some_and(|title| title.starts_with(&begin))
                && links(decision, "asked")[0].1.contains(&asked)
                && links(decision, "decided")[0].1.contains(&format!(" {index}"))
        };
        decisions.iter().find(is_so).unwrap_or_else(|| panic!("{shape} {index} {workspace}: {why:#}"))
    };
    const MIB_64: u64 = 64 << 20;

    // 1 and 128 results, and misaligned pointers: the first result is the same, so it is one
    // decision, and each query is listed.
    assert_eq!((one.results, many.results), (1, 128));
    assert_eq!([one.runs, many.runs, room.runs], [misaligned.runs; 3]);
    let first = of("512x16x256", one.runs, 0);
    assert_eq!(first["calls"], 3);
    let possible = links(first, "possible");
    let begins =
        |begin: &str| possible.iter().any(|(class, text)| class == "confirmed" && text.starts_with(begin));
    assert!(begins("before 2 of 3 calls: hipblasLtMatmulAlgoGetHeuristic was asked for 1 and returned 1: "));
    assert!(begins(
        "before 1 of 3 calls: hipblasLtMatmulAlgoGetHeuristic was asked for 128 and returned 128: "
    ));
    let decided = links(first, "decided");
    let text = format!("the program took the first result, {}, with 0 bytes of workspace", one.runs);
    assert_eq!(decided[0], ("confirmed".into(), text));
    let text = "pointers aligned to 2 bytes did not decide: the heuristic is called without the pointers";
    assert_eq!(decided[1], ("inferred".into(), text.into()));
    let by = &links(first, "asked by")[0];
    assert_eq!(by.0, "inferred");
    assert!(by.1.starts_with("no call of rocBLAS is around it: "), "{by:?}");

    // 64 MiB change nothing of that: the first result needs none.
    let decided = links(of("512x16x256", room.runs, MIB_64), "decided");
    assert!(decided[0].1.starts_with("the program took the first result, "), "{decided:?}");
    // 128 results let the program take another one.
    assert_ne!(second.runs, one.runs);
    let decided = links(of("512x16x256", second.runs, 0), "decided");
    assert_eq!(decided[0].0, "confirmed");
    assert!(decided[0].1.starts_with("the program took result 2 of those returned, "), "{decided:?}");

    // With 64 MiB there are algorithms that without workspace are cut off, and one of them runs.
    assert!(without.results < with.results, "{out}");
    assert_ne!(without.runs, with.runs, "{out}");
    assert_eq!(without.needs, 0);
    assert!((1..=MIB_64).contains(&with.needs), "{out}");
    for (said, workspace) in [(without, 0), (with, MIB_64)] {
        let possible = links(of("513x257x259", said.runs, workspace), "possible");
        let text = format!("was asked for 1024 and returned {}: ", said.results);
        assert!(possible[0].1.contains(&text), "{possible:?}");
    }
}

/// Debian's rocBLAS is built without hipBLASLt: the variable changes nothing, and `why` says so.
#[test]
fn a_rocblas_without_hipblaslt_does_not_follow_its_variable() {
    let mut kernels = Vec::new();
    for value in [None, Some("0"), Some("1")] {
        let mut bench = Bench::new(&HIP7, "gfx1201");
        if let Some(value) = value {
            bench = bench.env("ROCBLAS_USE_HIPBLASLT", value);
        }
        bench.run_both([HIP7.program("rocblas_types").as_os_str(), "f16/f32".as_ref()]);
        let decision = &decisions(&bench, &[])[0];
        kernels.push(decision["kernels"].clone());
        let decided = links(decision, "decided");
        let text = match value {
            Some("0") => {
                "not hipBLASLt: this rocBLAS is built without it, so ROCBLAS_USE_HIPBLASLT=0 changes nothing"
            }
            Some(_) => {
                "not hipBLASLt: this rocBLAS is built without it, so it does not read ROCBLAS_USE_HIPBLASLT \
                 (ROCBLAS_USE_HIPBLASLT=1)"
            }
            None => {
                "not hipBLASLt: this rocBLAS is built without it, so it does not read ROCBLAS_USE_HIPBLASLT \
                 (ROCBLAS_USE_HIPBLASLT is not set, and gfx1201 is a target where that means yes)"
            }
        };
        assert!(decided.contains(&("inferred".into(), text.into())), "{decided:#?}");
    }
    assert!(kernels.iter().all(|of| *of == kernels[0]), "{kernels:#?}");
}
