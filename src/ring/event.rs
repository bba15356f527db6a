//! The payloads of launches, GEMMs, module loads and gaps: what the application's thread stores and
//! the reader gets back.
//!
//! A payload is a sequence of 64-bit words. `store` runs on the application's thread and only moves
//! numbers; `read` runs wherever events are read.
#![allow(unsafe_code)] // a launch is written to its slot field by field

use crate::payload::{Payload, high, low, pair, words};
use crate::slot::{Event, EventKind, SLOT_WORDS, head_word, payload_at};

/// In word 4 of a launch: the grid is in work-items.
const ITEMS: u64 = 0x8000;

/// A kernel launch, with its grid in the unit in which it was passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// `hipFunction_t` or host stub.
    pub function: u64,
    /// `hipStream_t`.
    pub stream: u64,
    /// Grid as passed.
    pub grid: [u32; 3],
    /// Block in work-items.
    pub block: [u32; 3],
    /// Dynamic LDS, bytes.
    pub shared: u64,
    /// Start event, or NULL.
    pub start: u64,
    /// Stop event, or NULL.
    pub stop: u64,
    /// Flags argument, or 0.
    pub flags: u32,
    /// The grid is in work-items, not blocks.
    pub items: bool,
    /// An attribute asks for a cooperative launch.
    pub cooperative: bool,
}

/// The words of a narrow launch as fields, stored without packing them first.
#[repr(C)]
struct Narrow {
    function: u64,
    stream: u64,
    grid: [u32; 3],
    block_x: u32,
    block_y_and_items: u16,
    block_z: u16,
    shared: u32,
}

const _: () = assert!(size_of::<Narrow>() == 40);

impl Payload for Launch {
    const KIND: EventKind = EventKind::Launch;
    const WORDS: usize = 10;
    const SHORT: bool = true;
    const RESERVED: bool = true;

    #[inline(always)]
    fn is_wide(&self) -> bool {
        let narrow = self.block[1] < ITEMS as u32 && self.block[2] <= 0xffff && self.shared <= 0xffff_ffff;
        !narrow || self.start | self.stop != 0 || self.flags != 0 || self.cooperative
    }

    #[inline(always)]
    unsafe fn store_reserved(&self, to: *mut u64) {
        let narrow = Narrow {
            function: self.function,
            stream: self.stream,
            grid: self.grid,
            block_x: self.block[0],
            block_y_and_items: self.block[1] as u16 | if self.items { ITEMS as u16 } else { 0 },
            block_z: self.block[2] as u16,
            shared: self.shared as u32,
        };
        // SAFETY: by the contract of `store_reserved`, `to` has room for five words, the size of
        // `Narrow`, and is aligned for them.
        unsafe { to.cast::<Narrow>().write(narrow) };
    }

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        put(0, self.function);
        put(1, self.stream);
        put(2, pair(gx, gy));
        put(3, pair(gz, bx));
        let items = if self.items { ITEMS } else { 0 };
        put(4, (by as u64 & (ITEMS - 1)) | items | (bz as u64 & 0xffff) << 16 | self.shared << 32);
        if self.is_wide() {
            put(5, pair(by, bz));
            put(6, self.shared);
            put(7, self.start);
            put(8, self.stop);
            put(9, pair(self.flags, self.cooperative.into()));
        }
    }
}

impl Launch {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Launch {
        let word = |index| event.payload(index);
        let mut launch = Launch {
            function: word(0),
            stream: word(1),
            grid: [low(word(2)), high(word(2)), low(word(3))],
            block: [high(word(3)), (word(4) & (ITEMS - 1)) as u32, low(word(4)) >> 16],
            shared: word(4) >> 32,
            items: word(4) & ITEMS != 0,
            ..Launch::default()
        };
        if event.wide {
            (launch.block[1], launch.block[2]) = (low(word(5)), high(word(5)));
            launch.shared = word(6);
            (launch.start, launch.stop) = (word(7), word(8));
            (launch.flags, launch.cooperative) = (low(word(9)), high(word(9)) != 0);
        }
        launch
    }

    /// The words of the launch without its arguments, and without the grid if that was passed in
    /// blocks: then it is returned apart. `None` if the launch needs the wide form.
    #[inline]
    pub fn narrow_words(event: &Event) -> Option<([u64; 5], Option<[u32; 3]>)> {
        if event.wide {
            return None;
        }
        let mut words: [u64; 5] = std::array::from_fn(|index| event.payload(index));
        if words[4] & ITEMS != 0 {
            return Some((words, None));
        }
        let grid = [low(words[2]), high(words[2]), low(words[3])];
        (words[2], words[3]) = (0, words[3] >> 32 << 32);
        Some((words, Some(grid)))
    }

    /// The recorded argument bytes, each argument at its own offset; the bytes between are
    /// undefined. Empty if there are none.
    pub fn read_arguments(event: &Event) -> Vec<u8> {
        let (words, count) = event.bytes();
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }

    /// The same as words, and how many of their bytes are valid.
    #[inline]
    pub fn argument_words(event: &Event) -> (&[u64], usize) {
        event.bytes()
    }
}

/// Names of the GEMM forms.
pub const GEMM_FORMS: [&str; 4] = ["plain", "batched", "strided_batched", "any_order"];

/// The algorithm of a function that takes none.
pub const NO_ALGO: u32 = u32::MAX;

