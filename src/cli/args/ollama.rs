//! The options of `ollama`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
install writes one file, /etc/systemd/system/ollama.service.d/50-rocshim.conf: the server and what
it starts get librocshim.so, only the processes that do the GPU work are recorded, and their
compressed traces go to /var/lib/rocshim, which systemd makes for the service's user. Nothing else
is changed, and uninstall removes what was made. systemd is asked to read the file and to restart a
running server only with --yes, or where you agree on the terminal.

Example:  sudo rocshim ollama install
          ollama run MODEL 'a prompt'
          sudo rocshim summary /var/lib/rocshim";

/// The options of `ollama`.
#[derive(Args)]
pub(crate) struct Ollama {
    #[command(subcommand)]
    pub(crate) step: OllamaStep,
}

/// An action on Ollama's service.
#[derive(Subcommand)]
pub(crate) enum OllamaStep {
    /// Make the service record
    Install(OllamaInstall),
    /// Print whether the service records, where to, and what prevents it
    Status {
        #[command(flatten)]
        system: OllamaSystem,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Remove what install has created
    Uninstall(OllamaUninstall),
    /// Print a compose file and command lines for Docker and Podman
    Container {
        /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
        #[arg(long, value_name = "PATH")]
        shim: Option<PathBuf>,
    },
}

/// The system that holds the service.
#[derive(Args)]
pub(crate) struct OllamaSystem {
    /// The root folder of the system
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
}

/// The options of `ollama install`.
#[derive(Args)]
pub(crate) struct OllamaInstall {
    #[command(flatten)]
    pub(crate) system: OllamaSystem,
    /// librocshim.so [default: $ROCSHIM_LIB, else beside this program or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
    /// Record only programs whose name or path matches one of these patterns: `ollama,llama*`
    #[arg(long, value_name = "LIST", default_value = "ollama,llama-server")]
    pub(crate) only: String,
    /// MiB of disk that each process may use; its oldest segments are then removed
    #[arg(long, value_name = "MIB", default_value_t = 2000)]
    pub(crate) disk_mib: u64,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Reload systemd and restart a running server without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The options of `ollama uninstall`.
#[derive(Args)]
pub(crate) struct OllamaUninstall {
    #[command(flatten)]
    pub(crate) system: OllamaSystem,
    /// Remove the traces too
    #[arg(long)]
    pub(crate) remove_traces: bool,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Reload systemd and restart a running server without asking
    #[arg(long)]
    pub(crate) yes: bool,
}
