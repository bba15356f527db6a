//! Statements on a request: reported, launched, and the verdict.

use super::requests::{Passes, columns};
use crate::PassRow;
use rocshim_reader::responses::{Response, Server};
use serde::Serialize;

/// The verdict on a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// What was launched is what was said, read from the launches of exactly this request.
    Confirmed,
    /// What was launched is something else.
    Contradicted,
    /// It agrees, by a rule.
    Inferred,
    /// Part of what was launched is not visible, or not distinguishable from other requests.
    Limited,
    /// It cannot be decided.
    Unresolved,
}

impl Outcome {
    /// In the order in which they are printed.
    pub const ALL: [Outcome; 5] =
        [Outcome::Confirmed, Outcome::Contradicted, Outcome::Inferred, Outcome::Limited, Outcome::Unresolved];
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Contradicted => "contradicted by observation",
            Outcome::Inferred => "inferred",
            Outcome::Limited => "limited",
            Outcome::Unresolved => "unresolved",
        })
    }
}

/// A statement, what was observed, and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What the server says, or what follows from it.
    #[serde(rename = "said")]
    pub reported: String,
    /// What was launched.
    pub observed: String,
    /// The verdict.
    pub verdict: Outcome,
    /// The rule, or the reason.
    pub why: String,
}

/// Maximum columns for which ggml multiplies quantised weights with vectors (MMVQ_MAX_BATCH_SIZE,
/// ggml-cuda/mmvq.cuh).
pub const VECTORS: u64 = 8;

fn claim(
    reported: impl Into<String>,
    observed: impl Into<String>,
    verdict: Outcome,
    why: impl Into<String>,
) -> Claim {
    Claim { reported: reported.into(), observed: observed.into(), verdict, why: why.into() }
}

/// Why nothing can be decided, if so.
fn undecided(response: &Response, passes: &Passes, what: &str) -> Option<Claim> {
    if let Some(error) = &response.error {
        return Some(claim("-", "-", Outcome::Unresolved, format!("the request failed: {error}")));
    }
    passes.all.is_empty().then(|| claim(what, "-", Outcome::Unresolved, passes.how))
}

/// Returns why launches of this request cannot be determined, if so.
fn limit(passes: &Passes, some: &[PassRow], gap: Option<&str>) -> Option<String> {
    let lost: u64 = some.iter().map(|pass| pass.lost).sum();
    let unlisted: u64 = some.iter().map(|pass| pass.unlisted).sum();
    let are_several =
        some.iter().any(|pass| (pass.pid, pass.stream_group) != (some[0].pid, some[0].stream_group));
    if passes.beside > 0 {
        let together = passes.together.map_or(String::new(), |(said, launched)| {
            format!("; together they report {said} columns, and {} were launched", range(launched))
        });
        return Some(format!("{} under way at that time{together}", beside(passes.beside)));
    }
    if are_several {
        return Some("several processes or models launched at that time".into());
    }
    if lost > 0 {
        return Some(format!("{lost} events were lost in it"));
    }
    if unlisted > 0 {
        return Some(format!("the kernels of {unlisted} launches are not known"));
    }
    let opaque: u64 = some.iter().map(|pass| pass.opaque).sum();
    if opaque > 0 {
        return Some(format!("the columns of {opaque} GEMMs are not known"));
    }
    gap.map(str::to_string)
}

/// Returns why the boundaries of these passes are uncertain, if so: a pass multiplies a model's
/// weights once.
fn uncertain(some: &[PassRow]) -> Option<String> {
    let repeated: u64 = some.iter().map(|pass| pass.repeated).sum();
    (repeated > 0).then(|| {
        format!(
            "{repeated} GEMMs have the same weights as another one of their pass: it may be several passes"
        )
    })
}

fn range((least, most): (u64, u64)) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

fn beside(others: u64) -> String {
    if others == 1 { "another request was".into() } else { format!("{others} other requests were") }
}

/// How sure it is what agrees: by time and to the token it is confirmed.
fn agreed(passes: &Passes, (least, most): (u64, u64)) -> Outcome {
    if passes.by_time && least == most { Outcome::Confirmed } else { Outcome::Inferred }
}

