//! Images from memory are identified among the library's files, and dispatched fallback kernels are
//! reported with the file: in the traced process, in recovery, and without the folder.

use rocshim_tests::{Outcome, Trace, Traced, artifacts};
use rocshim_trace::CodeObject;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of Tensile files beside the stand-in library.
fn library() -> PathBuf {
    artifacts::vendor().join("rocblas/library")
}

fn in_memory(trace: &Trace) -> impl Iterator<Item = &CodeObject> {
    trace.code_objects().filter(|object| object.source == "memory")
}

/// A copy of the library's files for one target.
fn copy_for(gfx: &str, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(library()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().contains(gfx) {
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
}

fn summary(outcome: &Outcome) -> Value {
    let files = outcome.trace_files();
    let printed = Traced::rocshim(["summary", "--json", files[0].to_str().unwrap()]).run().ok();
    serde_json::from_str(&printed.stdout).unwrap()
}

/// The summary at this width in columns.
fn page(outcome: &Outcome, columns: &str) -> String {
    let files = outcome.trace_files();
    Traced::rocshim(["summary", files[0].to_str().unwrap()]).env("COLUMNS", columns).run().ok().stdout
}

/// Kernel → launches that succeeded, by the stand-ins' log, without helper kernels of GEMMs.
fn products(outcome: &Outcome) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for launch in outcome.standin_log().launches {
        if launch.status == 0 && launch.kernel.contains("_MT") {
            *counts.entry(launch.kernel).or_default() += 1;
        }
    }
    counts
}

#[test]
fn an_image_from_memory_is_the_file_with_its_bytes() {
    let outcome = Traced::program("gemm").env("STANDIN_ROCBLAS_BETA", "1").with_shim().ok();
    let trace = outcome.trace();
    assert!(in_memory(&trace).count() >= 4);
    for object in in_memory(&trace) {
        let file = object.file.as_deref().unwrap_or_else(|| panic!("{object:?}"));
        assert_eq!(
            Path::new(file).parent().unwrap().canonicalize().unwrap(),
            library().canonicalize().unwrap()
        );
        assert_eq!(object.bytes, Some(fs::metadata(file).unwrap().len()));
        assert!(file.contains("gfx1100") && object.targets == ["gfx1100"], "{object:?}");
        // f32 and f64 come from the fallback library, the others from the target's own.
        let said = ["fallback", "Kernels"].map(|word| file.contains(word));
        let expected = if said[1] { None } else { Some(said[0]) };
        assert_eq!((object.fallback, &object.unmatched), (expected, &None), "{file}");
    }
    let kernels: BTreeMap<u32, &CodeObject> = in_memory(&trace).map(|object| (object.id, object)).collect();
    for kernel in trace.kernels() {
        let fallback = kernels[&kernel.code_object.unwrap()].fallback;
        let tensile = kernel.tensile.as_ref().unwrap_or_else(|| panic!("{kernel:?}"));
        assert_eq!(
            tensile.is_product().then_some(kernel.name.contains("_KLS_")),
            fallback,
            "{}",
            kernel.name
        );
    }
}

#[test]
fn on_a_target_without_kernels_of_its_own_every_product_is_a_fallback() {
    let outcome = Traced::program("gemm").env("STANDIN_GFX", "gfx1201").with_shim().ok();
    let (printed, counted) = (&summary(&outcome)["fallback"], products(&outcome));
    assert_eq!(printed["evidence"], "confirmed");
    let rows = printed["kernels"].as_array().unwrap();
    let rows: BTreeMap<String, u64> = rows
        .iter()
        .inspect(|row| assert!(row["file"].as_str().unwrap().ends_with("_fallback_gfx1201.hsaco"), "{row}"))
        .map(|row| (row["kernel"].as_str().unwrap().into(), row["launches"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, counted);
    assert_eq!(printed["products"].as_u64().unwrap(), counted.values().sum::<u64>());
}

#[test]
fn on_a_target_with_kernels_of_its_own_for_every_type_a_fallback_is_confirmed_absent() {
    let outcome = Traced::program("gemm").env("STANDIN_GFX", "gfx942").with_shim().ok();
    let (printed, counted) = (&summary(&outcome)["fallback"], products(&outcome));
    assert_eq!(
        (&printed["evidence"], &printed["kernels"]),
        (&"confirmed_absent".into(), &serde_json::json!([]))
    );
    assert_eq!(printed["products"].as_u64().unwrap(), counted.values().sum::<u64>());
}

#[test]
fn the_page_names_the_fallback_files_and_how_each_product_was_written() {
    let outcome = Traced::program("gemm").with_shim().ok();
    let page = page(&outcome, "120");
    let fallback: u64 =
        products(&outcome).iter().filter(|(name, _)| name.contains("_KLS_")).map(|(_, n)| n).sum();
    let all: u64 = products(&outcome).values().sum();
    let title = format!("Fallback kernels: {fallback} of {all} product launches");
    assert!(page.contains(&format!("\n{title} (confirmed).\n")), "the answer says it too: {page}");
    let section: Vec<&str> = page.lines().skip_while(|line| *line != title).collect();
    assert!(section[2].contains("confirmed") && section[2].ends_with("_fallback_gfx1100.hsaco"), "{page}");
    for line in [
        "launched 1 x Cijk_Ailk_Bljk_SB_MT64x64x16… source any target",
        "launched 1 x Cijk_Alik_Bljk_HHS_BH_MT64x64x32… assembly gfx1100",
        "solution index 2 was asked for, unresolved: ",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    for line in page.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn the_folder_that_the_traced_process_was_given_is_searched() {
    let traced = Traced::program("gemm");
    let folder = traced.folder().join("mine/gfx1100");
    copy_for("gfx1100", &folder);
    let outcome = traced.env("ROCBLAS_TENSILE_LIBPATH", &folder).with_shim().ok();
    for object in in_memory(&outcome.trace()) {
        let file = object.file.as_deref().unwrap_or_else(|| panic!("{object:?}"));
        assert_eq!(Path::new(file).parent(), Some(folder.as_path()));
    }
}

#[test]
fn without_the_files_kernel_names_decide_as_far_as_they_can() {
    // The stand-in generates missing files in memory.
    let outcome = Traced::program("gemm").env("ROCBLAS_TENSILE_LIBPATH", "/nowhere").with_shim().ok();
    for object in in_memory(&outcome.trace()) {
        assert_eq!((&object.file, object.fallback), (&None, None));
        assert_eq!(object.unmatched.as_deref(), Some("no library folder holds files here, /nowhere neither"));
    }
    let printed = &summary(&outcome)["fallback"];
    assert_eq!(printed["evidence"], "inferred");
    let rows = printed["kernels"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["kernel"].as_str().unwrap().contains("_ISA000_")));
    assert!(rows.iter().all(|row| row["evidence"] == "inferred" && row["file"].is_null()));
    assert!(page(&outcome, "80").contains("\n  inferred: only the fallback library holds source kernels"));
}

/// A process that died in its fourth launch, with its own library in the scratch folder.
fn died() -> (Outcome, PathBuf) {
    let traced = Traced::program("gemm").env("STANDIN_DIE_AT", "4").env("STANDIN_LOG_SYNC", "1");
    let folder = traced.folder().join("mine");
    copy_for("gfx1100", &folder);
    (traced.env("ROCBLAS_TENSILE_LIBPATH", &folder).with_shim(), folder)
}

#[test]
fn remains_of_a_killed_process_are_matched_in_its_environment_not_in_ours() {
    let (outcome, folder) = died();
    let file = &outcome.trace_files()[0];
    let recover = Traced::rocshim(["recover".as_ref(), file.as_os_str()]);
    recover.env("ROCBLAS_TENSILE_LIBPATH", "/nowhere").run().ok();
    let trace = outcome.trace();
    assert!(trace.footers().count() == 1 && in_memory(&trace).count() > 0);
    for object in in_memory(&trace) {
        assert!(
            object.file.as_deref().is_some_and(|file| Path::new(file).starts_with(&folder)),
            "{object:?}"
        );
    }
}

#[test]
fn remains_of_a_killed_process_are_unmatched_without_its_folder() {
    let (outcome, folder) = died();
    fs::rename(&folder, folder.with_extension("elsewhere")).unwrap();
    let file = &outcome.trace_files()[0];
    Traced::rocshim(["recover".as_ref(), file.as_os_str()]).run().ok();
    // What the process had written stays; what is written again names no file, in particular not a
    // wrong one.
    for object in in_memory(&outcome.trace()) {
        let is_its_own = object.file.as_deref().is_some_and(|file| Path::new(file).starts_with(&folder));
        assert!(is_its_own || object.unmatched.is_some(), "{object:?}");
    }
    let printed = summary(&outcome);
    for object in printed["code_objects"].as_array().unwrap() {
        assert!(object["file"].is_null() || object["unmatched"].is_null(), "{object}");
    }
}
