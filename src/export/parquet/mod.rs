//! Exports rows as a folder of Parquet files, by table, host and process:
//! `launches/host=HOST/pid=PID/launches-0.parquet`.
//!
//! A process has no file in tables without rows of it. Names are dictionary-encoded, times and call
//! numbers delta-encoded, everything is compressed by zstd. A file is written a row group at a
//! time, and only that group is kept in memory.

mod group;

use super::{Exporter, escaped};
use anyhow::{Context, Result};
use foldhash::HashMap;
use group::Group;
use parquet::{
    basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel},
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr},
        writer::SerializedFileWriter,
    },
    schema::types::{ColumnPath, Type, TypePtr},
};
use rocshim_analysis::{COMMON, Column, ColumnKind, Table, TrackProcess, TrackRow};
use rocshim_report::FolderPlace;
use std::{collections::BTreeMap, fs::File, io::BufWriter, rc::Rc, sync::Arc};

/// Rows of a row group: some MiB of launches with their arguments.
const ROWS: usize = 1 << 15;

/// The first columns of [`COMMON`] are the folders' names.
const FOLDERS: usize = 2;

const CANNOT: &str = "cannot write the export";

/// A file, while it is written.
struct OpenFile {
    file: SerializedFileWriter<BufWriter<File>>,
    group: Group,
}

/// Writer of a folder of files.
pub struct Parquet {
    folder: Rc<FolderPlace>,
    /// Schema and writer's properties of each table.
    forms: Vec<(TypePtr, WriterPropertiesPtr)>,
    /// By process and table, both by number.
    open: BTreeMap<(usize, usize), OpenFile>,
    /// Folders of processes that were seen, with how many processes have them.
    known: HashMap<String, usize>,
    /// The folder of each process, and its number among those that have it.
    of_process: HashMap<usize, (String, usize)>,
    current: usize,
}

impl Parquet {
    /// Begins an export to a folder; files are created with their first row.
    pub fn new(folder: &Rc<FolderPlace>) -> Result<Parquet> {
        let forms = rocshim_analysis::TABLES.iter().copied().map(form).collect::<Result<_>>()?;
        Ok(Parquet {
            folder: folder.clone(),
            forms,
            open: BTreeMap::new(),
            known: HashMap::default(),
            of_process: HashMap::default(),
            current: 0,
        })
    }

    /// Returns the file of a table and process.
    fn file(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<&mut OpenFile> {
        if row.process != self.current && !row.table.is_complete_at_end() {
            self.current = row.process;
            self.close()?;
        }
        let key = (row.process, row.table.number());
        if !self.open.contains_key(&key) {
            let (folder, number) = self.of_process.entry(row.process).or_insert_with(|| {
                let folder = format!("host={}/pid={}", escaped(&process.host), process.pid);
                let known = self.known.entry(folder.clone()).or_default();
                *known += 1;
                (folder, *known - 1)
            });
            let name = row.table.name;
            let file = self.folder.create(&format!("{name}/{folder}/{name}-{number}.parquet"))?;
            let (schema, properties) = self.forms[row.table.number()].clone();
            let group = Group::new(columns(row.table).map(|column| column.kind));
            let file = SerializedFileWriter::new(file, schema, properties).context(CANNOT)?;
            self.open.insert(key, OpenFile { file, group });
        }
        Ok(self.open.get_mut(&key).expect("it was put there"))
    }

    fn close(&mut self) -> Result<()> {
        for (_, mut open) in std::mem::take(&mut self.open) {
            open.write()?;
            open.file.close().context(CANNOT)?;
        }
        Ok(())
    }
}

impl OpenFile {
    /// Writes the kept rows as a row group.
    fn write(&mut self) -> Result<()> {
        if self.group.rows() == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().context(CANNOT)?;
        self.group.write(&mut group).context(CANNOT)?;
        group.close().context(CANNOT)?;
        Ok(())
    }
}

impl Exporter for Parquet {
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()> {
        let open = self.file(row, process)?;
        open.group.add(row)?;
        if open.group.rows() >= ROWS { open.write() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<()> {
        self.close()
    }
}

/// Returns the columns of a table's files.
fn columns(table: &Table) -> impl Iterator<Item = &'static Column> {
    table.all().skip(FOLDERS)
}

fn form(table: &Table) -> Result<(TypePtr, WriterPropertiesPtr)> {
    let mut fields = Vec::new();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_created_by(format!("rocshim {}", env!("CARGO_PKG_VERSION")))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in columns(table) {
        let (physical, logical) = match column.kind {
            ColumnKind::Integer => (Physical::INT64, None),
            ColumnKind::Flag => (Physical::BOOLEAN, None),
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Address => (Physical::INT64, Some(LogicalType::integer(64, false))),
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
        if RISING.contains(&column.name) {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let schema = Type::group_type_builder(table.name).with_fields(fields).build()?;
    Ok((Arc::new(schema), Arc::new(properties.build())))
}

/// Columns whose values mostly increase.
const RISING: [&str; 4] = [COMMON[3].name, "dur_ns", "id", "parent"];
