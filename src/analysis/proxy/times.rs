//! What the times that a server states for a request consist of: work on the GPU, and the rest.

use super::requests::Passes;
use crate::{Evidence, PassRow};
use rocshim_reader::responses::Response;
use serde::Serialize;

/// The time of a prompt, or of its generated tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeParts {
    /// What the server states, ns; absent where it states nothing.
    pub stated_ns: Option<u64>,
    /// Of the passes: while a command ran on the GPU, ns.
    pub busy_ns: u64,
    /// While none ran, and the next one was not launched.
    pub not_launched_ns: u64,
    /// While none ran, although the next one was launched.
    pub held_ns: u64,
    /// What is left of `stated_ns`: sampling, copies on the host, other work of the server. Absent
    /// where that states less than the passes took.
    pub rest_ns: Option<u64>,
    /// `inferred` if every pass was reported whole: that the server's time is of these passes
    /// follows from how they were matched. Else `limited`.
    pub evidence: Evidence,
}

/// The times of a request on the GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestTimes {
    /// The evaluation of the prompt.
    pub prompt: TimeParts,
    /// The generated tokens.
    pub generated: TimeParts,
}

/// Splits the times that a response states; `None` where no pass of it has GPU times.
pub(super) fn times(response: &Response, passes: &Passes) -> Option<RequestTimes> {
    passes.all.iter().any(|pass| pass.gpu.is_some()).then(|| RequestTimes {
        prompt: parts(response.prompt_ns, passes.prompt()),
        generated: parts(response.generated_ns, passes.generated()),
    })
}

fn parts(stated_ns: Option<u64>, passes: &[PassRow]) -> TimeParts {
    let reported = || passes.iter().filter_map(|pass| pass.gpu.as_ref());
    let is_whole = passes.iter().all(|pass| pass.gpu.as_ref().is_some_and(|gpu| gpu.evidence.is_confirmed()));
    let [busy_ns, not_launched_ns, held_ns] = [
        reported().map(|gpu| gpu.busy_ns).sum::<u64>(),
        reported().map(|gpu| gpu.not_launched_ns).sum(),
        reported().map(|gpu| gpu.held_ns).sum(),
    ];
    let of_passes = busy_ns + not_launched_ns + held_ns;
    TimeParts {
        stated_ns,
        busy_ns,
        not_launched_ns,
        held_ns,
        rest_ns: stated_ns.and_then(|stated| stated.checked_sub(of_passes)),
        evidence: if is_whole { Evidence::Inferred } else { Evidence::Limited },
    }
}
