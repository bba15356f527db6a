//! Compares a server's report on each request with the launches made for it.
//!
//! Layers, lowest first: `requests` (passes of each request), `statements` (reported, launched,
//! verdict), `times` (the parts of the server's times), `tables` (how requests are described), then
//! everything together here.

mod requests;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod times;

pub(crate) use statements::rules;
pub use statements::{Claim, VECTORS};
pub use tables::{GENERATED_CLAIMS, PATH_CLAIMS, PROMPT_CLAIMS, REQUESTS};
pub use times::{RequestTimes, STATED_TIMES, StatedTime, TimeParts};

use super::{LossRow, Outcome, Phases, ProcessRow};
use crate::units::time;
use requests::{Passes, assign};
use rocshim_reader::responses::{Response, Responses};
use serde::Serialize;
use statements::{generated, path, path_of, prompt};

/// All requests, also as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proxy {
    /// Format of this object: 1.
    pub format: u32,
    /// The earliest epoch of the traces, in Unix ns, as a string; all times are ns since it.
    pub epoch: String,
    /// The requests, in the order of the responses.
    pub requests: Vec<Request>,
    /// Passes outside of every request, by kind.
    pub others: Vec<(&'static str, u64)>,
    /// The traced processes.
    pub processes: Vec<ProcessRow>,
    /// Lost events by thread and reason.
    pub losses: Vec<LossRow>,
    /// Files that could not be read, and oddities of files that were, a sentence each.
    pub notes: Vec<String>,
    /// Why the responses seem to belong to another run.
    #[serde(skip)]
    pub mismatch: Option<String>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// The server's response.
    pub response: Response,
    /// When it was sent; absent where the response does not state it.
    pub begin_ns: Option<u64>,
    /// Number of passes that were matched with it.
    pub passes: u64,
    /// The rule by which they were matched, or why none was.
    pub matched: &'static str,
    /// Columns (ne11) of the passes that evaluated the prompt, in order of time: its chunks.
    pub chunks: Vec<Chunk>,
    /// Launches of GEMM kernels in these passes, by family.
    pub products: Vec<(&'static str, u64)>,
    /// Launches of kernels of BLAS libraries (`Cijk_*`) among them.
    pub tensile: u64,
    /// The code objects of those products.
    pub code_objects: Vec<super::PhaseObject>,
    /// Launches of kernels of no known family in those passes.
    #[serde(skip)]
    pub unnamed: u64,
    /// From the first launch of the prompt's passes to the end of the last, host time.
    pub prompt_ns: Option<u64>,
    /// The statement on how many tokens of the prompt were evaluated.
    pub prompt: Claim,
    /// The statement on the kernels that evaluated it.
    pub path: Claim,
    /// The statement on how many tokens were generated.
    pub generated: Claim,
    /// The parts of the server's times; absent if the trace has no GPU times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<RequestTimes>,
}

/// Columns of a pass: least and most where the exact number is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// The least number of columns.
    pub least: u64,
    /// The greatest number; equal to `least` where the number is known.
    pub most: u64,
    /// The family of most of its GEMMs; absent where none is of a known family.
    #[serde(skip)]
    pub path: Option<&'static str>,
}

/// Compares the responses with the passes of `phases`, which must have every pass.
pub fn proxy(phases: Phases, responses: Responses) -> Proxy {
    let epoch: u64 = phases.epoch.parse().unwrap_or(0);
    let (assigned, others) = assign(&phases, &responses.list, epoch);
    let gap = visibility_gap(&phases);
    let mismatch = mismatch(&phases, &responses.list, &assigned, epoch);
    let requests = responses.list.into_iter().zip(assigned);
    let requests =
        requests.map(|(response, passes)| request(response, &passes, epoch, gap.as_deref())).collect();
    let mut notes = phases.notes;
    notes.extend(responses.notes);
    Proxy {
        format: 1,
        epoch: phases.epoch,
        requests,
        others,
        processes: phases.processes,
        losses: phases.losses,
        notes,
        mismatch,
    }
}

impl Proxy {
    /// Returns the number of statements of a kind by outcome, without those that are 0.
    pub fn outcomes(&self, of: impl Fn(&Request) -> &Claim) -> Vec<(Outcome, u64)> {
        let verdicts = || self.requests.iter().map(|request| of(request).verdict);
        let came_to = |word| {
            let outcome = verdicts().find(|outcome| outcome.word() == word)?;
            Some((outcome, verdicts().filter(|other| *other == outcome).count() as u64))
        };
        Outcome::WORDS.into_iter().filter_map(came_to).collect()
    }
}

