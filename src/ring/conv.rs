//! The payload of a convolution call: the problem, what was asked, and what came back.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, Kind};

/// The longest tensor that is recorded: n, c, d, h, w.
pub const TENSOR_DIMS: usize = 5;
/// The most spatial dimensions of a convolution.
pub const SPATIAL_DIMS: usize = 3;
/// The most results kept of one search.
pub const CONV_RESULTS: usize = 8;

/// A tensor descriptor's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tensor {
    /// `miopenDataType_t`.
    pub element: u32,
    /// How many of the dimensions count; 0 when the descriptor could not be read.
    pub rank: u32,
    /// Lengths.
    pub dims: [i32; TENSOR_DIMS],
    /// Strides in elements.
    pub strides: [i32; TENSOR_DIMS],
}

/// One result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConvResult {
    /// `miopenConvAlgorithm_t`.
    pub algorithm: u32,
    /// Time, ms.
    pub time: f32,
    /// Workspace, bytes.
    pub workspace: u64,
    /// Solver id; 0 where the call gives none.
    pub solution: u64,
}

/// A convolution call: the problem, what was asked, what came back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conv {
    /// Index into the actions that the decoder names.
    pub action: u8,
    /// 0 forward, 1 backward data, 2 backward weights.
    pub direction: u8,
    /// x, w, y.
    pub tensors: [Tensor; 3],
    /// How many spatial dimensions count; 0 when the descriptor could not be read.
    pub spatial: u32,
    /// Padding.
    pub pads: [i32; SPATIAL_DIMS],
    /// Stride.
    pub strides: [i32; SPATIAL_DIMS],
    /// Dilation.
    pub dilations: [i32; SPATIAL_DIMS],
    /// Group count.
    pub groups: i32,
    /// `miopenConvolutionMode_t`.
    pub mode: u32,
    /// Algorithm asked for (run).
    pub algorithm: u32,
    /// Solver id asked for (immediate mode).
    pub solution: u64,
    /// Workspace given, bytes.
    pub workspace: u64,
    /// Exhaustive search asked for.
    pub exhaustive: bool,
}

impl Payload for Conv {
    const KIND: Kind = Kind::Conv;
    const WORDS: usize = CONV_RESULTS_AT + 1 + 3 * CONV_RESULTS;

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let flags = self.action as u32 | (self.direction as u32) << 8 | (self.exhaustive as u32) << 16;
        put(0, pair(flags, self.algorithm));
        put(1, self.solution);
        put(2, self.workspace);
        put(3, pair(self.spatial, self.mode));
        put(4, pair(self.groups as u32, self.pads[0] as u32));
        put(5, pair(self.pads[1] as u32, self.pads[2] as u32));
        put(6, pair(self.strides[0] as u32, self.strides[1] as u32));
        put(7, pair(self.strides[2] as u32, self.dilations[0] as u32));
        put(8, pair(self.dilations[1] as u32, self.dilations[2] as u32));
        for (i, tensor) in self.tensors.iter().enumerate() {
            let at = TENSORS_AT + i * TENSOR_WORDS;
            put(at, pair(tensor.element, tensor.rank));
            for d in 0..TENSOR_DIMS {
                put(at + 1 + d, pair(tensor.dims[d] as u32, tensor.strides[d] as u32));
            }
        }
        put(CONV_RESULTS_AT, 0);
    }
}

const TENSORS_AT: usize = 9;
const TENSOR_WORDS: usize = 1 + TENSOR_DIMS;
/// Payload word that counts the results; they follow, three words each.
pub(crate) const CONV_RESULTS_AT: usize = TENSORS_AT + 3 * TENSOR_WORDS;

impl Conv {
    /// Reads it back.
    pub fn read(event: &Event) -> Conv {
        let word = |index| event.payload(index);
        let tensor = |i: usize| {
            let at = TENSORS_AT + i * TENSOR_WORDS;
            Tensor {
                element: low(word(at)),
                rank: high(word(at)),
                dims: std::array::from_fn(|d| low(word(at + 1 + d)) as i32),
                strides: std::array::from_fn(|d| high(word(at + 1 + d)) as i32),
            }
        };
        let (low_i, high_i) = (|i| low(word(i)) as i32, |i| high(word(i)) as i32);
        Conv {
            action: word(0) as u8,
            direction: (word(0) >> 8) as u8,
            exhaustive: word(0) >> 16 & 1 != 0,
            algorithm: high(word(0)),
            solution: word(1),
            workspace: word(2),
            spatial: low(word(3)),
            mode: high(word(3)),
            groups: low_i(4),
            pads: [high_i(4), low_i(5), high_i(5)],
            strides: [low_i(6), high_i(6), low_i(7)],
            dilations: [high_i(7), low_i(8), high_i(8)],
            tensors: std::array::from_fn(tensor),
        }
    }

    /// Gives the words of `returned` results (the first [`CONV_RESULTS`] are kept) to `put`.
    pub fn store_results(returned: u64, results: &[ConvResult], mut put: impl FnMut(usize, u64)) {
        put(CONV_RESULTS_AT, returned);
        for (i, result) in results.iter().take(CONV_RESULTS).enumerate() {
            let at = CONV_RESULTS_AT + 1 + 3 * i;
            put(at, pair(result.algorithm, result.time.to_bits()));
            put(at + 1, result.workspace);
            put(at + 2, result.solution);
        }
    }

    /// Reads the results back: how many were returned, and those that were kept.
    pub fn read_results(event: &Event) -> (u64, Vec<ConvResult>) {
        let returned = event.payload(CONV_RESULTS_AT);
        let result = |i: usize| {
            let word = |offset| event.payload(CONV_RESULTS_AT + 1 + 3 * i + offset);
            let (algorithm, time) = (low(word(0)), f32::from_bits(high(word(0))));
            ConvResult { algorithm, time, workspace: word(1), solution: word(2) }
        };
        (returned, (0..CONV_RESULTS.min(returned as usize)).map(result).collect())
    }
}
