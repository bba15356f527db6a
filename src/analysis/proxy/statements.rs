//! Statements on a request: reported, launched, and the verdict.

use super::requests::{Passes, columns};
use crate::{
    Outcome, PassRow,
    evidence::rules::{Class, Rule, RuleRow, premises},
};
use rocshim_reader::responses::{Response, Server};
use serde::Serialize;

/// A statement of the server, the observation, and the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What the server reports, or what follows from it.
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

/// Returns the undecided claim, if nothing can be decided.
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

/// Adds to a disagreement why it is no contradiction: without times, the launches may be those of
/// another request.
fn if_untimed(why: String, passes: &Passes) -> String {
    if passes.by_time { why } else { format!("{why}; {}, so it may be another request's", passes.how) }
}

fn range((least, most): (u64, u64)) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

fn beside(others: u64) -> String {
    if others == 1 { "another request was".into() } else { format!("{others} other requests were") }
}

/// The facts about a request and its launches that the rules test.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Its launches cannot be determined.
    is_limited: bool,
    /// The launches belong to it by the times of request and response.
    by_time: bool,
    /// The least and the most columns that were launched, and the tokens that the server reports.
    columns: (u64, u64),
    reported: u64,
    /// True for generated tokens: the prompt's last pass yields the first one, so one pass fewer is
    /// needed.
    is_generated: bool,
    /// Two GEMMs of a pass have the same weights.
    is_uncertain: bool,
    /// Kernels that read quantised weights were launched.
    is_quantised: bool,
    /// GEMMs of BLAS libraries.
    by_libraries: u64,
    /// Most columns went to the family that the rule names.
    is_implied: bool,
}

impl Facts {
    fn agrees(&self) -> bool {
        let (least, most) = self.columns;
        let is_within = (least..=most).contains(&self.reported);
        if self.is_generated { least == most && (most + 1 == self.reported || is_within) } else { is_within }
    }
}

const AS_REPORTED: Rule<Facts> = Rule {
    says: "as many tokens were evaluated as the server reports",
    class: Class::Confirmed,
    premises: premises! {
        "nothing of it was lost, and it was the only request under way" Observed |facts: &Facts| Some(!facts.is_limited);
        "the launches are its own, by the times that the server gives" Observed |facts: &Facts| Some(facts.by_time);
        "the columns are known exactly" Observed |facts: &Facts| Some(facts.columns.0 == facts.columns.1);
        "they are as many as reported; of those generated, the last need not be evaluated" Observed
            |facts: &Facts| Some(facts.agrees());
    },
};

const NOT_AS_REPORTED: Rule<Facts> = Rule {
    says: "other tokens were evaluated than the server reports",
    class: Class::Contradicted,
    premises: premises! {
        "nothing of it was lost, and it was the only request under way" Observed |facts: &Facts| Some(!facts.is_limited);
        "the launches are its own, by the times that the server gives" Observed |facts: &Facts| Some(facts.by_time);
        "no pass has the same weights twice" Observed |facts: &Facts| Some(!facts.is_uncertain);
        "the columns that were launched are others than reported" Observed |facts: &Facts| Some(!facts.agrees());
    },
};

const AS_IMPLIED: Rule<Facts> = Rule {
    says: "mmvq for up to 8 tokens, mmq for more",
    class: Class::Confirmed,
    premises: premises! {
        "nothing of it was lost, and it was the only request under way" Observed |facts: &Facts| Some(!facts.is_limited);
        "the launches are its own, by the times that the server gives" Observed |facts: &Facts| Some(facts.by_time);
        "kernels that read quantised weights were launched" Observed |facts: &Facts| Some(facts.is_quantised);
        "no GEMM went to a BLAS library" Observed |facts: &Facts| Some(facts.by_libraries == 0);
        "most columns went to that family" Observed |facts: &Facts| Some(facts.is_implied);
    },
};

const NOT_AS_IMPLIED: Rule<Facts> = Rule {
    says: "another family than mmvq for up to 8 tokens, mmq for more",
    class: Class::Contradicted,
    premises: premises! {
        "nothing of it was lost, and it was the only request under way" Observed |facts: &Facts| Some(!facts.is_limited);
        "the launches are its own, by the times that the server gives" Observed |facts: &Facts| Some(facts.by_time);
        "kernels that read quantised weights were launched" Observed |facts: &Facts| Some(facts.is_quantised);
        "most columns went to another family" Observed |facts: &Facts| Some(!facts.is_implied);
    },
};

/// Returns the module's rules, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    [&AS_REPORTED, &NOT_AS_REPORTED, &AS_IMPLIED, &NOT_AS_IMPLIED].map(|rule| rule.row("proxy")).into()
}

/// Returns the verdict on how many tokens were evaluated: as reported, contradicted, or at most
/// *inferred*.
fn tokens(facts: &Facts) -> Outcome {
    let met = AS_REPORTED.outcome(facts).or_else(|| NOT_AS_REPORTED.outcome(facts));
    met.unwrap_or(if facts.agrees() { Outcome::Inferred } else { Outcome::Limited })
}

