//! Classifies a pass, by rules that are printed.

use super::pass::{Pass, Range, Role};
use crate::evidence::{Evidence, observations::Observation};
use serde::Serialize;

/// Purpose of a pass, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Evaluates a prompt, or a chunk of one.
    Prompt,
    /// Evaluates one token for each of one or more sequences.
    Decode,
    /// The first evaluation of a model, whose results are thrown away.
    WarmUp,
    /// The label of the program or the user.
    Labelled,
    /// Forward part of a training step.
    Forward,
    /// Backward part of a training step.
    Backward,
    /// Parameter update of a training step.
    Optimiser,
    /// Undecided.
    Step,
}

impl PhaseKind {
    /// Returns the name that reports print: `prompt`, `decode`, …
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Prompt => "prompt",
            PhaseKind::Decode => "decode",
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Labelled => "labelled",
            PhaseKind::Forward => "forward",
            PhaseKind::Backward => "backward",
            PhaseKind::Optimiser => "optimiser",
            PhaseKind::Step => "step",
        }
    }
}

/// A kind with its evidence, and the rule or the reason.
pub(super) type Judged = (PhaseKind, Evidence, &'static str);

const LABELLED: &str = "a label of the program or the user";
const BY_PLACE: &str = "the time is between the label's begin and end";
const OPTIMISER: &str = "its kernels are those of an optimiser";
const BACKWARD: &str = "launched by another thread than the first, or named backward";
const FORWARD: &str = "launched before the backward part of a step that an optimiser ends";
const NO_MODEL: &str = "the process launched no kernel of a language model (attention, rotary embedding, ggml): the purpose of its passes is not known";
const UNKNOWN: &str = "the columns of none of its GEMMs are known";
const DIFFER: &str = "its GEMMs have different or unknown numbers of columns";
const ENDS: &str = "the trace ends before anything was copied to the host";
const WARM_UP: &str = "the first pass of its model stream group, of at most two columns, followed by clearing memory, or the next one with as many";
const CHUNK: &str =
    "nothing was copied to the host before the same weights came again: a chunk of a longer prompt";
const REST: &str =
    "nothing was copied to the host after the pass before it, a chunk of a prompt: the rest of that prompt";
const PROMPT: &str = "the last GEMM has fewer columns than the others: only the last positions are needed";
const ONE: &str = "every GEMM has one column: one token";
const MANY: &str = "every GEMM, the last one too, has as many columns: one token of each of as many sequences, or a prompt of which every position is needed";

/// Classifies a pass of a process, which may train, or have a language model; `by_time`: its label
/// is one by time.
pub(super) fn judge(pass: &Pass, trains: bool, is_language_model: bool, by_time: bool) -> Judged {
    if pass.label.is_some() {
        return match by_time {
            true => (PhaseKind::Labelled, Evidence::Inferred, BY_PLACE),
            false => (PhaseKind::Labelled, Observation::Label.evidence(), LABELLED),
        };
    }
    if trains {
        return match pass.role {
            Role::Forward => (PhaseKind::Forward, Evidence::Inferred, FORWARD),
            Role::Backward => (PhaseKind::Backward, Evidence::Inferred, BACKWARD),
            Role::Optimiser => (PhaseKind::Optimiser, Evidence::Inferred, OPTIMISER),
        };
    }
    if !is_language_model {
        return (PhaseKind::Step, Evidence::Unresolved, NO_MODEL);
    }
    let Some(Range { most, .. }) = pass.columns else {
        return (PhaseKind::Step, Evidence::Unresolved, UNKNOWN);
    };
    if pass.agreeing * 2 < pass.products + pass.opaque {
        return (PhaseKind::Step, Evidence::Unresolved, DIFFER);
    }
    let outputs = pass.outputs.map_or(0, |outputs| outputs.most);
    let (kind, rule) = match () {
        () if pass.unfinished => return (PhaseKind::Step, Evidence::Unresolved, ENDS),
        () if !pass.delivered => (PhaseKind::Prompt, CHUNK),
        () if pass.warms_up => (PhaseKind::WarmUp, WARM_UP),
        () if pass.continues => (PhaseKind::Prompt, REST),
        () if outputs < most => (PhaseKind::Prompt, PROMPT),
        () if most == 1 => (PhaseKind::Decode, ONE),
        () => (PhaseKind::Decode, MANY),
    };
    (
        kind,
        if pass.lost + pass.unlisted + pass.opaque > 0 { Evidence::Limited } else { Evidence::Inferred },
        rule,
    )
}
