//! Who launched each kernel first: the chain of callers, with functions that the caller of this
//! module has looked up in the files.

use super::rows::{CallerRow, FirstLaunch};
use foldhash::HashMap;
use rocshim_catalog::Function;
use rocshim_drain::demangle;
use rocshim_trace::{Binary, Kernel};
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
    chains: Vec<Chain>,
    /// By process, symbol and code object, so that a later segment repeats none.
    known: BTreeSet<(usize, String, Option<u32>)>,
}

/// A chain as recorded.
struct Chain {
    pid: u32,
    kernel: String,
    demangled: Option<String>,
    tid: u32,
    /// File and the address of the call.
    frames: Vec<(BinaryFile, u64)>,
    end: String,
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
        let frame = |caller: &rocshim_trace::Caller| {
            let binary = binaries.get(&caller.binary)?;
            let file = BinaryFile { path: binary.path.clone(), build_id: binary.build_id.clone() };
            // The call ends right before the address that it returns to.
            Some((file, caller.at.0.checked_sub(1)?))
        };
        let frames = callers.frames.iter().map_while(frame).collect();
        let (kernel, demangled) = (kernel.name.clone(), kernel.demangled.clone());
        self.chains.push(Chain {
            pid,
            kernel,
            demangled,
            tid: callers.tid,
            frames,
            end: callers.end.clone(),
        });
    }

    /// The addresses to be named, by file.
    pub(super) fn wanted(&self) -> BTreeMap<BinaryFile, BTreeSet<u64>> {
        let mut wanted: BTreeMap<BinaryFile, BTreeSet<u64>> = BTreeMap::new();
        for (file, address) in self.chains.iter().flat_map(|chain| &chain.frames) {
            wanted.entry(file.clone()).or_default().insert(*address);
        }
        wanted
    }

    /// The chains with the functions that were found.
    pub(super) fn named(self, functions: &Functions) -> Vec<FirstLaunch> {
        let row = |(file, at): (BinaryFile, u64)| {
            let found = functions.get(&file);
            let function = found.and_then(|found| found.as_ref().ok()?.get(&at)).cloned().unwrap_or_default();
            let symbol = function.symbol.map(|symbol| demangle(&symbol).unwrap_or(symbol));
            let unnamed = found.and_then(|found| found.as_ref().err()).cloned();
            CallerRow {
                file: file.path,
                build_id: file.build_id,
                at: format!("0x{at:x}"),
                function: symbol,
                line: function.line,
                unnamed,
            }
        };
        let chain = |chain: Chain| FirstLaunch {
            pid: chain.pid,
            tid: chain.tid,
            kernel: chain.kernel,
            demangled: chain.demangled,
            callers: chain.frames.into_iter().map(row).collect(),
            end: chain.end,
        };
        self.chains.into_iter().map(chain).collect()
    }
}
