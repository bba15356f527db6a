//! The payload of a convolution call: the problem, the request, and the results.

use crate::payload::{Payload, high, low, pair, words};
use crate::slot::{Event, EventKind};
use serde::{Deserialize, Serialize};

/// The most dimensions of a recorded tensor: n, c, d, h, w.
pub const TENSOR_DIMS: usize = 5;
/// The most spatial dimensions of a convolution.
pub const SPATIAL_DIMS: usize = 3;
/// The most results recorded per search.
pub const CONV_RESULTS: usize = 8;

/// The contents of a tensor descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// `miopenDataType_t`.
    pub element: u32,
    /// Number of dimensions in use; 0 if the descriptor could not be read.
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
    /// Solver id; 0 if the call returns none.
    pub solution: u64,
}

impl ConvResult {
    /// Value of `algorithm`: it follows from the solver.
    pub const BY_SOLVER: u32 = u32::MAX;
}

/// The operations of a fusion plan or problem of MIOpen, in order; the first eight are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operations(pub u64);

/// An operation of a fusion plan or problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// A convolution.
    Convolution = 1,
    /// Addition of a bias.
    Bias,
    /// An activation function.
    Activation,
    /// Batch normalisation, training or inference.
    BatchNorm,
    /// Softmax.
    Softmax,
    /// Multi-head attention.
    Mha,
}

/// Names of [`Operation`], in the order of their numbers from 1.
pub const OPERATIONS: [&str; 6] = ["convolution", "bias", "activation", "batch_norm", "softmax", "mha"];

impl Operations {
    /// The first eight of these, in order.
    pub fn of(operations: &[Operation]) -> Operations {
        operations.iter().fold(Operations::default(), |all, one| all.then(Operations(*one as u64)))
    }

    /// These, followed by `others`.
    pub fn then(self, others: Operations) -> Operations {
        let used = 8 - self.0.leading_zeros() / 8;
        Operations(self.0 | others.0.checked_shl(8 * used).unwrap_or(0))
    }

    /// Their names.
    pub fn words(self) -> Vec<&'static str> {
        let word = |number: &u8| (*number as usize).checked_sub(1).map(|at| OPERATIONS.get(at).copied());
        self.0.to_le_bytes().iter().map_while(word).map(|word| word.unwrap_or("unknown")).collect()
    }
}

/// A convolution call: problem, request, results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conv {
    /// Index into the actions that the decoder names.
    pub action: u8,
    /// 0 forward, 1 backward data, 2 backward weights.
    pub direction: u8,
    /// It is known to be a convolution. A run of a solution or plan is not: only the reader of the
    /// event knows what its handle refers to.
    pub is_convolution: bool,
    /// The operations of the plan or problem, if it is more than a convolution.
    pub operations: Operations,
    /// x, w, y.
    pub tensors: [Tensor; 3],
    /// Number of spatial dimensions; 0 if the descriptor could not be read.
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
    /// Requested algorithm (run).
    pub algorithm: u32,
    /// Requested solver id (immediate mode).
    pub solution: u64,
    /// Workspace passed, bytes.
    pub workspace: u64,
    /// Exhaustive search was requested.
    pub exhaustive: bool,
    /// `hipStream_t` of the MIOpen handle; 0 for the default one and if it could not be queried.
    pub stream: u64,
    /// The problem, solution or fusion plan; 0 if the call has none.
    pub subject: u64,
}

impl Payload for Conv {
    const KIND: EventKind = EventKind::Conv;
    const WORDS: usize = OPERATIONS_AT + 1;
    /// Without the workspace, results, the stream, and the solution's or plan's address.
    const SHAPE: u64 = words(0, 1) | words(3, CONV_RESULTS_AT - 1) | words(OPERATIONS_AT, OPERATIONS_AT);

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let flags = self.action as u32
            | (self.direction as u32) << 8
            | (self.exhaustive as u32) << 16
            | (self.is_convolution as u32) << 17;
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
        put(STREAM_AT, self.stream);
        put(SUBJECT_AT, self.subject);
        put(OPERATIONS_AT, self.operations.0);
    }
}

const TENSORS_AT: usize = 9;
const TENSOR_WORDS: usize = 1 + TENSOR_DIMS;
/// Payload word of the number of results; they follow, three words each.
pub(crate) const CONV_RESULTS_AT: usize = TENSORS_AT + 3 * TENSOR_WORDS;
const STREAM_AT: usize = CONV_RESULTS_AT + 1 + 3 * CONV_RESULTS;
const SUBJECT_AT: usize = STREAM_AT + 1;
const OPERATIONS_AT: usize = SUBJECT_AT + 1;

impl Conv {
    /// Decodes the payload.
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
            is_convolution: word(0) >> 17 & 1 != 0,
            operations: Operations(word(OPERATIONS_AT)),
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
            stream: word(STREAM_AT),
            subject: word(SUBJECT_AT),
        }
    }

    /// Copies from `problem`, which this call runs, the fields that the run itself does not have.
    pub fn complete(&mut self, problem: &Conv) {
        for (tensor, of_problem) in self.tensors.iter_mut().zip(problem.tensors) {
            *tensor = if tensor.rank == 0 { of_problem } else { *tensor };
        }
        *self = Conv {
            action: self.action,
            tensors: self.tensors,
            algorithm: self.algorithm,
            solution: self.solution,
            workspace: self.workspace,
            exhaustive: self.exhaustive,
            stream: self.stream,
            subject: self.subject,
            ..*problem
        };
    }

    /// Passes the words of `returned` results (the first [`CONV_RESULTS`] are kept) to `put`.
    pub fn store_results(returned: u64, results: &[ConvResult], mut put: impl FnMut(usize, u64)) {
        put(CONV_RESULTS_AT, returned);
        for (i, result) in results.iter().take(CONV_RESULTS).enumerate() {
            let at = CONV_RESULTS_AT + 1 + 3 * i;
            put(at, pair(result.algorithm, result.time.to_bits()));
            put(at + 1, result.workspace);
            put(at + 2, result.solution);
        }
    }

    /// Decodes the results: how many were returned, and those that were recorded.
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
