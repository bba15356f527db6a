//! The payload of a call of which only the name is recorded; for RCCL collectives and messages also
//! what they move, and between which ranks.

use crate::payload::{Payload, high, low, pair};
use crate::slot::{Event, EventKind};

/// A call of which only the name is recorded. Fields that the function does not have are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Elements that a collective or message moves, as passed.
    pub count: Option<u64>,
    /// Their type, as the library's own number.
    pub datatype: Option<u32>,
    /// The reduction operation, as the library's own number.
    pub op: Option<u32>,
    /// The other rank of a message, or the root of a collective that has one.
    pub peer: Option<i32>,
    /// The communicator; 0 for none.
    pub comm: u64,
    /// The stream; 0 for none or the default one.
    pub stream: u64,
}

const COUNT: u32 = 1;
const DATATYPE: u32 = 2;
const OP: u32 = 4;
const PEER: u32 = 8;

impl Payload for Named {
    const KIND: EventKind = EventKind::Span;
    const WORDS: usize = 5;
    const SHORT: bool = true;

    #[inline(always)]
    fn store(&self, mut put: impl FnMut(usize, u64)) {
        let flag = |there: bool, bit| if there { bit } else { 0 };
        let known = flag(self.count.is_some(), COUNT)
            | flag(self.datatype.is_some(), DATATYPE)
            | flag(self.op.is_some(), OP)
            | flag(self.peer.is_some(), PEER);
        put(0, pair(known, self.peer.unwrap_or(0) as u32));
        put(1, pair(self.datatype.unwrap_or(0), self.op.unwrap_or(0)));
        put(2, self.count.unwrap_or(0));
        put(3, self.comm);
        put(4, self.stream);
    }
}

impl Named {
    /// Decodes the payload.
    pub fn read(event: &Event) -> Named {
        let word = |index| event.payload(index);
        let known = |bit| low(word(0)) & bit != 0;
        Named {
            count: known(COUNT).then(|| word(2)),
            datatype: known(DATATYPE).then(|| low(word(1))),
            op: known(OP).then(|| high(word(1))),
            peer: known(PEER).then(|| high(word(0)) as i32),
            comm: word(3),
            stream: word(4),
        }
    }
}
