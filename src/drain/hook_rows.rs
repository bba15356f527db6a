//! The hook table of the traced process: its rows, and the entry points whose state changed.

use crate::records::armed_or_off;
use rocshim_ring::definition::ROWS;
use rocshim_trace::{Hook, HookTable};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of names per line of the hook table: a line stays within a page of the trace.
const NAME_BYTES: usize = 3000;

/// The hook table. Rows without a change take no memory of their own: a process that only starts
/// and ends decodes a thousand.
#[derive(Default)]
pub(crate) struct HookRows {
    /// The names of all rows and libraries, one after the other.
    text: String,
    rows: Vec<Row>,
    /// Entry points that are not armed, by row and entry point number.
    changed: BTreeMap<u16, Hook>,
}

/// Where a row's names are in the text.
struct Row {
    name: Range<usize>,
    of: Range<usize>,
}

impl HookRows {
    /// The table with these rows: symbol, library, and whether its calls are recorded.
    pub(crate) fn new(hooks: &[(&str, &str, bool)]) -> HookRows {
        let bytes = hooks.iter().map(|(name, of, _)| name.len() + of.len()).sum();
        let (mut text, mut rows) = (String::with_capacity(bytes), Vec::with_capacity(hooks.len()));
        let mut append = |part: &str| {
            text.push_str(part);
            text.len() - part.len()..text.len()
        };
        rows.extend(hooks.iter().map(|(name, of, _)| Row { name: append(name), of: append(of) }));
        let off = (0..).zip(hooks).filter(|(_, (.., is_on))| !is_on);
        let changed = off.map(|(id, (name, of, _))| (id, armed_or_off(id, name, of, false))).collect();
        HookRows { text, rows, changed }
    }

    /// The row of entry point `id`, in its present state.
    pub(crate) fn row(&self, id: u16) -> Option<Hook> {
        let row = id % ROWS;
        let armed = || {
            let Row { name, of } = self.rows.get(row as usize)?;
            Some(armed_or_off(row, &self.text[name.clone()], &self.text[of.clone()], true))
        };
        self.changed.get(&row).cloned().or_else(armed)
    }

    /// Stores the new state of an entry point.
    pub(crate) fn set(&mut self, hook: Hook) {
        self.changed.insert(hook.id, hook);
    }

    /// The names of all hooked functions.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| &self.text[row.name.clone()])
    }

    /// Entry points that are not armed, in order of their ids.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Hook> {
        self.changed.values()
    }

    /// The table as records, in several for a library with many functions.
    pub(crate) fn tables(&self) -> Vec<HookTable> {
        let mut tables: Vec<HookTable> = Vec::new();
        let mut bytes = 0;
        for (id, row) in (0..).zip(&self.rows) {
            let (name, of) = (&self.text[row.name.clone()], &self.text[row.of.clone()]);
            match tables.last_mut().filter(|table| table.of == of && bytes < NAME_BYTES) {
                Some(table) => table.names.push(name.into()),
                None => {
                    bytes = 0;
                    tables.push(HookTable { of: of.into(), first: id, names: vec![name.into()] });
                }
            }
            bytes += name.len();
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_armed_until_it_changes() {
        let mut rows = HookRows::new(&[("a", "one", true), ("b", "two", false), ("c", "two", true)]);
        let states = |rows: &HookRows| [0, 1, 2].map(|id| rows.row(id).unwrap().state);
        assert_eq!(states(&rows), ["armed", "off", "armed"]);
        rows.set(Hook { state: "bound".into(), ..rows.row(2).unwrap() });
        assert_eq!(states(&rows), ["armed", "off", "bound"]);
        assert_eq!(rows.row(2 + ROWS), rows.row(2), "an entry point begins as its row");
        assert!(rows.row(3).is_none());
        assert_eq!(rows.names().collect::<String>(), "abc");
        let table = |of: &str, first, names: &[&str]| HookTable {
            of: of.into(),
            first,
            names: names.iter().map(|name| name.to_string()).collect(),
        };
        assert_eq!(rows.tables(), [table("one", 0, &["a"]), table("two", 1, &["b", "c"])]);
    }
}
