//! Buffers rows column by column until there are enough for a Parquet row group, then writes it.

use anyhow::Result;
use parquet::{
    data_type::{BoolType, ByteArray, ByteArrayType, Int64Type},
    errors::Result as Written,
    file::writer::{SerializedColumnWriter, SerializedRowGroupWriter},
};
use rocshim_analysis::{Cell, ColumnKind, TrackRow};
use std::io::Write;

/// The present values of a column.
enum Values {
    Integers(Vec<i64>),
    Flags(Vec<bool>),
    Texts(Vec<ByteArray>),
}

struct Filled {
    values: Values,
    /// For each row: 1 if it has a value.
    levels: Vec<i16>,
}

/// The columns of a row group.
pub(super) struct Group {
    columns: Vec<Filled>,
    rows: usize,
}

impl Group {
    pub(super) fn new(kinds: impl Iterator<Item = ColumnKind>) -> Group {
        let column = |kind| {
            let values = match kind {
                ColumnKind::Integer | ColumnKind::Address => Values::Integers(Vec::new()),
                ColumnKind::Flag => Values::Flags(Vec::new()),
                ColumnKind::Text => Values::Texts(Vec::new()),
            };
            Filled { values, levels: Vec::new() }
        };
        Group { columns: kinds.map(column).collect(), rows: 0 }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &TrackRow) -> Result<()> {
        let (common, own) = self.columns.split_at_mut(3);
        // The sign does not change: times are below 2^63.
        let times = [row.tid.map(i64::from), Some(row.begin as i64), row.dur.map(|dur| dur as i64)];
        common.iter_mut().zip(times).for_each(|(column, time)| column.integer(time));
        for (column, cell) in own.iter_mut().zip(&row.cells) {
            column.add(cell)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Writes all rows and clears the buffers.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Written<()> {
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(&mut writer)?;
            writer.close()?;
        }
        self.rows = 0;
        Ok(())
    }
}

impl Filled {
    fn integer(&mut self, value: Option<i64>) {
        self.levels.push(value.is_some().into());
        if let Values::Integers(values) = &mut self.values {
            values.extend(value);
        }
    }

    fn add(&mut self, cell: &Cell) -> Result<()> {
        let is_there = match (&mut self.values, cell) {
            (_, Cell::Absent) => false,
            (Values::Integers(values), Cell::Integer(value)) => {
                values.push(*value);
                true
            }
            (Values::Integers(values), Cell::Address(value)) => {
                // Reinterpreted as signed, as Parquet stores unsigned integers.
                values.push(*value as i64);
                true
            }
            (Values::Flags(values), Cell::Flag(value)) => {
                values.push(*value);
                true
            }
            (Values::Texts(values), Cell::Word(word)) => {
                values.push(word.as_bytes().to_vec().into());
                true
            }
            (Values::Texts(values), Cell::Arguments(arguments)) => {
                values.push(serde_json::to_vec(&arguments.values)?.into());
                true
            }
            _ => unreachable!("a cell is of its column's kind"),
        };
        self.levels.push(is_there.into());
        Ok(())
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Written<()> {
        let levels = std::mem::take(&mut self.levels);
        match &mut self.values {
            Values::Integers(values) => {
                writer.typed::<Int64Type>().write_batch(values, Some(&levels), None)?;
                values.clear();
            }
            Values::Flags(values) => {
                writer.typed::<BoolType>().write_batch(values, Some(&levels), None)?;
                values.clear();
            }
            Values::Texts(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, Some(&levels), None)?;
                values.clear();
            }
        }
        Ok(())
    }
}
