//! Calls that are known by their name, and what collectives move.

use crate::abi::hip::hipStream_t;
use crate::abi::rccl::*;
use rocshim_ring::named::Named;

/// A collective without an operation or a root.
#[inline(always)]
pub(crate) fn moves(count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> Named {
    Named { count: Some(count as u64), ..of(datatype, comm, stream) }
}

/// A collective whose counts differ from rank to rank.
#[inline(always)]
pub(crate) fn of(datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> Named {
    Named { datatype: Some(datatype), comm: comm as u64, stream: stream as u64, ..Named::default() }
}

/// … that combines what it moves.
#[inline(always)]
pub(crate) fn reduces(op: ncclRedOp_t, moved: Named) -> Named {
    Named { op: Some(op), ..moved }
}

/// … to or from one rank.
#[inline(always)]
pub(crate) fn with(peer: i32, moved: Named) -> Named {
    Named { peer: Some(peer), ..moved }
}
