//! The page of `rocshim ranks`.

use super::{
    section::{paragraph, section},
    sections::rank_words,
    table::{Column, Style, Table},
};
use rocshim_analysis::units::{count, counted, time};
use rocshim_analysis::{GroupRow, RankFinding, RankFindingKind, RankRow, RankTimes, Ranks};
use rocshim_trace::file_name;

/// The most numbers of ranks in a sentence.
const LISTED: usize = 8;

/// The whole page: the answer, every finding with its evidence, ranks, clocks, communicators.
pub fn ranks(ranks: &Ranks, style: &Style) -> String {
    let mut page = paragraph(&answer(ranks), style);
    let sections = [
        findings(ranks, style),
        table(ranks, style),
        steps(ranks, style),
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
        format!("The job ended inside a collective: {} {}.", rank_words(&first.ranks), first.what)
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
            let words = format!("{words} {}.", rank_words(&list));
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
        Some(group) => format!("{all} on {hosts}, {} ({}).", steps_of(group), basis(group.basis)),
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

fn basis(basis: RankTimes) -> &'static str {
    match basis {
        RankTimes::Gpu => "GPU times",
        RankTimes::Host => "host times",
        RankTimes::Entry => "host times of calls alone",
    }
}

fn findings(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.findings.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Left("ranks"),
        Column::Left("host"),
        Column::Left("evidence"),
        Column::Text("finding"),
    ]);
    for RankFinding { ranks, hosts, what, evidence, why, .. } in &ranks.findings {
        let host = match hosts.as_slice() {
            [] => "-".to_owned(),
            [host] => host.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        };
        let words = rank_words(ranks);
        let words = words.split_once(' ').map_or(words.as_str(), |(_, numbers)| numbers).to_owned();
        table.row_with(vec![words, host, evidence.to_string(), what.clone()], why.iter().cloned().collect());
    }
    let stragglers = ranks.findings.iter().any(|finding| finding.kind == RankFindingKind::Straggler);
    let rule = stragglers.then(|| rocshim_analysis::STRAGGLER_RULE.to_owned());
    section("Findings", &table, style, &Vec::from_iter(rule))
}

/// Ranks with the largest share of own time first: the last that the others wait for.
fn table(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.ranks.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("rank"),
        Column::Left("host"),
        Column::Right("collectives"),
        Column::Right("own a step"),
        Column::Right("in collectives"),
        Column::Right("of median"),
        Column::Missable("slowest in"),
        Column::Missable("waited for"),
        Column::Left("end"),
        Column::Left("trace"),
    ]);
    let mut rows: Vec<&RankRow> = ranks.ranks.iter().collect();
    rows.sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)).then(a.rank.cmp(&b.rank)));
    for row in rows {
        let timed = |ns| if row.steps == 0 { "-".to_owned() } else { time(ns) };
        table.row(vec![
            row.rank.to_string(),
            row.host.clone(),
            count(row.collectives),
            timed(row.own_ns),
            timed(row.in_ns),
            row.ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")),
            count(row.slowest_in),
            timed(row.waited_for_ns),
            row.end.clone(),
            if style.full_names { row.trace.clone() } else { file_name(&row.trace).to_owned() },
        ]);
    }
    let remark = "own: outside of collectives, median over steps; of median: against the step's median rank; waited \
                  for: what the others spent in collectives beyond it, where it was the slowest";
    section("Ranks, the slowest first", &table, style, &[remark.to_owned()])
}

fn steps(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.steps.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("rank"),
        Column::Right("step"),
        Column::Right("own"),
        Column::Right("in collectives"),
    ]);
    for row in &ranks.steps {
        table.row(vec![
            row.rank.to_string(),
            row.step.to_string(),
            time(row.time.own_ns),
            time(row.time.in_ns),
        ]);
    }
    section("Steps", &table, style, &[])
}

/// Around each collective of a step; with `all`, for each rank.
fn around(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.around.is_empty() || !style.all {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("rank"),
        Column::Right("#"),
        Column::Right("before"),
        Column::Right("in"),
        Column::Right("after"),
        Column::Left("collective"),
    ]);
    for row in ranks.around.iter().filter(|row| row.group == 0) {
        table.row(vec![
            row.rank.to_string(),
            (row.place + 1).to_string(),
            time(row.before_ns),
            time(row.in_ns),
            time(row.after_ns),
            row.collective.clone(),
        ]);
    }
    section("Around each collective of a step (medians)", &table, style, &[])
}

fn clocks(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.clocks.len() < 2 {
        return None;
    }
    let mut table = Table::new(&[
        Column::Left("host"),
        Column::Right("ranks"),
        Column::Right("ahead"),
        Column::Right("within"),
        Column::Text("evidence"),
    ]);
    for row in &ranks.clocks {
        let signed = |ns: i64| format!("{}{}", if ns < 0 { "-" } else { "" }, time(ns.unsigned_abs()));
        table.row(vec![
            row.host.clone(),
            row.ranks.to_string(),
            row.ahead_ns.map_or("-".into(), signed),
            row.error_ns.map_or("-".into(), time),
            row.why.map_or_else(|| row.evidence.to_string(), |why| format!("{}: {why}", row.evidence)),
        ]);
    }
    section(
        "Clocks, compared with the first host's",
        &table,
        style,
        &[rocshim_analysis::CLOCK_RULE.to_owned()],
    )
}

fn groups(ranks: &Ranks, style: &Style) -> Option<String> {
    if ranks.groups.is_empty() {
        return None;
    }
    let mut table = Table::new(&[
        Column::Right("ranks"),
        Column::Right("collectives"),
        Column::Left("evidence"),
        Column::Left("times"),
        Column::Text("a step"),
    ]);
    for group in &ranks.groups {
        let of = group.members.map_or(String::new(), |members| format!(" of {members}"));
        let step = match group.step_length {
            None => "no period: each collective is a step".to_owned(),
            Some(_) if group.step.len() > LISTED => {
                format!("{}; … {} in all", group.step[..LISTED].join("; "), group.step.len())
            }
            Some(_) => group.step.join("; "),
        };
        table.row(vec![
            format!("{}{of}", group.ranks.len()),
            count(group.collectives),
            group.evidence.to_string(),
            basis(group.basis).to_owned(),
            step,
        ]);
    }
    let remark = "evidence: confirmed by the unique id that all were created with, or inferred from the order of use; \
                  steps are inferred from the period of the collectives";
    section("Communicators", &table, style, &[remark.to_owned()])
}
