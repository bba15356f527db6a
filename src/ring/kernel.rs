//! What a code object says of a kernel: its registers and memory, and where each argument lies.

use crate::definition::Text;
use serde::{Deserialize, Serialize};

/// A kernel's code for one target. What the metadata does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCode<'a> {
    /// The target of the code: `gfx1100`, `gfx90a:xnack-`.
    pub target: Option<Text<'a>>,
    /// Vector registers of a work-item.
    pub vgprs: Option<u32>,
    /// Accumulation registers, which some targets have.
    pub agprs: Option<u32>,
    /// Scalar registers of a wavefront.
    pub sgprs: Option<u32>,
    /// Vector registers that the compiler stored to memory for want of room.
    pub vgpr_spills: Option<u32>,
    /// Scalar registers that it did.
    pub sgpr_spills: Option<u32>,
    /// Static LDS of a work-group, bytes.
    pub lds: Option<u32>,
    /// Scratch of a work-item, bytes.
    pub scratch: Option<u32>,
    /// Work-items of a wavefront.
    pub wavefront: Option<u32>,
    /// All arguments, hidden ones too, bytes.
    pub kernarg: Option<u32>,
    /// The largest block, work-items.
    pub max_block: Option<u32>,
    /// The explicit arguments, in the order in which they are passed; hidden ones come from the runtime.
    pub args: Option<Vec<Argument<'a>>>,
}

/// An explicit argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Argument<'a> {
    /// Where it lies among the arguments, bytes.
    pub offset: u32,
    /// Its length, bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, `dynamic_shared_pointer`, `image`, …
    pub kind: Text<'a>,
    /// Its name, where the compiler tells.
    pub name: Option<Text<'a>>,
    /// Its type as in the source, where the compiler tells.
    pub type_name: Option<Text<'a>>,
    /// Its type in older metadata: `i32`, `f32`, `struct`.
    pub value_type: Option<Text<'a>>,
}
