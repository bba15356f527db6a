//! Types of nccl.h, as the hooked functions of RCCL take and return them.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type ncclResult_t = i32;
pub(crate) type ncclComm_t = Pointer;

/// Names a communicator among processes: rank 0 makes it, and the program hands it to the others.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ncclUniqueId {
    pub(crate) internal: [u8; 128],
}

const _: () = assert!(size_of::<ncclUniqueId>() == 128);

pub(crate) type ncclDataType_t = u32;
pub(crate) type ncclRedOp_t = u32;
