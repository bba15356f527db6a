//! hipBLASLt's descriptors as the program has made them: what a product is, is told by them and not by its arguments.
//!
//! They are opaque, and asking the library for their contents would show in its log, so what the program puts into them
//! is kept here, from the calls that make, change and destroy them. A product looks its five descriptors up on the
//! program's own thread, before the program's call: programs make, use and destroy descriptors around every product
//! (PyTorch does), so telling each of them to the collector would flood the definition log.
//!
//! A descriptor that was never seen being made is not here: what it holds is absent from the trace, never guessed.

use crate::abi::hipblaslt::*;
use crate::state::address_map::Slots;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The words that are kept of a descriptor, each under one of the numbers below.
pub(crate) type Words = [u64; WORDS];
const WORDS: usize = 17;

/// What the descriptor is of: [`LAYOUT`] or [`PRODUCT`].
const WHAT: usize = 0;
/// A matrix.
const LAYOUT: u64 = 1;
/// A product.
const PRODUCT: u64 = 2;

// Of a layout.
pub(crate) const ELEMENT: usize = 1;
pub(crate) const ROWS: usize = 2;
pub(crate) const COLS: usize = 3;
pub(crate) const LD: usize = 4;
pub(crate) const BATCH: usize = 5;
pub(crate) const STRIDE: usize = 6;
pub(crate) const ORDER: usize = 7;

// Of a product.
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

/// Compute types of ROCm 6 on are below; up to 5.7 they were `hipblasLtComputeType_t`, from 300 on.
const FIRST_OLD_COMPUTE_TYPE: u64 = 150;

/// An attribute: its number, the word in which it is kept, its bytes.
type Attribute = (u32, usize, usize);

#[rustfmt::skip]
const OF_LAYOUTS: [Attribute; 7] = [
    (HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT,          BATCH,   4),
    (HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, STRIDE,  8),
    (HIPBLASLT_MATRIX_LAYOUT_TYPE,                 ELEMENT, 4),
    (HIPBLASLT_MATRIX_LAYOUT_ORDER,                ORDER,   4),
    (HIPBLASLT_MATRIX_LAYOUT_ROWS,                 ROWS,    8),
    (HIPBLASLT_MATRIX_LAYOUT_COLS,                 COLS,    8),
    (HIPBLASLT_MATRIX_LAYOUT_LD,                   LD,      8),
];

