//! What the HIP runtime hands to whoever registers for its reports: records, and the call that begins.
//!
//! Records are the same in every release (`prof_protocol.h`). What it hands over of a call has the arguments of any of its
//! functions in it, so its length is the release's own: it is known for the releases below, whose lists of functions are
//! told apart by the names in them.

use std::ffi::{CStr, c_char, c_void};

/// `activity_domain_t`: functions of HIP.
pub(super) const HIP_API: u32 = 3;
/// … and what the GPU does.
pub(super) const HIP_OPS: u32 = 2;
/// Where a record would lie, below this stands a question.
pub(super) const LOWEST: usize = 4096;
/// An answer to a question.
pub(super) const YES: i32 = 0;
pub(super) const NO: i32 = 1;

/// The function that is registered.
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
    /// A dispatch: the kernel's name. A copy: bytes.
    pub(super) what: u64,
}

const _: () = assert!(size_of::<Record>() == 64);
const _: () = assert!(std::mem::offset_of!(Record, correlation_id) == 16);
const _: () = assert!(std::mem::offset_of!(Record, device_id) == 40);
const _: () = assert!(std::mem::offset_of!(Record, what) == 56);

/// A release whose layout is known.
pub(super) struct Release {
    pub(super) name: &'static str,
    /// How many functions its list has, and what stands for their names.
    list: (u32, u64),
    /// Bytes of `hip_api_data_t`.
    data: usize,
}

/// From HIP 7.2 on a report of a graph reads the names of its kernels where the graph had them: when that was destroyed
/// meanwhile, the runtime ends the program, whoever is registered and whatever it answers. With this variable at 0 graphs are
/// launched in the way of the releases before, whose reports keep names.
pub(super) const NAMES_OF_GRAPHS: &str = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING";
/// What releases do not have that came before that.
pub(super) const SINCE: &str = "hipLaunchKernelExC";

/// By their headers, which `scripts/check-headers` reads again (`hip/amd_detail/hip_prof_str.h`).
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
    /// The release that has this list.
    pub(super) fn of(list: (u32, u64)) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.list == list)
    }

    /// Where in `hip_api_trace_data_t` the functions stand that are called as the call begins and ends: behind the data of the
    /// call and two words.
    pub(super) fn phases_at(&self) -> usize {
        self.data + 16
    }
}

/// No list is longer.
pub(super) const MOST_APIS: u32 = 1024;

/// The runtime's list of functions.
pub(super) struct List {
    /// How many, and what stands for their names.
    pub(super) list: (u32, u64),
    /// Those that launch, copy, fill or load.
    pub(super) working: Vec<(u32, String)>,
}

/// What the functions that give the GPU work begin with.
const WORKING: [&str; 8] = [
    "hipLaunch",
    "hipModuleLaunch",
    "hipExt",
    "hipHcc",
    "hipDrvLaunch",
    "hipGraphLaunch",
    "hipMem",
    "hipModuleLoad",
];

/// Reads the list. (The function only reads a table of constants; it initialises nothing of the device.)
///
/// # Safety
/// `name` is the runtime's `hipApiName`.
#[allow(unsafe_code)] // calls it, and reads the names it returns
pub(super) unsafe fn list(name: ApiName) -> List {
    let mut list = List { list: (0, 0), working: Vec::new() };
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for id in 1..MOST_APIS {
        // SAFETY: it takes any number.
        let text = unsafe { name(id) };
        if text.is_null() {
            break;
        }
        // SAFETY: the names are C strings that live as long as the library.
        let text = unsafe { CStr::from_ptr(text) };
        for byte in text.to_bytes_with_nul() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // A number that is not used any more, or one behind the end.
        if text.to_bytes() == b"unknown" {
            continue;
        }
        list.list = (id, hash);
        let text = text.to_string_lossy();
        if WORKING.iter().any(|begin| text.starts_with(begin)) {
            list.working.push((id, text.into_owned()));
        }
    }
    list
}
