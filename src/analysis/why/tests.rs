//! Chains of small traces, with catalogs written by the tests.

use super::{CatalogFolder, Decision, OnDisk, Why, WhyBuilder};
use crate::Evidence;
use crate::evidence::made::CONFIRMED;
use rocshim_catalog::{Folder, testing::write_catalog, testing::write_solutions};
use std::path::Path;

const HEADER: &str = r#"{"type":"header","format":1,"rocshim":"0.1.0","pid":7,"ppid":1,"start_ticks":0,"exe":"/bin/prog","argv":["prog"],"env":{"MIOPEN_DEBUG_CONV_GEMM":"0"},"host":"h","clock":"tsc","tick_hz":1,"epoch":"100","rings":""}
{"type":"library","id":1,"path":"/opt/librocblas.so.5","build_id":"00826f0737e4"}
{"type":"device","ordinal":0,"gfx":"gfx1100","how":"hipGetDeviceProperties"}
{"type":"hook","id":0,"name":"hipExtModuleLaunchKernel","of":"libamdhip64.so","point":"preload","state":"bound"}
{"type":"hook","id":1,"name":"rocblas_gemm_ex","of":"librocblas.so","point":"preload","state":"bound","library":1}
{"type":"hook","id":2,"name":"hipblasGemmEx","of":"libhipblas.so","point":"preload","state":"bound"}
{"type":"hook","id":3,"name":"hipblasLtMatmul","of":"libhipblaslt.so","point":"preload","state":"bound"}
{"type":"hook","id":4,"name":"hipblasLtMatmulAlgoGetHeuristic","of":"libhipblaslt.so","point":"preload","state":"bound"}
{"type":"hook","id":5,"name":"miopenFindConvolutionForwardAlgorithm","of":"libMIOpen.so","point":"preload","state":"bound"}
{"type":"hook","id":6,"name":"miopenConvolutionForward","of":"libMIOpen.so","point":"preload","state":"bound"}
"#;
const FOOTER: &str = "{\"type\":\"footer\",\"t\":9000,\"end\":\"exit\"}\n";

/// Returns the chains of a trace with these lines; `catalog` reads the folder of a request.
fn why(lines: &str, catalog: impl Fn(&super::Wanted) -> Option<CatalogFolder>) -> Why {
    let mut builder = WhyBuilder::default();
    let text = format!("{HEADER}{lines}{FOOTER}");
    let reading = rocshim_reader::read_bytes(text.as_bytes(), Path::new("t.ndjson"), &mut builder).unwrap();
    builder.end_file(reading);
    let catalogs = builder.wanted().iter().filter_map(catalog).collect();
    builder.finish(&OnDisk { catalogs, ..OnDisk::default() })
}

fn link<'a>(decision: &'a Decision, step: &str) -> Vec<(Evidence, &'a str)> {
    let links = decision.links.iter().filter(|link| link.step == step);
    links.map(|link| (link.evidence, link.text.as_str())).collect()
}

