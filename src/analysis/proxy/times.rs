//! Splits the times that a server states for a request into GPU work and the rest.

use super::{Proxy, Request, requests::Passes};
use crate::{Evidence, PassRow};
use rocshim_reader::responses::Response;
use serde::Serialize;

/// The time of a prompt, or of its generated tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeParts {
    /// What the server states, ns; absent where it states nothing.
    pub stated_ns: Option<u64>,
    /// Time of the passes in which a command ran on the GPU, ns.
    pub busy_ns: u64,
    /// Time in which none ran and the next one was not launched.
    pub not_launched_ns: u64,
    /// Time in which none ran although the next one was launched.
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

/// A time that a server states.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedTime {
    /// Number of the request.
    pub number: usize,
    /// Its name.
    pub request: String,
    /// What it is the time of.
    pub of: &'static str,
    /// What it consists of.
    pub parts: TimeParts,
}

crate::table! {
    /// The times that a server states.
    STATED_TIMES: StatedTime = "proxy_times", "The server's times: work on the GPU, and the rest",
        "the time of a prompt, or of its generated tokens";
    |row|
    number("number", "#", "number of the request") => row.number;
    words("request", "request", "its label, endpoint, or place in the file") => &row.request;
    words("of", "of", "prompt or generated") => row.of;
    time("stated_ns", "stated", "what the server states") => row.parts.stated_ns;
    time("busy_ns", "GPU busy", "while a command ran") => row.parts.busy_ns;
    time("not_launched_ns", "not launched", "while none ran, and the next was not launched")
        => row.parts.not_launched_ns;
    time("held_ns", "held", "while none ran, although the next was launched") => row.parts.held_ns;
    time("rest_ns", "rest", "what is left of the stated time") => row.parts.rest_ns;
    evidence("evidence", "evidence", "inferred if every pass was reported whole") => row.parts.evidence;
}

impl Proxy {
    /// The times that the server states, of the prompts and of the generated tokens.
    pub fn stated_times(&self) -> Vec<StatedTime> {
        let rows = |request: &Request| {
            let (number, name) = (request.response.number, request.name().to_owned());
            let of = request
                .times
                .iter()
                .flat_map(|times| [("prompt", times.prompt.clone()), ("generated", times.generated.clone())]);
            of.map(|(of, parts)| StatedTime { number, request: name.clone(), of, parts }).collect::<Vec<_>>()
        };
        self.requests.iter().flat_map(rows).collect()
    }
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
