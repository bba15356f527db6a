//! Writes a file of a dataset: the rows of one table of one process. The file gets its name once it
//! is complete.

use super::tables::{ColumnType, Table, unit};
use anyhow::{Context, Result};
use parquet::{
    basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel},
    data_type::{BoolType, ByteArray, ByteArrayType, Int64Type},
    file::{
        metadata::KeyValue,
        properties::{EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::types::{ColumnPath, Type},
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Rows of a row group, which an engine skips or reads as a whole.
const ROWS: usize = 1 << 17;

/// Converts an unsigned number to a column's signed type; times and counts are below 2^63.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A cell.
#[derive(Clone)]
pub(super) enum Value {
    Absent,
    Integer(i64),
    Flag(bool),
    Text(ByteArray),
}

impl Value {
    pub(super) fn text(text: &str) -> Value {
        if text.is_empty() { Value::Absent } else { Value::Text(text.as_bytes().to_vec().into()) }
    }

    pub(super) fn texts<T: AsRef<str>>(text: Option<T>) -> Value {
        text.map_or(Value::Absent, |text| Value::text(text.as_ref()))
    }

    /// An unsigned number; times and counts are below 2^63.
    pub(super) fn count(value: u64) -> Value {
        Value::Integer(integer(value))
    }

    /// The same, absent for 0.
    pub(super) fn unless_0(value: u64) -> Value {
        if value == 0 { Value::Absent } else { Value::count(value) }
    }

    pub(super) fn integer<T: Into<i64>>(value: Option<T>) -> Value {
        value.map_or(Value::Absent, |value| Value::Integer(value.into()))
    }
}

impl Value {
    /// Returns the text, if it is one.
    pub(super) fn as_text(&self) -> Option<&ByteArray> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the flag, if it is one.
    pub(super) fn as_flag(&self) -> Option<bool> {
        if let Value::Flag(flag) = self { Some(*flag) } else { None }
    }
}

/// The cell of a row; `None` where it has none.
type CellOf<'a, R, T> = Box<dyn Fn(&R) -> Option<T> + 'a>;

/// The cells of a column for rows of type `R`: for tables of millions of rows, which are written
/// column by column.
pub(super) enum Cells<'a, R> {
    Integer(CellOf<'a, R, i64>),
    Flag(CellOf<'a, R, bool>),
    Text(CellOf<'a, R, &'a ByteArray>),
}

impl<'a, R> Cells<'a, R> {
    /// The same value in each row.
    pub(super) fn constant(value: &'a Value) -> Cells<'a, R> {
        match value {
            Value::Absent => Cells::Integer(Box::new(|_| None)),
            Value::Integer(value) => Cells::Integer(Box::new(|_| Some(*value))),
            Value::Flag(value) => Cells::Flag(Box::new(|_| Some(*value))),
            Value::Text(value) => Cells::Text(Box::new(move |_| Some(value))),
        }
    }

    /// A number; times and counts are below 2^63.
    pub(super) fn count(of: impl Fn(&R) -> u64 + 'a) -> Cells<'a, R> {
        Cells::Integer(Box::new(move |row| Some(integer(of(row)))))
    }

    /// The same, absent for 0.
    pub(super) fn unless_0(of: impl Fn(&R) -> u64 + 'a) -> Cells<'a, R> {
        Cells::Integer(Box::new(move |row| Some(integer(of(row))).filter(|value| *value != 0)))
    }

    /// A text.
    pub(super) fn text(of: impl Fn(&R) -> Option<&'a ByteArray> + 'a) -> Cells<'a, R> {
        Cells::Text(Box::new(of))
    }
}

/// The present values of a column, and for each row 1 if it has one.
#[derive(Default)]
struct Column {
    integers: Vec<i64>,
    flags: Vec<bool>,
    texts: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Column {
    fn add<R>(&mut self, rows: &[R], cells: &Cells<'_, R>) {
        let levels = &mut self.levels;
        match cells {
            Cells::Integer(of) => fill(levels, &mut self.integers, rows.iter().map(of)),
            Cells::Flag(of) => fill(levels, &mut self.flags, rows.iter().map(of)),
            Cells::Text(of) => fill(levels, &mut self.texts, rows.iter().map(|row| of(row).cloned())),
        }
    }
}

fn fill<T>(levels: &mut Vec<i16>, values: &mut Vec<T>, cells: impl Iterator<Item = Option<T>>) {
    for cell in cells {
        levels.push(cell.is_some().into());
        values.extend(cell);
    }
}

/// A file, while it is written.
pub(super) struct TableFile {
    file: SerializedFileWriter<File>,
    kinds: Vec<ColumnType>,
    columns: Vec<Column>,
    rows: usize,
    /// Its temporary name, which engines ignore, and its final name.
    unfinished: PathBuf,
    path: PathBuf,
}

impl TableFile {
    /// Begins the file of `table` at `path`; creates its folders.
    pub(super) fn create(table: &Table, path: PathBuf) -> Result<TableFile> {
        let cannot = || format!("cannot write {}", path.display());
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(cannot)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = folder.join(format!(".{name}.unfinished-{}", std::process::id()));
        let file = File::create(&unfinished).with_context(cannot)?;
        let (schema, properties) = form(table)?;
        let file = SerializedFileWriter::new(file, schema, properties.into()).with_context(cannot)?;
        let kinds: Vec<ColumnType> = table.all().map(|(_, kind, _)| *kind).collect();
        let columns = kinds.iter().map(|_| Column::default()).collect();
        Ok(TableFile { file, kinds, columns, rows: 0, unfinished, path })
    }

    /// Adds a row, a cell for each column of the table.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Value>) -> Result<()> {
        let mut columns = self.columns.iter_mut();
        for (column, cell) in columns.by_ref().zip(cells) {
            column.levels.push(i16::from(!matches!(cell, Value::Absent)));
            match cell {
                Value::Absent => {}
                Value::Integer(value) => column.integers.push(value),
                Value::Flag(value) => column.flags.push(value),
                Value::Text(value) => column.texts.push(value),
            }
        }
        debug_assert!(columns.next().is_none(), "{}: a row lacks a cell", self.path.display());
        self.rows += 1;
        if self.rows == ROWS { self.write() } else { Ok(()) }
    }

    /// Adds rows, in which each column of the table holds its `cells`. No row was added before.
    pub(super) fn rows<R>(&mut self, rows: &[R], cells: &[Cells<'_, R>]) -> Result<()> {
        debug_assert_eq!((self.rows, cells.len()), (0, self.columns.len()), "{}", self.path.display());
        for rows in rows.chunks(ROWS) {
            for (column, cells) in self.columns.iter_mut().zip(cells) {
                column.add(rows, cells);
            }
            self.rows = rows.len();
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for (column, kind) in self.columns.iter_mut().zip(&self.kinds) {
            let Some(mut writer) = group.next_column()? else { break };
            let levels = Some(column.levels.as_slice());
            match kind {
                ColumnType::Integer => {
                    writer.typed::<Int64Type>().write_batch(&column.integers, levels, None)?
                }
                ColumnType::Flag => writer.typed::<BoolType>().write_batch(&column.flags, levels, None)?,
                ColumnType::Text => {
                    writer.typed::<ByteArrayType>().write_batch(&column.texts, levels, None)?
                }
            };
            writer.close()?;
            column.levels.clear();
            column.integers.clear();
            column.flags.clear();
            column.texts.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the remaining rows and renames the file to its final name, replacing an earlier one.
    pub(super) fn finish(mut self) -> Result<()> {
        let cannot = format!("cannot write {}", self.path.display());
        let written = (|| {
            if self.rows > 0 {
                self.write()?;
            }
            self.file.finish()?;
            self.file.inner().sync_all()?;
            anyhow::Ok(fs::rename(&self.unfinished, &self.path)?)
        })();
        written.context(cannot)
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        // After the renaming, the temporary file no longer exists.
        let _ = fs::remove_file(&self.unfinished);
    }
}

/// Returns the schema of a table's files, and the writer's properties.
fn form(table: &Table) -> Result<(Arc<Type>, WriterProperties)> {
    let pair = |key: &str, value: String| KeyValue::new(format!("rocshim.{key}"), value);
    let units = table.all().filter_map(|(name, ..)| Some((name.to_string(), unit(name)?.into()))).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(format!("rocshim {}", env!("CARGO_PKG_VERSION")))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(vec![
            pair("table", table.name.into()),
            pair("row", table.what.into()),
            pair("columns", table.meanings()),
            pair("units", serde_json::Value::Object(units).to_string()),
        ]));
    let mut fields = Vec::new();
    for (name, kind, _) in table.all() {
        let (physical, logical) = match kind {
            ColumnType::Integer => (Physical::INT64, None),
            ColumnType::Flag => (Physical::BOOLEAN, None),
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
        // Columns whose values mostly increase.
        if ["begin_ns", "gpu_begin_ns", "gpu_end_ns", "done_ns", "dur_ns", "gpu_dur_ns", "id", "parent"]
            .contains(name)
        {
            let path = ColumnPath::from(*name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let schema = Type::group_type_builder(table.name).with_fields(fields).build()?;
    Ok((Arc::new(schema), properties.build()))
}
