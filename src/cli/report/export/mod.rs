//! A timeline in the forms that other programs read: slices for Perfetto and Chrome, tables as CSV and Parquet.
//!
//! Floors, lowest first: `place` (a file or folder that gets its name when it is whole), `slices` (what both slice forms show of a
//! row), then one file for each form. A form is given row after row and keeps what it must to write the next one.

mod chrome;
mod columns;
mod csv;
mod parquet;
mod perfetto;
mod place;
mod slices;
#[cfg(test)]
mod tests;

pub(crate) use chrome::Chrome;
pub(crate) use columns::columns;
pub(crate) use csv::Csv;
pub(crate) use parquet::Parquet;
pub(crate) use perfetto::Perfetto;
pub(crate) use place::{FilePlace, FolderPlace};
pub(super) use slices::{Value, details, name};

use crate::analysis::{TrackProcess, TrackRow};
use anyhow::Result;

/// A form, while it is written.
pub(crate) trait Exporter {
    /// Writes a row of a process.
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()>;

    /// After the last row.
    fn finish(&mut self) -> Result<()>;
}
