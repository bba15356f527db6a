//! Renders the pages of `rocshim try` and `rocshim bisect`: the decisions that follow a change, and
//! the differences that they follow.

use super::{
    section::{Part, paragraph},
    table::Style,
};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{
    BisectPage, Cause, Chosen, FollowVerdict, JUDGED, Judged, Others, SubjectKind, TIMES, Trial,
};

/// Limit of the kernels named for a choice.
const NAMED: usize = 3;

/// Returns the page of `rocshim try`.
pub fn trial(trial: &Trial, style: &Style) -> String {
    let experiment = &trial.experiment;
    let rows = |title, verdict| judged(title, experiment.that(verdict), style);
    let mut page = paragraph(&answer(trial), style);
    let runs = format!(
        "Ran {} with the change and {} without, in random order{}.",
        counted_times(experiment.with),
        counted_times(experiment.without),
        endings(trial)
    );
    page.push_str(&paragraph(&runs, style));
    let sections = [
        rows("Decisions that follow the change", FollowVerdict::Follows),
        rows("Not stable with the change, stable without", FollowVerdict::UnstableWith),
        rows("Not stable by themselves", FollowVerdict::Unstable),
        rows("Limited: some runs do not show all", FollowVerdict::Limited),
        rows("The same in all runs", FollowVerdict::Stays),
        Part::new(&TIMES, &trial.times).section(style),
    ];
    for section in sections.into_iter().flatten() {
        page.push('\n');
        page.push_str(&section);
    }
    page
}

/// Returns the first line: how many decisions follow the change.
fn answer(trial: &Trial) -> String {
    let number = |verdict| trial.experiment.that(verdict).count();
    let all = trial.experiment.decisions.len() as u64;
    let follows = number(FollowVerdict::Follows);
    let confirmed =
        trial.experiment.that(FollowVerdict::Follows).filter(|row| row.evidence.is_confirmed()).count();
    let class = match (follows, confirmed) {
        (0, _) => String::new(),
        (follows, confirmed) if follows == confirmed => " (confirmed)".into(),
        (_, 0) => " (inferred)".into(),
        (follows, confirmed) => format!(" ({confirmed} confirmed, {} inferred)", follows - confirmed),
    };
    let first = match follows {
        0 => format!("None of {} follows", counted(all, "decision")),
        follows => format!("{} of {} follow", count(follows as u64), counted(all, "decision")),
    };
    let others = [
        (number(FollowVerdict::Stays), "stay"),
        (number(FollowVerdict::Unstable) + number(FollowVerdict::UnstableWith), "not stable"),
        (number(FollowVerdict::Limited), "limited"),
    ];
    let others =
        others.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}"));
    let others = others.collect::<Vec<_>>().join(", ");
    let others = if others.is_empty() { String::new() } else { format!("; {others}") };
    format!("{first} {}{class}{others}.", trial.change)
}

fn counted_times(runs: usize) -> String {
    counted(runs as u64, "time")
}

/// Returns how the runs ended, if they differ in that.
fn endings(trial: &Trial) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for run in &trial.runs {
        let side = if run.changed { "with" } else { "without" };
        let words = format!("{side}: {}", run.ending);
        match counts.iter_mut().find(|(known, _)| *known == words) {
            Some((_, number)) => *number += 1,
            None => counts.push((words, 1)),
        }
    }
    let first = trial.runs.first().map(|run| &run.ending);
    if trial.runs.iter().all(|run| Some(&run.ending) == first) {
        return String::new();
    }
    let words: Vec<_> = counts.into_iter().map(|(words, number)| format!("{words} ({number})")).collect();
    format!("; {}", words.join(", "))
}

/// Decisions with their choices.
fn judged<'a>(title: &str, rows: impl IntoIterator<Item = &'a Judged>, style: &Style) -> Option<String> {
    let under = |row: &Judged| match row.verdict {
        FollowVerdict::Stays => sides("always", &row.without),
        _ => [sides("without", &row.without), sides("with", &row.with), vec![row.why.clone()]].concat(),
    };
    Part::new(&JUDGED, rows).titled(title).under(under).section(style)
}

