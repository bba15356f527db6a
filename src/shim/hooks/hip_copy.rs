//! Rows of libamdhip64: memory copies and memory sets. Signatures as in hip_runtime_api.h (ROCm 5.2
//! to 7.x).
//!
//! Order: one-dimensional copies, copies to and from symbols, multi-dimensional copies, copies to
//! and from arrays; memory sets. Each with its asynchronous variant (`Async`) and those on the
//! per-thread default stream (`_spt`).
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::{hipError_t, hipStream_t};
use crate::abi::hip_copy::*;
use crate::calls::copy::{
    D2D, D2H, H2D, array, as_symbol, async_on, copy, copy_2d, copy_3d, on_stream, peer, rows, set, set_3d,
    unread,
};

hooks! { "libamdhip64.so", from super::first::hip_copy;
    fn hipMemcpy(dst: Pointer, src: Pointer, sizeBytes: usize, kind: hipMemcpyKind) -> hipError_t
        => copy(dst, src, sizeBytes, kind);
    fn hipMemcpyAsync(dst: Pointer, src: Pointer, sizeBytes: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy(dst, src, sizeBytes, kind));
    fn hipMemcpy_spt(dst: Pointer, src: Pointer, sizeBytes: usize, kind: hipMemcpyKind) -> hipError_t
        => copy(dst, src, sizeBytes, kind);
    fn hipMemcpyAsync_spt(dst: Pointer, src: Pointer, sizeBytes: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy(dst, src, sizeBytes, kind));
    fn hipMemcpyWithStream(dst: Pointer, src: Pointer, sizeBytes: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => on_stream(stream, copy(dst, src, sizeBytes, kind));
    fn hipMemcpyHtoD(dst: hipDeviceptr_t, src: Pointer, sizeBytes: usize) -> hipError_t
        => copy(dst, src, sizeBytes, H2D);
    fn hipMemcpyHtoDAsync(dst: hipDeviceptr_t, src: Pointer, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy(dst, src, sizeBytes, H2D));
    fn hipMemcpyDtoH(dst: Pointer, src: hipDeviceptr_t, sizeBytes: usize) -> hipError_t
        => copy(dst, src, sizeBytes, D2H);
    fn hipMemcpyDtoHAsync(dst: Pointer, src: hipDeviceptr_t, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy(dst, src, sizeBytes, D2H));
    fn hipMemcpyDtoD(dst: hipDeviceptr_t, src: hipDeviceptr_t, sizeBytes: usize) -> hipError_t
        => copy(dst, src, sizeBytes, D2D);
    fn hipMemcpyDtoDAsync(dst: hipDeviceptr_t, src: hipDeviceptr_t, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy(dst, src, sizeBytes, D2D));
    fn hipMemcpyPeer(dst: Pointer, dstDeviceId: i32, src: Pointer, srcDeviceId: i32, sizeBytes: usize) -> hipError_t
        => peer(dst, dstDeviceId, src, srcDeviceId, sizeBytes);
    fn hipMemcpyPeerAsync(dst: Pointer, dstDeviceId: i32, src: Pointer, srcDevice: i32, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, peer(dst, dstDeviceId, src, srcDevice, sizeBytes));

    fn hipMemcpyToSymbol(symbol: Pointer, src: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t
        => as_symbol(copy(symbol, src, sizeBytes, kind));
    fn hipMemcpyToSymbolAsync(symbol: Pointer, src: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, as_symbol(copy(symbol, src, sizeBytes, kind)));
    fn hipMemcpyToSymbol_spt(symbol: Pointer, src: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t
        => as_symbol(copy(symbol, src, sizeBytes, kind));
    fn hipMemcpyToSymbolAsync_spt(symbol: Pointer, src: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, as_symbol(copy(symbol, src, sizeBytes, kind)));
    fn hipMemcpyFromSymbol(dst: Pointer, symbol: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t
        => as_symbol(copy(dst, symbol, sizeBytes, kind));
    fn hipMemcpyFromSymbolAsync(dst: Pointer, symbol: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, as_symbol(copy(dst, symbol, sizeBytes, kind)));
    fn hipMemcpyFromSymbol_spt(dst: Pointer, symbol: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t
        => as_symbol(copy(dst, symbol, sizeBytes, kind));
    fn hipMemcpyFromSymbolAsync_spt(dst: Pointer, symbol: Pointer, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, as_symbol(copy(dst, symbol, sizeBytes, kind)));

    fn hipMemcpy2D(dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => rows(height, [dpitch, spitch], copy(dst, src, width, kind));
    fn hipMemcpy2DAsync(dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [dpitch, spitch], copy(dst, src, width, kind)));
    fn hipMemcpy2D_spt(dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => rows(height, [dpitch, spitch], copy(dst, src, width, kind));
    fn hipMemcpy2DAsync_spt(dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [dpitch, spitch], copy(dst, src, width, kind)));
    fn hipMemcpyParam2D(pCopy: *const hip_Memcpy2D) -> hipError_t
        => copy_2d(pCopy);
    fn hipMemcpyParam2DAsync(pCopy: *const hip_Memcpy2D, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy_2d(pCopy));
    fn hipDrvMemcpy2DUnaligned(pCopy: *const hip_Memcpy2D) -> hipError_t
        => copy_2d(pCopy);
    fn hipMemcpy3D(p: *const hipMemcpy3DParms) -> hipError_t
        => copy_3d(p);
    fn hipMemcpy3DAsync(p: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy_3d(p));
    fn hipMemcpy3D_spt(p: *const hipMemcpy3DParms) -> hipError_t
        => copy_3d(p);
    fn hipMemcpy3DAsync_spt(p: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t
        => async_on(stream, copy_3d(p));
    fn hipDrvMemcpy3D(pCopy: Pointer) -> hipError_t
        => unread();
    fn hipDrvMemcpy3DAsync(pCopy: Pointer, stream: hipStream_t) -> hipError_t
        => async_on(stream, unread());

    fn hipMemcpy2DToArray(dst: hipArray_t, wOffset: usize, hOffset: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => array(rows(height, [0, spitch], copy(dst, src, width, kind)));
    fn hipMemcpy2DToArrayAsync(dst: hipArray_t, wOffset: usize, hOffset: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(rows(height, [0, spitch], copy(dst, src, width, kind))));
    fn hipMemcpy2DToArray_spt(dst: hipArray_t, wOffset: usize, hOffset: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => array(rows(height, [0, spitch], copy(dst, src, width, kind)));
    fn hipMemcpy2DToArrayAsync_spt(dst: hipArray_t, wOffset: usize, hOffset: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(rows(height, [0, spitch], copy(dst, src, width, kind))));
    fn hipMemcpy2DFromArray(dst: Pointer, dpitch: usize, src: hipArray_t, wOffset: usize, hOffset: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => array(rows(height, [dpitch, 0], copy(dst, src, width, kind)));
    fn hipMemcpy2DFromArrayAsync(dst: Pointer, dpitch: usize, src: hipArray_t, wOffset: usize, hOffset: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(rows(height, [dpitch, 0], copy(dst, src, width, kind))));
    fn hipMemcpy2DFromArray_spt(dst: Pointer, dpitch: usize, src: hipArray_t, wOffset: usize, hOffset: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t
        => array(rows(height, [dpitch, 0], copy(dst, src, width, kind)));
    fn hipMemcpy2DFromArrayAsync_spt(dst: Pointer, dpitch: usize, src: hipArray_t, wOffsetSrc: usize, hOffsetSrc: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(rows(height, [dpitch, 0], copy(dst, src, width, kind))));
    fn hipMemcpyToArray(dst: hipArray_t, wOffset: usize, hOffset: usize, src: Pointer, count: usize, kind: hipMemcpyKind) -> hipError_t
        => array(copy(dst, src, count, kind));
    fn hipMemcpyFromArray(dst: Pointer, srcArray: hipArray_t, wOffset: usize, hOffset: usize, count: usize, kind: hipMemcpyKind) -> hipError_t
        => array(copy(dst, srcArray, count, kind));
    fn hipMemcpyFromArray_spt(dst: Pointer, src: hipArray_t, wOffsetSrc: usize, hOffset: usize, count: usize, kind: hipMemcpyKind) -> hipError_t
        => array(copy(dst, src, count, kind));
    fn hipMemcpyHtoA(dstArray: hipArray_t, dstOffset: usize, srcHost: Pointer, count: usize) -> hipError_t
        => array(copy(dstArray, srcHost, count, H2D));
    fn hipMemcpyHtoAAsync(dstArray: hipArray_t, dstOffset: usize, srcHost: Pointer, ByteCount: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(copy(dstArray, srcHost, ByteCount, H2D)));
    fn hipMemcpyAtoH(dst: Pointer, srcArray: hipArray_t, srcOffset: usize, count: usize) -> hipError_t
        => array(copy(dst, srcArray, count, D2H));
    fn hipMemcpyAtoHAsync(dstHost: Pointer, srcArray: hipArray_t, srcOffset: usize, ByteCount: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, array(copy(dstHost, srcArray, ByteCount, D2H)));
    fn hipMemcpyAtoD(dstDevice: hipDeviceptr_t, srcArray: hipArray_t, srcOffset: usize, ByteCount: usize) -> hipError_t
        => array(copy(dstDevice, srcArray, ByteCount, D2D));
    fn hipMemcpyDtoA(dstArray: hipArray_t, dstOffset: usize, srcDevice: hipDeviceptr_t, ByteCount: usize) -> hipError_t
        => array(copy(dstArray, srcDevice, ByteCount, D2D));
    fn hipMemcpyAtoA(dstArray: hipArray_t, dstOffset: usize, srcArray: hipArray_t, srcOffset: usize, ByteCount: usize) -> hipError_t
        => array(copy(dstArray, srcArray, ByteCount, D2D));

    fn hipMemset(dst: Pointer, value: i32, sizeBytes: usize) -> hipError_t
        => set(dst, value as u32, sizeBytes, 1);
    fn hipMemsetAsync(dst: Pointer, value: i32, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, set(dst, value as u32, sizeBytes, 1));
    fn hipMemset_spt(dst: Pointer, value: i32, sizeBytes: usize) -> hipError_t
        => set(dst, value as u32, sizeBytes, 1);
    fn hipMemsetAsync_spt(dst: Pointer, value: i32, sizeBytes: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, set(dst, value as u32, sizeBytes, 1));
    fn hipMemsetD8(dest: hipDeviceptr_t, value: u8, count: usize) -> hipError_t
        => set(dest, value.into(), count, 1);
    fn hipMemsetD8Async(dest: hipDeviceptr_t, value: u8, count: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, set(dest, value.into(), count, 1));
    fn hipMemsetD16(dest: hipDeviceptr_t, value: u16, count: usize) -> hipError_t
        => set(dest, value.into(), count, 2);
    fn hipMemsetD16Async(dest: hipDeviceptr_t, value: u16, count: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, set(dest, value.into(), count, 2));
    fn hipMemsetD32(dest: hipDeviceptr_t, value: i32, count: usize) -> hipError_t
        => set(dest, value as u32, count, 4);
    fn hipMemsetD32Async(dst: hipDeviceptr_t, value: i32, count: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, set(dst, value as u32, count, 4));
    fn hipMemset2D(dst: Pointer, pitch: usize, value: i32, width: usize, height: usize) -> hipError_t
        => rows(height, [pitch, 0], set(dst, value as u32, width, 1));
    fn hipMemset2DAsync(dst: Pointer, pitch: usize, value: i32, width: usize, height: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [pitch, 0], set(dst, value as u32, width, 1)));
    fn hipMemset2D_spt(dst: Pointer, pitch: usize, value: i32, width: usize, height: usize) -> hipError_t
        => rows(height, [pitch, 0], set(dst, value as u32, width, 1));
    fn hipMemset2DAsync_spt(dst: Pointer, pitch: usize, value: i32, width: usize, height: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [pitch, 0], set(dst, value as u32, width, 1)));
    fn hipMemset3D(pitchedDevPtr: hipPitchedPtr, value: i32, extent: hipExtent) -> hipError_t
        => set_3d(pitchedDevPtr, value, extent);
    fn hipMemset3DAsync(pitchedDevPtr: hipPitchedPtr, value: i32, extent: hipExtent, stream: hipStream_t) -> hipError_t
        => async_on(stream, set_3d(pitchedDevPtr, value, extent));
    fn hipMemset3D_spt(pitchedDevPtr: hipPitchedPtr, value: i32, extent: hipExtent) -> hipError_t
        => set_3d(pitchedDevPtr, value, extent);
    fn hipMemset3DAsync_spt(pitchedDevPtr: hipPitchedPtr, value: i32, extent: hipExtent, stream: hipStream_t) -> hipError_t
        => async_on(stream, set_3d(pitchedDevPtr, value, extent));
    fn hipMemsetD2D8(dst: hipDeviceptr_t, dstPitch: usize, value: u8, width: usize, height: usize) -> hipError_t
        => rows(height, [dstPitch, 0], set(dst, value.into(), width, 1));
    fn hipMemsetD2D8Async(dst: hipDeviceptr_t, dstPitch: usize, value: u8, width: usize, height: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [dstPitch, 0], set(dst, value.into(), width, 1)));
    fn hipMemsetD2D16(dst: hipDeviceptr_t, dstPitch: usize, value: u16, width: usize, height: usize) -> hipError_t
        => rows(height, [dstPitch, 0], set(dst, value.into(), width, 2));
    fn hipMemsetD2D16Async(dst: hipDeviceptr_t, dstPitch: usize, value: u16, width: usize, height: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [dstPitch, 0], set(dst, value.into(), width, 2)));
    fn hipMemsetD2D32(dst: hipDeviceptr_t, dstPitch: usize, value: u32, width: usize, height: usize) -> hipError_t
        => rows(height, [dstPitch, 0], set(dst, value, width, 4));
    fn hipMemsetD2D32Async(dst: hipDeviceptr_t, dstPitch: usize, value: u32, width: usize, height: usize, stream: hipStream_t) -> hipError_t
        => async_on(stream, rows(height, [dstPitch, 0], set(dst, value, width, 4)));
}

// Introduced with hip_7.1.
unexported! {
    "hipMemsetD2D8" "hipMemsetD2D8Async" "hipMemsetD2D16" "hipMemsetD2D16Async" "hipMemsetD2D32" "hipMemsetD2D32Async"
}
