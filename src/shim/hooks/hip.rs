//! Rows of libamdhip64: kernel launches, modules, fat binaries. Signatures as in hip_runtime_api.h
//! (ROCm 5.2 to 7.x).
//!
//! Order: launches of module functions, launches of host stubs, launches on several devices, code,
//! registration, addresses of functions, devices.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use super::row_named;
use crate::abi::Pointer;
use crate::abi::hip::*;
use crate::abi::hip_graph::{HIP_LAUNCH_CONFIG, hipFunctionLaunchParams, hipLaunchConfig_t, hipLaunchParams};
use crate::calls::code::{
    FatBinary, GetFunction, LoadFile, LoadImage, RegisterFunction, Unload, UnregisterFatBinary,
};
use crate::calls::device::DeviceProperties;
use crate::calls::launch::{NONE, blocks, items, stub, with_arguments};
use crate::calls::launch_lists::{ByPtr, Configure, OnDevices, configured, driver_configured};
use crate::calls::library::{EnumerateKernels, LoadLibrary, SameFunction, image_of};
use crate::calls::proc_address::ProcAddress;
use crate::calls::tracer::RegisterTracer;
use std::ffi::c_void;

hooks! { "libamdhip64.so", from super::first::hip;
    fn hipModuleLaunchKernel(f: hipFunction_t, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, stream: hipStream_t, kernelParams: KernelParams, extra: KernelParams) -> hipError_t
        => with_arguments(blocks(f, [gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ], sharedMemBytes.into(), stream), kernelParams, extra);
    fn hipModuleLaunchCooperativeKernel(f: hipFunction_t, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, stream: hipStream_t, kernelParams: KernelParams) -> hipError_t
        => with_arguments(blocks(f, [gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ], sharedMemBytes.into(), stream), kernelParams, NONE);
    fn hipExtModuleLaunchKernel(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: KernelParams, extra: KernelParams, startEvent: hipEvent_t, stopEvent: hipEvent_t, flags: u32) -> hipError_t
        => with_arguments(items(f, [globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ], [localWorkSizeX, localWorkSizeY, localWorkSizeZ], sharedMemBytes as u64, hStream, [startEvent, stopEvent], flags), kernelParams, extra);
    fn _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: KernelParams, extra: KernelParams, startEvent: hipEvent_t, stopEvent: hipEvent_t, flags: u32) -> hipError_t
        => with_arguments(items(f, [globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ], [localWorkSizeX, localWorkSizeY, localWorkSizeZ], sharedMemBytes as u64, hStream, [startEvent, stopEvent], flags), kernelParams, extra);
    fn hipHccModuleLaunchKernel(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: KernelParams, extra: KernelParams, startEvent: hipEvent_t, stopEvent: hipEvent_t) -> hipError_t
        => with_arguments(items(f, [globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ], [localWorkSizeX, localWorkSizeY, localWorkSizeZ], sharedMemBytes as u64, hStream, [startEvent, stopEvent], 0), kernelParams, extra);
    fn _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: KernelParams, extra: KernelParams, startEvent: hipEvent_t, stopEvent: hipEvent_t) -> hipError_t
        => with_arguments(items(f, [globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ], [localWorkSizeX, localWorkSizeY, localWorkSizeZ], sharedMemBytes as u64, hStream, [startEvent, stopEvent], 0), kernelParams, extra);
    fn hipDrvLaunchKernelEx(config: *const HIP_LAUNCH_CONFIG, f: hipFunction_t, params: KernelParams, extra: KernelParams) -> hipError_t
        => with_arguments(driver_configured(f, config), params, extra);

    fn hipLaunchKernel(function_address: HostFn, numBlocks: dim3, dimBlocks: dim3, args: KernelParams, sharedMemBytes: usize, stream: hipStream_t) -> hipError_t
        => with_arguments(blocks(function_address, numBlocks.into(), dimBlocks.into(), sharedMemBytes as u64, stream), args, NONE);
    fn hipLaunchKernel_spt(function_address: HostFn, numBlocks: dim3, dimBlocks: dim3, args: KernelParams, sharedMemBytes: usize, stream: hipStream_t) -> hipError_t
        => with_arguments(blocks(function_address, numBlocks.into(), dimBlocks.into(), sharedMemBytes as u64, stream), args, NONE);
    fn hipExtLaunchKernel(function_address: HostFn, numBlocks: dim3, dimBlocks: dim3, args: KernelParams, sharedMemBytes: usize, stream: hipStream_t, startEvent: hipEvent_t, stopEvent: hipEvent_t, flags: i32) -> hipError_t
        => with_arguments(stub(function_address, numBlocks.into(), dimBlocks.into(), sharedMemBytes as u64, stream, [startEvent, stopEvent], flags as u32), args, NONE);
    fn hipLaunchCooperativeKernel(f: HostFn, gridDim: dim3, blockDimX: dim3, kernelParams: KernelParams, sharedMemBytes: u32, stream: hipStream_t) -> hipError_t
        => with_arguments(blocks(f, gridDim.into(), blockDimX.into(), sharedMemBytes.into(), stream), kernelParams, NONE);
    fn hipLaunchCooperativeKernel_spt(f: HostFn, gridDim: dim3, blockDim: dim3, kernelParams: KernelParams, sharedMemBytes: u32, hStream: hipStream_t) -> hipError_t
        => with_arguments(blocks(f, gridDim.into(), blockDim.into(), sharedMemBytes.into(), hStream), kernelParams, NONE);
    fn hipLaunchKernelExC(config: *const hipLaunchConfig_t, fPtr: HostFn, args: KernelParams) -> hipError_t
        => with_arguments(configured(fPtr, config), args, NONE);
    fn hipConfigureCall(gridDim: dim3, blockDim: dim3, sharedMem: usize, stream: hipStream_t) -> hipError_t
        => Configure { grid: gridDim.into(), block: blockDim.into(), shared: sharedMem as u64, stream: stream as u64 };
    fn hipLaunchByPtr(func: HostFn) -> hipError_t
        => ByPtr(func);

    fn hipLaunchCooperativeKernelMultiDevice(launchParamsList: *const hipLaunchParams, numDevices: i32, flags: u32) -> hipError_t
        => OnDevices::new(launchParamsList, numDevices.into(), flags);
    fn hipExtLaunchMultiKernelMultiDevice(launchParamsList: *const hipLaunchParams, numDevices: i32, flags: u32) -> hipError_t
        => OnDevices::new(launchParamsList, numDevices.into(), flags);
    fn hipModuleLaunchCooperativeKernelMultiDevice(launchParamsList: *const hipFunctionLaunchParams, numDevices: u32, flags: u32) -> hipError_t
        => OnDevices::new(launchParamsList, numDevices.into(), flags);

    fn hipModuleLoad(module: *mut hipModule_t, fname: CName) -> hipError_t
        => LoadFile { module, path: fname };
    fn hipModuleLoadData(module: *mut hipModule_t, image: Pointer) -> hipError_t
        => LoadImage { module, image };
    fn hipModuleLoadDataEx(module: *mut hipModule_t, image: Pointer, numOptions: u32, options: Pointer, optionValues: Pointer) -> hipError_t
        => LoadImage { module, image };
    fn hipModuleUnload(module: hipModule_t) -> hipError_t
        => Unload::before_call(module);
    fn hipModuleGetFunction(function: *mut hipFunction_t, module: hipModule_t, kname: CName) -> hipError_t
        => GetFunction { function, module, name: kname };
    fn hipModuleLoadFatBinary(module: *mut hipModule_t, fatbin: Pointer) -> hipError_t
        => LoadImage { module, image: image_of(fatbin) };
    fn hipLibraryLoadData(library: *mut hipLibrary_t, code: Pointer, jitOptions: Pointer, jitOptionsValues: Pointer, numJitOptions: u32, libraryOptions: Pointer, libraryOptionValues: Pointer, numLibraryOptions: u32) -> hipError_t
        => LoadLibrary { library, image: code };
    fn hipLibraryLoadFromFile(library: *mut hipLibrary_t, fileName: CName, jitOptions: Pointer, jitOptionsValues: Pointer, numJitOptions: u32, libraryOptions: Pointer, libraryOptionValues: Pointer, numLibraryOptions: u32) -> hipError_t
        => LoadFile { module: library, path: fileName };
    fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t
        => Unload::before_call(library);
    fn hipLibraryGetKernel(pKernel: *mut hipKernel_t, library: hipLibrary_t, name: CName) -> hipError_t
        => GetFunction { function: pKernel, module: library, name };
    fn hipLibraryEnumerateKernels(kernels: *mut hipKernel_t, numKernels: u32, library: hipLibrary_t) -> hipError_t
        => EnumerateKernels { kernels, room: numKernels, library };
    fn hipKernelGetFunction(pFunc: *mut hipFunction_t, kernel: hipKernel_t) -> hipError_t
        => SameFunction { function: pFunc, of: kernel };
    fn hipGetFuncBySymbol(functionPtr: *mut hipFunction_t, symbolPtr: HostFn) -> hipError_t
        => SameFunction { function: functionPtr, of: symbolPtr };

    fn __hipRegisterFatBinary(data: *const FatbinWrapper) -> *mut *mut c_void
        => FatBinary { wrapper: data };
    fn __hipRegisterFunction(modules: *mut *mut c_void, hostFunction: HostFn, deviceFunction: CName, deviceName: CName, threadLimit: u32, tid: Pointer, bid: Pointer, blockDim: Pointer, gridDim: Pointer, wSize: Pointer) -> ()
        => RegisterFunction { modules, stub: hostFunction, name: deviceName };
    fn __hipUnregisterFatBinary(modules: *mut *mut c_void) -> ()
        => UnregisterFatBinary::before_call(modules);

    fn hipGetProcAddress(symbol: CName, pfn: *mut Pointer, hipVersion: i32, flags: u64, symbolStatus: Pointer) -> hipError_t
        => ProcAddress { symbol, function: pfn, row: row_named };
    fn hipGetDriverEntryPoint(symbol: CName, funcPtr: *mut Pointer, flags: u64, driverStatus: Pointer) -> hipError_t
        => ProcAddress { symbol, function: funcPtr, row: row_named };
    fn hipGetDriverEntryPoint_spt(symbol: CName, funcPtr: *mut Pointer, flags: u64, status: Pointer) -> hipError_t
        => ProcAddress { symbol, function: funcPtr, row: row_named };

    fn hipRegisterTracerCallback(function: Pointer) -> ()
        => RegisterTracer(function);

    fn hipGetDeviceProperties(prop: Pointer, deviceId: i32) -> hipError_t
        => DeviceProperties { name: "hipGetDeviceProperties", properties: prop.cast::<hipDeviceProp_tR0000>(), device: deviceId };
    fn hipGetDevicePropertiesR0000(prop: Pointer, device: i32) -> hipError_t
        => DeviceProperties { name: "hipGetDevicePropertiesR0000", properties: prop.cast::<hipDeviceProp_tR0000>(), device };
    fn hipGetDevicePropertiesR0600(prop: Pointer, deviceId: i32) -> hipError_t
        => DeviceProperties { name: "hipGetDevicePropertiesR0600", properties: prop.cast::<hipDeviceProp_tR0600>(), device: deviceId };
}

// By the node of libamdhip64's version map that introduced them: hip_6.5, hip_7.1, hip_7.2.
unexported! {
    "hipLaunchKernelExC" "hipDrvLaunchKernelEx"
    "hipModuleLoadFatBinary"
    "hipLibraryLoadData" "hipLibraryLoadFromFile" "hipLibraryUnload" "hipLibraryGetKernel" "hipLibraryEnumerateKernels"
    "hipKernelGetFunction"
}
