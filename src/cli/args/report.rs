//! The options of `report`.

use clap::Args;
use std::path::PathBuf;

/// The options of `report`.
#[derive(Args)]
pub(crate) struct Report {
    /// Trace files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The file or folder to write; `-` is standard output where a file is written
    #[arg(short, long = "out", value_name = "PATH", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// Replace what exists
    #[arg(long)]
    pub(crate) force: bool,
    /// What a server answered: files of samples/prompt_ladder.py, or JSON of Ollama or llama-server
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub(crate) responses: Vec<PathBuf>,
    /// Names for intervals: lines of JSON with `label` and, in Unix ns, `begin` and `end` (or
    /// `sent` and `received`, as the prompt ladder writes them)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Show each TRACE as a run of its own, the first as the baseline, and what differs
    #[arg(long)]
    pub(crate) compare: bool,
    /// Names of the runs: `old,new` [default: A,B,…]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "compare")]
    pub(crate) names: Vec<String>,
}

/// What `rocshim report --help` prints below the options.
pub(super) const NOTES: &str = "\
The page is one file: text, figures, and plotly.js, which draws them. It opens from disk in any \
browser, uses no network, follows the light or dark theme, and can be printed. It shows the \
results of summary, phases, proxy, compare and verify, each statement with its evidence, and \
lost events before anything else.

Example:  rocshim report traces --responses answers.ndjson -o ladder.html
          rocshim report --compare --names old,new traces-6.3 traces-6.4 -o compare.html";
