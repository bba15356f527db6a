//! Interns texts: each is written once and then referred to by number.

use super::messages::{Interned, InternedData};
use foldhash::HashMap;
use rocshim_trace::Word;

/// Limit of the interned texts of a kind; further ones are written in full each time.
const MOST: usize = 1 << 16;

/// The interned texts of a kind.
#[derive(Default)]
pub(super) struct Texts {
    numbers: HashMap<Word, u64>,
    /// Texts that were not written yet.
    new: Vec<Interned>,
}

impl Texts {
    /// Returns the number of a text, from 1; `None` beyond the limit.
    pub(super) fn number(&mut self, text: &str) -> Option<u64> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        let number = self.numbers.len() as u64 + 1;
        if self.numbers.len() >= MOST {
            return None;
        }
        self.numbers.insert(text.into(), number);
        self.new.push(Interned { iid: Some(number), name: Some(text.into()) });
        Some(number)
    }
}

/// All kinds.
#[derive(Default)]
pub(super) struct InternedTexts {
    pub(super) categories: Texts,
    pub(super) names: Texts,
    pub(super) keys: Texts,
    pub(super) values: Texts,
}

impl InternedTexts {
    /// Returns the new texts, which must be written before they are referred to.
    pub(super) fn take(&mut self) -> Option<InternedData> {
        let data = InternedData {
            event_categories: std::mem::take(&mut self.categories.new),
            event_names: std::mem::take(&mut self.names.new),
            debug_annotation_names: std::mem::take(&mut self.keys.new),
            debug_annotation_string_values: std::mem::take(&mut self.values.new),
        };
        (data != InternedData::default()).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_once_and_no_more_are_kept_than_may() {
        let mut known = InternedTexts::default();
        assert_eq!(
            [known.names.number("a"), known.names.number("b"), known.names.number("a")],
            [Some(1), Some(2), Some(1)]
        );
        let written = known.take().unwrap();
        assert_eq!(written.event_names.len(), 2);
        assert_eq!(known.take(), None);
        (0..MOST as u64).for_each(|text| {
            known.names.number(&text.to_string());
        });
        assert_eq!((known.names.number("late"), known.names.number("b")), (None, Some(2)));
    }
}