/// A line for each choice of a side.
fn sides(side: &str, chosen: &[Chosen]) -> Vec<String> {
    let several = chosen.len() > 1;
    let line = |chosen: &Chosen| {
        let runs = if several { format!(" ({})", counted(chosen.runs as u64, "run")) } else { String::new() };
        format!("{side}: {}{runs}", choice(chosen))
    };
    chosen.iter().map(line).collect()
}

/// `librocblas.so, solution 3: Cijk_…`.
fn choice(chosen: &Chosen) -> String {
    let Some(choice) = &chosen.choice else { return "not asked for".into() };
    let words = choice.by.iter().chain(&choice.asked).cloned().collect::<Vec<_>>().join(", ");
    if choice.kernels.is_empty() {
        return words;
    }
    let mut kernels: Vec<&str> = choice.kernels.iter().take(NAMED).map(String::as_str).collect();
    let more = choice.kernels.len().saturating_sub(NAMED);
    let more_words = format!("{more} more");
    if more > 0 {
        kernels.push(&more_words);
    }
    format!("{words}: {}", kernels.join(", "))
}

/// The page of `rocshim bisect`.
pub fn bisection(page: &BisectPage, style: &Style) -> String {
    let found = &page.found;
    let mut text = String::new();
    for cause in &found.causes {
        text.push_str(&paragraph(&sentence(page, cause), style));
    }
    if found.causes.is_empty() {
        text.push_str(&paragraph(&no_cause(page), style));
    }
    let runs = format!("{}; {} the same in A and B.", counted(found.runs as u64, "run"), found.same);
    text.push_str(&paragraph(&runs, style));
    let all = found.causes.iter().flat_map(|cause| &cause.decisions);
    let sections = [
        judged("Decisions that differ", all, style),
        judged("Not stable", &found.unstable, style),
        judged("Limited: some runs do not show all", &found.limited, style),
    ];
    for section in sections.into_iter().flatten() {
        text.push('\n');
        text.push_str(&section);
    }
    text
}

/// Returns why no cause was found.
fn no_cause(page: &BisectPage) -> String {
    let differences = counted(page.differences.len() as u64, "difference");
    let found = &page.found;
    match (found.unstable.len(), found.limited.len()) {
        (0, 0) => format!("None of these {differences}: A and B decide the same."),
        (0, limited) => {
            format!("Limited: some runs do not show all of {}.", counted(limited as u64, "decision"))
        }
        (unstable, _) => format!(
            "Not stable: {} by themselves, and none follows the {differences}.",
            match unstable {
                1 => "1 decision varies".to_string(),
                many => format!("{many} decisions vary"),
            }
        ),
    }
}

/// `libhipblaslt.so instead of librocblas.so for 5 GEMMs because of ROCBLAS_USE_HIPBLASLT=1
/// (confirmed); the other 31 differences do not matter.`
fn sentence(page: &BisectPage, cause: &Cause) -> String {
    let mut effects: Vec<(SubjectKind, String, u64)> = Vec::new();
    for row in &cause.decisions {
        let effect = effect(row);
        match effects.iter_mut().find(|(kind, known, _)| *kind == row.subject.kind && *known == effect) {
            Some((.., number)) => *number += 1,
            None => effects.push((row.subject.kind, effect, 1)),
        }
    }
    let effects: Vec<String> = effects
        .into_iter()
        .map(|(kind, effect, number)| match kind {
            SubjectKind::Library | SubjectKind::GgmlFamily => effect,
            kind => format!("{effect} for {}", counted(number, kind.name())),
        })
        .collect();
    let names: Vec<String> = cause.differences.iter().map(|at| page.differences[*at].to_string()).collect();
    let rest = page.differences.len() - cause.differences.len();
    let rest_words = match rest {
        1 => "the other difference".to_string(),
        many => format!("the other {many} differences"),
    };
    let others = match (cause.others, rest) {
        (Others::None, _) => String::new(),
        (Others::Stay, 1) => format!("; {rest_words} does not matter"),
        (Others::Stay, _) => format!("; {rest_words} do not matter"),
        (Others::FlipToo, 1) => format!("; {rest_words} flips it too: this is not the only cause"),
        (Others::FlipToo, _) => format!("; {rest_words} flip it too: this is not the only cause"),
        (Others::Unresolved, _) => format!("; what {rest_words} would do alone is unresolved"),
    };
    let class = match &cause.why {
        None => cause.evidence.to_string(),
        Some(why) => format!("{}: {why}", cause.evidence),
    };
    format!("{} because of {} ({class}){others}.", effects.join(", "), names.join(" and "))
}

