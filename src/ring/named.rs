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
    /// Of a communicator that is created: its ranks, this one's number in it, and a hash of the
    /// unique id that its ranks share.
    pub group: Option<Group>,
    /// The communicator; 0 for none.
    pub comm: u64,
    /// The stream; 0 for none or the default one.
    pub stream: u64,
}

/// A communicator as one of its ranks creates it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The number of ranks.
    pub members: u32,
    /// This rank's number, from 0.
    pub member: u32,
    /// A hash of its unique id.
    pub hash: u64,
}

/// The word that holds the communicator.
pub const COMM_WORD: usize = 3;

const COUNT: u32 = 1;
const DATATYPE: u32 = 2;
const OP: u32 = 4;
const PEER: u32 = 8;
/// Words 1 and 2 hold a [`Group`].
const GROUP: u32 = 16;

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
            | flag(self.peer.is_some(), PEER)
            | flag(self.group.is_some(), GROUP);
        put(0, pair(known, self.peer.unwrap_or(0) as u32));
        match self.group {
            Some(group) => {
                put(1, pair(group.members, group.member));
                put(2, group.hash);
            }
            None => {
                put(1, pair(self.datatype.unwrap_or(0), self.op.unwrap_or(0)));
                put(2, self.count.unwrap_or(0));
            }
        }
        put(COMM_WORD, self.comm);
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
            group: known(GROUP).then(|| Group {
                members: low(word(1)),
                member: high(word(1)),
                hash: word(2),
            }),
            comm: word(COMM_WORD),
            stream: word(4),
        }
    }
}
