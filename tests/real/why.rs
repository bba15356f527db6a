//! `rocshim why` on real libraries: what it reads from rocBLAS's catalog is what rocBLAS says and
//! does, a damaged library folder is named, and decisions of ggml and hipBLASLt have their reasons.

use rocshim_tests::gguf::{self, Quantisation};
use rocshim_tests::rocm::bench::run;
use rocshim_tests::rocm::why::{decisions, links};
use rocshim_tests::rocm::{self, Bench, HIP6, HIP7};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Numbers before ` of … solutions fit` and before ` undecided`, over all files.
fn counted(decision: &Value) -> (usize, usize) {
    let number =
        |text: &str| text.rsplit(' ').next().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let before = |text: &str, mark: &str| text.split_once(mark).map_or(0, |(before, _)| number(before));
    let (mut fit, mut undecided) = (0, 0);
    for (_, text) in links(decision, "possible").iter().filter(|(_, text)| text.contains(" solutions fit")) {
        fit += before(text, " of ");
        undecided += before(text, " undecided");
    }
    (fit, undecided)
}

/// Every type and transposition: the catalog's answer is the kernel that ran, and as many solutions
/// fit as rocBLAS itself says.
#[track_caller]
fn the_catalog_agrees_with_the_library(gfx: &'static str, natives: usize, fallback: &str) {
    let bench = Bench::new(&HIP7, gfx);
    let out = bench.run_both([HIP7.program("rocblas_types")]);
    let decisions = decisions(&bench, &[]);
    let asked: Vec<Vec<&str>> = out.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!((asked.len(), decisions.len()), (32, 32), "{out}");
    let mut native = 0;
    for (asked, decision) in asked.iter().zip(&decisions) {
        let title = decision["title"].as_str().expect("a title");
        assert!(title.starts_with(&format!("{} {} ", asked[0], asked[1])), "{asked:?} {title}");
        assert_eq!(asked[2], "0", "{asked:?}");
        let (fit, undecided) = counted(decision);
        let said: usize = asked[3].parse().expect("a number");
        assert!((fit..=fit + undecided).contains(&said), "{asked:?}: {fit} and {undecided}: {decision:#}");
        // Beyond the reason for a fallback, the table gives the very kernel that was launched.
        let mut decided = links(decision, "decided");
        decided.retain(|(_, text)| !text.starts_with("not hipBLASLt: "));
        let (last, kind) =
            (decided.last().expect("a reason"), if decided.len() == 1 { "native" } else { "fallback" });
        assert_eq!(last.0, "inferred", "{decision:#}");
        assert!(last.1.starts_with(&format!("{kind} solution ")), "{decision:#}");
        if kind == "native" {
            native += 1;
        } else {
            assert_eq!(decided[0], ("confirmed".into(), fallback.to_owned()), "{decision:#}");
        }
    }
    assert_eq!(native, natives);
}

#[test]
fn on_rdna_3_the_catalog_agrees_with_rocblas() {
    // f16, f16 and bf16 in f32, f32, int8; each in four transpositions.
    let why = "fallback: this library has no native kernels for gfx1100 for this operation and types";
    the_catalog_agrees_with_the_library("gfx1100", 20, why);
}

#[test]
fn on_rdna_4_there_is_no_native_kernel_for_any_type() {
    let why = "fallback: this library has no native kernels for gfx1201, for any type";
    the_catalog_agrees_with_the_library("gfx1201", 0, why);
}

const NATIVE: &str = "TensileLibrary_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk_gfx1100.dat";

