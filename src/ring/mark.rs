//! The payload of a mark: a marker, range or name set by the program, with its text inline.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, EventKind};

/// Names of the actions; events hold the index.
pub const MARK_ACTIONS: [&str; 11] = [
    "mark",
    "push",
    "pop",
    "start",
    "stop",
    "pause",
    "resume",
    "name_thread",
    "name_agent",
    "name_device",
    "name_stream",
];

/// The most bytes of text that are recorded.
pub const TEXT_BYTES: usize = 8 * TEXT_WORDS;

/// A marker, range, or name set by the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark<T> {
    /// Index into [`MARK_ACTIONS`].
    pub action: u8,
    /// The range, thread, agent, device or stream it refers to; 0 if there is none, or none yet.
    pub value: u64,
    /// The nesting level that a push or pop returned.
    pub level: Option<i32>,
    /// The text, if the action has one: at most [`TEXT_BYTES`] of it.
    pub text: Option<T>,
    /// The text was longer.
    pub cut: bool,
}

const VALUE_AT: usize = 1;
const LEVEL_AT: usize = 2;
const TEXT_AT: usize = 3;
/// Fills the eight slots of the longest event.
const TEXT_WORDS: usize = 54;

/// In word 0: the text was truncated; there is a text.
const CUT: u32 = 0x100;
const TEXT: u32 = 0x200;
/// In the high half of the level's word: there is a level.
const LEVEL: u32 = 1;

impl Payload for Mark<&[u8]> {
    const KIND: EventKind = EventKind::Mark;
    const WORDS: usize = TEXT_AT + TEXT_WORDS;
    const SHORT: bool = true;

    fn is_wide(&self) -> bool {
        self.words() > 5
    }

    fn words(&self) -> usize {
        TEXT_AT + self.text.map_or(0, |text| text.len().min(TEXT_BYTES).div_ceil(8))
    }

    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let text = self.text.map(|text| &text[..text.len().min(TEXT_BYTES)]);
        let flags = if self.cut { CUT } else { 0 } | if text.is_some() { TEXT } else { 0 };
        put(0, pair(self.action as u32 | flags, text.map_or(0, <[u8]>::len) as u32));
        put(VALUE_AT, self.value);
        put(LEVEL_AT, self.level.map_or(0, level_word));
        for (i, bytes) in text.unwrap_or_default().chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            put(TEXT_AT + i, u64::from_le_bytes(word));
        }
    }
}

fn level_word(level: i32) -> u64 {
    pair(level as u32, LEVEL)
}

impl Mark<Vec<u8>> {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Mark<Vec<u8>> {
        let (head, level) = (event.payload(0), event.payload(LEVEL_AT));
        let bytes = (high(head) as usize).min(TEXT_BYTES);
        let text = || {
            let words = (0..bytes.div_ceil(8)).flat_map(|i| event.payload(TEXT_AT + i).to_le_bytes());
            words.take(bytes).collect()
        };
        Mark {
            action: head as u8,
            value: event.payload(VALUE_AT),
            level: (high(level) & LEVEL != 0).then_some(low(level) as i32),
            text: (low(head) & TEXT != 0).then(text),
            cut: low(head) & CUT != 0,
        }
    }
}

/// Passes the word of the level, known after the call, to `put`.
pub fn store_level(level: i32, mut put: impl FnMut(usize, u64)) {
    put(LEVEL_AT, level_word(level));
}

/// Passes the word of the range id, known after the call, to `put`.
pub fn store_value(value: u64, mut put: impl FnMut(usize, u64)) {
    put(VALUE_AT, value);
}