/// Judges how many tokens of the prompt were evaluated.
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
    let facts = Facts {
        by_time: passes.by_time,
        columns: seen,
        reported,
        is_uncertain: uncertain(some).is_some(),
        ..Facts::default()
    };
    let by = |what: &str| if chunks.is_empty() { what.to_string() } else { format!("{what}, {chunks}") };
    if (least..=most).contains(&reported) {
        let cached = response.cached.filter(|cached| *cached > 0);
        let cached = cached.map_or(String::new(), |cached| format!(", {cached} cached"));
        let why = by(&format!("{observed} evaluated{cached}"));
        return claim(reported.to_string(), observed, tokens(&facts), why);
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
    claim(reported.to_string(), observed, tokens(&facts), if_untimed(by(&why), passes))
}

/// Returns a remark on whether the chunks have the maximum batch size.
fn batch(response: &Response, some: &[PassRow]) -> String {
    let first = some.first().and_then(|pass| pass.columns).map_or(0, |columns| columns.most);
    match response.num_batch {
        Some(batch) if batch == first => format!(" of num_batch ({batch})"),
        Some(batch) => format!(" (num_batch is {batch})"),
        None => String::new(),
    }
}

/// Reason when the rule does not apply: it holds for quantised weights.
const NOT_QUANTISED: &str =
    "the rule holds for quantised weights, and no kernel for them (mmvq, mmq) was launched";

/// Returns true if a kernel that reads quantised weights was launched.
fn is_quantised(some: &[PassRow]) -> bool {
    let reads = |name: &str| ["mmvq", "mmq", "dmmv"].contains(&name);
    let mut families = some.iter().flat_map(|pass| &pass.families);
    families.any(|family| family.of == Some("ggml") && family.family.is_some_and(reads))
}

const OF_LIBRARIES: &str = "of weights that are not quantised, or that were converted first";

/// Returns the launches of a BLAS library's GEMM kernels: the router of a mixture of experts is not
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

/// Judges which kernels evaluated the prompt.
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
    let facts = Facts {
        by_time: passes.by_time,
        is_quantised: true,
        by_libraries: by_libraries(some),
        is_implied: taken == implied,
        ..Facts::default()
    };
    if taken == implied {
        let side = if implied == "mmvq" { "up to" } else { "more than" };
        let rule = format!("{implied} for {side} {VECTORS} columns");
        return match facts.by_libraries {
            0 => claim(implied, observed, AS_IMPLIED.outcome(&facts).unwrap_or(Outcome::Inferred), rule),
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
    let verdict = NOT_AS_IMPLIED.outcome(&facts).unwrap_or(Outcome::Limited);
    claim(implied, observed, verdict, if_untimed(why, passes))
}

/// Judges how many tokens were generated.
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
    let uncertain = uncertain(&passes.all);
    let facts = Facts {
        by_time: passes.by_time,
        columns: seen,
        reported,
        is_generated: true,
        is_uncertain: uncertain.is_some(),
        ..Facts::default()
    };
    let why = match (facts.agrees(), uncertain) {
        (true, _) if seen.1 == reported => "the last one was evaluated too".to_string(),
        (true, _) => "the prompt's last pass generates the first one".to_string(),
        (false, Some(why)) => why,
        (false, None) => if_untimed("neither as many passes, nor one fewer".to_string(), passes),
    };
    claim(reported.to_string(), observed, tokens(&facts), why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::check;

    #[test]
    fn each_rule_answers_met_and_not_met() {
        let met = Facts {
            by_time: true,
            columns: (17, 17),
            reported: 17,
            is_quantised: true,
            is_implied: true,
            ..Facts::default()
        };
        let other = Facts { reported: 11, is_implied: false, ..met };
        let limited = Facts { is_limited: true, ..met };
        let untimed = Facts { by_time: false, ..met };
        check(&AS_REPORTED, &met, &[limited, untimed, Facts { columns: (11, 17), ..met }, other], &[]);
        let generated = Facts { is_generated: true, reported: 18, ..met };
        check(&AS_REPORTED, &generated, &[limited, untimed, Facts { columns: (11, 17), ..met }, other], &[]);
        let limited_other = Facts { is_limited: true, ..other };
        let untimed_other = Facts { by_time: false, ..other };
        let uncertain = Facts { is_uncertain: true, ..other };
        check(&NOT_AS_REPORTED, &other, &[limited_other, untimed_other, uncertain, met], &[]);
        let (plain, blas) = (Facts { is_quantised: false, ..met }, Facts { by_libraries: 1, ..met });
        check(&AS_IMPLIED, &met, &[limited, untimed, plain, blas, other], &[]);
        let plain_other = Facts { is_quantised: false, ..other };
        check(&NOT_AS_IMPLIED, &other, &[limited_other, untimed_other, plain_other, met], &[]);
        assert_eq!(tokens(&untimed), Outcome::Inferred);
        assert_eq!(tokens(&Facts { is_uncertain: true, ..other }), Outcome::Limited);
    }
}
