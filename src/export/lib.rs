//! Exports traces in formats that other programs read: slices for Perfetto and Chrome, tables as
//! CSV and Parquet.
//!
//! Layers, lowest first: `columns` (the tables as text), then one module for each form: `chrome`,
//! `csv`, `parquet`, `perfetto`; `pass` (from a reading to a form); and `dataset`, which reads
//! traces itself. An exporter receives row after row and keeps only the state that it needs to
//! write the next one.
//!
//! Nothing here is generic over the output: generic code would be compiled in the command's crate,
//! which is not optimised.

#![forbid(unsafe_code)]

mod chrome;
mod columns;
mod csv;
mod dataset;
mod parquet;
mod pass;
mod perfetto;
#[cfg(test)]
mod tests;

pub use chrome::Chrome;
pub use columns::columns;
pub use csv::Csv;
pub use dataset::{Added, Dataset, dataset_columns};
pub use parquet::Parquet;
pub use pass::ExportPass;
pub use perfetto::Perfetto;

use anyhow::Result;
use rocshim_analysis::{TrackProcess, TrackRow};

/// An export format, while it is written.
pub trait Exporter {
    /// Writes a row of a process.
    fn row(&mut self, row: &TrackRow, process: &TrackProcess) -> Result<()>;

    /// Completes the export, after the last row.
    fn finish(&mut self) -> Result<()>;
}

/// Escapes a value for a folder name: characters other than letters, digits, `.`, `_` and `-`
/// become `%` and two hex digits.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod folder_names {
    use super::*;

    #[test]
    fn a_hosts_name_cannot_leave_its_folder() {
        assert_eq!(escaped("node-1.cluster"), "node-1.cluster");
        assert_eq!(escaped("../ä"), "..%2F%C3%A4");
    }
}
