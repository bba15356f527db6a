//! Rows of RCCL: communicators, collectives, messages, groups. Signatures as in nccl.h (RCCL of
//! ROCm 5.2 to 7.x).
//!
//! Inside a group, calls only enqueue their work; `ncclGroupEnd` launches it.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::rccl::*;
use crate::calls::named::{create_comm, moves, of, reduces, with};
use rocshim_ring::named::Named;

hooks! { "librccl.so", from super::first::rccl;
    fn ncclAllReduce(sendbuff: Pointer, recvbuff: Pointer, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => reduces(op, moves(count, datatype, comm, stream));
    fn ncclReduce(sendbuff: Pointer, recvbuff: Pointer, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(root, reduces(op, moves(count, datatype, comm, stream)));
    fn ncclReduceScatter(sendbuff: Pointer, recvbuff: Pointer, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => reduces(op, moves(recvcount, datatype, comm, stream));
    fn ncclBroadcast(sendbuff: Pointer, recvbuff: Pointer, count: usize, datatype: ncclDataType_t, root: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(root, moves(count, datatype, comm, stream));
    fn ncclBcast(buff: Pointer, count: usize, datatype: ncclDataType_t, root: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(root, moves(count, datatype, comm, stream));
    fn ncclAllGather(sendbuff: Pointer, recvbuff: Pointer, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => moves(sendcount, datatype, comm, stream);
    fn ncclGather(sendbuff: Pointer, recvbuff: Pointer, sendcount: usize, datatype: ncclDataType_t, root: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(root, moves(sendcount, datatype, comm, stream));
    fn ncclScatter(sendbuff: Pointer, recvbuff: Pointer, recvcount: usize, datatype: ncclDataType_t, root: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(root, moves(recvcount, datatype, comm, stream));
    fn ncclAllToAll(sendbuff: Pointer, recvbuff: Pointer, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => moves(count, datatype, comm, stream);
    fn ncclAllToAllv(sendbuff: Pointer, sendcounts: Pointer, sdispls: Pointer, recvbuff: Pointer, recvcounts: Pointer, rdispls: Pointer, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => of(datatype, comm, stream);

    fn ncclSend(sendbuff: Pointer, count: usize, datatype: ncclDataType_t, peer: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(peer, moves(count, datatype, comm, stream));
    fn ncclRecv(recvbuff: Pointer, count: usize, datatype: ncclDataType_t, peer: i32, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t
        => with(peer, moves(count, datatype, comm, stream));

    fn ncclCommInitRank(comm: *mut ncclComm_t, nranks: i32, commId: ncclUniqueId, rank: i32) -> ncclResult_t
        => create_comm(comm, nranks, commId, rank);
    fn ncclCommInitRankConfig(comm: *mut ncclComm_t, nranks: i32, commId: ncclUniqueId, rank: i32, config: Pointer) -> ncclResult_t
        => create_comm(comm, nranks, commId, rank);

    fn ncclGroupStart() -> ncclResult_t => Named::default();
    fn ncclGroupEnd() -> ncclResult_t => Named::default();
}