/// Returns the difference in B, in words.
fn effect(row: &Judged) -> String {
    let [without, with] =
        [&row.without, &row.with].map(|side| side.first().and_then(|one| one.choice.as_ref()));
    let is_switch = matches!(row.subject.kind, SubjectKind::Library | SubjectKind::GgmlFamily);
    let words =
        |by: &std::collections::BTreeSet<String>| by.iter().cloned().collect::<Vec<_>>().join(" and ");
    match (without, with) {
        (None, Some(choice)) if is_switch => format!("{} {}", row.subject.what, words(&choice.by)),
        (Some(choice), None) if is_switch => format!("{} not {}", row.subject.what, words(&choice.by)),
        (None, _) => "new calls".into(),
        (_, None) => "no calls".into(),
        (Some(was), Some(is)) if was.by != is.by => {
            format!("{} instead of {}", words(&is.by), words(&was.by))
        }
        (Some(was), Some(is)) if was.asked != is.asked => "another solution".into(),
        _ => "other kernels".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::CONFIRMED;
    use rocshim_analysis::{Bisection, Choice, Difference, Subject};

    fn row(what: &str, without: &str, with: &str) -> Judged {
        let side = |by: &str| {
            let kernels = [format!("Cijk_{by}")].into();
            let choice = Choice { by: [by.to_string()].into(), asked: [].into(), kernels };
            vec![Chosen { choice: (by != "none").then_some(choice), runs: 8 }]
        };
        Judged {
            subject: Subject { kind: SubjectKind::Gemm, what: what.into(), library: "librocblas.so".into() },
            verdict: FollowVerdict::Follows,
            evidence: CONFIRMED,
            why: "in 8 of 8 runs".into(),
            without: side(without),
            with: side(with),
        }
    }

    fn page(differences: usize, causes: Vec<Cause>) -> BisectPage {
        let variable = |at: usize| Difference::Variable {
            name: if at == 0 { "ROCBLAS_USE_HIPBLASLT".into() } else { format!("OTHER_{at}") },
            a: None,
            b: Some("1".into()),
        };
        let found = Bisection { runs: 30, causes, unstable: vec![], limited: vec![], same: 3 };
        BisectPage { format: 1, differences: (0..differences).map(variable).collect(), found }
    }

    #[test]
    fn a_bisection_is_the_lines_that_matter() {
        let mut decisions: Vec<Judged> =
            (0..5).map(|at| row(&format!("gemm {at}"), "librocblas.so", "libhipblaslt.so")).collect();
        decisions.push(row("gemm 5", "librocblas.so", "none"));
        let cause = |others| Cause {
            differences: [0].into(),
            decisions: decisions.clone(),
            others,
            evidence: CONFIRMED,
            why: None,
        };
        let first =
            |page: BisectPage| bisection(&page, &Style::default()).lines().next().unwrap().to_string();
        assert_eq!(
            first(page(32, vec![cause(Others::Stay)])),
            "libhipblaslt.so instead of librocblas.so for 5 GEMMs, no calls for 1 GEMM because of \
             ROCBLAS_USE_HIPBLASLT=1 (confirmed); the other 31 differences do not matter."
        );
        assert!(
            first(page(2, vec![cause(Others::FlipToo)]))
                .ends_with("; the other difference flips it too: this is not the only cause.")
        );
        assert_eq!(first(page(2, vec![])), "None of these 2 differences: A and B decide the same.");
    }

    #[test]
    fn a_decision_has_its_choices_under_it() {
        let rows = [row("gemm 1", "librocblas.so", "libhipblaslt.so")];
        let text = judged("Title", &rows, &Style::default()).unwrap();
        assert_eq!(
            text,
            "Title\n  evidence   what  decision\n  confirmed  GEMM  gemm 1\n      \
             without: librocblas.so: Cijk_librocblas.so\n      \
             with: libhipblaslt.so: Cijk_libhipblaslt.so\n      in 8 of 8 runs\n"
        );
    }
}
