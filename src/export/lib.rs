//! A timeline in the forms that other programs read: slices for Perfetto and Chrome, tables as CSV
//! and Parquet.
//!
//! Layers, lowest first: `columns` (the tables as text), then one module for each form: `chrome`,
//! `csv`, `parquet`, `perfetto`. A form is given row after row and keeps what it must to write the
//! next one.

#![forbid(unsafe_code)]

mod chrome;
mod columns;
mod csv;
mod parquet;
mod perfetto;
#[cfg(test)]
mod tests;

pub use chrome::Chrome;
pub use columns::columns;
pub use csv::Csv;
pub use parquet::Parquet;
pub use perfetto::Perfetto;

use anyhow::Result;
use rocshim_analysis::{TrackProcess, TrackRow};

/// A form, while it is written.
pub trait Exporter {
    /// Writes a row of a process.
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()>;

    /// After the last row.
    fn finish(&mut self) -> Result<()>;
}
