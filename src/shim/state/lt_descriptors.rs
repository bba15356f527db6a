//! Contents of hipBLASLt's descriptors, which describe a matmul more than its arguments do.
//!
//! Descriptors are opaque, and a query would show in the library's log. So their contents are kept
//! here, from the calls that create, change and destroy them. A matmul looks its five descriptors
//! up on the program's own thread, before the real call. Programs create and destroy descriptors
//! around every matmul (PyTorch does), so a definition for each would flood the log.
//!
//! A descriptor whose creation was not intercepted is absent here, and its contents are absent from
//! the trace.

use crate::abi::hipblaslt::*;
use crate::state::address_map::AddressMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The words kept of a descriptor, indexed by the constants below.
pub(crate) type Words = [u64; WORDS];
const WORDS: usize = 17;

/// The type of the descriptor: [`LAYOUT`] or [`MATMUL`].
const KIND: usize = 0;
/// A matrix layout.
const LAYOUT: u64 = 1;
/// A matmul.
const MATMUL: u64 = 2;

// Words of a layout.
pub(crate) const ELEMENT: usize = 1;
pub(crate) const ROWS: usize = 2;
pub(crate) const COLS: usize = 3;
pub(crate) const LD: usize = 4;
pub(crate) const BATCH: usize = 5;
pub(crate) const STRIDE: usize = 6;
pub(crate) const ORDER: usize = 7;

// Words of a matmul.
pub(crate) const COMPUTE: usize = 1;
pub(crate) const SCALE_TYPE: usize = 2;
/// Of A, then B.
pub(crate) const TRANS: usize = 3;
pub(crate) const EPILOGUE: usize = 5;
pub(crate) const BIAS: usize = 6;
pub(crate) const BIAS_TYPE: usize = 7;
/// Of A, then B, C, D.
pub(crate) const SCALES: usize = 8;
/// Of A, then B.
pub(crate) const SCALE_MODES: usize = 12;
pub(crate) const AUX: usize = 14;
pub(crate) const AUX_LD: usize = 15;
pub(crate) const POINTER_MODE: usize = 16;

/// Compute types of ROCm 6 and later are below this; those up to 5.7 (`hipblasLtComputeType_t`)
/// start at 300.
const ROCM_6_COMPUTE_TYPES: u64 = 150;

/// An attribute: its number, the word that keeps it, its size in bytes.
type Attribute = (u32, usize, usize);

#[rustfmt::skip]
const LAYOUT_ATTRIBUTES: [Attribute; 7] = [
    (HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT,          BATCH,   4),
    (HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, STRIDE,  8),
    (HIPBLASLT_MATRIX_LAYOUT_TYPE,                 ELEMENT, 4),
    (HIPBLASLT_MATRIX_LAYOUT_ORDER,                ORDER,   4),
    (HIPBLASLT_MATRIX_LAYOUT_ROWS,                 ROWS,    8),
    (HIPBLASLT_MATRIX_LAYOUT_COLS,                 COLS,    8),
    (HIPBLASLT_MATRIX_LAYOUT_LD,                   LD,      8),
];

#[rustfmt::skip]
const MATMUL_ATTRIBUTES: [Attribute; 14] = [
    (HIPBLASLT_MATMUL_DESC_TRANSA,               TRANS,           4),
    (HIPBLASLT_MATMUL_DESC_TRANSB,               TRANS + 1,       4),
    (HIPBLASLT_MATMUL_DESC_EPILOGUE,             EPILOGUE,        4),
    (HIPBLASLT_MATMUL_DESC_BIAS_POINTER,         BIAS,            8),
    (HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,       BIAS_TYPE,       4),
    // ROCm 6 and later.
    (HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER,      SCALES,          8),
    (HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER,      SCALES + 1,      8),
    (HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER,      SCALES + 2,      8),
    (HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER,      SCALES + 3,      8),
    (HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, AUX,             8),
    (HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,      AUX_LD,          8),
    (HIPBLASLT_MATMUL_DESC_POINTER_MODE,         POINTER_MODE,    4),
    (HIPBLASLT_MATMUL_DESC_A_SCALE_MODE,         SCALE_MODES,     4),
    (HIPBLASLT_MATMUL_DESC_B_SCALE_MODE,         SCALE_MODES + 1, 4),
];
/// Number of the leading rows that ROCm 5 numbers equally.
const ROCM_5_ATTRIBUTES: usize = 5;

/// Returns the contents of a new layout (hipBLASLt, handle.h).
pub(crate) fn new_layout(element: hipDataType, rows: u64, cols: u64, ld: i64) -> Words {
    let mut words = [0; WORDS];
    (words[KIND], words[ELEMENT], words[BATCH]) = (LAYOUT, element.into(), 1);
    (words[ROWS], words[COLS], words[LD]) = (rows, cols, ld as u64);
    words
}

