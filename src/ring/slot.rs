//! The layout of an event in a ring: one to eight slots of 64 bytes.
//!
//! ```text
//! slot 0   word 0   kind : 8 | slots : 8 | hook : 16 | ticks taken : 32
//!          word 1   stamp of entry
//!          word 2   id : 40 | distance to the parent's id : 24 (0: no parent)
//!          word 3…7 payload 0…4
//! slot 1   word 0   ticks taken : 64, where the narrow field is full
//!          word 1   parent's id : 64, where the narrow field is full
//!          word 2   status : 32 | flags : 16 | bytes : 16
//!          word 3…7 payload 5…9
//! slot 2…  word 0…7 payload 10…
//! ```
//!
//! A launch's arguments are bytes after its payload: from payload 5 on, or from 10 on if the launch
//! is wide.
//!
//! A successful launch fits slot 0. What does not fit its narrow fields (a failure, a call of
//! seconds, a distant parent) adds slot 1, so that the common event costs one cache line and no
//! value is ever truncated.

/// 8-byte words per slot.
pub const SLOT_WORDS: usize = 8;
/// Slots of the longest event.
pub const MAX_SLOTS: usize = 8;
/// Words of the longest event.
pub const MAX_WORDS: usize = SLOT_WORDS * MAX_SLOTS;

/// In `kind`: payload 5…9 of a launch hold its wide fields.
pub(crate) const WIDE: u8 = 0x80;
/// In the flags of slot 1: an exception left the call.
pub(crate) const UNWOUND: u32 = 1;
pub(crate) const PARENT_BITS: u32 = 24;
pub(crate) const FAR_PARENT: u64 = (1 << PARENT_BITS) - 1;
pub(crate) const LONG_CALL: u64 = u32::MAX as u64;
/// In word 2 of slot 1: the bit at which the number of bytes begins.
pub(crate) const BYTES_AT: u32 = 48;

/// In `kind`: a call of the HIP runtime itself.
pub(crate) const RUNTIME: u8 = 0x10;

/// The kind of an event. Calls of the HIP runtime have bit 4 set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// A GEMM.
    Gemm = 2,
    /// A convolution call.
    Conv = 3,
    /// Lost events.
    Gap = 5,
    /// A call of which only the name is recorded.
    Span = 6,
    /// A marker or range set by the program.
    Mark = 7,
    /// Another call of a BLAS library; see `blas`.
    Blas = 8,
    /// A GPU report of the HIP runtime.
    Gpu = 9,
    /// A kernel launch.
    Launch = 0x11,
    /// A module load or unload.
    Load = 0x12,
    /// A call on a graph or a capture.
    Graph = 0x13,
    /// A copy or a fill.
    Copy = 0x14,
    /// A call that waits, or that orders streams.
    Sync = 0x15,
}

impl EventKind {
    fn from_bits(bits: u8) -> Option<EventKind> {
        const ALL: [EventKind; 12] = [
            EventKind::Gemm,
            EventKind::Conv,
            EventKind::Gap,
            EventKind::Span,
            EventKind::Mark,
            EventKind::Blas,
            EventKind::Gpu,
            EventKind::Launch,
            EventKind::Load,
            EventKind::Graph,
            EventKind::Copy,
            EventKind::Sync,
        ];
        ALL.into_iter().find(|kind| *kind as u8 == bits & !WIDE)
    }
}

/// Word 0 of an event that has not returned yet.
#[inline(always)]
pub(crate) const fn head_word(kind: u8, slots: u64, hook: u16) -> u64 {
    kind as u64 | slots << 8 | (hook as u64) << 16
}

/// Index of payload word `index` among the words of an event.
#[inline(always)]
pub(crate) const fn payload_at(index: usize) -> usize {
    if index < 5 { index + 3 } else { index + 6 }
}

/// Number of slots of an event with `payload` words and slot 1.
pub(crate) const fn slots_for(payload: usize) -> u64 {
    if payload <= 5 { 2 } else { payload_at(payload - 1) as u64 / SLOT_WORDS as u64 + 1 }
}

/// Index of the payload word at which the bytes of an event begin.
#[inline(always)]
pub(crate) const fn bytes_at(wide: bool) -> usize {
    if wide { 10 } else { 5 }
}

