//! A rank: its communicators with their collectives in order, what it launched, and how its trace
//! ends.

use crate::traits::Trait;
use rocshim_trace::{Hex, launcher};
use std::collections::{BTreeMap, BTreeSet};

/// A rank: a process that called RCCL or whose launcher gave it a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Rank {
    pub(super) trace: String,
    pub(super) pid: u32,
    pub(super) host: String,
    /// Its number in the job, and the variable that states it.
    pub(super) number: Option<(u32, &'static str)>,
    /// The number of ranks in the job, by its launcher's variables.
    pub(super) world: Option<u32>,
    /// How its trace ends, in the words of `summary`.
    pub(super) end: String,
    /// When its first call was entered, Unix ns.
    pub(super) first_ns: u64,
    /// When its trace ends, Unix ns: the time of its last record.
    pub(super) last_ns: u64,
    /// Why calls before that may be missing; `None`: none is.
    pub(super) gaps: Option<String>,
    /// Why it may have made calls that no trace would show; `None`: no such call is possible.
    pub(super) bypass: Option<String>,
    pub(super) communicators: Vec<Communicator>,
    /// What it launched and loaded, by kind and text.
    pub(super) traits: BTreeSet<Trait>,
    /// The call that returned last.
    pub(super) last: Option<LastCall>,
    /// Calls that had not returned when it died.
    pub(super) in_flight: Vec<LastCall>,
    /// Collectives that captures recorded: graphs execute them, at times that are not known here.
    pub(super) captured: u64,
}

/// A call near the end of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastCall {
    pub(super) function: String,
    /// When it was entered, Unix ns.
    pub(super) enter: u64,
}

/// A communicator of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Communicator {
    /// From the call that created it, where the trace has that call.
    pub(super) created: Option<Created>,
    /// In the order of their calls.
    pub(super) calls: Vec<Collective>,
}

/// What the creation of a communicator shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Created {
    pub(super) group: Hex,
    pub(super) members: u32,
    pub(super) member: u32,
}

/// A collective that a rank called. Times are Unix ns of its own host's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Collective {
    /// What it moves, by number among the signatures.
    pub(super) signature: usize,
    pub(super) enter: u64,
    /// 0: it had not returned when the process died.
    pub(super) returned: u64,
    /// When the host's wait for it ended; 0: unknown.
    pub(super) done: u64,
    /// Begin and end of its kernels on the GPU; 0 where that was not recorded.
    pub(super) gpu: (u64, u64),
}

/// The identity of a collective, on which all ranks of a communicator must agree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Signature {
    pub(super) function: String,
    pub(super) count: Option<u64>,
    pub(super) datatype: Option<String>,
    pub(super) op: Option<String>,
    pub(super) root: Option<i32>,
}

impl Signature {
    /// Returns true if no rank can leave it before every rank has entered it.
    pub(super) fn is_barrier(&self) -> bool {
        let all = ["ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclAllToAll"];
        all.contains(&self.function.as_str()) && self.count != Some(0)
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.function)?;
        for word in [&self.datatype, &self.op].into_iter().flatten() {
            write!(f, " {word}")?;
        }
        if let Some(root) = self.root {
            write!(f, " root {root}")?;
        }
        self.count.map_or(Ok(()), |count| write!(f, ", {}", crate::units::counted(count, "element")))
    }
}

/// A rank's number with the variable that says it, and the number of ranks.
pub(super) fn numbers(env: &BTreeMap<String, String>) -> (Option<(u32, &'static str)>, Option<u32>) {
    let found = launcher::rank(|name| env.get(name));
    let size = found.and_then(|(_, _, size)| env.get(size)?.parse().ok());
    (found.map(|(number, name, _)| (number, name)), size)
}

/// Returns true for RCCL functions in which all ranks of a communicator take part.
pub(super) fn is_collective(function: &str) -> bool {
    matches!(
        function,
        "ncclAllReduce"
            | "ncclReduce"
            | "ncclReduceScatter"
            | "ncclBroadcast"
            | "ncclBcast"
            | "ncclAllGather"
            | "ncclGather"
            | "ncclScatter"
            | "ncclAllToAll"
            | "ncclAllToAllv"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launchers_variables_number_the_rank() {
        let env = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let torchrun = env(&[("RANK", "3"), ("WORLD_SIZE", "8"), ("SLURM_PROCID", "0")]);
        assert_eq!(numbers(&torchrun), (Some((3, "RANK")), Some(8)));
        let slurm = env(&[("SLURM_PROCID", "5"), ("SLURM_NTASKS", "16"), ("RANK", "no number")]);
        assert_eq!(numbers(&slurm), (Some((5, "SLURM_PROCID")), Some(16)));
        assert_eq!(numbers(&env(&[])), (None, None));
    }
}