/// Returns the contents of a new matmul descriptor (hipBLASLt, handle.h).
pub(crate) fn new_matmul(compute: hipblasComputeType_t, scale: hipDataType) -> Words {
    let mut words = [0; WORDS];
    (words[KIND], words[COMPUTE], words[SCALE_TYPE]) = (MATMUL, compute.into(), scale.into());
    words[TRANS..TRANS + 2].fill(HIPBLAS_OP_N.into());
    (words[EPILOGUE], words[BIAS_TYPE]) =
        (HIPBLASLT_EPILOGUE_DEFAULT.into(), HIPBLASLT_DATATYPE_INVALID.into());
    words
}

/// Returns true when a matmul descriptor is of ROCm 6 or later, and so is all that it is used with.
/// Up to 5.7 the attributes from 5 on differ, and algorithms and results have other layouts.
pub(crate) fn is_rocm_6(matmul: &Words) -> bool {
    matmul[COMPUTE] < ROCM_6_COMPUTE_TYPES
}

/// The descriptors of a process, by address.
#[derive(Default)]
pub(crate) struct Descriptors(AddressMap<WORDS>);

impl Descriptors {
    /// Adds a new descriptor.
    pub(crate) fn create(&self, address: u64, words: Words) {
        self.0.put(address, words);
    }

    /// Removes a descriptor, which is about to be destroyed.
    pub(crate) fn destroy(&self, address: u64) {
        self.0.remove(address);
    }

    /// Sets an attribute. `read` returns a value of the given number of bytes; `None` when the
    /// program passed fewer and the library left the attribute unchanged.
    pub(crate) fn set_attribute(&self, address: u64, attribute: u32, read: impl Fn(usize) -> Option<u64>) {
        let Some(words) = self.0.find(address) else { return };
        let attributes = match snapshot(words) {
            layout if layout[KIND] == LAYOUT => &LAYOUT_ATTRIBUTES[..],
            matmul if is_rocm_6(&matmul) => &MATMUL_ATTRIBUTES,
            _ => &MATMUL_ATTRIBUTES[..ROCM_5_ATTRIBUTES],
        };
        let known = attributes.iter().find(|(number, _, _)| *number == attribute);
        if let Some((word, value)) = known.and_then(|(_, word, bytes)| Some((*word, read(*bytes)?))) {
            // Relaxed: the next thread to use the descriptor received it from this one.
            words[word].store(value, Relaxed);
        }
    }

    /// Returns the contents of the matrix layout at `address`.
    pub(crate) fn layout(&self, address: u64) -> Option<Words> {
        self.get(address, LAYOUT)
    }

    /// Returns the contents of the matmul descriptor at `address`.
    pub(crate) fn matmul(&self, address: u64) -> Option<Words> {
        self.get(address, MATMUL)
    }

    fn get(&self, address: u64, what: u64) -> Option<Words> {
        self.0.find(address).map(snapshot).filter(|words| words[KIND] == what)
    }
}

fn snapshot(words: &[AtomicU64; WORDS]) -> Words {
    // Relaxed: the thread that reads has received the descriptor from the one that wrote.
    std::array::from_fn(|i| words[i].load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_tracked_from_creation_to_destruction() {
        let descriptors = Descriptors::default();
        let rows = || descriptors.layout(0x40).map(|layout| layout[ROWS]);
        let change = |attribute, value: u64| {
            descriptors.set_attribute(0x40, attribute, |bytes| (bytes == 8).then_some(value));
        };
        change(HIPBLASLT_MATRIX_LAYOUT_ROWS, 9);
        assert_eq!(rows(), None, "it was never created");
        descriptors.create(0x40, new_layout(0, 7, 1, 1));
        assert_eq!(rows(), Some(7));
        change(HIPBLASLT_MATRIX_LAYOUT_ROWS, 8);
        change(HIPBLASLT_MATRIX_LAYOUT_TYPE, 14);
        assert_eq!(rows(), Some(8));
        assert_eq!(descriptors.layout(0x40).unwrap()[ELEMENT], 0, "the value was too short");
        assert_eq!(descriptors.matmul(0x40), None, "it is a layout");
        descriptors.destroy(0x40);
        assert_eq!(rows(), None);
    }

    #[test]
    fn attribute_numbers_of_rocm_5_are_not_mistaken_for_todays() {
        let descriptors = Descriptors::default();
        for (address, compute) in [(0x40, 2), (0x80, 300)] {
            descriptors.create(address, new_matmul(compute, 0));
            descriptors.set_attribute(address, HIPBLASLT_MATMUL_DESC_TRANSA, |_| Some(112));
            descriptors.set_attribute(address, HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, |_| Some(5));
        }
        let known = |address| descriptors.matmul(address).map(|matmul| (matmul[TRANS], matmul[SCALES]));
        assert_eq!((known(0x40), known(0x80)), (Some((112, 5)), Some((112, 0))));
    }

    #[test]
    fn every_attribute_has_a_word_of_its_own() {
        for attributes in [&LAYOUT_ATTRIBUTES[..], &MATMUL_ATTRIBUTES] {
            let mut words: Vec<usize> = attributes.iter().map(|(_, word, _)| *word).collect();
            words.sort_unstable();
            assert!(
                words.windows(2).all(|pair| pair[0] < pair[1])
                    && words[0] > KIND
                    && words[words.len() - 1] < WORDS
            );
        }
    }
}
