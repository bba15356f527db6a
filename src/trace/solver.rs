//! MIOpen's solver ids and their names.
//!
//! Ids are stable by MIOpen's contract (`solver.cpp` registers in order and never reuses a number), so one table serves
//! every release. `solvers.tsv` has a row per id: id, name, since, primitive, algorithm, notes.

/// The solver's name for an id, in MIOpen's own spelling; `None` for an id that the table does not have or that was
/// registered and removed before any release named it.
///
/// ```
/// assert_eq!(rocshim_trace::solver_name(1), Some("ConvAsm3x3U"));
/// assert_eq!(rocshim_trace::solver_name(0), None);
/// ```
pub fn solver_name(id: u64) -> Option<&'static str> {
    rows().find(|(row, _)| *row == id).map(|(_, name)| name).filter(|name| !name.starts_with('('))
}

fn rows() -> impl Iterator<Item = (u64, &'static str)> {
    include_str!("solvers.tsv").lines().skip(1).filter_map(|line| {
        let mut columns = line.split('\t');
        Some((columns.next()?.parse().ok()?, columns.next()?))
    })
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
        let ids: Vec<u64> = rows().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), include_str!("solvers.tsv").lines().count() - 1, "a row did not parse");
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "ids run from 1 without holes");
        assert!(rows().all(|(_, name)| !name.is_empty()));
    }
}
