//! Calls recorded by name only, and the sizes of collectives.

use crate::abi::hip::hipStream_t;
use crate::abi::rccl::*;
use rocshim_ring::named::Named;

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
