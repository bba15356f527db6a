//! Explains a rocBLAS GEMM: what Tensile's catalog offers for it, which kernel ran, and what
//! decided between them.

use super::{
    catalogs::CatalogFolder,
    rows::{Change, Link},
    rules::{self, Facts, NEAREST, NO_TARGET, NO_TYPE, NONE_FITS, UNREAD},
    seen::{CallEnd, Kernel, Process, short},
};
use crate::Evidence;
use rocshim_catalog::{Catalog, Product, Reached, Unread};
use rocshim_trace::file_name;

/// What a GEMM's chain is made of.
pub(super) struct Gemm<'a> {
    pub(super) process: &'a Process,
    pub(super) product: &'a Product,
    /// Kernels that compute the product.
    pub(super) kernels: Vec<&'a Kernel>,
    pub(super) end: CallEnd,
    pub(super) catalog: Option<&'a CatalogFolder>,
}

/// A solution file in which the library searches, as it is now.
struct Looked {
    reached: Reached,
    unread: Option<Unread>,
    counted: Option<rocshim_catalog::Counted>,
    /// What its table picks; `Err`: why that is not known.
    chosen: Result<Option<rocshim_catalog::Chosen>, String>,
}

/// Adds what was possible, and what decided.
pub(super) fn explain(gemm: &Gemm, links: &mut Vec<Link>, changes: &mut Vec<Change>) {
    let fallback = of_fallback(&gemm.kernels);
    let Some(read) = gemm.catalog else {
        let why = "rocBLAS's catalog was not read: the trace does not name its folder, because no code object that was \
                   loaded is known as a file of it; record again where the process's folder can be read";
        links.push(Link::new("possible", Evidence::Unresolved, why));
        links.push(without_catalog(fallback));
        return;
    };
    let file = read.folder.file.display().to_string();
    let catalog = match &read.folder.catalog {
        Ok(catalog) => catalog,
        Err(unread) => {
            let text = format!(
                "rocBLAS's catalog was not read: it {unread}; run `rocshim why` on the traced machine, or name the root \
                 folder that the process had with --process-root DIR"
            );
            links.push(Link::new("possible", Evidence::Unresolved, text).from(file));
            links.push(without_catalog(fallback));
            return;
        }
    };
    let looked: Vec<Looked> =
        catalog.reached(gemm.product).into_iter().map(|r| look(read, gemm, r)).collect();
    let facts = facts(gemm, read, catalog, &looked, fallback);
    let (sure, why) = facts.catalog();
    links.push(Link::new("possible", sure, in_catalog(gemm, catalog, why)).from(file));
    links.extend(looked.iter().map(|looked| possible(looked, sure)));
    links.push(decided(gemm, &facts, &looked, read));
    links.extend(
        nearest(&facts, &looked).filter(|link| Some(&link.text) != links.last().map(|last| &last.text)),
    );
    propose(gemm, &facts, &looked, read, changes);
}

/// What is left to say without a catalog.
fn without_catalog(fallback: Option<bool>) -> Link {
    let text = match fallback {
        Some(true) => {
            "fallback: the kernel is of a fallback file; whether native ones exist is not known without the catalog"
        }
        Some(false) => {
            "native: the kernel is of a native file; which others fit is not known without the catalog"
        }
        None => "the kernel's file is not known, and the catalog was not read",
    };
    Link::new("decided", Evidence::Unresolved, text)
}

fn look(read: &CatalogFolder, gemm: &Gemm, reached: Reached) -> Looked {
    let target = &read.folder.target;
    let (mut unread, mut counted, mut chosen) = (None, None, Err("it was not read".to_owned()));
    match read.folder.solutions(&reached.file) {
        Some(Ok(solutions)) => {
            counted = Some(solutions.count(gemm.product, target));
            chosen = solutions.choose(gemm.product, target);
        }
        Some(Err(why)) => unread = Some(why.clone()),
        None => {}
    }
    Looked { reached, unread, counted, chosen }
}

/// Whether the product kernels came from fallback files; `None` where their files do not say.
fn of_fallback(kernels: &[&Kernel]) -> Option<bool> {
    let said = |kernel: &&Kernel| kernel.object.as_ref().and_then(|object| object.fallback);
    let first = kernels.first().and_then(said)?;
    kernels.iter().all(|kernel| said(kernel) == Some(first)).then_some(first)
}

