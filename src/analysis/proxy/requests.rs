//! Assigns passes to requests.

use crate::{PassRow, PhaseKind, Phases};
use rocshim_reader::responses::Response;
use std::collections::BTreeMap;

/// The passes of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Passes {
    /// In order of time.
    pub(super) all: Vec<PassRow>,
    /// Number of passes of the prompt; the others are of generated tokens.
    split: usize,
    /// The rule by which they were assigned.
    pub(super) how: &'static str,
    /// True if they were assigned by time, false by order.
    pub(super) by_time: bool,
    /// Number of other requests in progress at that time.
    pub(super) beside: u64,
    /// For concurrent requests: columns that all of them report together, and the minimum and
    /// maximum that were launched.
    pub(super) together: Option<(u64, (u64, u64))>,
}

const BY_TIME: &str = "launched between sending and answer";
const BY_CREATED: &str = "launched in the time that the server counts up to its answer";
const BY_ORDER: &str = "matched in order: there are as many requests as responses";
const NOTHING: &str = "nothing was launched between sending and answer";
const UNTIMED: &str =
    "the response has no times, and the number of requests in the trace is not that of the responses";

impl Passes {
    fn new(all: Vec<PassRow>, how: &'static str, by_time: bool, beside: u64) -> Passes {
        // The prompt's passes come first; if none looks like one, the first pass evaluated the rest
        // of it.
        let prompts = all.iter().take_while(|pass| pass.kind == PhaseKind::Prompt).count();
        let split = prompts.max(usize::from(!all.is_empty()));
        Passes { all, split, how, by_time, beside, together: None }
    }

    /// Returns the passes that evaluated the prompt.
    pub(super) fn prompt(&self) -> &[PassRow] {
        &self.all[..self.split]
    }

    /// Returns the passes that evaluated generated tokens.
    pub(super) fn generated(&self) -> &[PassRow] {
        &self.all[self.split..]
    }
}

/// Returns begin and end of a request in Unix ns, and the rule that gives them.
fn window(response: &Response) -> Option<(u64, u64, &'static str)> {
    let asked = response.sent.zip(response.received).map(|(sent, received)| (sent, received, BY_TIME));
    let reported = response.created.zip(response.total_ns);
    asked.or(reported.map(|(created, total)| (created.saturating_sub(total), created, BY_CREATED)))
}

/// Returns the passes of each response, and the remaining passes by kind.
pub(super) fn assign(
    phases: &Phases,
    responses: &[Response],
    epoch: u64,
) -> (Vec<Passes>, Vec<(&'static str, u64)>) {
    let windows: Vec<_> = responses.iter().map(window).collect();
    let mut taken = vec![false; phases.passes.len()];
    let mut assigned: Vec<Passes> = windows
        .iter()
        .enumerate()
        .map(|(at, window)| {
            let Some((begin, end, how)) = *window else {
                return Passes { how: UNTIMED, ..Passes::default() };
            };
            let within = |pass: &PassRow| (begin..=end).contains(&(pass.begin_ns + epoch));
            let mut all = Vec::new();
            for (number, pass) in phases.passes.iter().enumerate().filter(|(_, pass)| within(pass)) {
                taken[number] = true;
                all.push(pass.clone());
            }
            let overlaps = |other: &(usize, &Option<(u64, u64, &str)>)| {
                other.0 != at && other.1.is_some_and(|(first, last, _)| first < end && begin < last)
            };
            let beside = windows.iter().enumerate().filter(overlaps).count() as u64;
            let how = if all.is_empty() { NOTHING } else { how };
            Passes::new(all, how, true, beside)
        })
        .collect();
    together(phases, responses, &windows, epoch, &mut assigned);
    if windows.iter().all(Option::is_none) {
        in_order(phases, &mut assigned, &mut taken);
    }
    let mut others: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (pass, _) in phases.passes.iter().zip(&taken).filter(|(_, taken)| !**taken) {
        *others.entry(pass.kind.name()).or_default() += 1;
    }
    (assigned, others.into_iter().collect())
}

/// Sums up the reports of concurrent requests, and the columns launched for them.
fn together(
    phases: &Phases,
    responses: &[Response],
    windows: &[Option<(u64, u64, &'static str)>],
    epoch: u64,
    assigned: &mut [Passes],
) {
    let mut order: Vec<(u64, u64, usize)> = windows
        .iter()
        .enumerate()
        .filter_map(|(at, window)| window.map(|(begin, end, _)| (begin, end, at)))
        .collect();
    order.sort_unstable();
    let mut groups: Vec<(u64, u64, Vec<usize>)> = Vec::new();
    for (begin, end, at) in order {
        match groups.last_mut().filter(|(_, last, _)| begin < *last) {
            Some((_, last, group)) => {
                *last = end.max(*last);
                group.push(at);
            }
            None => groups.push((begin, end, vec![at])),
        }
    }
    for (begin, end, group) in groups.into_iter().filter(|(.., group)| group.len() > 1) {
        // The first token of each comes from its prompt's last pass.
        let says =
            |at: &usize| Some(responses[*at].prompt_tokens? + responses[*at].generated?.saturating_sub(1));
        let said: Option<u64> = group.iter().map(says).sum();
        let within = phases.passes.iter().filter(|pass| (begin..=end).contains(&(pass.begin_ns + epoch)));
        let launched = columns(within);
        for at in group {
            assigned[at].together = said.zip(launched);
        }
    }
}

/// Returns the sum of the columns of passes: minimum and maximum.
pub(super) fn columns<'a>(mut passes: impl Iterator<Item = &'a PassRow>) -> Option<(u64, u64)> {
    passes.try_fold((0, 0), |(least, most), pass| {
        let columns = pass.columns?;
        Some((least + columns.least, most + columns.most))
    })
}

/// Without times: assigns requests found in the phases to responses in order, if their numbers are
/// equal.
fn in_order(phases: &Phases, assigned: &mut [Passes], taken: &mut [bool]) {
    let request = |pass: &PassRow| {
        let phase = &phases.phases[pass.phase];
        phase.request.map(|request| (pass.pid, pass.stream_group, request))
    };
    let mut requests: Vec<((u32, usize, u64), Vec<PassRow>)> = Vec::new();
    for pass in &phases.passes {
        let Some(key) = request(pass) else { continue };
        match requests.iter_mut().find(|(known, _)| *known == key) {
            Some((_, passes)) => passes.push(pass.clone()),
            None => requests.push((key, vec![pass.clone()])),
        }
    }
    if requests.len() != assigned.len() {
        return;
    }
    phases.passes.iter().zip(taken).for_each(|(pass, taken)| *taken = request(pass).is_some());
    for (to, (_, passes)) in assigned.iter_mut().zip(requests) {
        *to = Passes::new(passes, BY_ORDER, false, 0);
    }
}