/// The arguments of a GEMM, in the library's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gemm {
    /// Index into [`GEMM_FORMS`].
    pub form: u8,
    /// Library handle.
    pub handle: u64,
    /// Operations on A and B.
    pub trans: [u32; 2],
    /// m, n, k.
    pub size: [i64; 3],
    /// Batch count.
    pub batch: i64,
    /// Pointers A, B, C, D.
    pub matrices: [u64; 4],
    /// Their element types.
    pub types: [u32; 4],
    /// Their leading dimensions; in form `any_order`, the column strides.
    pub lds: [i64; 4],
    /// Their batch strides; in form `any_order`, the row strides.
    pub strides: [i64; 4],
    /// Pointers to alpha and beta.
    pub scalars: [u64; 2],
    /// Compute type.
    pub compute: u32,
    /// Algorithm, or [`NO_ALGO`].
    pub algo: u32,
    /// Requested solution index.
    pub solution: i32,
    /// Flags.
    pub flags: u32,
}

impl Payload for Gemm {
    const KIND: EventKind = EventKind::Gemm;
    const WORDS: usize = 26;
    /// All but the handle, the scalars' and the matrices' addresses.
    const SHAPE: u64 = words(1, 6) | words(9, 12) | words(17, 24);

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.handle);
        put(1, pair(self.trans[0], self.trans[1]));
        put(2, pair(self.types[0], self.types[1]));
        put(3, pair(self.types[2], self.types[3]));
        put(4, pair(self.compute, self.algo));
        put(5, pair(self.solution as u32, self.flags));
        put(6, self.form as u64);
        put(7, self.scalars[0]);
        put(8, self.scalars[1]);
        put(9, self.batch as u64);
        for i in 0..3 {
            put(10 + i, self.size[i] as u64);
        }
        for i in 0..4 {
            put(13 + i, self.matrices[i]);
            put(17 + i, self.lds[i] as u64);
            put(21 + i, self.strides[i] as u64);
        }
    }
}

impl Gemm {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Gemm {
        let word = |index| event.payload(index);
        let four = |first: usize| std::array::from_fn(|i| word(first + i));
        let four_signed = |first: usize| std::array::from_fn(|i| word(first + i) as i64);
        Gemm {
            handle: word(0),
            trans: [low(word(1)), high(word(1))],
            types: [low(word(2)), high(word(2)), low(word(3)), high(word(3))],
            compute: low(word(4)),
            algo: high(word(4)),
            solution: low(word(5)) as i32,
            flags: high(word(5)),
            form: word(6) as u8,
            scalars: [word(7), word(8)],
            batch: word(9) as i64,
            size: std::array::from_fn(|i| word(10 + i) as i64),
            matrices: four(13),
            lds: four_signed(17),
            strides: four_signed(21),
        }
    }
}

/// A module load or unload. The handle of a load is known only after the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// An unload.
    pub unload: bool,
    /// The module handle.
    pub module: u64,
    /// The number of the image's definition, plus one; 0 for none.
    pub image: u64,
}

impl Payload for Load {
    const KIND: EventKind = EventKind::Load;
    const WORDS: usize = 6;

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        put(0, self.unload as u64);
        put(1, self.module);
        put(2, self.image);
    }
}

impl Load {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Load {
        Load { unload: event.payload(0) != 0, module: event.payload(1), image: event.payload(2) }
    }

    /// Passes the words that are known after a load to `put`.
    pub fn store_loaded(module: u64, image: u64, mut put: impl FnMut(usize, u64)) {
        put(1, module);
        put(2, image);
    }
}

/// Reasons for lost events; ring files hold the index.
pub const LOSS_REASONS: [&str; 12] = [
    "ring_full",
    "no_memory",
    "nested_too_deep",
    "unreadable",
    "interrupted",
    "thread_ended",
    "overwritten",
    "disk_full",
    "disk_error",
    "disk_cap",
    "file_limit",
    "part_removed",
];

/// The ring had no room for the event.
pub const RING_FULL: u64 = 0;
/// No ring could be created for the thread.
pub const NO_MEMORY: u64 = 1;
/// More than [`crate::DEPTH`] nested calls.
pub const NESTED_TOO_DEEP: u64 = 2;
/// A signal handler made a call while the thread was storing an event.
pub const INTERRUPTED: u64 = 4;
/// The thread had closed its ring: a call in a destructor that runs after all others.
pub const THREAD_ENDED: u64 = 5;

/// Overwritten by newer events, as requested by the configuration.
pub const OVERWRITTEN: u64 = 6;
/// The trace could not be written: no disk space or quota left.
pub const DISK_FULL: u64 = 7;
/// The trace could not be written for another reason.
pub const DISK_ERROR: u64 = 8;
/// The trace has reached its disk budget.
pub const DISK_CAP: u64 = 9;
/// The process has reached its file size limit.
pub const FILE_LIMIT: u64 = 10;
/// The segment that contained them was deleted to free disk budget.
pub const PART_REMOVED: u64 = 11;

/// Lost events, at their place in the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub lost: u64,
    /// Stamp of the first.
    pub first: u64,
    /// Stamp of the last.
    pub last: u64,
    /// Index into [`LOSS_REASONS`].
    pub reason: u64,
}

impl Gap {
    /// The words of its slot.
    pub(crate) fn words(&self) -> [u64; SLOT_WORDS] {
        let mut words = [0; SLOT_WORDS];
        words[0] = head_word(EventKind::Gap as u8, 1, 0);
        words[1] = self.first;
        words[payload_at(0)] = self.lost;
        words[payload_at(1)] = self.last;
        words[payload_at(2)] = self.reason;
        words
    }

    /// Decodes the payload.
    pub fn read(event: &Event) -> Gap {
        let word = |index| event.payload(index);
        Gap { lost: word(0), first: event.stamp, last: word(1), reason: word(2) }
    }
}