/// Number of slots of an event with `bytes` bytes.
#[inline(always)]
pub(crate) const fn slots_with_bytes(wide: bool, bytes: usize) -> u64 {
    (payload_at(bytes_at(wide)) * 8 + bytes).div_ceil(SLOT_WORDS * 8) as u64
}

/// An event, decoded from its slots.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its kind.
    pub kind: EventKind,
    /// The row of the hook table.
    pub hook: u16,
    /// Its number in its thread, from 1.
    pub id: u64,
    /// The enclosing call's number; 0 for none.
    pub parent: u64,
    /// Stamp of entry.
    pub stamp: u64,
    /// Ticks until the return.
    pub ticks: u64,
    /// The call's return value.
    pub status: i32,
    /// An exception left the call.
    pub unwound: bool,
    pub(crate) wide: bool,
    words: [u64; MAX_WORDS],
    slots: usize,
    bytes: usize,
}

/// Number of slots of the event with this word 0; `None` if it is not that of an event.
pub fn slots_of(head: u64) -> Option<usize> {
    let slots = (head >> 8 & 0xff) as usize;
    (EventKind::from_bits(head as u8).is_some() && (1..=MAX_SLOTS).contains(&slots)).then_some(slots)
}

impl Event {
    /// Room for an event.
    pub(crate) fn blank() -> Event {
        let (kind, words) = (EventKind::Gap, [0; MAX_WORDS]);
        let (hook, id, parent, stamp, ticks, status) = (0, 0, 0, 0, 0, 0);
        let (unwound, wide, slots, bytes) = (false, false, 0, 0);
        Event { kind, hook, id, parent, stamp, ticks, status, unwound, wide, words, slots, bytes }
    }

    /// Clears duration and status, which were not recorded.
    pub(crate) fn forget_end(&mut self) {
        (self.ticks, self.status, self.unwound) = (0, 0, false);
    }

    /// Decodes an event from its words; `None` if they are not one.
    pub fn from_words(words: &[u64]) -> Option<Event> {
        let mut event = Event::blank();
        let own = words.get(..slots_of(*words.first()?)? * SLOT_WORDS)?;
        event.words[..own.len()].copy_from_slice(own);
        event.understand().then_some(event)
    }

    /// The buffer for the words of the next event, of the maximum length.
    pub(crate) fn words(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Decodes the words in the buffer; false if they are not an event.
    pub(crate) fn understand(&mut self) -> bool {
        let words = &self.words;
        let (Some(kind), Some(slots)) = (EventKind::from_bits(words[0] as u8), slots_of(words[0])) else {
            return false;
        };
        let has_more = slots > 1;
        let id = words[2] >> PARENT_BITS;
        let parent = match words[2] & FAR_PARENT {
            0 => Some(0),
            FAR_PARENT if has_more => Some(words[9]),
            near => id.checked_sub(near),
        };
        let Some(parent) = parent else { return false };
        (self.kind, self.slots, self.id, self.parent) = (kind, slots, id, parent);
        self.hook = (words[0] >> 16) as u16;
        self.stamp = words[1];
        self.ticks = if has_more && words[0] >> 32 == LONG_CALL { words[8] } else { words[0] >> 32 };
        self.status = if has_more { words[10] as i32 } else { 0 };
        self.unwound = has_more && (words[10] >> 32) as u32 & UNWOUND != 0;
        self.bytes = if has_more { (words[10] >> BYTES_AT) as usize } else { 0 };
        self.wide = words[0] as u8 & WIDE != 0;
        true
    }

    /// Word `index` of the payload; 0 past its end.
    #[inline]
    pub fn payload(&self, index: usize) -> u64 {
        let at = payload_at(index);
        if at < self.slots * SLOT_WORDS { self.words[at] } else { 0 }
    }

    /// Number of slots it took.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The bytes after the payload, in a whole number of words, and how many of them are valid.
    #[inline]
    pub(crate) fn bytes(&self) -> (&[u64], usize) {
        let at = payload_at(bytes_at(self.wide));
        let words = self.words.get(at..self.slots * SLOT_WORDS).unwrap_or_default();
        (words, self.bytes.min(words.len() * 8))
    }
}
