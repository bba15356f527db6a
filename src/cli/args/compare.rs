//! The options of `compare`.

use super::Forms;
use clap::Args;
use rocshim_analysis::Condition;
use std::path::PathBuf;

/// The options of `compare`.
#[derive(Args)]
pub(crate) struct Compare {
    /// Trace files or folders of them, each one run; the first is the baseline
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Only phases of this name, as `rocshim phases` prints them: prompt, decode, …
    #[arg(long, value_name = "NAME", conflicts_with = "observer")]
    pub(crate) phase: Vec<String>,
    /// Names of the runs: `old,new` [default: A,B,…]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// Exit with 1 if this holds for any run but the baseline: `new_kernels > 0`,
    /// `launches > 1.05x`
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    pub(crate) fail_if: Vec<Condition>,
    /// Compare a program's own results with the shim and without: TRACED.json UNTRACED.json…
    #[arg(long, conflicts_with_all = ["names", "fail_if"])]
    pub(crate) observer: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}

/// What `rocshim compare --help` prints below the options.
pub(super) const NOTES: &str = "\
A run is a trace file, or a folder whose traces count as one run. With several --phase, each \
phase of each RUN is a run of its own. Rows are matched by what they are: kernels by symbol, \
GEMMs by function and sizes, convolutions by problem, code objects by file and number. Rows that \
only some runs have come first. That a run has no such row is confirmed absent where nothing can \
have been missed, and limited, with the reason, where events were lost, a trace has no end, or \
calls could bypass the hooks. Which kernel replaced another (the same Tensile problem; or the \
same family, launches and shape) is inferred. Times are host times of the calls, and those on the \
GPU where both runs have them (`rocshim run --gpu-time`); whether they \
differ is decided by a Mann-Whitney U test of their durations (at least 8), with p adjusted over \
all kernels (Benjamini-Hochberg). Kernels that graphs launch have no call and so no host times.

A CONDITION is QUANTITY OPERATOR NUMBER, or NUMBERx for a multiple of the baseline's; operators: \
> >= < <= == !=. `rocshim help conditions` explains each quantity:
  against the baseline: new_kernels gone_kernels slower_kernels faster_kernels solution_changes
    solver_changes new_functions gone_functions new_objects gone_objects
    slower_kernels_gpu faster_kernels_gpu (of traces with GPU times)
  of a run: launches kernels total_ns gpu_ns fallback_launches gemms convolutions graph_launches
    trials failed lost events
  of what matches: kernel('Cijk_*').launches (.total_ns, .median_ns), library('libhipblaslt').calls,
    family('ggml: mmq').launches (.total_ns)

Exit code 0: no condition holds. 1: one does, and standard error says which. 2: the runs could \
not be compared, or the command line is wrong.

--observer reads llama-bench -o json (or jsonl), or the responses of Ollama or llama-server: the \
same program run with rocshim (the first file) and without (the others; several show the \
machine's own variation).

--json prints one object: format (1), sides, kernels, families, gemms, convolutions, \
code_objects, functions, conditions. In a row, `sides` has what each run did under its label \
(null: nothing), and `versus` the difference from the baseline: `seen` is both, gone (only the \
baseline has it), new or neither; `evidence` and `why` say how certain an absence is. --csv \
TABLE takes one of these, with columns such as sides.A.launches and versus.B.times.q.

Example:  rocshim compare --names before,after --fail-if 'fallback_launches > 0' traces-6.3 \
traces-6.4";

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::quantities;

    #[test]
    fn help_names_every_quantity() {
        for (name, _) in quantities() {
            assert!(NOTES.split_whitespace().any(|word| word == name), "{name} in the help");
        }
    }
}
