//! Memory copies and memory sets: converts a row's arguments to an event.
#![allow(unsafe_code)] // reads the argument structures of multi-dimensional copies

use crate::abi::Pointer;
use crate::abi::hip::hipStream_t;
use crate::abi::hip_copy::*;
use rocshim_ring::hip::{ARRAY, COPY, Copy, MEMSET, PEER, SYMBOL, UNKNOWN_KIND, UNREAD};

/// Host to device.
pub(crate) const H2D: hipMemcpyKind = 1;
/// Device to host.
pub(crate) const D2H: hipMemcpyKind = 2;
/// Device to device.
pub(crate) const D2D: hipMemcpyKind = 3;

/// A copy of `bytes` bytes.
#[inline(always)]
pub(crate) fn copy(dst: Pointer, src: Pointer, bytes: usize, kind: hipMemcpyKind) -> Copy {
    Copy { dst: dst as u64, src: src as u64, ..Copy::plain(COPY, bytes as u64, kind) }
}

/// A memory set of `count` elements of `unit` bytes.
#[inline(always)]
pub(crate) fn set(dst: Pointer, value: u32, count: usize, unit: u8) -> Copy {
    Copy { dst: dst as u64, src: value.into(), unit, ..Copy::plain(MEMSET, count as u64, 0) }
}

/// The copy by a synchronous function that takes a stream.
#[inline(always)]
pub(crate) fn on_stream(stream: hipStream_t, copy: Copy) -> Copy {
    Copy { stream: stream as u64, ..copy }
}

/// The copy by an asynchronous function.
#[inline(always)]
pub(crate) fn async_on(stream: hipStream_t, copy: Copy) -> Copy {
    Copy { stream: stream as u64, is_async: true, ..copy }
}

/// The copy when one end is a symbol.
#[inline(always)]
pub(crate) fn as_symbol(copy: Copy) -> Copy {
    Copy { via: SYMBOL, ..copy }
}

/// The copy when one end is an array.
#[inline(always)]
pub(crate) fn array(copy: Copy) -> Copy {
    Copy { via: ARRAY, ..copy }
}

/// A copy between devices.
#[inline(always)]
pub(crate) fn peer(dst: Pointer, to: i32, src: Pointer, from: i32, bytes: usize) -> Copy {
    Copy { devices: [to as u32, from as u32], ..copy(dst, src, bytes, PEER) }
}

/// The copy of `height` rows, with the pitches of destination and source in bytes.
#[inline(always)]
pub(crate) fn rows(height: usize, pitches: [usize; 2], copy: Copy) -> Copy {
    let pitches = pitches.map(|pitch| pitch as u64);
    // No rows are no bytes.
    let width = if height == 0 { 0 } else { copy.width };
    Copy { width, height: height as u64, pitches, ..copy }
}

/// The copy of a three-dimensional extent.
fn layers(extent: hipExtent, pitches: [usize; 2], copy: Copy) -> Copy {
    let empty = extent.height == 0 || extent.depth == 0;
    let width = if empty { 0 } else { extent.width as u64 };
    let copy = rows(if empty { 0 } else { extent.height }, pitches, Copy { width, ..copy });
    Copy { width, depth: if empty { 0 } else { extent.depth as u64 }, ..copy }
}

/// A memory set of a three-dimensional extent.
pub(crate) fn set_3d(to: hipPitchedPtr, value: i32, extent: hipExtent) -> Copy {
    layers(extent, [to.pitch, 0], set(to.ptr, value as u32, extent.width, 1))
}

