//! The result: decisions, and the links of each chain.

use super::environment::VariableRow;
use crate::Evidence;
use rocshim_trace::{PythonCaller, file_name};
use serde::Serialize;

/// All decisions; also the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The form of this object: 1.
    pub format: u32,
    /// Most calls first within a kind; `id` is the place, from 1.
    pub decisions: Vec<Decision>,
    /// Who launched each kernel first, in the order of the trace.
    pub first_launches: Vec<FirstLaunch>,
    /// Variables that steer decisions and that a traced process had set.
    pub environment: Vec<SetVariable>,
    /// Files that could not be read, and what limits every statement.
    pub notes: Vec<String>,
}

/// A variable that was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetVariable {
    #[serde(flatten)]
    pub variable: VariableRow,
    /// The values that processes had.
    pub values: Vec<String>,
}

crate::table! {
    /// The variables that were set.
    SET_VARIABLES: SetVariable = "environment", "Variables that steer such decisions",
        "a variable that a traced process had set";
    |row|
    words("values", "set in the process", "its values, with its name") => row.values.join(" ");
    words("library", "of", "the library that reads it") => row.variable.library;
    sentence("effect", "what it does", "what it changes, and the source that says so")
        => row.variable.effect_with_source();
}

/// The callers of a kernel's first launch, read from its thread's stack: an observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstLaunch {
    /// The process.
    pub pid: u32,
    /// The symbol.
    pub kernel: String,
    /// The kernel's name as people write it.
    pub demangled: Option<String>,
    /// Its callers.
    #[serde(flatten)]
    pub chain: CallChain,
}

/// The callers of the first call of a function with a problem of this shape: an observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstCall {
    /// The function.
    pub function: String,
    /// Its callers.
    #[serde(flatten)]
    pub chain: CallChain,
}

/// A chain of callers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallChain {
    /// The thread.
    pub tid: u32,
    /// Innermost first.
    pub callers: Vec<CallerRow>,
    /// Why the chain ends: `whole`, `limit`, `signal`, `unknown`, as in the trace.
    pub end: String,
    /// The Python functions on the stack, innermost first.
    pub python: Vec<PythonCaller>,
}

/// A caller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallerRow {
    /// The executable or shared library, as the process knew it.
    pub file: String,
    /// Its build id, hex.
    pub build_id: Option<String>,
    /// The last byte of the call instruction, as an address of that file as linked.
    pub at: String,
    /// The function; absent if the file does not name it.
    pub function: Option<String>,
    /// `file:line`, where the file has debug information.
    pub line: Option<String>,
    /// Why the file was not read for names.
    pub unnamed: Option<String>,
}

crate::table! {
    /// The callers of a launch, innermost first.
    CALLERS: (usize, CallerRow) = "first_launches.callers", "Callers of the first launch", "a caller";
    |row|
    number("place", "#", "its place, from 1, innermost first").derived() => row.0;
    sentence("function", "function", "the function, with its line where the file has debug information")
        => row.1.function_and_line();
    words("at", "in", "the file, and the call's address in it") => format!("{}+{}", file_name(&row.1.file), row.1.at);
}

impl CallerRow {
    fn function_and_line(&self) -> String {
        let line = self.line.as_ref().map(|line| format!(", {line}")).unwrap_or_default();
        format!("{}{line}", self.function.as_deref().unwrap_or("?"))
    }
}

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A GEMM of rocBLAS or hipBLAS.
    Gemm,
    /// A GEMM of hipBLASLt.
    Matmul,
    /// A convolution of MIOpen.
    Convolution,
    /// A matrix product or attention kernel of ggml.
    Ggml,
}

/// A decision with its chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Its number in this list, from 1.
    pub id: usize,
    /// The kind of decision.
    pub subject: Subject,
    /// The process that made it.
    pub pid: u32,
    /// What was decided about, in a line.
    pub title: String,
    /// Calls, or launches of a kernel of ggml.
    pub calls: u64,
    /// Kernels that were launched, most launches first: the symbol, as people write it, launches.
    pub kernels: Vec<(String, Option<String>, u64)>,
    /// The chain, from what was asked to what decided.
    pub links: Vec<Link>,
    /// What would change it.
    pub changes: Vec<Change>,
    /// Who first asked for it; absent if not recorded.
    pub first_call: Option<FirstCall>,
}