/// rocBLAS dies without a file that its catalog names: which it was is said.
#[test]
fn a_missing_and_a_cut_file_of_the_library_folder_are_named() {
    let installed = HIP7.folder().join("usr/lib/x86_64-linux-gnu/rocblas/5/library");
    for (damage, state) in [(None, "is missing"), (Some(200_000), "ends early or is damaged at byte ")] {
        let library = tempfile::tempdir().expect("a scratch folder");
        for entry in fs::read_dir(&installed).expect("the library's folder").flatten() {
            let name = entry.file_name().into_string().expect("a name");
            if name.contains("gfx1100") || name.contains("fallback") {
                fs::copy(entry.path(), library.path().join(name)).expect("a copy");
            }
        }
        let native = library.path().join(NATIVE);
        match damage {
            None => fs::remove_file(&native).expect("it was there"),
            Some(length) => cut(&native, length),
        }
        let bench = Bench::new(&HIP7, "gfx1100").env("ROCBLAS_TENSILE_LIBPATH", library.path());
        let output =
            bench.traced().arg(HIP7.program("rocblas_types")).arg("f16/f32").output().expect("it runs");
        assert!(!output.status.success(), "rocBLAS does without it");
        let decisions = decisions(&bench, &[]);
        let decided = links(&decisions[0], "decided");
        let (evidence, text) = &decided[0];
        assert_eq!(evidence, "inferred", "{decided:?}");
        assert!(text.starts_with(&format!("{NATIVE} {state}")), "{text}");
        assert!(text.ends_with("; the process died in the call"), "{text}");
        let possible = links(&decisions[0], "possible");
        assert_eq!(possible[1].0, "confirmed", "{possible:?}");
        assert!(possible[1].1.starts_with(&format!("native: {NATIVE} {state}")), "{possible:?}");
    }
}

fn cut(path: &Path, length: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_len(length).expect("it is cut");
}

/// hipBLASLt's heuristic is asked, the first of its results runs; then the library picks by itself.
#[test]
fn a_matmul_of_hipblaslt_has_the_place_of_its_algorithm_among_the_results() {
    let bench = Bench::new(&HIP7, "gfx1201");
    bench.run_both([HIP7.program("hipblaslt_matmul")]);
    let why = bench.printed(["why"], []);
    let decisions = why["decisions"].as_array().expect("decisions");
    // Those of hipblasLtMatmul; C++ objects have decisions of their own.
    let is_c = |title: &Value| title.as_str().is_some_and(|title| title.ends_with(" hipblasLtMatmul"));
    let matmuls = || decisions.iter().filter(|decision| is_c(&decision["title"]));
    let first: Vec<_> = matmuls()
        .filter(|d| links(d, "decided")[0].1.starts_with("the program took the first result, "))
        .collect();
    assert_eq!(first.len(), 6, "{why:#}");
    for decision in first {
        let possible = links(decision, "possible");
        assert!(possible[0].1.starts_with("hipblasLtMatmulAlgoGetHeuristic was asked for "), "{possible:?}");
        assert_eq!(possible[0].0, "confirmed");
        assert_eq!(links(decision, "decided")[0].0, "confirmed");
    }
    // What the library picks by itself is not known.
    assert!(matmuls().any(|d| links(d, "decided")[0].0 == "unresolved"), "{why:#}");
}

/// The columns of a prompt decide between ggml's families: 8 tokens, 9 and 290.
#[test]
fn prompts_of_8_and_9_tokens_have_different_rules() {
    for (tokens, title, evidence) in [
        (8, "ggml mmvq q4_0, 1 to 8 columns", "inferred"),
        (9, "ggml mmq q4_0, 9 to 63 columns", "inferred"),
        (290, "ggml mmq q4_0, 64 or more columns", "unresolved"),
    ] {
        let bench = Bench::new(&HIP6, "gfx1100");
        let mut command = bench.traced();
        let model = rocm::model(Quantisation::Q4_0);
        command.arg("llama-completion").arg("-m").arg(model).args(["-ngl", "99", "-n", "2", "--no-warmup"]);
        command.args(["-p", &gguf::prompt(tokens), "--temp", "0", "--seed", "1", "-no-cnv"]);
        let (_, err, code) = run(&mut command);
        assert_eq!(code, Some(0), "{err}");
        let why = bench.printed(["why"], []);
        let decisions = why["decisions"].as_array().expect("decisions");
        let decision = decisions.iter().find(|decision| decision["title"] == title);
        let decision = decision.unwrap_or_else(|| panic!("{title}: {why:#}"));
        assert_eq!(links(decision, "decided")[0].0, evidence, "{decision:#}");
        let asked = links(decision, "asked");
        assert!(asked[0].1.contains(&format!(" {tokens}")), "{asked:?}");
        // With 8 tokens nothing goes to MMQ.
        let others = decisions.iter().filter(|d| d["title"].as_str().is_some_and(|t| t.contains(" mmq ")));
        assert_eq!(others.count(), usize::from(tokens > 8), "{why:#}");
    }
}
