//! Options shared by several commands: output formats, filters, colour.

use clap::{Args, ValueEnum};

/// The requested output format; none: text.
#[derive(Args)]
pub(crate) struct Forms {
    /// Print JSON instead of text
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
    /// Leave nothing out: details and every row
    #[arg(long)]
    pub(crate) all: bool,
}

/// Kernels by name and family.
#[derive(Args)]
pub(crate) struct KernelFilter {
    /// Only kernels whose name matches
    #[arg(long, value_name = "PATTERN")]
    pub(crate) kernel: Vec<String>,
    /// Only kernels of this family: mmvq, ggml, …, as in `summary`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) family: Vec<String>,
}

/// When text is coloured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Nowhere
    Never,
}
