//! The result: decisions, and the links of each chain.

use super::environment::VariableRow;
use crate::Evidence;
use serde::Serialize;

/// All decisions; also the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The form of this object: 1.
    pub format: u32,
    /// Most calls first within a kind; `id` is the place, from 1.
    pub decisions: Vec<Decision>,
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

/// Something that would change the decision; a hypothesis, never more than inferred.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What to set or do.
    pub what: String,
    /// What is expected of it, and why.
    pub effect: String,
}

impl Decision {
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
        let fits = |text: &str| {
            let text = text.to_lowercase();
            if wanted.contains('*') { rocshim_trace::fits(&wanted, &text) } else { text.contains(&wanted) }
        };
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