/// A three-dimensional copy.
pub(crate) fn copy_3d(params: *const hipMemcpy3DParms) -> Copy {
    // SAFETY: `params` is NULL or the structure that the program passes, valid for the real
    // function, which reads it as well.
    let Some(p) = (unsafe { params.as_ref() }) else { return unread() };
    let end = |array: hipArray_t, pointer: &hipPitchedPtr| if array.is_null() { pointer.ptr } else { array };
    let (dst, src) = (end(p.dstArray, &p.dstPtr), end(p.srcArray, &p.srcPtr));
    let copied = layers(p.extent, [p.dstPtr.pitch, p.srcPtr.pitch], copy(dst, src, p.extent.width, p.kind));
    if p.dstArray.is_null() && p.srcArray.is_null() { copied } else { array(copied) }
}

/// A two-dimensional copy with ends of any kind.
pub(crate) fn copy_2d(params: *const hip_Memcpy2D) -> Copy {
    // SAFETY: `params` is NULL or the structure that the program passes, valid for the real
    // function, which reads it as well.
    let Some(p) = (unsafe { params.as_ref() }) else { return unread() };
    let ((dst, to_host), (src, from_host)) = (end(&p.dst), end(&p.src));
    let kind = match (to_host, from_host) {
        (Some(to), Some(from)) => u32::from(!to) | u32::from(!from) << 1,
        _ => UNKNOWN_KIND,
    };
    let copied = rows(p.Height, [p.dst.pitch, p.src.pitch], copy(dst, src, p.WidthInBytes, kind));
    let is_array = |end: &MemcpyEnd, chosen: Pointer| !chosen.is_null() && chosen == end.array;
    if is_array(&p.dst, dst) || is_array(&p.src, src) { array(copied) } else { copied }
}

/// Returns the address of one end of a copy, and whether it is host memory; `None` unless exactly
/// one of its addresses is given.
fn end(end: &MemcpyEnd) -> (Pointer, Option<bool>) {
    match (end.host.is_null(), end.device.is_null(), end.array.is_null()) {
        (false, true, true) => (end.host, Some(true)),
        (true, false, true) => (end.device, Some(false)),
        (true, true, false) => (end.array, Some(false)),
        _ => (std::ptr::null(), None),
    }
}

/// A copy whose arguments are not read, because their layout differs between releases.
pub(crate) fn unread() -> Copy {
    Copy { via: UNREAD, ..Copy::plain(COPY, 0, UNKNOWN_KIND) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Pointer = 0xa as Pointer;
    const B: Pointer = 0xb as Pointer;

    #[test]
    fn a_copy_has_the_direction_of_the_addresses_that_are_given() {
        let end = |host, device, array| MemcpyEnd {
            XInBytes: 0,
            Y: 0,
            memoryType: 0,
            host,
            device,
            array,
            pitch: 8,
        };
        let none = std::ptr::null();
        let (host, device, array) = (end(A, none, none), end(none, B, none), end(none, none, B));
        let read = |dst, src| {
            let copy = copy_2d(&hip_Memcpy2D { src, dst, WidthInBytes: 4, Height: 3 });
            (copy.kind, copy.via, copy.width, copy.height)
        };
        assert_eq!(read(host, host), (0, 0, 4, 3));
        assert_eq!(read(device, host), (H2D, 0, 4, 3));
        assert_eq!(read(host, device), (D2H, 0, 4, 3));
        assert_eq!(read(device, array), (D2D, ARRAY, 4, 3));
        assert_eq!(read(device, end(A, B, none)), (UNKNOWN_KIND, 0, 4, 3));
        assert_eq!(copy_2d(std::ptr::null()), unread());
    }

    #[test]
    fn nothing_is_copied_where_there_are_no_rows_or_layers() {
        assert_eq!(rows(0, [8, 8], copy(A, B, 100, H2D)).width, 0);
        let to = hipPitchedPtr { ptr: A, pitch: 64, xsize: 8, ysize: 8 };
        let set = |width, height, depth| {
            let set = set_3d(to, -1, hipExtent { width, height, depth });
            [set.width, set.height, set.depth]
        };
        assert_eq!([set(4, 2, 3), set(4, 2, 0), set(4, 0, 3)], [[4, 2, 3], [0; 3], [0; 3]]);
    }
}
