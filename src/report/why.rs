//! The page of `rocshim why`: one line for each decision, or the whole chain of those that are
//! named.

use super::{
    label::label,
    section::{paragraph, section},
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{Evidence, Explained, FirstLaunch, Why, steering_variables as rows};
use rocshim_trace::file_name;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The page: the chains of the decisions that `wanted` names, or without it one line for each.
pub fn why(why: &Why, wanted: Option<&str>, style: &Style) -> String {
    let mut parts = Vec::new();
    match wanted {
        None => {
            parts.extend(answer(why).map(|answer| paragraph(&answer, style)));
            parts.extend(overview(why, style));
        }
        Some(wanted) => {
            let mut shown: Vec<&FirstLaunch> = Vec::new();
            for decision in why.decisions.iter().filter(|decision| decision.is_named(wanted)) {
                parts.extend(chain(decision, style));
                let launch = why.first_launch(decision).filter(|launch| !shown.contains(launch));
                parts.extend(launch.and_then(|launch| callers(launch, style)));
                shown.extend(launch);
            }
            let named = why.first_launches.iter().filter(|launch| launch.is_named(wanted));
            let rest = named.filter(|launch| !shown.contains(launch));
            parts.extend(rest.filter_map(|launch| callers(launch, style)));
        }
    }
    parts.extend(environment(why, style));
    parts.extend(why.notes.iter().map(|note| paragraph(note, style)));
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
    let columns = [
        Column::Right("#"),
        Column::Right("calls"),
        Column::Left("evidence"),
        Column::Text("decision, and what decided it"),
    ];
    let mut table = Table::new(&columns);
    for decision in &why.decisions {
        let (evidence, text) = match decision.decided() {
            Some(link) => (link.evidence.to_string(), link.text.clone()),
            None => (String::new(), String::new()),
        };
        let (id, calls) = (decision.id.to_string(), decision.calls.to_string());
        table.row(vec![id, calls, evidence, format!("{}: {text}", decision.title)]);
    }
    let remark =
        "the whole chain of one: `rocshim why TRACE '#1'`, or a part of a kernel's name or of a shape";
    section("Decisions, and what decided each", &table, style, &[remark.into()])
}

/// The chain of a decision, and what would change it.
fn chain(decision: &Explained, style: &Style) -> Option<String> {
    let mut table = Table::new(&[Column::Left("step"), Column::Left("evidence"), Column::Text("what")]);
    for link in &decision.links {
        let source = link.source.as_ref().map(|source| format!(" [{source}]")).unwrap_or_default();
        let text = format!("{}{source}", link.text);
        table.row(vec![link.step.into(), link.evidence.to_string(), text]);
    }
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
    section(&title, &table, style, &changes.collect::<Vec<_>>())
}

/// Who launched a kernel first.
fn callers(launch: &FirstLaunch, style: &Style) -> Option<String> {
    let mut table = Table::new(&[Column::Right("#"), Column::Text("function"), Column::Left("in")]);
    for (at, caller) in (1..).zip(&launch.callers) {
        let line = caller.line.as_ref().map(|line| format!(", {line}")).unwrap_or_default();
        let function = caller.function.as_deref().unwrap_or("?");
        let file = format!("{}+{}", file_name(&caller.file), caller.at);
        table.row(vec![at.to_string(), format!("{function}{line}"), file]);
    }
    let end = match &*launch.end {
        "limit" => Some("more callers are not recorded (ROCSHIM_CALLERS)"),
        "signal" => Some("a signal handler called the last one"),
        "unknown" => Some(
            "who called the last one is unresolved: it has no unwind information, or the stack does not agree with it",
        ),
        _ => None,
    };
    let unnamed = launch.callers.iter().filter_map(|caller| {
        let why = caller.unnamed.as_ref()?;
        Some(format!("no function of {} is named: {why}", caller.file))
    });
    let unnamed: BTreeSet<String> = unnamed.collect();
    let remarks: Vec<String> = end.map(str::to_owned).into_iter().chain(unnamed).collect();
    let name = label(&launch.kernel, launch.demangled.as_deref(), style);
    let title = format!("Confirmed: callers of the first launch of {name}, thread {}", launch.tid);
    section(&title, &table, style, &remarks)
}

/// The variables of the table that were set.
fn environment(why: &Why, style: &Style) -> Option<String> {
    if why.environment.is_empty() {
        return None;
    }
    let columns = [Column::Left("set in the process"), Column::Left("of"), Column::Text("what it does")];
    let mut table = Table::new(&columns);
    for set in &why.environment {
        let (variable, values) = (set.variable, set.values.join(" "));
        table.row(vec![
            values,
            variable.library.into(),
            format!("{} [{}]", variable.effect, variable.source),
        ]);
    }
    section("Variables that steer such decisions", &table, style, &[])
}

/// Every variable that steers a decision.
pub fn steering_variables(style: &Style) -> String {
    let columns =
        [Column::Left("variable"), Column::Left("of"), Column::Left("read in"), Column::Text("what it does")];
    let mut table = Table::new(&columns);
    for row in rows() {
        let effect = format!("{} [{}]", row.effect, row.source);
        table.row(vec![row.name.into(), row.library.into(), row.versions.into(), effect]);
    }
    let all = Style { rows: None, ..*style };
    section("Variables that steer a decision", &table, &all, &[]).unwrap_or_default()
}
