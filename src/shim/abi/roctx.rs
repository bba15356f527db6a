//! Types of roctx.h, as the hooked functions take and return them. libroctx64 and
//! librocprofiler-sdk-roctx export the same names.
#![allow(non_camel_case_types)]

/// Identifies a range that may end on another thread.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct roctx_range_id_t(pub(crate) u64);

/// Nesting level of a range within its thread, from 0; negative on failure.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Level(pub(crate) i32);

pub(crate) type roctx_thread_id_t = u64;
