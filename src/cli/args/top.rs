//! The options of `top`.

use clap::Args;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

pub(super) const NOTES: &str = "\
Without TRACE: the traces in $ROCSHIM_OUT, else in ./rocshim-out. \
A folder stands for all the traces in it, and those still to come. Keys: q quits, p freezes the \
screen, Tab or 1 to 6 choose the table, s sorts, / filters, arrows scroll, ? shows help.

With --listen or --push there is no screen: counters by process, host, rank, model and kernel \
family are served to Prometheus at /metrics, or sent by OTLP. Traces that ended more than five \
minutes before are not read. `rocshim help fleet` lists the metrics; samples/fleet has a \
configuration and a dashboard.

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
    /// Serve the counters over HTTP, for Prometheus, at ADDRESS:PORT; a PORT alone is one of
    /// 127.0.0.1
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Send the counters to an OpenTelemetry receiver: http://HOST:4318
    #[arg(long, value_name = "URL")]
    pub(crate) push: Option<String>,
    /// At most N processes at a time have metrics of their own; those beyond are counted together
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) processes: usize,
}

/// An address with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = || Some(SocketAddr::from((Ipv4Addr::LOCALHOST, text.trim_start_matches(':').parse().ok()?)));
    text.parse().ok().or_else(port).ok_or_else(|| "give ADDRESS:PORT, as 127.0.0.1:9190 or [::]:9190".into())
}

/// An update interval: from a tenth of a second to an hour.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds, from 0.1 to 3600".into()),
    }
}
