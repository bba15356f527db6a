//! Types of nccl.h, as the hooked functions of RCCL take and return them.
#![allow(non_camel_case_types, non_upper_case_globals)]

use super::Pointer;

pub(crate) type ncclResult_t = i32;
pub(crate) type ncclComm_t = Pointer;
pub(crate) type ncclDataType_t = u32;
pub(crate) type ncclRedOp_t = u32;