/// How many tokens of the prompt were evaluated.
pub(super) fn prompt(response: &Response, passes: &Passes, gap: Option<&str>) -> Claim {
    let Some(reported) = response.prompt_tokens else {
        return claim("-", "-", Outcome::Unresolved, "the response does not count the prompt's tokens");
    };
    if let Some(undecided) = undecided(response, passes, &reported.to_string()) {
        return undecided;
    }
    let some = passes.prompt();
    let Some(seen) = columns(some.iter()) else {
        return claim(reported.to_string(), "-", Outcome::Unresolved, "the columns of no GEMM are known");
    };
    let observed = range(seen);
    if let Some(why) = limit(passes, some, gap) {
        return claim(reported.to_string(), observed, Outcome::Limited, why);
    }
    let chunks = match some.len() {
        1 => String::new(),
        chunks => format!("in {chunks} chunks{}", batch(response, some)),
    };
    let (least, most) = seen;
    let by = |what: &str| if chunks.is_empty() { what.to_string() } else { format!("{what}, {chunks}") };
    if (least..=most).contains(&reported) {
        let cached = response.cached.filter(|cached| *cached > 0);
        let cached = cached.map_or(String::new(), |cached| format!(", {cached} cached"));
        let why = by(&format!("{observed} evaluated{cached}"));
        return claim(reported.to_string(), observed, agreed(passes, seen), why);
    }
    if let Some(why) = uncertain(some) {
        return claim(reported.to_string(), observed, Outcome::Limited, by(&why));
    }
    let why = match response.server {
        Server::Ollama if most < reported => format!(
            "cached prefix: prompt_eval_count counts cached tokens too, and {} of them were not evaluated",
            range((reported - most, reported - least))
        ),
        _ if most < reported => {
            format!("{} tokens were not evaluated", range((reported - most, reported - least)))
        }
        _ => format!(
            "{} columns more than tokens were launched: padding, or other work",
            range((least - reported, most - reported))
        ),
    };
    claim(reported.to_string(), observed, Outcome::Contradicted, by(&why))
}

/// Whether the chunks are as long as batches may be.
fn batch(response: &Response, some: &[PassRow]) -> String {
    let first = some.first().and_then(|pass| pass.columns).map_or(0, |columns| columns.most);
    match response.num_batch {
        Some(batch) if batch == first => format!(" of num_batch ({batch})"),
        Some(batch) => format!(" (num_batch is {batch})"),
        None => String::new(),
    }
}

/// The rule that names a zone is one of quantised weights.
const NOT_QUANTISED: &str =
    "the rule holds for quantised weights, and no kernel for them (mmvq, mmq) was launched";

/// Whether a kernel that reads quantised weights was launched.
fn is_quantised(some: &[PassRow]) -> bool {
    let reads = |name: &str| ["mmvq", "mmq", "dmmv"].contains(&name);
    let mut families = some.iter().flat_map(|pass| &pass.families);
    families.any(|family| family.of == Some("ggml") && family.family.is_some_and(reads))
}

const OF_LIBRARIES: &str = "of weights that are not quantised, or that were converted first";

/// Launches of a BLAS library's GEMM kernels: a mixture of experts has a router that is not
/// quantised.
fn by_libraries(some: &[PassRow]) -> u64 {
    let families = some.iter().flat_map(|pass| &pass.families);
    let products = families.filter(|family| family.is_product() && family.of != Some("ggml"));
    products.map(|family| family.launches).sum()
}

/// Returns the GEMM family with most columns: of a prompt in chunks, that of the large ones.
pub(super) fn path_of(some: &[PassRow]) -> Option<&'static str> {
    let mut columns: Vec<(&'static str, u64)> = Vec::new();
    for pass in some {
        let most = pass.columns.map_or(1, |columns| columns.most);
        for family in pass.families.iter().filter(|family| family.is_product()) {
            let (name, all) = (family.family.unwrap_or_default(), family.launches * most);
            match columns.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += all,
                None => columns.push((name, all)),
            }
        }
    }
    columns.into_iter().max_by_key(|(_, sum)| *sum).map(|(name, _)| name)
}

