//! Rows of roctx: marks, ranges, names. Signatures as in roctx.h of rocprofiler-sdk, whose library
//! exports all of them; libroctx64 has the first five.
//!
//! A process may load both libraries, or neither and still look these names up. A call without a
//! real function returns failure and is not recorded.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::hip::{CName, hipStream_t};
use crate::abi::roctx::*;
use crate::calls::mark::{
    mark, name_agent, name_device, name_stream, name_thread, pause, pop, push, resume, start, stop,
};

hooks! { "libroctx64.so", from super::first::roctx;
    fn roctxMarkA(message: CName) -> () => mark(message);
    fn roctxRangePushA(message: CName) -> Level => push(message);
    fn roctxRangePop() -> Level => pop();
    fn roctxRangeStartA(message: CName) -> roctx_range_id_t => start(message);
    fn roctxRangeStop(id: roctx_range_id_t) -> () => stop(id);
    fn roctxProfilerPause(tid: roctx_thread_id_t) -> i32 => pause(tid);
    fn roctxProfilerResume(tid: roctx_thread_id_t) -> i32 => resume(tid);
    fn roctxNameOsThread(name: CName) -> i32 => name_thread(name);
    fn roctxNameHsaAgent(name: CName, agent: Pointer) -> i32 => name_agent(name, agent);
    fn roctxNameHipDevice(name: CName, device_id: i32) -> i32 => name_device(name, device_id);
    fn roctxNameHipStream(name: CName, stream: hipStream_t) -> i32 => name_stream(name, stream);
}
