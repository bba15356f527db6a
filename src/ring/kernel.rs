//! Kernel metadata from a code object: registers, memory, and the layout of the arguments.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

type Text<'a> = Cow<'a, str>;

/// A kernel's code for one target. Fields that the metadata lack are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCode<'a> {
    /// The target of the code: `gfx1100`, `gfx90a:xnack-`.
    pub target: Option<Text<'a>>,
    /// Vector registers per work-item.
    pub vgprs: Option<u32>,
    /// Accumulation registers, on targets that have them.
    pub agprs: Option<u32>,
    /// Scalar registers per wavefront.
    pub sgprs: Option<u32>,
    /// Spilled vector registers.
    pub vgpr_spills: Option<u32>,
    /// Spilled scalar registers.
    pub sgpr_spills: Option<u32>,
    /// Static LDS per work-group, bytes.
    pub lds: Option<u32>,
    /// Scratch memory per work-item, bytes.
    pub scratch: Option<u32>,
    /// Work-items per wavefront.
    pub wavefront: Option<u32>,
    /// Size of all arguments, hidden ones included, bytes.
    pub kernarg: Option<u32>,
    /// Maximum block size, work-items.
    pub max_block: Option<u32>,
    /// The explicit arguments in order; hidden ones are set by the runtime.
    pub args: Option<Vec<Argument<'a>>>,
}

impl<'a> KernelCode<'a> {
    /// The fields that are equal in both; the others become `None`. Used where either code may be
    /// the one that runs.
    pub fn agreed(self, other: &KernelCode<'a>) -> KernelCode<'a> {
        fn same<T: PartialEq>(one: Option<T>, other: &Option<T>) -> Option<T> {
            one.filter(|one| Some(one) == other.as_ref())
        }
        KernelCode {
            target: same(self.target, &other.target),
            vgprs: same(self.vgprs, &other.vgprs),
            agprs: same(self.agprs, &other.agprs),
            sgprs: same(self.sgprs, &other.sgprs),
            vgpr_spills: same(self.vgpr_spills, &other.vgpr_spills),
            sgpr_spills: same(self.sgpr_spills, &other.sgpr_spills),
            lds: same(self.lds, &other.lds),
            scratch: same(self.scratch, &other.scratch),
            wavefront: same(self.wavefront, &other.wavefront),
            kernarg: same(self.kernarg, &other.kernarg),
            max_block: same(self.max_block, &other.max_block),
            args: same(self.args, &other.args),
        }
    }

    /// The same with owned texts.
    pub fn into_owned(self) -> KernelCode<'static> {
        let own = |text: Text| Text::Owned(text.into_owned());
        let argument = |argument: Argument| Argument {
            offset: argument.offset,
            size: argument.size,
            kind: own(argument.kind),
            name: argument.name.map(own),
            type_name: argument.type_name.map(own),
            value_type: argument.value_type.map(own),
        };
        let args = self.args.map(|args| args.into_iter().map(argument).collect());
        KernelCode {
            target: self.target.map(own),
            vgprs: self.vgprs,
            agprs: self.agprs,
            sgprs: self.sgprs,
            vgpr_spills: self.vgpr_spills,
            sgpr_spills: self.sgpr_spills,
            lds: self.lds,
            scratch: self.scratch,
            wavefront: self.wavefront,
            kernarg: self.kernarg,
            max_block: self.max_block,
            args,
        }
    }
}

/// An explicit argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Argument<'a> {
    /// Offset in the argument buffer, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, `dynamic_shared_pointer`, `image`, …
    pub kind: Text<'a>,
    /// Its name, if the metadata have one.
    pub name: Option<Text<'a>>,
    /// Its type as in the source, if the metadata have it.
    pub type_name: Option<Text<'a>>,
    /// Its type in older metadata: `i32`, `f32`, `struct`.
    pub value_type: Option<Text<'a>>,
}
