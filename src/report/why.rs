//! The page of `rocshim why`: one line for each decision, or the whole chain of those that are
//! named.

use super::{
    label::label,
    section::{Part, paragraph},
    table::Style,
};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{
    CALLERS, CallChain, DECISIONS, Evidence, Explained, FirstLaunch, LINKS, SET_VARIABLES,
    STEERING_VARIABLES, Why, steering_variables as rows,
};
use rocshim_trace::PythonCaller;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The page: the chains of the decisions that `wanted` names, or without it one line for each.
pub fn why(why: &Why, wanted: Option<&str>, style: &Style) -> String {
    let is_limit = |note: &&String| note.starts_with("limited: ");
    let mut parts: Vec<String> =
        why.notes.iter().filter(is_limit).map(|note| paragraph(note, style)).collect();
    match wanted {
        None => {
            parts.extend(answer(why).map(|answer| paragraph(&answer, style)));
            parts.extend(overview(why, style));
        }
        Some(wanted) => {
            let mut shown: Vec<&FirstLaunch> = Vec::new();
            for decision in why.decisions.iter().filter(|decision| decision.is_named(wanted)) {
                parts.push(chain(decision, style));
                if let Some(call) = &decision.first_call {
                    let title = format!("first call of {} with this shape", call.function);
                    parts.push(callers(&title, &call.chain, style));
                    continue;
                }
                let launch = why.first_launch(decision).filter(|launch| !shown.contains(launch));
                parts.extend(launch.map(|launch| launch_callers(launch, style)));
                shown.extend(launch);
            }
            let named = why.first_launches.iter().filter(|launch| launch.is_named(wanted));
            let rest = named.filter(|launch| !shown.contains(launch));
            parts.extend(rest.map(|launch| launch_callers(launch, style)));
        }
    }
    parts.extend(Part::new(&SET_VARIABLES, &why.environment).section(style));
    let others = why.notes.iter().filter(|note| !is_limit(note));
    parts.extend(others.map(|note| paragraph(note, style)));
    parts.join("\n")
}

/// How many decisions are explained, and what decided that of the most calls.
fn answer(why: &Why) -> Option<String> {
    let most = why.decisions.iter().min_by_key(|decision| Reverse(decision.calls))?;
    let is_explained = |decision: &&Explained| {
        let decided = decision.decided();
        decided.is_some_and(|link| matches!(link.evidence, Evidence::Confirmed(_) | Evidence::Inferred))
    };
    let all = why.decisions.len() as u64;
    let explained = why.decisions.iter().filter(is_explained).count() as u64;
    let rest = match all - explained {
        0 => String::new(),
        rest => format!(", {} not", count(rest)),
    };
    let calls: u64 = why.decisions.iter().map(|decision| decision.calls).sum();
    let cause = most.decided().map_or("what decided it is unresolved", |link| link.text.as_str());
    Some(format!(
        "{}: {} explained{rest}. Most calls ({} of {}): {}: {cause}.",
        counted(all, "decision"),
        count(explained),
        count(most.calls),
        count(calls),
        most.title
    ))
}

/// One line for each decision.
fn overview(why: &Why, style: &Style) -> Option<String> {
    if why.decisions.is_empty() {
        let none = "no GEMM, convolution or product of ggml was seen: there is no decision to explain";
        return Some(paragraph(none, style));
    }
    let remark =
        "the whole chain of one: `rocshim why TRACE '#1'`, or a part of a kernel's name or of a shape";
    Part::new(&DECISIONS, &why.decisions).remark(remark).section(style)
}

/// The chain of a decision, and what would change it.
fn chain(decision: &Explained, style: &Style) -> String {
    let changes = decision.changes.iter().enumerate();
    let changes =
        changes.map(|(at, change)| format!("to change it, {}: {} ({})", at + 1, change.what, change.effect));
    let title = format!(
        "#{} {}, {} {}, process {}",
        decision.id,
        decision.title,
        decision.calls,
        if decision.calls == 1 { "call" } else { "calls" },
        decision.pid
    );
    Part::new(&LINKS, &decision.links).titled(title).remarks(changes).even_empty(style)
}

/// Who launched a kernel first.
fn launch_callers(launch: &FirstLaunch, style: &Style) -> String {
    let name = label(&launch.kernel, launch.demangled.as_deref(), style);
    callers(&format!("first launch of {name}"), &launch.chain, style)
}

/// The functions of a chain, those of Python last.
fn callers(of: &str, chain: &CallChain, style: &Style) -> String {
    let end = match &*chain.end {
        "limit" => Some("more callers are not recorded (ROCSHIM_CALLERS)"),
        "signal" => Some("a signal handler called the last one"),
        "unknown" => Some(
            "who called the last one is unresolved: it has no unwind information, or the stack does not agree with it",
        ),
        _ => None,
    };
    let unnamed = chain.callers.iter().filter_map(|caller| {
        let why = caller.unnamed.as_ref()?;
        Some(format!("no function of {} is named: {why}", caller.file))
    });
    let unnamed: BTreeSet<String> = unnamed.collect();
    let remarks = end.map(str::to_owned).into_iter().chain(unnamed).chain(python(&chain.python));
    let rows: Vec<_> = (1..).zip(chain.callers.iter().cloned()).collect();
    let title = format!("Confirmed: callers of the {of}, thread {}", chain.tid);
    Part::new(&CALLERS, &rows).titled(title).remarks(remarks).even_empty(style)
}

/// The Python functions of a chain: `Python: train.py:42 in step; train.py:60 in <module>`.
fn python(callers: &[PythonCaller]) -> Option<String> {
    let line = |caller: &PythonCaller| {
        let line = caller.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line} in {}", caller.file, caller.function)
    };
    let lines: Vec<String> = callers.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("Python, innermost first: {}", lines.join("; ")))
}

/// Every variable that steers a decision.
pub fn steering_variables(style: &Style) -> String {
    Part::new(&STEERING_VARIABLES, rows()).even_empty(&Style { rows: None, ..*style })
}
