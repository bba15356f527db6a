//! Calls recorded by name only, the sizes of collectives, and the creation of communicators.
#![allow(unsafe_code)] // reads where a call that has just succeeded has stored its result

use crate::abi::hip::hipStream_t;
use crate::abi::rccl::*;
use crate::hook::Intercept;
use rocshim_ring::named::{COMM_WORD, Group, Named};
use rocshim_ring::{CallGuard, Producer};

/// A collective without an operation or a root.
#[inline(always)]
pub(crate) fn moves(count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> Named {
    Named { count: Some(count as u64), ..of(datatype, comm, stream) }
}

/// A collective whose counts differ between ranks.
#[inline(always)]
pub(crate) fn of(datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> Named {
    Named { datatype: Some(datatype), comm: comm as u64, stream: stream as u64, ..Named::default() }
}

/// A collective that reduces with operation `op`.
#[inline(always)]
pub(crate) fn reduces(op: ncclRedOp_t, moved: Named) -> Named {
    Named { op: Some(op), ..moved }
}

/// A collective to or from one rank.
#[inline(always)]
pub(crate) fn with(peer: i32, moved: Named) -> Named {
    Named { peer: Some(peer), ..moved }
}

/// Creation of a communicator by one of its ranks.
pub(crate) struct CreateComm {
    comm: *mut ncclComm_t,
    group: Group,
}

/// Creation of the communicator with unique id `id` by rank `rank` of `ranks`.
pub(crate) fn create_comm(comm: *mut ncclComm_t, ranks: i32, id: ncclUniqueId, rank: i32) -> CreateComm {
    // FNV-1a: the id holds addresses of a host, which a trace has no use for.
    let hash = id.internal.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    CreateComm { comm, group: Group { members: ranks as u32, member: rank as u32, hash } }
}

impl Intercept<ncclResult_t> for CreateComm {
    #[inline(always)]
    fn enter(&self, thread: Producer, hook: u16) -> Option<CallGuard> {
        thread.enter(hook, &Named { group: Some(self.group), ..Named::default() })
    }

    fn finish(self, span: Option<CallGuard>, returned: u64, status: ncclResult_t) {
        let Some(span) = span else { return };
        if status == 0 && !self.comm.is_null() {
            // SAFETY: `comm` is not NULL, and the call succeeded, so it has stored the
            // communicator there.
            let comm = unsafe { *self.comm };
            span.put(COMM_WORD, comm as u64);
        }
        span.leave(returned, status);
    }
}