/// By which kernels the prompt was evaluated.
pub(super) fn path(
    response: &Response,
    passes: &Passes,
    products: &[(&'static str, u64)],
    gap: Option<&str>,
) -> Claim {
    let zone = |tokens: u64| if tokens <= VECTORS { "mmvq" } else { "mmq" };
    let Some(reported) = response.prompt_tokens else {
        return claim("-", "-", Outcome::Unresolved, "the response does not count the prompt's tokens");
    };
    let implied = zone(reported);
    if let Some(undecided) = undecided(response, passes, implied) {
        return undecided;
    }
    let some = passes.prompt();
    let Some(taken) = path_of(some) else {
        return claim(implied, "-", Outcome::Unresolved, "no GEMM kernel of a known family was launched");
    };
    let found_of = |(name, launches): &(&str, u64)| format!("{name} {launches}");
    let observed = products.iter().map(found_of).collect::<Vec<_>>().join(", ");
    if let Some(why) = limit(passes, some, gap) {
        return claim(implied, observed, Outcome::Limited, why);
    }
    if !is_quantised(&passes.all) {
        return claim(implied, observed, Outcome::Unresolved, NOT_QUANTISED);
    }
    if taken == implied {
        let side = if implied == "mmvq" { "up to" } else { "more than" };
        let rule = format!("{implied} for {side} {VECTORS} columns");
        return match by_libraries(some) {
            0 => claim(implied, observed, agreed(passes, (0, 0)), rule),
            calls => {
                let why = format!("{rule}; but {calls} of the GEMMs went to a BLAS library: {OF_LIBRARIES}");
                claim(implied, observed, Outcome::Unresolved, why)
            }
        };
    }
    let launched = columns(some.iter()).map_or(0, |(_, most)| most);
    let largest = some.iter().filter_map(|pass| pass.columns).map(|columns| columns.most).max().unwrap_or(0);
    let why = match taken {
        "mmvq" if launched < reported => {
            format!("cached prefix: {launched} of {reported} tokens were evaluated, few enough for mmvq")
        }
        "mmvq" => format!("{largest} columns at once went to mmvq"),
        "mmq" => format!("{largest} columns at once went to mmq"),
        "mmvf" | "mmf" => "most GEMMs were ggml's own floating-point kernels".into(),
        "Tensile product" => "a BLAS library computed the GEMMs: Cijk_* kernels".into(),
        other => format!("the GEMMs went to {other}"),
    };
    claim(implied, observed, Outcome::Contradicted, why)
}

/// How many tokens were generated.
pub(super) fn generated(response: &Response, passes: &Passes, gap: Option<&str>) -> Claim {
    let Some(reported) = response.generated else {
        return claim("-", "-", Outcome::Unresolved, "the response does not count generated tokens");
    };
    if let Some(undecided) = undecided(response, passes, &reported.to_string()) {
        return undecided;
    }
    let some = passes.generated();
    let Some(seen) = columns(some.iter()) else {
        return claim(reported.to_string(), "-", Outcome::Unresolved, "the columns of no GEMM are known");
    };
    let observed = range(seen);
    if let Some(why) = limit(passes, &passes.all, gap) {
        return claim(reported.to_string(), observed, Outcome::Limited, why);
    }
    match seen {
        (least, most) if least == most && most + 1 == reported => claim(
            reported.to_string(),
            observed,
            agreed(passes, seen),
            "the prompt's last pass generates the first one",
        ),
        (least, most) if least == most && most == reported => {
            claim(reported.to_string(), observed, agreed(passes, seen), "the last one was evaluated too")
        }
        _ => match uncertain(&passes.all) {
            Some(why) => claim(reported.to_string(), observed, Outcome::Limited, why),
            None => claim(
                reported.to_string(),
                observed,
                Outcome::Contradicted,
                "neither as many passes, nor one fewer",
            ),
        },
    }
}
