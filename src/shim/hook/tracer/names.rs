//! The names of kernels that the runtime reports. A name lives only until its report returns, and one may be at the address
//! of another, so a name is known by what stands for its letters.

use crate::lifecycle::guarded;
use crate::session::process::Process;
use rocshim_ring::clock::now;
use rocshim_ring::definition::Definition;
use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;

/// The number of the definition that tells this name, plus one; 0 where that could not be told.
pub(super) fn number(process: &Process, name: &CStr) -> u64 {
    let key = key(name.to_bytes());
    match process.gpu_names.find(key) {
        Some([number]) => number.load(Relaxed),
        None => tell(key, name),
    }
}

/// The first report of a kernel.
#[cold]
fn tell(key: u64, name: &CStr) -> u64 {
    let mut number = 0;
    guarded(|process| {
        let name = name.to_string_lossy().into_owned().into();
        let Some(told) = process.define(now(), Definition::GpuKernel { name }) else { return };
        number = u64::from(told) + 1;
        process.gpu_names.put(key, [number]);
    });
    number
}

/// What stands for a name: 64 bits, of which other names have others but for one chance in 2^50 among thousands.
fn key(name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let fold = |key: u64, word: u64| {
        let product = u128::from(key ^ word) * 0x9e37_79b9_7f4a_7c15;
        (product as u64) ^ (product >> 64) as u64
    };
    // Not one of those that mark a free place.
    words.fold(name.len() as u64 ^ 0x2545_f491_4f6c_dd1d, fold) | 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_that_differ_in_one_letter_or_in_length_have_keys_of_their_own() {
        let name = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1".repeat(4);
        let changed = (0..name.len()).map(|at| {
            let mut name = name.clone().into_bytes();
            name[at] ^= 1;
            name
        });
        let shorter = (0..name.len()).map(|length| name.as_bytes()[..length].to_vec());
        let keys: HashSet<u64> = changed.chain(shorter).map(|name| key(&name)).collect();
        assert_eq!(keys.len(), 2 * name.len());
    }
}