fn facts(
    gemm: &Gemm,
    read: &CatalogFolder,
    catalog: &Catalog,
    looked: &[Looked],
    fallback: Option<bool>,
) -> Facts {
    let is_whole = catalog.unread().is_none();
    let native = || looked.iter().filter(|looked| !looked.reached.is_fallback());
    let unfit = |looked: &Looked| {
        let counted = looked.counted.as_ref()?;
        Some(counted.fit == 0 && counted.undecided == 0)
    };
    let has_native = native().next().is_some();
    let certain = looked.iter().all(|looked| looked.reached.certain);
    Facts {
        loaded: read.loaded,
        here: read.here,
        unchanged: read.unchanged,
        content: read.content,
        only_fallback: is_whole.then(|| {
            let entries = catalog.entries();
            !entries.is_empty() && entries.iter().all(|entry| entry.is_fallback())
        }),
        no_native: is_whole.then(|| !has_native && !names_native(gemm.product, catalog)),
        native_unfit: if has_native && certain { all_known(native().map(unfit)) } else { Some(false) },
        native_unread: Some(native().any(|looked| looked.unread.is_some())),
        fallback,
        predicted: predicted(gemm, looked),
    }
}

fn all_known(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    answers.try_fold(true, |all, answer| Some(all && answer?))
}

/// The solution that the library's search gives: of the first file that has one.
fn first_chosen(looked: &[Looked]) -> Option<(&Looked, &rocshim_catalog::Chosen)> {
    for looked in looked {
        if !looked.reached.certain || looked.unread.is_some() {
            return None;
        }
        if let Some(chosen) = looked.chosen.as_ref().ok()? {
            return Some((looked, chosen));
        }
    }
    None
}

fn predicted(gemm: &Gemm, looked: &[Looked]) -> Option<bool> {
    let (_, chosen) = first_chosen(looked)?;
    Some(gemm.kernels.iter().any(|kernel| kernel.name == chosen.kernel))
}

/// What the catalog has for the target and these types.
fn in_catalog(gemm: &Gemm, catalog: &Catalog, why: Option<&str>) -> String {
    let entries = catalog.entries();
    let fallback = entries.iter().filter(|entry| entry.is_fallback()).count();
    let mut text = match (entries.len(), fallback) {
        (0, _) => "the catalog names no file".to_owned(),
        (all, same) if all == same => format!("all {all} files that the catalog names are fallback ones"),
        (all, same) => format!("{} of {all} files that the catalog names are native", all - same),
    };
    let [a, _, _, d] = &gemm.product.types;
    let wider = if gemm.product.high_precision { " in a wider type" } else { "" };
    let has = if names_native(gemm.product, catalog) { "a native file" } else { "no native file" };
    text += &format!("; {has} for {} with {a} to {d}{wider}", operation(gemm.product));
    if let Some(why) = why {
        text += &format!(" ({why})");
    }
    text
}

/// The catalog names a native file for the operation and types, whatever else it asks of a problem.
fn names_native(product: &Product, catalog: &Catalog) -> bool {
    catalog.entries().iter().any(|entry| {
        !entry.is_fallback()
            && entry.operation == product.operation
            && (entry.types.is_empty() || entry.types == product.types)
            && entry.high_precision.is_none_or(|wider| wider == product.high_precision)
    })
}

/// `Contraction_l_Alik_Bljk_Cijk_Dijk` → `Alik_Bljk`.
fn operation(product: &Product) -> &str {
    let short = product.operation.trim_start_matches("Contraction_l_");
    short.split_once("_C").map_or(short, |(short, _)| short)
}

/// How many solutions of a file fit, and what excluded the others.
fn possible(looked: &Looked, sure: Evidence) -> Link {
    let (file, kind) =
        (&looked.reached.file, if looked.reached.is_fallback() { "fallback" } else { "native" });
    if let Some(unread) = &looked.unread {
        return Link::new("possible", sure, format!("{kind}: {file}.dat {unread}"));
    }
    let Some(counted) = &looked.counted else {
        return Link::new("possible", Evidence::Unresolved, format!("{kind}: {file}.dat was not read"));
    };
    let mut text = format!("{kind}: {} of {} solutions fit", counted.fit, counted.solutions);
    let excluded = counted.excluded.iter().map(|(why, count)| format!("{count} by: {why}"));
    let excluded: Vec<String> = excluded.collect();
    if !excluded.is_empty() {
        text += &format!("; excluded {}", excluded.join(", "));
    }
    if counted.undecided > 0 {
        text += &format!(
            "; {} undecided: they ask for workspace or settings that the trace does not have",
            counted.undecided
        );
    }
    // That a condition holds is our evaluation of it.
    let evidence = if sure.is_confirmed() { Evidence::Inferred } else { sure };
    Link::new("possible", evidence, text)
        .from(format!("{file}.dat, conditions as in ContractionProblemPredicates.hpp"))
}

