//! Data that the HIP runtime passes to its tracer callback: activity records, and the data of a
//! call that begins.
//!
//! Activity records are the same in every release (`prof_protocol.h`). The data of a call contains
//! the arguments of any HIP function, so its size depends on the release. It is known for the
//! releases below, which are identified by the names in their list of functions.

use std::ffi::{CStr, c_char, c_void};

/// `activity_domain_t`: HIP API calls.
pub(super) const HIP_API: u32 = 3;
/// `activity_domain_t`: GPU operations.
pub(super) const HIP_OPS: u32 = 2;
/// Lowest address of a record; below it the argument is a query instead.
pub(super) const LOWEST_RECORD: usize = 4096;
/// Positive result of a query.
pub(super) const YES: i32 = 0;
pub(super) const NO: i32 = 1;

/// The tracer callback.
pub(super) type Callback = unsafe extern "C" fn(domain: u32, operation: u32, data: *mut c_void) -> i32;
/// `hipRegisterTracerCallback`.
pub(super) type Register = unsafe extern "C" fn(function: *const c_void);
/// `hipApiName`.
pub(super) type ApiName = unsafe extern "C" fn(id: u32) -> *const c_char;

/// `activity_record_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) domain: u32,
    pub(super) kind: u32,
    pub(super) op: u32,
    pub(super) correlation_id: u64,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) device_id: i32,
    pub(super) queue_id: u64,
    /// Of a dispatch: pointer to the kernel's name. Of a copy: bytes.
    pub(super) what: u64,
}

const _: () = assert!(size_of::<Record>() == 64);
const _: () = assert!(std::mem::offset_of!(Record, correlation_id) == 16);
const _: () = assert!(std::mem::offset_of!(Record, device_id) == 40);
const _: () = assert!(std::mem::offset_of!(Record, what) == 56);

/// A release whose layout is known.
pub(super) struct Release {
    pub(super) name: &'static str,
    /// Number of functions in its list, and the hash of their names.
    list: (u32, u64),
    /// Size of `hip_api_data_t`, bytes.
    data: usize,
}

/// Environment variable that must be 0 from HIP 7.2 on. Without it, a report of a graph reads the
/// names of the graph's kernels from the graph. If that is destroyed by then, the runtime ends the
/// program, whichever callback is registered and whatever it returns. With the variable at 0 graphs
/// are launched as in earlier releases, whose reports own their names.
pub(super) const GRAPH_NAMES_VARIABLE: &str = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";
/// A function that only releases with that defect have.
pub(super) const DEFECT_MARKER: &str = "hipLaunchKernelExC";

/// From their headers, which `scripts/check-headers` checks again
/// (`hip/amd_detail/hip_prof_str.h`).
pub(super) const RELEASES: &[Release] = &[
    Release { name: "5.6", list: (363, 0x14c6_5b32_1449_a637), data: 840 },
    Release { name: "6.0", list: (378, 0x66fb_b4be_6be1_bf48), data: 1520 },
    Release { name: "6.1", list: (379, 0xa1b5_0862_dd8b_5479), data: 1520 },
    Release { name: "6.2", list: (399, 0x00d7_2785_4642_0dca), data: 1520 },
    Release { name: "6.4", list: (418, 0xee87_a443_3791_c4f9), data: 1520 },
    Release { name: "7.1", list: (444, 0x2526_350b_3217_55e2), data: 1520 },
    Release { name: "7.2", list: (449, 0x68d3_e904_a031_2e87), data: 1520 },
];

impl Release {
    /// Returns the release with this list of functions.
    pub(super) fn of(list: (u32, u64)) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.list == list)
    }

    /// Offset in `hip_api_trace_data_t` of the functions called at a call's begin and end: after
    /// the data of the call and two words.
    pub(super) fn callbacks_at(&self) -> usize {
        self.data + 16
    }
}

/// Limit of the number of functions in a list.
pub(super) const MAX_APIS: u32 = 1024;

/// The runtime's list of functions.
pub(super) struct ApiList {
    /// Number of functions, and the hash of their names.
    pub(super) list: (u32, u64),
    /// Ids and names of the functions that launch, copy, fill or load.
    pub(super) submitting: Vec<(u32, String)>,
}

/// Prefixes of the functions that submit work to the GPU.
const SUBMITTING: [&str; 8] = [
    "hipLaunch",
    "hipModuleLaunch",
    "hipExt",
    "hipHcc",
    "hipDrvLaunch",
    "hipGraphLaunch",
    "hipMem",
    "hipModuleLoad",
];

/// Reads the runtime's list of functions. (`hipApiName` only reads a constant table and initialises
/// nothing.)
///
/// # Safety
/// `name` is the runtime's `hipApiName`.
#[allow(unsafe_code)] // calls it, and reads the names it returns
pub(super) unsafe fn list(name: ApiName) -> ApiList {
    let mut list = ApiList { list: (0, 0), submitting: Vec::new() };
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for id in 1..MAX_APIS {
        // SAFETY: `name` is `hipApiName`, which accepts any number.
        let text = unsafe { name(id) };
        if text.is_null() {
            break;
        }
        // SAFETY: `text` is not NULL, and the runtime's names are constant C strings that live as
        // long as the library, which cannot be unloaded during the program's call.
        let text = unsafe { CStr::from_ptr(text) };
        for byte in text.to_bytes_with_nul() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // An unused number, or one past the end.
        if text.to_bytes() == b"unknown" {
            continue;
        }
        list.list = (id, hash);
        let text = text.to_string_lossy();
        if SUBMITTING.iter().any(|begin| text.starts_with(begin)) {
            list.submitting.push((id, text.into_owned()));
        }
    }
    list
}
