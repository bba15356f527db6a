//! The options of `sql`.

use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
DuckDB answers, by Python: `pip install 'rocshim[sql]'` or `pip install duckdb`. The views are \
launches, gemms, convolutions, collectives, phases and ranks; `rocshim help dataset` lists their \
columns. Rows are printed with tabs between, or as JSON. Damaged files are left out and named. \
samples/sql has queries that answer what summary, phases, compare and ranks answer; they run on \
Spark too.

Example:  rocshim export --to dataset -o data traces; rocshim sql data samples/sql/ranks.sql";

/// The options of `sql`.
#[derive(Args)]
pub(crate) struct Sql {
    /// The folder of a dataset
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// The query, or a file of it (*.sql); without: the tables with their rows
    #[arg(value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