/// The same with `variables` in the environment, and what was found in librocblas.so.
fn why_with(variables: &str, lines: &str, has_text: Option<bool>) -> Why {
    let mut builder = WhyBuilder::default();
    let header = HEADER.replace(r#""MIOPEN_DEBUG_CONV_GEMM":"0""#, variables);
    let text = format!("{header}{lines}{FOOTER}");
    let reading = rocshim_reader::read_bytes(text.as_bytes(), Path::new("t.ndjson"), &mut builder).unwrap();
    builder.end_file(reading);
    let texts = builder.texts().into_iter().map(|wanted| (wanted, has_text)).collect();
    builder.finish(&OnDisk { texts, ..OnDisk::default() })
}

/// A GEMM of half, asked for through hipBLAS, that launched `kernel` of `file`.
fn gemm(file: &str, fallback: bool, kernel: &str, status: i32) -> String {
    let matrix = r#"{"ptr":"0x1010","type":"f16_r","ld":64}"#;
    let problem = format!(
        r#""form":"plain","handle":"0x1","trans_a":"T","trans_b":"N","m":64,"n":16,"k":64,"batch":1,"a":{matrix},"b":{matrix},"c":{matrix},"d":{matrix},"alpha":"0x1","beta":"0x1","compute":"f32_r","algo":"standard","solution":0"#
    );
    let launch = if status == 0 {
        r#"{"type":"launch","tid":7,"id":3,"parent":2,"t":20,"dur":1,"hook":0,"kernel":1,"block":[64]}
"#
    } else {
        ""
    };
    format!(
        r#"{{"type":"code_object","id":1,"source":"memory","bytes":4,"xxh3":"00","targets":["gfx1100"],"file":"/opt/rocblas/library/{file}","fallback":{fallback}}}
{{"type":"kernel","id":1,"name":"{kernel}","code_object":1,"tensile":{{"kind":"product"}},"target":"gfx1100"}}
{launch}{{"type":"gemm","tid":7,"id":2,"parent":1,"t":15,"dur":9,"hook":1,"status":{status},{problem}}}
{{"type":"gemm","tid":7,"id":1,"t":10,"dur":20,"hook":2,"status":{status},{problem}}}
"#
    )
}

const OPERATION: &str = "Contraction_l_Alik_Bljk_Cijk_Dijk";

/// A folder with native and fallback solutions for half.
fn library(native: &[(&str, bool, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_catalog(folder.path(), "gfx1100", OPERATION, native, &[("Half", true, "HH_fallback")]);
    write_solutions(folder.path(), "HH_gfx1100", &[(10, 1, [64, 16, 64], 1.0), (11, 1, [512, 16, 64], 1.0)]);
    write_solutions(folder.path(), "HH_fallback", &[(1, 1, [64, 64, 64], 1.0)]);
    folder
}

/// What was read of it, as the process's own.
fn own(folder: &Path, wanted: &super::Wanted) -> CatalogFolder {
    let mut folder = Folder::open(folder, &wanted.target);
    wanted.products.iter().for_each(|product| folder.load(product));
    let (loaded, here) = (true, true);
    CatalogFolder {
        process: wanted.process,
        folder,
        loaded,
        here,
        unchanged: Some(true),
        content: Some(true),
    }
}

const NATIVE: &[(&str, bool, &str)] = &[("Half", true, "HH_gfx1100")];

#[test]
fn a_native_gemm_has_who_asked_what_fits_and_the_size_that_decided() {
    let folder = library(NATIVE);
    let lines = gemm("HH_gfx1100.co", false, "Cijk_10", 0);
    let why = why(&lines, |wanted| {
        assert_eq!((wanted.path.as_str(), wanted.target.as_str()), ("/opt/rocblas/library", "gfx1100"));
        Some(own(folder.path(), wanted))
    });
    let [inner, outer] = &why.decisions[..] else { panic!("{why:#?}") };
    assert_eq!(link(inner, "asked by"), [(CONFIRMED, "hipblasGemmEx (1 of 1 calls)")]);
    assert_eq!(
        link(inner, "asked"),
        [(
            CONFIRMED,
            "rocblas_gemm_ex of librocblas.so.5, build 00826f07, plain; op(A) T op(B) N; m 64 n 16 k 64 batch 1; \
             A B C D f16_r f16_r f16_r f16_r computed in f32_r; leading dimensions 64 64 64 64; pointers aligned to \
             16 16 16 16 bytes"
        )]
    );
    assert_eq!(link(inner, "chosen"), [(CONFIRMED, "1 x Cijk_10 of HH_gfx1100.co for gfx1100")]);
    assert_eq!(
        link(inner, "possible"),
        [
            (
                CONFIRMED,
                "1 of 2 files that the catalog names are native; a native file for Alik_Bljk with Half to Half in \
                 a wider type"
            ),
            (Evidence::Inferred, "native: 2 of 2 solutions fit"),
            (Evidence::Inferred, "fallback: 1 of 1 solutions fit"),
        ]
    );
    let decided = "native solution 10, one of 2 that fit: its own size is 64x16x64";
    assert_eq!(link(inner, "decided"), [(Evidence::Inferred, decided)]);
    let decided = link(outer, "decided");
    assert!(
        decided[0]
            .1
            .starts_with("hipblasGemmEx made the GEMM by a call of rocblas_gemm_ex, which has a decision"),
        "{decided:?}"
    );
}

#[test]
fn fallback_is_confirmed_by_the_processs_own_catalog_alone() {
    let folder = library(&[]);
    let lines = gemm("HH_fallback_gfx1100.hsaco", true, "Cijk_1", 0);
    let decided = |change: fn(&mut CatalogFolder)| {
        let why = why(&lines, |wanted| {
            let mut read = own(folder.path(), wanted);
            change(&mut read);
            Some(read)
        });
        let (evidence, text) = link(&why.decisions[0], "decided")[0];
        assert_eq!(text, "fallback: this library has no native kernels for gfx1100, for any type");
        evidence
    };
    assert_eq!(decided(|_| {}), CONFIRMED);
    assert_eq!(decided(|read| read.here = false), Evidence::Inferred);
    assert_eq!(decided(|read| read.unchanged = None), Evidence::Inferred);
    assert_eq!(decided(|read| read.content = Some(false)), Evidence::Unresolved);
    assert_eq!(decided(|read| read.loaded = false), Evidence::Unresolved);
    let unread = why(&lines, |_| None);
    let text = "fallback: the kernel is of a fallback file; whether native ones exist is not known without the \
                catalog";
    assert_eq!(link(&unread.decisions[0], "decided"), [(Evidence::Unresolved, text)]);
}

#[test]
fn native_kernels_for_other_types_are_reported_apart() {
    let folder = library(&[("Float", false, "SS_gfx1100")]);
    let lines = gemm("HH_fallback_gfx1100.hsaco", true, "Cijk_1", 0);
    let why = why(&lines, |wanted| Some(own(folder.path(), wanted)));
    let decided = link(&why.decisions[0], "decided");
    let text = "fallback: this library has no native kernels for gfx1100 for this operation and types";
    assert_eq!(decided[0], (CONFIRMED, text));
    assert_eq!(
        decided[1],
        (
            Evidence::Inferred,
            "fallback solution 1, one of 1 that fit: the nearest benchmarked size is 64x64x64"
        )
    );
}

#[test]
fn a_missing_or_cut_file_is_named() {
    let folder = library(NATIVE);
    let file = folder.path().join("HH_gfx1100.dat");
    let bytes = std::fs::read(&file).unwrap();
    let lines = gemm("Kernels.so-000-gfx1100.hsaco", false, "helper", 6);
    let decided = || {
        let why = self::why(&lines, |wanted| Some(own(folder.path(), wanted)));
        let decided = link(&why.decisions[0], "decided");
        let what = why.decisions[0].changes[0].what.clone();
        assert!(what.starts_with("put HH_gfx1100.dat back into "), "{what}");
        (decided[0].0, decided[0].1.to_owned())
    };
    std::fs::write(&file, &bytes[..100]).unwrap();
    let (evidence, text) = decided();
    assert_eq!(evidence, Evidence::Inferred);
    assert!(text.starts_with("HH_gfx1100.dat ends early or is damaged at byte "), "{text}");
    assert!(text.ends_with(", which the catalog names for this problem; the call failed with 6"), "{text}");
    std::fs::remove_file(&file).unwrap();
    let died = lines.lines().map(|line| match line.contains("\"gemm\"") {
        true => format!("{{\"type\":\"in_flight\",\"event\":{line}}}\n"),
        false => format!("{line}\n"),
    });
    let why = self::why(&died.collect::<String>(), |wanted| Some(own(folder.path(), wanted)));
    let text =
        "HH_gfx1100.dat is missing, which the catalog names for this problem; the process died in the call";
    assert_eq!(link(&why.decisions[0], "decided"), [(Evidence::Inferred, text)]);
    let text = "HH_gfx1100.dat is missing, which the catalog names for this problem; the call failed with 6";
    assert_eq!(decided(), (Evidence::Inferred, text.into()));
}

#[test]
fn a_kernel_that_the_catalog_does_not_give_is_unresolved() {
    let folder = library(NATIVE);
    let lines = gemm("HH_gfx1100.co", false, "Cijk_11", 0);
    let why = why(&lines, |wanted| Some(own(folder.path(), wanted)));
    let text = "the catalog's own search gives another kernel, Cijk_10";
    assert_eq!(link(&why.decisions[0], "decided"), [(Evidence::Unresolved, text)]);
}

#[test]
fn hipblaslt_has_what_was_asked_what_returned_and_what_ran() {
    let problem = r#""trans_a":"T","trans_b":"N","m":64,"n":16,"k":64,"batch":1,"compute":"32f""#;
    let lines = |algo: i32| {
        format!(
            r#"{{"type":"blas","tid":7,"id":1,"t":10,"dur":1,"hook":4,"action":"heuristic",{problem},"requested":2,"returned":2,"solutions":[5,9],"needs":64}}
{{"type":"matmul","tid":7,"id":2,"t":20,"dur":1,"hook":3,"handle":"0x1",{problem},"algo":{algo},"workspace":128}}
"#
        )
    };
    let decided = |algo: i32| {
        let why = why(&lines(algo), |_| None);
        let decision = &why.decisions[0];
        assert_eq!(
            link(decision, "possible"),
            [(
                CONFIRMED,
                "hipblasLtMatmulAlgoGetHeuristic was asked for 2 and returned 2: 5, 9; the first needs 64 bytes of \
                 workspace"
            )]
        );
        link(decision, "decided")[0].1.to_owned()
    };
    assert_eq!(decided(5), "the program took the first result, 5, with 128 bytes of workspace");
    assert_eq!(decided(9), "the program took result 2 of those returned, 9, with 128 bytes of workspace");
    assert_eq!(decided(1), "the program took 1, which the last heuristic in the trace did not return");
}

#[test]
fn rocblas_goes_to_hipblaslt_by_its_variable_or_the_target() {
    let problem = r#""trans_a":"T","trans_b":"N","m":64,"n":16,"k":64,"batch":1,"compute":"32f""#;
    let matrix = r#"{"ptr":"0x1010","type":"f16_r","ld":64}"#;
    let handed_on = format!(
        r#"{{"type":"matmul","tid":7,"id":2,"parent":1,"t":20,"dur":1,"hook":3,"handle":"0x1",{problem},"algo":5,"workspace":128}}
{{"type":"gemm","tid":7,"id":1,"t":15,"dur":9,"hook":1,"form":"plain","handle":"0x1",{problem},"a":{matrix},"b":{matrix},"c":{matrix},"d":{matrix},"alpha":"0x1","beta":"0x1","algo":"standard","solution":0}}
"#
    );
    let said = |variables: &str| {
        let why = why_with(variables, &handed_on, None);
        let of = |title: &str, step: &str| -> Vec<(Evidence, String)> {
            let decision = why.decisions.iter().find(|decision| decision.title.ends_with(title)).unwrap();
            link(decision, step).into_iter().map(|(class, text)| (class, text.to_owned())).collect()
        };
        (of(" rocblas_gemm_ex", "decided"), of(" hipblasLtMatmul", "asked by")[1].clone())
    };
    let (outer, inner) = said(r#""ROCBLAS_USE_HIPBLASLT":"1""#);
    let handed =
        "rocblas_gemm_ex made the GEMM by a call of hipblasLtMatmul, which has a decision of its own";
    let tries = "rocBLAS tries hipBLASLt first: ROCBLAS_USE_HIPBLASLT=1";
    assert_eq!(outer, [(CONFIRMED, handed.to_owned()), (Evidence::Inferred, tries.to_owned())]);
    let by = "rocBLAS, in 1 of 1 calls, because ROCBLAS_USE_HIPBLASLT=1";
    assert_eq!(inner, (Evidence::Inferred, by.to_owned()));
    // On gfx1100 it would not by itself: that it did is not explained.
    let (outer, inner) = said("");
    assert_eq!(outer.len(), 1);
    assert_eq!(inner.0, Evidence::Unresolved);

    let own = gemm("HH_gfx1100.co", false, "Cijk_10", 0);
    let kept = |variables: &str, has: Option<bool>| {
        let why = why_with(variables, &own, has);
        let decided = link(&why.decisions[0], "decided");
        decided.get(1).map(|(class, text)| (*class, text.to_string()))
    };
    let (class, text) = kept(r#""ROCBLAS_USE_HIPBLASLT":"1""#, Some(false)).unwrap();
    assert_eq!(class, Evidence::Inferred);
    assert!(text.starts_with("not hipBLASLt: this rocBLAS is built without it"), "{text}");
    for has in [Some(true), None] {
        let (class, _) = kept(r#""ROCBLAS_USE_HIPBLASLT":"1""#, has).unwrap();
        assert_eq!(class, Evidence::Unresolved);
        let never = kept(r#""ROCBLAS_USE_HIPBLASLT":"0""#, has);
        assert_eq!(never, Some((Evidence::Inferred, "not hipBLASLt: ROCBLAS_USE_HIPBLASLT=0".into())));
    }
    assert_eq!(kept("", Some(true)), None);
}

#[test]
fn a_convolution_has_its_search_and_the_variables_that_were_set() {
    let problem = r#""direction":"forward","x":{"type":"f32","dims":[1,3,8,8],"strides":[1]},"w":{"type":"f32","dims":[4,3,3,3],"strides":[1]},"pads":[1,1],"strides":[1,1],"dilations":[1,1],"groups":1,"mode":"convolution""#;
    let lines = format!(
        r#"{{"type":"conv","tid":7,"id":1,"t":10,"dur":1,"hook":5,"action":"find",{problem},"returned":1,"results":[{{"algorithm":"direct","time_ms":0.5,"workspace":0}}]}}
{{"type":"conv","tid":7,"id":2,"t":20,"dur":1,"hook":6,"action":"run",{problem},"algorithm":"direct"}}
"#
    );
    let why = why(&lines, |_| None);
    let [decision] = &why.decisions[..] else { panic!("{why:#?}") };
    assert_eq!(
        link(decision, "possible"),
        [(
            CONFIRMED,
            "miopenFindConvolutionForwardAlgorithm returned 1 results: direct 0.5 ms (0 bytes of workspace)"
        )]
    );
    assert_eq!(
        link(decision, "decided"),
        [
            (
                CONFIRMED,
                "the program took the algorithm direct, result 1 of what miopenFindConvolutionForwardAlgorithm \
                     returned"
            ),
            (
                Evidence::Inferred,
                "the search launched nothing: its results are an entry of the find database or an estimate"
            ),
            (
                Evidence::Unresolved,
                "the find database's key of such a problem is not known: only two dimensions, dense NCHW, one group \
                     and one type are"
            ),
            (
                Evidence::Inferred,
                "MIOPEN_FIND_MODE is not set: the library's default, dynamic hybrid in MIOpen 3"
            ),
            (CONFIRMED, "set in the process: MIOPEN_DEBUG_CONV_GEMM=0"),
            (
                Evidence::Inferred,
                "MIOPEN_DEBUG_CONV_GEMM is off: solvers of gemm are left out; none is among the results"
            ),
        ]
    );
    let set: Vec<_> = why.environment.iter().flat_map(|set| set.values.clone()).collect();
    assert_eq!(set, ["MIOPEN_DEBUG_CONV_GEMM=0"]);
}

#[test]
fn lost_events_and_a_missing_end_limit_what_was_asked_before() {
    let problem = r#""trans_a":"T","trans_b":"N","m":64,"n":16,"k":64,"batch":1,"compute":"32f""#;
    let lines = format!(
        r#"{{"type":"blas","tid":7,"id":1,"t":10,"dur":1,"hook":4,"action":"heuristic",{problem},"requested":2,"returned":2,"solutions":[5,9],"needs":64}}
{{"type":"gap","tid":7,"t":12,"dur":3,"lost":4,"reason":"full"}}
{{"type":"matmul","tid":7,"id":9,"t":20,"dur":1,"hook":3,"handle":"0x1",{problem},"algo":5,"workspace":128}}
"#
    );
    let lossy = why(&lines, |_| None);
    assert_eq!(link(&lossy.decisions[0], "decided")[0].0, Evidence::Limited);
    let note = "limited: process 7: 4 events were lost; a decision may be missing or have fewer calls";
    assert_eq!(lossy.notes, [note]);
    let damaged = why(&format!("{lines}nonsense\n"), |_| None);
    assert!(damaged.notes[0].contains("; 1 line is no record and was passed over: line 14; "), "{damaged:?}");
}

#[test]
fn a_product_of_ggml_has_its_rule() {
    let lines = r#"{"type":"code_object","id":1,"source":"fat_binary","path":"/opt/libggml-hip.so","ordinal":30}
{"type":"kernel","id":1,"name":"_Z1","demangled":"void mul_mat_vec_q<(ggml_type)2, 8, false>(void const*)","code_object":1,"target":"gfx1100"}
{"type":"launch","tid":7,"id":1,"t":20,"dur":1,"hook":0,"kernel":1,"block":[64]}
"#;
    let why = why(lines, |_| None);
    let [decision] = &why.decisions[..] else { panic!("{why:#?}") };
    assert_eq!(decision.title, "ggml mmvq q4_0, 1 to 8 columns");
    let asked = "1 launch of mmvq q4_0; columns (ne11) 8";
    assert_eq!(link(decision, "asked"), [(Evidence::Inferred, asked)]);
    let chosen = "1 x mul_mat_vec_q<(ggml_type)2, 8, false> of libggml-hip.so, bundle 30 for gfx1100";
    assert_eq!(link(decision, "chosen"), [(CONFIRMED, chosen)]);
    assert_eq!(link(decision, "decided")[0].0, Evidence::Inferred);
    assert!(decision.is_named("#1") && decision.is_named("MMVQ") && decision.is_named("*vec_q*"));
    assert!(!decision.is_named("2") && !decision.is_named("mmq"));
}