crate::table! {
    /// Decisions, each with what decided it.
    DECISIONS: Decision = "decisions", "Decisions, and what decided each", "a decision";
    |row|
    number("id", "#", "its number, from 1") => row.id;
    number("calls", "calls", "calls, or launches of a kernel of ggml") => row.calls;
    evidence("evidence", "evidence", "how certain it is what decided").derived().absent("")
        => row.decided().map(|link| link.evidence);
    sentence("title", "decision, and what decided it", "what was decided about, and what decided")
        => format!("{}: {}", row.title, row.decided().map_or("", |link| &link.text));
}

/// A link of the chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// `asked`, `asked by`, `possible`, `chosen` or `decided`.
    pub step: &'static str,
    /// How certain the link is.
    pub evidence: Evidence,
    /// The link in words.
    pub text: String,
    /// The rule, file or source line that it follows from.
    pub source: Option<String>,
}

crate::table! {
    /// The chain of a decision.
    LINKS: Link = "decisions.links", "The chain of a decision", "a link of the chain";
    |row|
    words("step", "step", "asked, asked by, possible, chosen or decided") => row.step;
    evidence("evidence", "evidence", "how certain it is") => row.evidence;
    sentence("text", "what", "the link in words, with the rule, file or source line")
        => row.source.as_ref().map_or(row.text.clone(), |source| format!("{} [{source}]", row.text));
}

/// Something that would change the decision; a hypothesis, never more than inferred.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What to set or do.
    pub what: String,
    /// What is expected of it, and why.
    pub effect: String,
}

impl Why {
    /// Who launched first what the decision launched most, of the kernels with recorded callers.
    pub fn first_launch(&self, of: &Decision) -> Option<&FirstLaunch> {
        let launch = |kernel: &String| {
            self.first_launches.iter().find(|launch| launch.pid == of.pid && launch.kernel == *kernel)
        };
        of.kernels.iter().find_map(|(kernel, ..)| launch(kernel))
    }
}

impl FirstLaunch {
    /// True when `wanted` names the kernel, as [`Decision::is_named`] does.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        [Some(&self.kernel), self.demangled.as_ref()].into_iter().flatten().any(|name| fits(&wanted, name))
    }
}

/// True when `text` has `wanted`, in lower case; with `*`, when it is `wanted`.
fn fits(wanted: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    if wanted.contains('*') { rocshim_trace::fits(wanted, &text) } else { text.contains(wanted) }
}

impl Decision {
    /// True when `launch` is the first one of a kernel of it.
    pub fn launches(&self, launch: &FirstLaunch) -> bool {
        launch.pid == self.pid && self.kernels.iter().any(|(kernel, ..)| *kernel == launch.kernel)
    }

    /// What decided, in short: the first link that says so.
    pub fn decided(&self) -> Option<&Link> {
        self.links.iter().find(|link| link.step == "decided")
    }

    /// True when `wanted` names it: its number (`#3` or `3`), a part of its title, of a kernel's
    /// name or of what decided; with `*` the whole of either. Upper and lower case are the same.
    pub fn is_named(&self, wanted: &str) -> bool {
        if let Ok(id) = wanted.trim_start_matches('#').parse::<usize>() {
            return self.id == id;
        }
        let wanted = wanted.to_lowercase();
        let fits = |text: &str| fits(&wanted, text);
        let names = self.kernels.iter().flat_map(|(name, demangled, _)| [Some(name), demangled.as_ref()]);
        let decided = self.links.iter().filter(|link| link.step == "decided");
        fits(&self.title)
            || names.flatten().any(|name| fits(name))
            || decided.map(|link| &link.text).any(|t| fits(t))
    }
}

impl Link {
    pub(super) fn new(step: &'static str, evidence: Evidence, text: impl Into<String>) -> Link {
        Link { step, evidence, text: text.into(), source: None }
    }

    pub(super) fn from(self, source: impl Into<String>) -> Link {
        Link { source: Some(source.into()), ..self }
    }
}
