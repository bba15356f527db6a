//! Whether rocBLAS or hipBLASLt served a GEMM, and what decided that.
//!
//! rocBLAS, where it is built with hipBLASLt, tries that library first if `ROCBLAS_USE_HIPBLASLT`
//! begins with 1, or if it is unset on gfx1200 and gfx1201 (`_rocblas_handle::useHipBLASLt` in
//! library/src/include/handle.hpp, ROCm 6.4 to 7.2).

use super::{
    catalogs::{LibraryText, OnDisk},
    rows::Link,
    seen::{Process, Seen},
};
use crate::{Evidence, evidence::observations::Observation, units::count};

const VARIABLE: &str = "ROCBLAS_USE_HIPBLASLT";
const SOURCE: &str = "library/src/include/handle.hpp, useHipBLASLt";

/// What a process asks rocBLAS for, with the reason.
enum Wish {
    HipBlasLt(String),
    Tensile(String),
    /// The target is not known, and the variable is not set.
    Unknown,
}

fn wish(process: &Process) -> Wish {
    match (process.environment.get(VARIABLE), process.target()) {
        (Some(value), _) if value.starts_with('1') => Wish::HipBlasLt(format!("{VARIABLE}={value}")),
        (Some(value), _) => Wish::Tensile(format!("{VARIABLE}={value}")),
        (None, Some(target @ ("gfx1200" | "gfx1201"))) => {
            Wish::HipBlasLt(format!("{VARIABLE} is not set, and {target} is a target where that means yes"))
        }
        (None, Some(target)) => {
            Wish::Tensile(format!("{VARIABLE} is not set, and {target} is a target where that means no"))
        }
        (None, None) => Wish::Unknown,
    }
}

/// The library's file that is searched for the name of the variable.
pub(super) fn wanted(process: &Process) -> Option<LibraryText> {
    let library = process.library("librocblas.so")?;
    let (path, build_id) = (library.path.clone(), library.build_id.clone()?);
    Some(LibraryText { path, build_id, text: VARIABLE })
}

/// Who called hipBLASLt: rocBLAS, or the program without it.
pub(super) fn caller(seen: &Seen, process: &Process) -> Link {
    let by = |name: &str| -> u64 {
        seen.asked_by.iter().filter(|(function, _)| function.starts_with(name)).map(|(_, calls)| calls).sum()
    };
    let by_rocblas = by("rocblas_").min(seen.calls);
    if by_rocblas == 0 {
        let mut text =
            "no call of rocBLAS is around it: the program, or a library of it such as PyTorch, called \
                        hipBLASLt itself"
                .to_owned();
        let set = ["TORCH_BLAS_PREFER_HIPBLASLT", "DISABLE_ADDMM_CUDA_LT"];
        for (name, value) in set.iter().filter_map(|name| Some((name, process.environment.get(*name)?))) {
            text += &format!("; {name}={value} is set");
        }
        // A call around it may be among what is missing.
        let evidence = process.limits().map_or(Evidence::Inferred, |_| Evidence::Limited);
        return Link::new("asked by", evidence, text);
    }
    let (evidence, why) = match wish(process) {
        Wish::HipBlasLt(why) => (Evidence::Inferred, format!(", because {why}")),
        Wish::Tensile(why) => (Evidence::Unresolved, format!(", although {why}")),
        Wish::Unknown => (Evidence::Unresolved, String::new()),
    };
    let text = format!("rocBLAS, in {} of {} calls{why}", count(by_rocblas), count(seen.calls));
    Link::new("asked by", evidence, text).from(SOURCE)
}

/// Why rocBLAS handed the GEMM to another function.
pub(super) fn handed_on(function: &str, seen: &Seen, process: &Process) -> Vec<Link> {
    let to: Vec<&str> = seen.handed_to.iter().map(String::as_str).collect();
    let to = if to.is_empty() { "another function".into() } else { to.join(", ") };
    let text = format!("{function} made the GEMM by a call of {to}, which has a decision of its own");
    let mut links = vec![Link::new("decided", Observation::Argument.evidence(), text)];
    let is_lt =
        |function: &String| function.starts_with("hipblasLt") || function.starts_with("hipblaslt_ext");
    if function.starts_with("rocblas_")
        && seen.handed_to.iter().any(is_lt)
        && let Wish::HipBlasLt(why) = wish(process)
    {
        let text = format!("rocBLAS tries hipBLASLt first: {why}");
        links.push(Link::new("decided", Evidence::Inferred, text).from(SOURCE));
    }
    links
}

/// Why rocBLAS took a kernel of its own, where hipBLASLt could have been asked for.
pub(super) fn kept(process: &Process, on_disk: &OnDisk) -> Option<Link> {
    let is_set = process.environment.contains_key(VARIABLE);
    let without =
        wanted(process).and_then(|wanted| on_disk.texts.get(&wanted).copied().flatten()) == Some(false);
    let text = match (wish(process), without) {
        (Wish::HipBlasLt(why), true) => {
            format!("not hipBLASLt: this rocBLAS is built without it, so it does not read {VARIABLE} ({why})")
        }
        (Wish::Tensile(why), true) if is_set => {
            format!("not hipBLASLt: this rocBLAS is built without it, so {why} changes nothing")
        }
        (Wish::HipBlasLt(why), false) => {
            let text = format!(
                "not hipBLASLt, although {why}: either it has no solution for this problem, or this rocBLAS is built \
                 without it"
            );
            return Some(Link::new("decided", Evidence::Unresolved, text).from(SOURCE));
        }
        (Wish::Tensile(why), false) if is_set || process.library("libhipblaslt.so").is_some() => {
            format!("not hipBLASLt: {why}")
        }
        _ => return None,
    };
    Some(Link::new("decided", Evidence::Inferred, text).from(SOURCE))
}
