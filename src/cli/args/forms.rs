//! The forms in which every page of tables is given.

use clap::Args;

/// The form that was asked for; none: text.
#[derive(Args)]
pub(crate) struct Forms {
    /// One JSON object instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// The tables in Markdown, with every row, and every name in full
    #[arg(long, conflicts_with = "json")]
    pub(crate) md: bool,
    /// One table of the JSON object as CSV, with raw numbers; any other word lists the tables
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["json", "md"])]
    pub(crate) csv: Option<String>,
    /// Names as they are in the trace, neither tidied nor shortened
    #[arg(long)]
    pub(crate) full_names: bool,
    /// Every row of every table (a terminal gets the first 20)
    #[arg(long)]
    pub(crate) all: bool,
}