impl Request {
    /// Returns the sum of the columns of all chunks; `None` without any.
    pub fn columns(&self) -> Option<Chunk> {
        let add = |sum: Chunk, chunk: Chunk| Chunk {
            least: sum.least + chunk.least,
            most: sum.most + chunk.most,
            path: sum.path,
        };
        self.chunks.iter().copied().reduce(add)
    }
}

/// Returns a sentence if nothing was launched within the time of any request although the trace has
/// launches.
fn mismatch(phases: &Phases, responses: &[Response], assigned: &[Passes], epoch: u64) -> Option<String> {
    let sent = responses.iter().filter_map(|response| response.sent).min()?;
    let first = phases.passes.iter().map(|pass| pass.begin_ns + epoch).min()?;
    if assigned.iter().any(|passes| !passes.all.is_empty()) {
        return None;
    }
    let (apart, side) = (first.abs_diff(sent), if sent < first { "before" } else { "after" });
    Some(format!(
        "nothing was launched in the time of any response: the first request was sent {} {side} the trace's first launch; give the \
         responses of this run, whose times are by the same clock",
        time(apart)
    ))
}

/// Returns why launches may have been missed, if so.
fn visibility_gap(phases: &Phases) -> Option<String> {
    let lost: u64 = phases.losses.iter().map(|loss| loss.lost).sum();
    if lost > 0 {
        return Some(format!("{lost} events were lost"));
    }
    let hip = phases.libraries.iter().find(|library| library.library == "libamdhip64.so");
    if let Some(hip) = hip.filter(|hip| !hip.evidence.is_confirmed()) {
        return Some(hip.why.clone());
    }
    let stopped = phases.processes.iter().find(|process| process.stopped_ns > 0);
    stopped.map(|process| format!("recording was stopped for a while in process {}", process.pid))
}

fn request(response: Response, passes: &Passes, epoch: u64, gap: Option<&str>) -> Request {
    let evaluated = passes.prompt();
    let chunk = |pass: &crate::PassRow| {
        let path = path_of(std::slice::from_ref(pass));
        pass.columns.map(|columns| Chunk { least: columns.least, most: columns.most, path })
    };
    let nameless = |pass: &crate::PassRow| -> u64 {
        let families = pass.families.iter().filter(|family| family.family.is_none());
        families.map(|family| family.launches).sum()
    };
    let mut products: Vec<(&'static str, u64)> = Vec::new();
    let mut code_objects: Vec<super::PhaseObject> = Vec::new();
    for pass in evaluated {
        for family in pass.families.iter().filter(|family| family.is_product()) {
            let name = family.family.unwrap_or_default();
            match products.iter_mut().find(|(known, _)| *known == name) {
                Some((_, launches)) => *launches += family.launches,
                None => products.push((name, family.launches)),
            }
        }
        for object in &pass.code_objects {
            let is_same = |known: &&mut super::PhaseObject| {
                (&known.path, known.ordinal, &known.file, &known.target)
                    == (&object.path, object.ordinal, &object.file, &object.target)
            };
            match code_objects.iter_mut().find(is_same) {
                Some(known) => known.launches += object.launches,
                None => code_objects.push(object.clone()),
            }
        }
    }
    products.sort_by_key(|(_, launches)| std::cmp::Reverse(*launches));
    let tensile =
        products.iter().find(|(name, _)| *name == "Tensile product").map_or(0, |(_, launches)| *launches);
    let span = evaluated.first().zip(evaluated.last()).map(|(first, last)| last.end_ns - first.begin_ns);
    Request {
        begin_ns: response.sent.map(|sent| sent.saturating_sub(epoch)),
        passes: passes.all.len() as u64,
        matched: passes.how,
        chunks: evaluated.iter().filter_map(chunk).collect(),
        unnamed: evaluated.iter().map(nameless).sum(),
        prompt_ns: span,
        prompt: prompt(&response, passes, gap),
        path: path(&response, passes, &products, gap),
        generated: generated(&response, passes, gap),
        times: times::times(&response, passes),
        products,
        tensile,
        code_objects,
        response,
    }
}
