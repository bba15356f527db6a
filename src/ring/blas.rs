//! The payload of BLAS calls other than rocBLAS-style GEMMs: hipBLASLt GEMMs, whose problem is in
//! descriptors, and queries, preparation and handles.

use crate::payload::{Payload, high, low, pair, words};
use crate::slot::{Event, EventKind};

/// Names of the actions of such a call; events hold the index.
pub const BLAS_ACTIONS: [&str; 9] =
    ["run", "heuristic", "solutions", "problem", "prepare", "transform", "create", "destroy", "initialize"];

/// A GEMM: hipblasLtMatmul, hipblaslt_ext::GemmInstance::run.
pub const RUN: u8 = 0;
/// A query for algorithms: hipblasLtMatmulAlgoGetHeuristic.
pub const HEURISTIC: u8 = 1;
/// A query for solutions: rocblas_gemm…_get_solutions.
pub const SOLUTIONS: u8 = 2;
/// Sets the problem of an instance: hipblaslt_ext::Gemm::setProblem.
pub const PROBLEM: u8 = 3;
/// Sets the algorithm of an instance: hipblaslt_ext::GemmInstance::initialize.
pub const PREPARE: u8 = 4;
/// Transforms and adds matrices: hipblasLtMatrixTransform.
pub const TRANSFORM: u8 = 5;
/// Creates a handle.
pub const CREATE: u8 = 6;
/// Destroys a handle.
pub const DESTROY: u8 = 7;
/// Loads all kernels: rocblas_initialize.
pub const INITIALIZE: u8 = 8;

/// The most results recorded per query.
pub const BLAS_RESULTS: usize = 8;

/// Bits of [`Blas::known`]: bit `i` says that matrix `i` has a layout (type, leading dimension,
/// stride, order).
pub const LAYOUT: u32 = 1;
/// The operations (if not 0) and the compute type are known.
pub const OPERATION: u32 = 1 << 4;
/// `size` has m and n (bit 5) and k (bit 6).
pub const ROWS: u32 = 1 << 5;
/// See [`ROWS`].
pub const INNER: u32 = 1 << 6;
/// `lds` and `strides` are known, for matrices without layouts.
pub const STRIDES: u32 = 1 << 7;
/// `handle` is the address of a C++ object.
pub const INSTANCE: u32 = 1 << 8;
/// The epilogue with its bias, and the type of the scalars, are known.
pub const EPILOGUE: u32 = 1 << 9;
/// The attributes added in ROCm 6 are known: scales, the auxiliary matrix, the pointer mode.
pub const EXTRAS: u32 = 1 << 10;
/// Element types (if not 0) are known, for matrices without layouts.
pub const TYPES: u32 = 1 << 11;

/// A call, in the library's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blas {
    /// Index into [`BLAS_ACTIONS`].
    pub action: u8,
    /// Which fields are known: [`LAYOUT`]` << i`, [`OPERATION`], …
    pub known: u32,
    /// Index into [`crate::event::GEMM_FORMS`].
    pub form: u8,
    /// Library handle, or the address of a C++ object.
    pub handle: u64,
    /// Operations on A and B.
    pub trans: [u32; 2],
    /// Element types of A, B, C, D.
    pub types: [u32; 4],
    /// Compute type, and type of the scalars.
    pub compute: [u32; 2],
    /// Epilogue.
    pub epilogue: u32,
    /// Element type of the bias.
    pub bias_type: u32,
    /// Pointer mode of the scalars.
    pub pointer_mode: u32,
    /// Pointers to alpha and beta.
    pub scalars: [u64; 2],
    /// Batch count.
    pub batch: i64,
    /// m, n, k.
    pub size: [i64; 3],
    /// Pointers A, B, C, D.
    pub matrices: [u64; 4],
    /// Their leading dimensions.
    pub lds: [i64; 4],
    /// Their batch strides, in elements.
    pub strides: [i64; 4],
    /// Their memory orders.
    pub orders: [u32; 4],
    /// Pointer to the bias.
    pub bias: u64,
    /// Pointers to the scales of A, B, C, D.
    pub scales: [u64; 4],
    /// How the scales of A and B apply.
    pub scale_modes: [u32; 2],
    /// Pointer to the auxiliary matrix of the epilogue.
    pub aux: u64,
    /// Its leading dimension.
    pub aux_ld: i64,
    /// Workspace passed, bytes.
    pub workspace: u64,
    /// The stream.
    pub stream: u64,
    /// Flags.
    pub flags: u32,
    /// Number of results requested; 0 for all.
    pub requested: u32,
}

/// Payload word of the algorithm's index.
const ALGO_AT: usize = 39;
/// Payload word of the number of results.
const ANSWER_AT: usize = 40;

impl Payload for Blas {
    const KIND: EventKind = EventKind::Blas;
    const WORDS: usize = ANSWER_AT + 2 + BLAS_RESULTS / 2;
    /// Without the handle, every address, the workspace and what the call returns.
    const SHAPE: u64 = words(0, 0)
        | words(2, 7)
        | words(10, 13)
        | words(18, 25)
        | words(30, 31)
        | words(33, 33)
        | words(35, 35);

