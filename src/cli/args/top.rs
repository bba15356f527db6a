//! The options of `top`.

use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
Without TRACE: the traces in $ROCSHIM_OUT, else in ./rocshim-out. \
A folder stands for all the traces in it, and those still to come. Keys: q quits, p freezes the \
screen, Tab or 1 to 6 choose the table, s sorts, / filters, arrows scroll, ? shows help.

Example:  rocshim run -o traces -- ollama serve &
          rocshim top traces";

/// The options of `top`.
#[derive(Args)]
pub(crate) struct Top {
    /// Trace files, or folders of them
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Seconds between two updates
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) every: f64,
}

/// An update interval: from a tenth of a second to an hour.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds, from 0.1 to 3600".into()),
    }
}
