//! Kernel names in the runtime's reports. A name is valid only until its report returns, and
//! another may appear at the same address, so names are identified by a hash.

use crate::lifecycle::guarded;
use crate::session::process::Process;
use rocshim_ring::clock::now;
use rocshim_ring::definition::Definition;
use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;

/// Returns the number of the definition of `name` plus one; 0 when it could not be emitted.
pub(super) fn definition_number(process: &Process, name: &CStr) -> u64 {
    let hash = hash(name.to_bytes());
    match process.gpu_names.find(hash) {
        Some([number]) => number.load(Relaxed),
        None => emit(hash, name),
    }
}

/// Emits the definition of a kernel's name, at its first report.
#[cold]
fn emit(hash: u64, name: &CStr) -> u64 {
    let mut number = 0;
    guarded(|process| {
        let name = name.to_string_lossy().into_owned().into();
        let Some(emitted) = process.define(now(), Definition::GpuKernel { name }) else { return };
        number = u64::from(emitted) + 1;
        process.gpu_names.put(hash, [number]);
    });
    number
}

/// Returns a 64-bit hash of a name. Among thousands of names the chance of a collision is 1 in
/// 2^50.
fn hash(name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
        (product as u64) ^ (product >> 64) as u64
    };
    // Not one of the keys that mark a free slot.
    words.fold(name.len() as u64 ^ 0x2545_f491_4f6c_dd1d, fold) | 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_that_differ_in_one_letter_or_in_length_have_distinct_hashes() {
        let name = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1".repeat(4);
        let changed = (0..name.len()).map(|at| {
            let mut name = name.clone().into_bytes();
            name[at] ^= 1;
            name
        });
        let shorter = (0..name.len()).map(|length| name.as_bytes()[..length].to_vec());
        let keys: HashSet<u64> = changed.chain(shorter).map(|name| hash(&name)).collect();
        assert_eq!(keys.len(), 2 * name.len());
    }
}
