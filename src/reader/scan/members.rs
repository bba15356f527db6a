//! Scanners for the members of each kind of event, in the order of the record's fields.

use super::cursor::{Cursor, Scan};
use rocshim_trace::{
    Arg, Blas, Call, Conv, ConvResult, Copy, Gemm, Gpu, GraphCall, GraphLaunch, Launch, Load, LtMatrix, Mark,
    Matmul, Matrix, OF_KERNEL, Problem, Span, Sync, Tensor,
};

/// A type that is scanned member by member.
pub(super) trait Fill {
    /// Scans the members that follow into `self`, which has default values.
    fn fill(&mut self, at: &mut Cursor) -> Option<()>;
}

/// Scans members into the fields of the same names, in this order: `field!` is required, others are
/// optional; `..field` is a record whose members are inlined; `field as "key"` has another name in
/// the line; `field by function` is scanned by that function; after `|` all are optional, and the
/// line often ends here.
macro_rules! members {
    ($at:ident $of:ident;) => {};
    ($at:ident $of:ident; $field:ident by $read:ident ! $($rest:tt)*) => {
        $at.key(concat!("\"", stringify!($field), "\":").as_bytes()).then_some(())?;
        $of.$field = $read($at, $of)?;
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; $field:ident by $read:ident $($rest:tt)*) => {
        if $at.key(concat!("\"", stringify!($field), "\":").as_bytes()) {
            $of.$field = $read($at, $of)?;
        }
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; .. $field:ident $($rest:tt)*) => {
        $of.$field.fill($at)?;
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; | $($rest:tt)*) => {
        if $at.has_ended() {
            return Some(());
        }
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; $field:ident as $key:literal ! $($rest:tt)*) => {
        $at.key(concat!("\"", $key, "\":").as_bytes()).then_some(())?;
        $of.$field = Scan::scan($at)?;
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; $field:ident as $key:literal $($rest:tt)*) => {
        if $at.key(concat!("\"", $key, "\":").as_bytes()) {
            $of.$field = Scan::scan($at)?;
        }
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; $field:ident ! $($rest:tt)*) => {
        $at.key(concat!("\"", stringify!($field), "\":").as_bytes()).then_some(())?;
        $of.$field = Scan::scan($at)?;
        members!($at $of; $($rest)*)
    };
    ($at:ident $of:ident; $field:ident $($rest:tt)*) => {
        if $at.key(concat!("\"", stringify!($field), "\":").as_bytes()) {
            $of.$field = Scan::scan($at)?;
        }
        members!($at $of; $($rest)*)
    };
}

/// Each type with its members; see `members`.
macro_rules! fill {
    ($($type:ident { $($member:tt)* })*) => {
        $(impl Fill for $type {
            #[inline]
            fn fill(&mut self, at: &mut Cursor) -> Option<()> {
                members!(at self; $($member)*);
                Some(())
            }
        })*
    };
}

impl Fill for Call {
    #[inline]
    fn fill(&mut self, at: &mut Cursor) -> Option<()> {
        self.hook = OF_KERNEL;
        members!(at self; tid! id! parent t! dur! hook status unwound);
        Some(())
    }
}

/// A launch's own members follow its call's.
impl Fill for Launch {
    #[inline]
    #[rustfmt::skip]
    fn fill(&mut self, at: &mut Cursor) -> Option<()> {
        self.grid = [1; 3];
        members!(at self;
            ..call kernel function grid by dims block by dims! | items by some_dims lds stream | events flags cooperative capture args by arguments args_cut args_raw);
        Some(())
    }
}

/// Sizes, of which trailing ones may be omitted.
fn dims<T>(at: &mut Cursor, _of: &T) -> Option<[u32; 3]> {
    let mut dims = [1; 3];
    for (i, dim) in dims.iter_mut().enumerate() {
        if i > 0 && at.skip(b"]") {
            return Some(dims);
        }
        at.skip(if i == 0 { b"[" } else { b"," }).then_some(())?;
        *dim = Scan::scan(at)?;
    }
    at.skip(b"]").then_some(dims)
}

/// A thread and an id.
fn pair<T>(at: &mut Cursor, _of: &T) -> Option<Option<(u32, u64)>> {
    at.skip(b"[").then_some(())?;
    let tid = Scan::scan(at)?;
    at.skip(b",").then_some(())?;
    let id = Scan::scan(at)?;
    at.skip(b"]").then_some(Some((tid, id)))
}

fn some_dims<T>(at: &mut Cursor, of: &T) -> Option<Option<[u32; 3]>> {
    dims(at, of).map(Some)
}

/// A launch's arguments, or none if they are not read.
fn arguments(at: &mut Cursor, launch: &Launch) -> Option<Vec<Arg>> {
    if (at.wants_arguments)(launch.kernel) { Scan::scan(at) } else { at.pass_list().map(|()| Vec::new()) }
}

#[rustfmt::skip]
fill! {
    Copy {
        ..call action! kind bytes dst src stream | is_async as "async" via value unit extent pitches devices capture
    }
    Sync { ..call action! | stream event flags capture }
    Gpu {
        ..call op! command begin busy raw error device queue kernel bytes of by pair place | function other
    }
    Gemm {
        ..call form! handle! trans_a! trans_b! m! n! k! batch! a! b! c! d! alpha! beta! compute! algo! solution! | flags
        stream pointer_mode atomics math_mode metric capture
    }
    Problem {
        trans_a trans_b m n k batch a b c d alpha beta pointer_mode compute scale_type epilogue bias bias_type
        scale_a scale_b scale_c scale_d scale_mode_a scale_mode_b aux aux_ld
    }
    Matmul { ..call handle instance ..problem algo workspace stream capture }
    Blas { ..call action! handle instance form ..problem flags algo requested returned solutions needs stream capture }
    Conv {
        ..call action! direction! x w y pads! strides! dilations! groups! mode! operations stream subject algorithm
        solution_id solver exhaustive workspace returned results capture
    }
    Span { ..call count datatype op peer comm members member group stream operations solution_id solver capture }
    Mark { ..call action! text cut level value }
    Load { ..call action! module code_object }
    GraphCall { ..call action! stream source exec graph capture }
    GraphLaunch { ..call graph exec stream }
}

fill! {
    Matrix { ptr! element as "type"! ld! stride row_stride }
    LtMatrix { ptr element as "type" ld stride order }
    Tensor { element as "type"! dims! strides! }
    ConvResult { algorithm! time_ms workspace! solution_id solver }
}

/// Members in braces of their own.
macro_rules! objects {
    ($($type:ident)*) => {
        $(impl Scan for $type {
            fn scan(at: &mut Cursor) -> Option<$type> {
                let mut object = $type::default();
                at.object(|at| object.fill(at))?;
                Some(object)
            }
        })*
    };
}
objects!(Matrix LtMatrix Tensor ConvResult);