#[rustfmt::skip]
const OF_PRODUCTS: [Attribute; 14] = [
    (HIPBLASLT_MATMUL_DESC_TRANSA,               TRANS,           4),
    (HIPBLASLT_MATMUL_DESC_TRANSB,               TRANS + 1,       4),
    (HIPBLASLT_MATMUL_DESC_EPILOGUE,             EPILOGUE,        4),
    (HIPBLASLT_MATMUL_DESC_BIAS_POINTER,         BIAS,            8),
    (HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,       BIAS_TYPE,       4),
    // From here on of ROCm 6.
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
/// Attributes of products that ROCm 5 had with these numbers.
const OLD: usize = 5;

/// A new layout (hipBLASLt, handle.h).
pub(crate) fn layout(element: hipDataType, rows: u64, cols: u64, ld: i64) -> Words {
    let mut words = [0; WORDS];
    (words[WHAT], words[ELEMENT], words[BATCH]) = (LAYOUT, element.into(), 1);
    (words[ROWS], words[COLS], words[LD]) = (rows, cols, ld as u64);
    words
}

/// A new descriptor of a product (hipBLASLt, handle.h).
pub(crate) fn product(compute: hipblasComputeType_t, scale: hipDataType) -> Words {
    let mut words = [0; WORDS];
    (words[WHAT], words[COMPUTE], words[SCALE_TYPE]) = (PRODUCT, compute.into(), scale.into());
    words[TRANS..TRANS + 2].fill(HIPBLAS_OP_N.into());
    (words[EPILOGUE], words[BIAS_TYPE]) =
        (HIPBLASLT_EPILOGUE_DEFAULT.into(), HIPBLASLT_DATATYPE_INVALID.into());
    words
}

/// A product's descriptor is of ROCm 6 or later, and so is all that goes with it: up to 5.7 attributes from 5 on were
/// something else, and algorithms and their results had other layouts.
pub(crate) fn is_of_rocm_6_on(product: &Words) -> bool {
    product[COMPUTE] < FIRST_OLD_COMPUTE_TYPE
}

/// The descriptors of a process, by address.
#[derive(Default)]
pub(crate) struct Descriptors(Slots<WORDS>);

impl Descriptors {
    /// A descriptor was made.
    pub(crate) fn made(&self, address: u64, words: Words) {
        self.0.put(address, words);
    }

    /// A descriptor is about to be destroyed.
    pub(crate) fn gone(&self, address: u64) {
        self.0.remove(address);
    }

    /// An attribute was set; `read` gives a value of so many bytes, or nothing where the program passed fewer and the library
    /// has left the attribute as it was.
    pub(crate) fn changed(&self, address: u64, attribute: u32, read: impl Fn(usize) -> Option<u64>) {
        let Some(words) = self.0.find(address) else { return };
        let attributes = match snapshot(words) {
            layout if layout[WHAT] == LAYOUT => &OF_LAYOUTS[..],
            product if is_of_rocm_6_on(&product) => &OF_PRODUCTS,
            _ => &OF_PRODUCTS[..OLD],
        };
        let known = attributes.iter().find(|(number, _, _)| *number == attribute);
        if let Some((word, value)) = known.and_then(|(_, word, bytes)| Some((*word, read(*bytes)?))) {
            // Relaxed: the thread that uses the descriptor next has it from this one.
            words[word].store(value, Relaxed);
        }
    }

    /// What the matrix layout at `address` holds.
    pub(crate) fn layout(&self, address: u64) -> Option<Words> {
        self.get(address, LAYOUT)
    }

    /// What the product's descriptor at `address` holds.
    pub(crate) fn product(&self, address: u64) -> Option<Words> {
        self.get(address, PRODUCT)
    }

    fn get(&self, address: u64, what: u64) -> Option<Words> {
        self.0.find(address).map(snapshot).filter(|words| words[WHAT] == what)
    }
}

fn snapshot(words: &[AtomicU64; WORDS]) -> Words {
    // Relaxed: see `changed`.
    std::array::from_fn(|i| words[i].load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_known_from_its_making_to_its_end() {
        let descriptors = Descriptors::default();
        let rows = || descriptors.layout(0x40).map(|layout| layout[ROWS]);
        let change = |attribute, value: u64| {
            descriptors.changed(0x40, attribute, |bytes| (bytes == 8).then_some(value));
        };
        change(HIPBLASLT_MATRIX_LAYOUT_ROWS, 9);
        assert_eq!(rows(), None, "it was never made");
        descriptors.made(0x40, layout(0, 7, 1, 1));
        assert_eq!(rows(), Some(7));
        change(HIPBLASLT_MATRIX_LAYOUT_ROWS, 8);
        change(HIPBLASLT_MATRIX_LAYOUT_TYPE, 14);
        assert_eq!(rows(), Some(8));
        assert_eq!(descriptors.layout(0x40).unwrap()[ELEMENT], 0, "the value was too short");
        assert_eq!(descriptors.product(0x40), None, "it is none");
        descriptors.gone(0x40);
        assert_eq!(rows(), None);
    }

    #[test]
    fn a_number_that_was_another_attribute_in_rocm_5_is_not_taken_for_todays() {
        let descriptors = Descriptors::default();
        for (address, compute) in [(0x40, 2), (0x80, 300)] {
            descriptors.made(address, product(compute, 0));
            descriptors.changed(address, HIPBLASLT_MATMUL_DESC_TRANSA, |_| Some(112));
            descriptors.changed(address, HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, |_| Some(5));
        }
        let told = |address| descriptors.product(address).map(|product| (product[TRANS], product[SCALES]));
        assert_eq!((told(0x40), told(0x80)), (Some((112, 5)), Some((112, 0))));
    }

    #[test]
    fn every_attribute_has_a_word_of_its_own() {
        for attributes in [&OF_LAYOUTS[..], &OF_PRODUCTS] {
            let mut words: Vec<usize> = attributes.iter().map(|(_, word, _)| *word).collect();
            words.sort_unstable();
            assert!(
                words.windows(2).all(|pair| pair[0] < pair[1])
                    && words[0] > WHAT
                    && words[words.len() - 1] < WORDS
            );
        }
    }
}
