//! Who launched each kernel first, and who first called each function with each shape: the chain of
//! callers, with functions that the caller of this module has looked up in the files.

use super::rows::{CallChain, CallerRow, FirstCall, FirstLaunch};
use foldhash::HashMap;
use rocshim_catalog::Function;
use rocshim_drain::demangle;
use rocshim_trace::{Binary, Callers, Kernel, PythonCaller};
use std::collections::{BTreeMap, BTreeSet};

/// A file of which functions are to be named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BinaryFile {
    /// As the process knew it.
    pub path: String,
    /// Its build id, hex.
    pub build_id: Option<String>,
}

/// What was found in each file, by address as linked; or why nothing was.
pub type Functions = BTreeMap<BinaryFile, Result<BTreeMap<u64, Function>, String>>;

/// The chains of a reading.
#[derive(Default)]
pub(super) struct Chains {
    launches: Vec<Launched>,
    /// By process, symbol and code object, so that a later segment repeats none.
    known: BTreeSet<(usize, String, Option<u32>)>,
    /// Of first calls, by number.
    calls: Vec<(String, Chain)>,
}

/// The chain of a kernel's first launch.
struct Launched {
    pid: u32,
    kernel: String,
    demangled: Option<String>,
    chain: Chain,
}

/// A chain as recorded.
pub(super) struct Chain {
    tid: u32,
    /// File and the address of the call.
    frames: Vec<(BinaryFile, u64)>,
    end: String,
    python: Vec<PythonCaller>,
}

impl Chain {
    pub(super) fn new(callers: &Callers, binaries: &HashMap<u32, Binary>) -> Chain {
        let frame = |caller: &rocshim_trace::Caller| {
            let binary = binaries.get(&caller.binary)?;
            let file = BinaryFile { path: binary.path.clone(), build_id: binary.build_id.clone() };
            // The call ends right before the address that it returns to.
            Some((file, caller.at.0.checked_sub(1)?))
        };
        let frames = callers.frames.iter().map_while(frame).collect();
        Chain { tid: callers.tid, frames, end: callers.end.clone(), python: callers.python.clone() }
    }

    /// The chain with the functions that were found.
    fn named(&self, functions: &Functions) -> CallChain {
        let row = |(file, at): &(BinaryFile, u64)| {
            let found = functions.get(file);
            let function = found.and_then(|found| found.as_ref().ok()?.get(at)).cloned().unwrap_or_default();
            let symbol = function.symbol.map(|symbol| demangle(&symbol).unwrap_or(symbol));
            let unnamed = found.and_then(|found| found.as_ref().err()).cloned();
            CallerRow {
                file: file.path.clone(),
                build_id: file.build_id.clone(),
                at: format!("0x{at:x}"),
                function: symbol,
                line: function.line,
                unnamed,
            }
        };
        CallChain {
            tid: self.tid,
            callers: self.frames.iter().map(row).collect(),
            end: self.end.clone(),
            python: self.python.clone(),
        }
    }
}

impl Chains {
    /// Takes the callers of a kernel, if it has some.
    pub(super) fn take(
        &mut self,
        process: usize,
        pid: u32,
        kernel: &Kernel,
        binaries: &HashMap<u32, Binary>,
    ) {
        let Some(callers) = &kernel.callers else { return };
        if !self.known.insert((process, kernel.name.clone(), kernel.code_object)) {
            return;
        }
        let chain = Chain::new(callers, binaries);
        let (kernel, demangled) = (kernel.name.clone(), kernel.demangled.clone());
        self.launches.push(Launched { pid, kernel, demangled, chain });
    }

    /// Takes the callers of a call of `function`. Returns their number.
    pub(super) fn take_call(&mut self, function: &str, chain: Chain) -> usize {
        self.calls.push((function.to_owned(), chain));
        self.calls.len() - 1
    }

    /// The addresses to be named, by file.
    pub(super) fn wanted(&self) -> BTreeMap<BinaryFile, BTreeSet<u64>> {
        let mut wanted: BTreeMap<BinaryFile, BTreeSet<u64>> = BTreeMap::new();
        let launches = self.launches.iter().map(|launched| &launched.chain);
        let chains = launches.chain(self.calls.iter().map(|(_, chain)| chain));
        for (file, address) in chains.flat_map(|chain| &chain.frames) {
            wanted.entry(file.clone()).or_default().insert(*address);
        }
        wanted
    }

    /// The first launches with the functions that were found.
    pub(super) fn first_launches(&self, functions: &Functions) -> Vec<FirstLaunch> {
        let launch = |launched: &Launched| FirstLaunch {
            pid: launched.pid,
            kernel: launched.kernel.clone(),
            demangled: launched.demangled.clone(),
            chain: launched.chain.named(functions),
        };
        self.launches.iter().map(launch).collect()
    }

    /// The callers of number `number`.
    pub(super) fn first_call(&self, number: usize, functions: &Functions) -> FirstCall {
        let (function, chain) = &self.calls[number];
        FirstCall { function: function.clone(), chain: chain.named(functions) }
    }
}