    /// A run of an instance has not: the call that sets the problem has it.
    fn has_shape(&self) -> bool {
        match self.action {
            RUN => !self.knows(INSTANCE),
            action => action == PROBLEM || action == HEURISTIC,
        }
    }

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, pair(self.action as u32 | (self.form as u32) << 8, self.known));
        put(1, self.handle);
        put(2, pair(self.trans[0], self.trans[1]));
        put(3, pair(self.types[0], self.types[1]));
        put(4, pair(self.types[2], self.types[3]));
        put(5, pair(self.compute[0], self.compute[1]));
        put(6, pair(self.epilogue, self.bias_type));
        put(7, self.pointer_mode.into());
        put(8, self.scalars[0]);
        put(9, self.scalars[1]);
        put(10, self.batch as u64);
        for i in 0..3 {
            put(11 + i, self.size[i] as u64);
        }
        for i in 0..4 {
            put(14 + i, self.matrices[i]);
            put(18 + i, self.lds[i] as u64);
            put(22 + i, self.strides[i] as u64);
            put(26 + i, self.scales[i]);
        }
        put(30, pair(self.orders[0], self.orders[1]));
        put(31, pair(self.orders[2], self.orders[3]));
        put(32, self.bias);
        put(33, pair(self.scale_modes[0], self.scale_modes[1]));
        put(34, self.aux);
        put(35, self.aux_ld as u64);
        put(36, self.workspace);
        put(37, self.stream);
        put(38, pair(self.flags, self.requested));
        put(ALGO_AT, 0);
        put(ANSWER_AT, 0);
    }
}

impl Blas {
    /// True if all these bits are set in `known`.
    pub fn knows(&self, bits: u32) -> bool {
        self.known & bits == bits
    }

    /// Decodes the payload.
    pub fn read(event: &Event) -> Blas {
        let word = |index| event.payload(index);
        let two = |index: usize| [low(word(index)), high(word(index))];
        let four = |first: usize| std::array::from_fn(|i| word(first + i));
        let signed = |first: usize| std::array::from_fn(|i| word(first + i) as i64);
        let joined = |[a, b]: [u32; 2], [c, d]: [u32; 2]| [a, b, c, d];
        Blas {
            action: word(0) as u8,
            form: (word(0) >> 8) as u8,
            known: high(word(0)),
            handle: word(1),
            trans: two(2),
            types: joined(two(3), two(4)),
            compute: two(5),
            epilogue: low(word(6)),
            bias_type: high(word(6)),
            pointer_mode: low(word(7)),
            scalars: [word(8), word(9)],
            batch: word(10) as i64,
            size: std::array::from_fn(|i| word(11 + i) as i64),
            matrices: four(14),
            lds: signed(18),
            strides: signed(22),
            scales: four(26),
            orders: joined(two(30), two(31)),
            bias: word(32),
            scale_modes: two(33),
            aux: word(34),
            aux_ld: word(35) as i64,
            workspace: word(36),
            stream: word(37),
            flags: low(word(38)),
            requested: high(word(38)),
        }
    }

    /// Passes the word of the algorithm's index, known after the call, to `put`.
    pub fn store_algo(index: i32, mut put: impl FnMut(usize, u64)) {
        put(ALGO_AT, pair(index as u32, 1));
    }

    /// Decodes the algorithm's index; `None` if none was passed.
    pub fn read_algo(event: &Event) -> Option<i32> {
        let word = event.payload(ALGO_AT);
        (high(word) != 0).then_some(low(word) as i32)
    }

    /// Passes the words of a query's results to `put`: their number, the workspace in bytes that
    /// the first needs, and the known indices, of which the first [`BLAS_RESULTS`] are kept.
    pub fn store_answer(returned: u32, workspace: u64, indices: &[i32], mut put: impl FnMut(usize, u64)) {
        // Plus one, to distinguish zero results from no results recorded.
        put(ANSWER_AT, pair(returned.saturating_add(1), indices.len().min(BLAS_RESULTS) as u32));
        put(ANSWER_AT + 1, workspace);
        let index = |i: usize| indices.get(i).map_or(0, |index| *index as u32);
        for i in 0..BLAS_RESULTS / 2 {
            put(ANSWER_AT + 2 + i, pair(index(2 * i), index(2 * i + 1)));
        }
    }

    /// Decodes the results: their number, the workspace in bytes that the first needs, and the
    /// recorded indices; `None` if the call recorded none.
    pub fn read_answer(event: &Event) -> Option<(u32, u64, Vec<i32>)> {
        let answer = event.payload(ANSWER_AT);
        let returned = low(answer).checked_sub(1)?;
        let index = |i: usize| {
            let word = event.payload(ANSWER_AT + 2 + i / 2);
            if i.is_multiple_of(2) { low(word) as i32 } else { high(word) as i32 }
        };
        let kept = BLAS_RESULTS.min(high(answer) as usize);
        Some((returned, event.payload(ANSWER_AT + 1), (0..kept).map(index).collect()))
    }
}

/// A handle is created or destroyed, or a library loads all kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle {
    /// Index into [`BLAS_ACTIONS`].
    pub action: u8,
    /// The handle; when one is created, known after the call.
    pub handle: u64,
}

impl Payload for Handle {
    const KIND: EventKind = EventKind::Blas;
    const WORDS: usize = 6;

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.action.into());
        put(1, self.handle);
    }
}

impl Handle {
    /// Passes the word that is known after a handle was created to `put`.
    pub fn store_made(handle: u64, mut put: impl FnMut(usize, u64)) {
        put(1, handle);
    }
}
