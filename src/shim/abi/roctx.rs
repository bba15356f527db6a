//! roctx.h: what the hooked functions take and return. libroctx64 and librocprofiler-sdk-roctx export the same names.
#![allow(non_camel_case_types)]

/// The id of a range that may end on another thread.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct roctx_range_id_t(pub(crate) u64);

/// The level of a range among those of its thread, from 0; negative for a failure.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Level(pub(crate) i32);

pub(crate) type roctx_thread_id_t = u64;
