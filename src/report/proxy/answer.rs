//! The answer of `rocshim proxy` in a few sentences: do the reports agree with the launches, which
//! kernels evaluated the prompts, and were long prompts split?

use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{Chunk, Claim, Outcome, Proxy, ProxyRequest};
use std::collections::BTreeMap;

/// The longest list of prompts with their passes.
const LISTED: usize = 4;

/// `14 of 14 prompts as reported. MMVQ for 1–8 columns, MMQ for 9–512, no BLAS. 290 tokens: one
/// pass; 1300: 512 + 512 + 276.`
pub(super) fn answer(proxy: &Proxy) -> String {
    let generated = match agreement(proxy, |request| &request.generated) {
        (agree, _) if agree == proxy.requests.len() as u64 => None,
        (agree, others) => Some(format!("Generated tokens: {} as reported{others}.", count(agree))),
    };
    let (agree, others) = agreement(proxy, |request| &request.prompt);
    let all = counted(proxy.requests.len() as u64, "prompt");
    let prompts = Some(format!("{} of {all} as reported{others}.", count(agree)));
    [prompts, kernels(proxy), passes(proxy), generated].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns how many statements of a kind agree, and the outcomes of the others: `, 2 contradicted`.
fn agreement(proxy: &Proxy, of: impl Fn(&ProxyRequest) -> &Claim) -> (u64, String) {
    let (mut agree, mut others) = (0, String::new());
    for (outcome, requests) in proxy.outcomes(of) {
        let word = match outcome {
            Outcome::Confirmed(_) => "",
            Outcome::Inferred => "of these inferred",
            Outcome::Contradicted(_) => "contradicted",
            Outcome::Limited => "limited",
            Outcome::Unresolved => "unresolved",
        };
        if matches!(outcome, Outcome::Confirmed(_) | Outcome::Inferred) {
            agree += requests;
        }
        if !word.is_empty() {
            others += &format!(", {} {word}", count(requests));
        }
    }
    (agree, others)
}

/// The chunks of the requests whose kernels are all known.
fn known(proxy: &Proxy) -> impl Iterator<Item = &ProxyRequest> {
    proxy.requests.iter().filter(|request| {
        !request.chunks.is_empty() && !matches!(request.path.verdict, Outcome::Limited | Outcome::Unresolved)
    })
}

/// The columns of the passes that each family of GEMM kernels evaluated, and whether BLAS took
/// part.
fn kernels(proxy: &Proxy) -> Option<String> {
    let mut ranges: Vec<(&str, Chunk)> = Vec::new();
    for chunk in known(proxy).flat_map(|request| &request.chunks) {
        let path = path_name(chunk.path.unwrap_or("unknown kernels"));
        match ranges.iter_mut().find(|(name, _)| *name == path) {
            Some((_, all)) => {
                (all.least, all.most) = (all.least.min(chunk.least), all.most.max(chunk.most));
            }
            None => ranges.push((path, *chunk)),
        }
    }
    ranges.sort_by_key(|(name, range)| (range.least, *name));
    let mut parts: Vec<String> = Vec::new();
    for (name, Chunk { least, most, .. }) in &ranges {
        let unit = match parts.is_empty() {
            true if *most == 1 => " column",
            true => " columns",
            false => "",
        };
        parts.push(format!("{name} for {}{unit}", span(*least, *most)));
    }
    if parts.is_empty() {
        return None;
    }
    let with_blas = known(proxy).filter(|request| is_blas(request)).count() as u64;
    let all = known(proxy).count();
    let undecided = proxy.requests.len() - all;
    parts.extend(match with_blas {
        0 if known(proxy).any(|request| request.unnamed > 0) => {
            Some("no BLAS kernel among those with known names".into())
        }
        0 => Some("no BLAS".into()),
        _ if ranges.iter().any(|(name, _)| *name == BLAS) => None,
        some => Some(format!("BLAS kernels in {}", counted(some, "prompt"))),
    });
    let scope = if undecided > 0 { format!(" (of {all} prompts)") } else { String::new() };
    Some(format!("{}{scope}.", parts.join(", ")))
}

const BLAS: &str = "BLAS";

fn is_blas(request: &ProxyRequest) -> bool {
    request.products.iter().any(|(family, _)| path_name(family) == BLAS)
}

/// Returns the users' name of a family of GEMM kernels.
fn path_name(family: &str) -> &str {
    match family {
        "mmvq" => "MMVQ",
        "mmq" => "MMQ",
        "mmvf" => "MMVF",
        "mmf" => "MMF",
        "dmmv" => "DMMV",
        "Tensile product" | "rocBLAS product" | "rocBLAS vector product" => BLAS,
        other => other,
    }
}

/// `1`, `9–512`.
fn span(least: u64, most: u64) -> String {
    if least == most { least.to_string() } else { format!("{least}–{most}") }
}

/// The prompts that took several passes, and the longest that took one.
fn passes(proxy: &Proxy) -> Option<String> {
    let mut prompts: BTreeMap<u64, String> = BTreeMap::new();
    for request in known(proxy) {
        let exact = request.chunks.iter().all(|chunk| chunk.least == chunk.most);
        let Some(tokens) = request.columns().filter(|_| exact) else { continue };
        prompts.insert(tokens.most, request.chunks_in_words().unwrap_or_default());
    }
    let is_one = |passes: &str| !passes.contains('+');
    let longest = prompts.iter().rev().find(|(_, passes)| is_one(passes)).map(|(tokens, _)| *tokens);
    let shown = prompts.iter().filter(|(tokens, passes)| !is_one(passes) || Some(**tokens) == longest);
    let mut parts: Vec<String> = shown
        .map(|(tokens, passes)| match is_one(passes) {
            true => format!("{tokens}: one pass"),
            false => format!("{tokens}: {passes}"),
        })
        .collect();
    if parts.len() > LISTED {
        let more = parts.len() - LISTED;
        parts.truncate(LISTED);
        parts.push(format!("{more} more"));
    }
    let first = parts.first_mut()?;
    *first = first.replacen(':', if first.starts_with("1:") { " token:" } else { " tokens:" }, 1);
    Some(format!("{}.", parts.join("; ")))
}
