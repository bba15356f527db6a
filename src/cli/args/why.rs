//! The options of `why`.

use super::Forms;
use clap::Args;
use std::path::PathBuf;

pub(super) const NOTES: &str = "\
A decision is which library, solution or kernel served a GEMM, a convolution or a product of ggml. \
Without WHAT, each has one line. With WHAT, the whole chain of those that it names: what was asked \
(and by which call), what was possible, what was chosen, what decided, each with its evidence \
class, and what would change it.

What rocBLAS could choose from is read from Tensile's files, in the folder out of which the \
process loaded its code objects. It is confirmed only where that is the process's own: same \
machine and path, the code objects' bytes equal, no file changed since the process began. \
Otherwise it is inferred (same build) or unresolved. --process-root names the folder that holds \
the root folder of a container.

--json prints one object: format (1), decisions (id, subject, pid, title, calls, kernels, links \
with step, evidence, text and source, changes with what and effect), environment (variables of the \
table that were set, with library, versions, effect, source and values), notes.

Example:  rocshim why traces
          rocshim why traces '#3'
          rocshim why traces Cijk_Alik";

/// The options of `why`.
#[derive(Args)]
pub(crate) struct Why {
    /// A trace file, or a folder of them
    #[arg(required_unless_present = "variables", value_name = "TRACES")]
    pub(crate) trace: Option<PathBuf>,
    /// The decisions to explain: a number (`#3`), a part of a kernel's name, of a shape, or of
    /// what decided; `*` fits anything
    #[arg(value_name = "WHAT")]
    pub(crate) what: Option<String>,
    /// Where the root folder of the traced process is now, if it ran in a container
    #[arg(long, value_name = "DIR")]
    pub(crate) process_root: Option<PathBuf>,
    /// List all variables that steer a decision, with what each does and its source
    #[arg(long, conflicts_with_all = ["trace", "what", "process_root"])]
    pub(crate) variables: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}
