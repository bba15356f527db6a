//! The output formats that every command with tables has.

use clap::Args;

/// The output format that was asked for; none: text.
#[derive(Args)]
pub(crate) struct Forms {
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the tables in Markdown, with every row and full names
    #[arg(long, conflicts_with = "json")]
    pub(crate) md: bool,
    /// Print one table as CSV, with raw numbers; any other word lists the tables
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["json", "md"])]
    pub(crate) csv: Option<String>,
    /// Print names as they are in the trace, neither simplified nor shortened
    #[arg(long)]
    pub(crate) full_names: bool,
    /// Print every row of every table (a terminal gets the first 20)
    #[arg(long)]
    pub(crate) all: bool,
}
