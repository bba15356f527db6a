//! The options of `report`.

use clap::Args;
use std::path::PathBuf;

/// The options of `report`.
#[derive(Args)]
pub(crate) struct Report {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The page; `-` is standard output
    #[arg(short, long = "out", value_name = "FILE", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// Replace the page if it is there
    #[arg(long)]
    pub(crate) force: bool,
    /// What a server answered, as `proxy` takes it: adds the prompt ladder and a verdict for each request
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub(crate) responses: Vec<PathBuf>,
    /// Names for times, as `phases` takes them
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Each TRACE is a side of its own, the first the baseline; adds what differs between them, as `compare` tells it
    #[arg(long)]
    pub(crate) compare: bool,
    /// What the sides are called, `old,new` [default: A,B,…]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "compare")]
    pub(crate) names: Vec<String>,
}

/// What `rocshim report --help` says below the options.
pub(super) const NOTES: &str = "\
One file that holds everything: text, figures, and plotly.js, which draws them. It opens from disk in any browser, asks no network, is light or \
dark, and can be printed. It shows what summary, phases, proxy, compare and verify say of the same traces, each statement with its \
evidence, and what was lost before anything else.

Where there are too many steps for a picture, those of one name that begin at about the same time are one bar, and the page says how many became how many.

Example:  rocshim report traces --responses answers.ndjson -o ladder.html
          rocshim report --compare --names old,new traces-6.3 traces-6.4 -o compare.html";
