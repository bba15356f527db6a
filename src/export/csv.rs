//! Exports rows as a folder of CSV files, one for each table, each with a header line of column
//! names.

use super::Exporter;
use anyhow::{Context, Result};
use rocshim_analysis::{COMMON, Cell, TABLES, TrackProcess, TrackRow};
use rocshim_report::FolderPlace;
use std::{fmt::Write as _, fs::File, io::BufWriter, rc::Rc};

/// Writer of a folder of files.
pub struct Csv {
    /// In the order of the tables.
    files: Vec<csv::Writer<BufWriter<File>>>,
    /// A cell, while it is written.
    text: String,
}

const CANNOT: &str = "cannot write the export";

impl Csv {
    /// Creates a file for every table.
    pub fn new(folder: &Rc<FolderPlace>) -> Result<Csv> {
        let mut files = Vec::new();
        for table in TABLES {
            let mut file = csv::Writer::from_writer(folder.create(&format!("{}.csv", table.name))?);
            file.write_record(table.all().map(|column| column.name)).context(CANNOT)?;
            files.push(file);
        }
        Ok(Csv { files, text: String::new() })
    }
}

impl Exporter for Csv {
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()> {
        let (file, text) = (&mut self.files[row.table.number()], &mut self.text);
        let common: [Option<u64>; COMMON.len() - 1] =
            [Some(process.pid.into()), row.tid.map(u64::from), Some(row.begin), row.dur];
        file.write_field(&process.host).context(CANNOT)?;
        for value in common {
            text.clear();
            // A string takes everything.
            let _ = value.map_or(Ok(()), |value| write!(text, "{value}"));
            file.write_field(&*text).context(CANNOT)?;
        }
        for cell in &row.cells {
            text.clear();
            let _ = match cell {
                Cell::Absent => Ok(()),
                Cell::Integer(value) => write!(text, "{value}"),
                Cell::Flag(value) => write!(text, "{value}"),
                Cell::Address(value) => write!(text, "{value:#x}"),
                Cell::Word(word) => text.write_str(word),
                Cell::Arguments(arguments) => text.write_str(&serde_json::to_string(&arguments.values)?),
            };
            file.write_field(&*text).context(CANNOT)?;
        }
        file.write_record(None::<&[u8]>).context(CANNOT)
    }

    fn finish(&mut self) -> Result<()> {
        for file in &mut self.files {
            file.flush().context(CANNOT)?;
        }
        Ok(())
    }
}
