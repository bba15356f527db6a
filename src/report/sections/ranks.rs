//! The ranks of jobs, and those of them that have no trace.

use super::compared::evidence;
use crate::{section::Part, table::Style};
use rocshim_analysis::units::counted;
use rocshim_analysis::{JOB_RANKS, JobRankRow, RankFinding, Summary};
use std::collections::BTreeSet;

pub(crate) fn ranks(summary: &Summary, style: &Style) -> Option<String> {
    let mut rows: Vec<&JobRankRow> = summary.ranks.iter().collect();
    if rows.len() < 2 && missing(&summary.ranks).is_empty() {
        return None;
    }
    let differing = rows.iter().filter(|row| row.differs.is_some()).count();
    let is_split = differing > 0 && differing < rows.len();
    rows.sort_by_key(|row| row.differs.is_none());
    Part::new(&JOB_RANKS, rows)
        .titled(if is_split { "Ranks, those that differ first" } else { "Ranks" })
        .under(|row| {
            let evidence = row.evidence.map_or(String::new(), |of| evidence(of, row.why.as_deref()));
            row.differs.iter().map(|what| format!("{what}: {evidence}")).collect()
        })
        .remark(
            "kernels: of launches that succeeded; `rocshim ranks` finds the rank that the others wait for",
        )
        .section(style)
}

/// `8 ranks on 2 hosts: rank 3 does something else than most. No trace of rank 7.`
pub(crate) fn sentence(summary: &Summary) -> Option<String> {
    let rows = &summary.ranks;
    let missing = missing(rows);
    if rows.len() + missing.len() < 2 {
        return None;
    }
    let hosts: BTreeSet<&str> = rows.iter().map(|row| row.host.as_str()).collect();
    let begin = format!("{} on {}", counted(rows.len() as u64, "rank"), counted(hosts.len() as u64, "host"));
    let differing: Vec<u32> = rows.iter().filter(|row| row.differs.is_some()).map(|row| row.rank).collect();
    let limited = rows.iter().any(JobRankRow::is_limited);
    let what = match (differing.len(), limited) {
        _ if rows.len() < 2 => String::new(),
        (0, false) => ": all launch the same kernels".into(),
        (0, true) => {
            ": no difference in what they launch is known (limited: not every trace is whole)".into()
        }
        (many, _) if many == rows.len() => ": they launch different kernels, by classes".into(),
        (1, _) => format!(": {} does something else than most", RankFinding::words(&differing)),
        _ => format!(": {} do something else than most", RankFinding::words(&differing)),
    };
    let without = match missing.is_empty() {
        true => String::new(),
        false => format!(" No trace of {}.", RankFinding::words(&missing)),
    };
    Some(format!("{begin}{what}.{without}"))
}

/// Ranks of a job that have no trace, by its number of ranks. None where there are several jobs.
fn missing(rows: &[JobRankRow]) -> Vec<u32> {
    let is_one_job = rows.windows(2).all(|pair| pair[0].job == pair[1].job);
    let world = rows.iter().filter_map(|row| row.world).max().filter(|_| is_one_job).unwrap_or(0);
    let present: BTreeSet<u32> = rows.iter().map(|row| row.rank).collect();
    (0..world).filter(|rank| !present.contains(rank)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::testing::ranks_of;

    #[test]
    fn ranks_that_differ_and_ranks_without_a_trace_are_in_one_sentence() {
        let said = |ranks: &[(u32, &[&str])], world| sentence(&ranks_of(ranks, world)).unwrap_or_default();
        let (usual, other): (&[&str], &[&str]) = (&["a", "b"], &["a", "c"]);
        assert_eq!(said(&[(0, usual), (1, usual)], 2), "2 ranks on 1 host: all launch the same kernels.");
        let three = [(0, usual), (1, other), (2, usual)];
        let expected = "3 ranks on 1 host: rank 1 does something else than most. No trace of rank 3.";
        assert_eq!(said(&three, 4), expected);
        let summary = ranks_of(&three, 3);
        assert_eq!(summary.ranks[1].differs.as_deref(), Some("launches c; 2 others do not, but launches b"));
        assert_eq!(summary.ranks[0].differs, None);
        let two = "2 ranks on 1 host: they launch different kernels, by classes.";
        assert_eq!(said(&[(0, usual), (1, other)], 2), two);
        assert_eq!(said(&[(0, usual)], 1), "");
        assert_eq!(said(&[(0, usual)], 3), "1 rank on 1 host. No trace of ranks 1, 2.");
    }
}