fn decided(gemm: &Gemm, facts: &Facts, looked: &[Looked], read: &CatalogFolder) -> Link {
    let target = &read.folder.target;
    let broken = looked.iter().find(|looked| !looked.reached.is_fallback() && looked.unread.is_some());
    if let (Some(evidence), Some(looked)) = (rules::evidence(&UNREAD, facts), broken) {
        let state = looked.unread.as_ref().map(Unread::to_string).unwrap_or_default();
        let failed = gemm.end.failure().map(|failure| format!("; {failure}")).unwrap_or_default();
        let text =
            format!("{}.dat {state}, which the catalog names for this problem{failed}", looked.reached.file);
        return Link::new("decided", evidence, text).from(UNREAD.says);
    }
    if gemm.kernels.is_empty() {
        let text = match gemm.end.failure() {
            None => "no kernel of Tensile's was launched inside the call".to_owned(),
            Some(failure) => format!("{failure} before it launched a kernel of Tensile's"),
        };
        return Link::new("decided", Evidence::Unresolved, text);
    }
    let reasons: [(&rules::RuleOf, String); 3] = [
        (&NO_TARGET, format!("fallback: this library has no native kernels for {target}, for any type")),
        (
            &NO_TYPE,
            format!("fallback: this library has no native kernels for {target} for this operation and types"),
        ),
        (&NONE_FITS, format!("fallback: no native solution for {target} fits this problem")),
    ];
    for (rule, text) in reasons {
        if let Some(evidence) = rules::evidence(rule, facts) {
            return Link::new("decided", evidence, text).from(read.folder.file.display().to_string());
        }
    }
    match (nearest(facts, looked), first_chosen(looked)) {
        (Some(link), _) => link,
        (None, Some((_, chosen))) => {
            let text = format!("the catalog's own search gives another kernel, {}", short(&chosen.kernel));
            Link::new("decided", Evidence::Unresolved, text)
        }
        _ => Link::new("decided", Evidence::Unresolved, undecided(looked)),
    }
}

/// Why this solution of those that fit, where the table of sizes picks the one that ran.
fn nearest(facts: &Facts, looked: &[Looked]) -> Option<Link> {
    let evidence = rules::evidence(&NEAREST, facts)?;
    let (looked, chosen) = first_chosen(looked)?;
    let size = chosen.size.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    let which = if chosen.exact { "its own size" } else { "the nearest benchmarked size" };
    let kind = if looked.reached.is_fallback() { "fallback" } else { "native" };
    let fit = chosen.others + 1;
    let text = format!("{kind} solution {}, one of {fit} that fit: {which} is {size}", chosen.index);
    Some(Link::new("decided", evidence, text).from(NEAREST.says))
}

fn undecided(looked: &[Looked]) -> String {
    let why = looked.iter().find_map(|looked| looked.chosen.as_ref().err());
    match why {
        Some(why) => format!("which solution the catalog gives is not known: {why}"),
        None => "the catalog names no solution that fits, and one was launched".to_owned(),
    }
}

fn propose(gemm: &Gemm, facts: &Facts, looked: &[Looked], read: &CatalogFolder, changes: &mut Vec<Change>) {
    let mut add = |what: String, effect: String| changes.push(Change { what, effect });
    for looked in looked.iter().filter(|looked| looked.unread.is_some()) {
        add(
            format!("put {}.dat back into {}", looked.reached.file, read.folder.path.display()),
            "the library reads its solutions again".into(),
        );
    }
    if facts.fallback == Some(true) && (facts.only_fallback == Some(true) || facts.no_native == Some(true)) {
        add(
            "ROCBLAS_TENSILE_LIBPATH=DIR with a build of rocBLAS's files for the target".into(),
            format!("native kernels, if that build has them for {}", read.folder.target),
        );
        if gemm.process.library("libhipblaslt.so").is_some() {
            let effect = "hipBLASLt serves the GEMM first, if this rocBLAS was built with it";
            add("ROCBLAS_USE_HIPBLASLT=1".into(), effect.into());
        }
    }
    if let Some((_, chosen)) = first_chosen(looked).filter(|(_, chosen)| chosen.others > 0) {
        add(
            "rocblas_gemm_ex with algo solution_index, or ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH".into(),
            format!("another of the {} solutions that fit", chosen.others + 1),
        );
    }
}

/// The file that a kernel came from, in words.
pub(super) fn origin(kernel: &Kernel) -> Option<String> {
    let object = kernel.object.as_ref()?;
    let file = object.file.as_deref().or(object.path.as_deref())?;
    let ordinal = object.ordinal.map(|ordinal| format!(", bundle {ordinal}")).unwrap_or_default();
    let target = kernel.target.as_deref().map(|target| format!(" for {target}")).unwrap_or_default();
    Some(format!("{}{ordinal}{target}", file_name(file)))
}
