//! The page of `rocshim ranks`.

use super::{
    section::{Part, paragraph},
    table::Style,
};
use rocshim_analysis::units::counted;
use rocshim_analysis::{
    AROUND, CLOCKS, COMMUNICATORS, GroupRow, RANK_FINDINGS, RANK_STEPS, RANKS, RankFinding, RankFindingKind,
    RankRow, Ranks,
};
use rocshim_trace::file_name;

/// The whole page: the answer, every finding with its evidence, ranks, clocks, communicators.
pub fn ranks(ranks: &Ranks, style: &Style) -> String {
    let mut page = paragraph(&answer(ranks), style);
    let sections = [
        findings(ranks, style),
        table(ranks, style),
        Part::new(&RANK_STEPS, &ranks.steps).section(style),
        around(ranks, style),
        clocks(ranks, style),
        groups(ranks, style),
    ];
    for part in sections.into_iter().flatten() {
        page.push('\n');
        page.push_str(&part);
    }
    for note in &ranks.notes {
        page.push('\n');
        page.push_str(&paragraph(note, style));
    }
    page
}

/// `The job ended inside a collective: rank 5 did not enter … 8 ranks on 2 hosts, 12 steps of …`
fn answer(ranks: &Ranks) -> String {
    let of = |kind| ranks.findings.iter().filter(move |finding| finding.kind == kind);
    let named = |kind| {
        let mut list: Vec<u32> = of(kind).flat_map(|finding| finding.ranks.iter().copied()).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let mut sentences = Vec::new();
    sentences.extend(of(RankFindingKind::UnfinishedCollective).next().map(|first| {
        format!("The job ended inside a collective: {} {}.", RankFinding::words(&first.ranks), first.what)
    }));
    let kinds = [
        (RankFindingKind::Missing, "no trace of"),
        (RankFindingKind::Mismatch, "another collective than the others is called by"),
        (RankFindingKind::EndsEarly, "the trace ends early of"),
        (RankFindingKind::Straggler, "the others wait for"),
        (RankFindingKind::Differs, "something else than the rest was launched or loaded by"),
        (RankFindingKind::LeftOut, "not compared:"),
    ];
    for (kind, words) in kinds {
        let list = named(kind);
        if !list.is_empty() {
            let words = format!("{words} {}.", RankFinding::words(&list));
            sentences.push(words[..1].to_uppercase() + &words[1..]);
        }
    }
    if ranks.findings.is_empty() && !ranks.ranks.is_empty() {
        sentences.push("No rank stands out.".into());
    }
    sentences.push(extent(ranks));
    sentences.join(" ")
}

/// `8 ranks on 2 hosts, 12 steps of 3 collectives (GPU times).`
fn extent(ranks: &Ranks) -> String {
    if ranks.ranks.is_empty() {
        return "No rank: no process calls RCCL, and none has a number of a launcher.".into();
    }
    let all = counted(ranks.ranks.len() as u64, "rank");
    let hosts = counted(ranks.clocks.len() as u64, "host");
    match ranks.groups.first() {
        None => format!("{all} on {hosts}."),
        Some(group) => format!("{all} on {hosts}, {} ({}).", steps_of(group), group.basis.brief()),
    }
}

fn steps_of(group: &GroupRow) -> String {
    match group.step_length {
        Some(length) => {
            format!("{} of {}", counted(group.steps, "step"), counted(length, "collective"))
        }
        None => format!("{} without a period", counted(group.collectives, "collective")),
    }
}

fn findings(ranks: &Ranks, style: &Style) -> Option<String> {
    let stragglers = ranks.findings.iter().any(|finding| finding.kind == RankFindingKind::Straggler);
    Part::new(&RANK_FINDINGS, &ranks.findings)
        .under(|row| row.why.iter().cloned().collect())
        .remarks(stragglers.then(|| rocshim_analysis::STRAGGLER_RULE.to_owned()))
        .section(style)
}

/// Ranks with the largest share of own time first: the last that the others wait for.
fn table(ranks: &Ranks, style: &Style) -> Option<String> {
    let mut rows: Vec<RankRow> = ranks.ranks.clone();
    rows.sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)).then(a.rank.cmp(&b.rank)));
    if !style.full_names {
        rows.iter_mut().for_each(|row| row.trace = file_name(&row.trace).to_owned());
    }
    let remark = "own: outside of collectives, median over steps; of median: against the step's median rank; waited \
                  for: what the others spent in collectives beyond it, where it was the slowest";
    Part::new(&RANKS, &rows).remark(remark).section(style)
}

/// Around each collective of a step; with `all`, for each rank.
fn around(ranks: &Ranks, style: &Style) -> Option<String> {
    let rows = ranks.around.iter().filter(|row| row.group == 0 && style.all);
    Part::new(&AROUND, rows).section(style)
}

fn clocks(ranks: &Ranks, style: &Style) -> Option<String> {
    let clocks = (ranks.clocks.len() > 1).then_some(&ranks.clocks)?;
    Part::new(&CLOCKS, clocks).remark(rocshim_analysis::CLOCK_RULE).section(style)
}

fn groups(ranks: &Ranks, style: &Style) -> Option<String> {
    let remark = "evidence: confirmed by the unique id that all were created with, or inferred from the order of use; \
                  steps are inferred from the period of the collectives";
    Part::new(&COMMUNICATORS, &ranks.groups).remark(remark).section(style)
}
