//! MIOpen's solver ids and their names.
//!
//! Ids are stable by MIOpen's contract (`solver.cpp` registers in order and never reuses a number),
//! so one table serves every release. `solvers.tsv` has a row per id: id, name, since, primitive,
//! algorithm, notes.

use std::sync::LazyLock;

/// The solver's name for an id, in MIOpen's spelling; `None` for an id that is not in the table, or
/// that was registered and removed before any release named it.
pub fn solver_name(id: u64) -> Option<&'static str> {
    Some(solver(id)?.name)
}

/// A solver of MIOpen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Its id.
    pub id: u64,
    /// Its name, in MIOpen's spelling.
    pub name: &'static str,
    /// What it solves, in MIOpen's spelling: `Convolution`, `Fusion`, `Batchnorm`, …; empty if
    /// unknown.
    pub primitive: &'static str,
    /// The algorithm of a convolution, in MIOpen's spelling: `Direct`, `Winograd`, `ImplicitGEMM`,
    /// `GEMM`, `FFT`; else empty.
    pub algorithm: &'static str,
}

/// The solver with this id; `None` as for [`solver_name`].
///
/// ```
/// let solver = rocshim_trace::solver(1).unwrap();
/// assert_eq!((solver.primitive, solver.algorithm), ("Convolution", "Direct"));
/// ```
pub fn solver(id: u64) -> Option<&'static Solver> {
    // Rows are in the order of their ids, from 1.
    let row = usize::try_from(id.checked_sub(1)?).ok()?;
    rows().get(row).filter(|solver| !solver.name.starts_with('('))
}

fn rows() -> &'static [Solver] {
    static ROWS: LazyLock<Vec<Solver>> = LazyLock::new(|| {
        let row = |line: &'static str| {
            let mut columns = line.split('\t');
            let (id, name, _since) = (columns.next()?.parse().ok()?, columns.next()?, columns.next()?);
            Some(Solver { id, name, primitive: columns.next()?, algorithm: columns.next()? })
        };
        include_str!("solvers.tsv").lines().skip(1).filter_map(row).collect()
    });
    &ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_a_solver_or_one_that_was_removed() {
        let table = include_str!("solvers.tsv").lines().skip(1);
        let rows: Vec<Vec<&str>> = table.map(|line| line.split('\t').collect()).collect();
        for id in 1..=rows.len() as u64 {
            let row = &rows[id as usize - 1];
            match solver_name(id) {
                Some(name) => assert_eq!(name, row[1], "{id}"),
                None => {
                    assert!(row[1] == "(reserved)" && !row[5].is_empty(), "{id}: {row:?} says what it was")
                }
            }
        }
        assert_eq!((solver_name(0), solver_name(rows.len() as u64 + 1)), (None, None));
    }

    #[test]
    fn every_row_has_an_id_in_order_and_a_name() {
        let ids: Vec<u64> = rows().iter().map(|solver| solver.id).collect();
        assert_eq!(ids.len(), include_str!("solvers.tsv").lines().count() - 1, "a row did not parse");
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "ids run from 1 without holes");
        assert!(rows().iter().all(|solver| !solver.name.is_empty()));
    }
}
