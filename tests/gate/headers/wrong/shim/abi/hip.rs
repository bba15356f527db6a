//! Wrong statements, for test_check.py.

/// Too short.
pub(crate) type hipError_t = i16;
/// No pointer.
pub(crate) type hipFunction_t = u64;
pub(crate) type hipNoSuchType_t = u32;

/// A field of another size, which shifts the rest.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct dim3 {
    pub(crate) x: u32,
    pub(crate) y: u64,
    pub(crate) z: u32,
}

/// Equal in size, not in kind.
#[repr(C)]
pub(crate) struct hipExtent {
    width: usize,
    height: f64,
    depth: *const u8,
    r#type: u32,
}

const _: () = assert!(size_of::<dim3>() == 24);

pub(crate) const hipErrorNotSupported: hipError_t = 800;
