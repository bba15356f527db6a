//! The options of `compare`.

use super::Forms;
use clap::Args;
use rocshim_analysis::Condition;
use std::path::PathBuf;

/// The options of `compare`.
#[derive(Args)]
pub(crate) struct Compare {
    /// Trace files or folders of them, each a side; the first is the baseline
    #[arg(required = true, num_args = 1.., value_name = "SIDE")]
    pub(crate) sides: Vec<PathBuf>,
    /// Only the phases of this name, as `rocshim phases` calls them; several: each is a side of its own, of every SIDE
    #[arg(long, value_name = "NAME", conflicts_with = "observer")]
    pub(crate) phase: Vec<String>,
    /// What the sides are called, `old,new` [default: A,B,…]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
    /// Fail (exit code 1) where this is so on any side but the baseline: `new_kernels > 0`, `launches > 1.05x`
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    pub(crate) fail_if: Vec<Condition>,
    /// Hold a program's own results with the shim against those without: TRACED.json UNTRACED.json…
    #[arg(long, conflicts_with_all = ["labels", "fail_if"])]
    pub(crate) observer: bool,
    #[command(flatten)]
    pub(crate) forms: Forms,
}

/// What `rocshim compare --help` says below the options.
pub(super) const NOTES: &str = "\
A side is a trace file or a folder, whose traces all count as one side. Rows are merged by what they are: kernels by their symbols, products by \
function and sizes, convolutions by problem, code objects by file and number. What only some sides have stands first. That a side has it not is \
confirmed absent where nothing can have been missed there, and limited, with the reason, where events were lost, a trace has no end or a way \
past the hooks was open. A kernel in the place of another (the same Tensile problem; or the same family, launches and shape) is inferred. \
Times are host times of the calls; whether they differ tells a Mann-Whitney U test of the calls' lengths (below 8 calls: too few), with p \
adjusted for all kernels (Benjamini-Hochberg). Kernels that graphs launch take no call and have no times.

A CONDITION is QUANTITY OPERATOR NUMBER, or NUMBERx for a multiple of the baseline's; operators: > >= < <= == !=. Quantities:
  against the baseline: new_kernels gone_kernels slower_kernels faster_kernels solution_changes
    solver_changes new_functions gone_functions new_objects gone_objects
  of a side: launches kernels total_ns fallback_launches gemms convolutions graph_launches trials
    failed lost events
  of what fits: kernel('Cijk_*').launches (.total_ns, .median_ns), library('libhipblaslt').calls,
    family('ggml: mmq').launches (.total_ns)

Exit code 0: no condition is so. 1: one is, and standard error says which. 2: the sides could not be compared, or the line is wrong.

--observer reads llama-bench -o json (or jsonl), Ollama's responses, or llama-server's: the same program, run with rocshim (the first file) and without \
(the others; several give a spread that has the machine's moods in it).

--json prints one object: format (1), sides, kernels, families, gemms, convolutions, code_objects, functions, conditions. In a row, `sides` has what each \
side did under its label (null: nothing), and `versus` what is different from the baseline: `seen` is both, gone (only the baseline has it), new or \
neither; `evidence` and `why` say how sure an absence is. --csv TABLE takes one of these, with columns such as sides.A.launches and versus.B.times.q.

Example:  rocshim compare --labels before,after --fail-if 'fallback_launches > 0' --fail-if 'launches > 1.05x' traces-6.3 traces-6.4";

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_analysis::quantities;

    #[test]
    fn help_and_readme_tell_every_quantity() {
        let readme = include_str!("../../../README.md");
        for (name, meaning) in quantities() {
            assert!(NOTES.split_whitespace().any(|word| word == name), "{name} in the help");
            assert!(
                readme.contains(&format!("| `{name}` | {meaning} |")),
                "| `{name}` | {meaning} | in the README"
            );
        }
    }
}
