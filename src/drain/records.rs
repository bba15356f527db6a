//! Converts event payloads and definitions to records.

use crate::code_object::{FileSource, describe, length};
use crate::kernels;
use crate::library_files::{LibraryFiles, fallback};
use crate::parameters::demangle;
use crate::values::*;
use foldhash::HashMap;
use rocshim_ring::definition::{
    ATOMICS, Chain, ChainEnd, INTERCEPTION_POINTS, Image, MATH_MODE, METRIC, POINTER_MODE, ProcessIdentity,
    Text,
};
use rocshim_ring::event::{self, GEMM_FORMS};
use rocshim_ring::mark::{self, MARK_ACTIONS};
use rocshim_ring::named::Named;
use rocshim_ring::{conv, kernel};
use rocshim_trace::*;
use std::path::Path;

/// A row of the hook table in its initial state: armed, or off.
pub(crate) fn armed_or_off(id: u16, name: &str, of: &str, is_on: bool) -> Hook {
    let armed = Hook::armed(id, name, of);
    let why = || Some("left out by ROCSHIM_RECORD".into());
    if is_on { armed } else { Hook { state: "off".into(), why: why(), ..armed } }
}

/// The names of the interception points in a bit set.
pub(crate) fn point_names(points: u8) -> String {
    let named = INTERCEPTION_POINTS.iter().filter(|(point, _)| points & point != 0).map(|(_, name)| *name);
    named.collect::<Vec<_>>().join("+")
}

/// The interception points beside the exported symbols, in their initial state.
pub(crate) fn points(open: u8) -> impl Iterator<Item = Interception> {
    INTERCEPTION_POINTS.iter().skip(1).map(move |(point, name)| {
        let state = match (open & point != 0, *name) {
            (false, _) => "closed",
            (true, "table") => "waiting",
            (true, _) => "open",
        };
        Interception { point: (*name).into(), state: state.into(), ..Interception::default() }
    })
}

/// The `table` interception point, once a library has registered its table.
pub(crate) fn table_point(library: u32, name: &str, entries: u32, functions: u32) -> Interception {
    Interception {
        point: "table".into(),
        state: "open".into(),
        table: Some(name.into()),
        library: Some(library),
        entries: Some(entries),
        functions: Some(functions),
    }
}

pub(crate) fn header(process: &ProcessIdentity) -> Header {
    let own = |text: &std::borrow::Cow<str>| text.to_string();
    Header {
        format: FORMAT,
        rocshim: own(&process.rocshim),
        pid: process.pid,
        ppid: process.ppid,
        start_ticks: process.start_ticks,
        exe: own(&process.exe),
        argv: process.argv.iter().map(own).collect(),
        env: process.env.iter().map(|(name, value)| (own(name), own(value))).collect(),
        host: own(&process.host),
        clock: if process.tsc { "tsc" } else { "clock_gettime" }.into(),
        tick_hz: 0,
        epoch: process.unix_ns.to_string(),
        rings: own(&process.rings),
        note: process.note.as_ref().map(own),
        ..Header::default()
    }
}

/// Reads format, length, targets and number of kernels from the file that contains the fat binary.
pub(crate) fn fat_binary(id: u32, path: &str, offset: u64, ordinal: u32) -> CodeObject {
    let source = FileSource::open(path.as_ref(), offset).ok();
    let image = source.as_ref().map(|source| describe(source)).unwrap_or_default();
    CodeObject {
        id,
        source: "fat_binary".into(),
        path: Some(path.into()),
        ordinal: Some(ordinal),
        offset: Some(offset),
        format: source.is_some().then(|| image.format.into()),
        bytes: source.as_ref().and_then(|source| length(source)),
        targets: image.targets,
        kernels: image.kernels,
        ..CodeObject::default()
    }
}

/// An image loaded from a file or from memory; for memory, with the library file it came from.
pub(crate) fn module_image(id: u32, image: Image, files: &mut LibraryFiles) -> CodeObject {
    let known = match (&image.path, image.bytes, image.hash) {
        (Some(path), ..) => Ok((None, fallback(Path::new(path.as_ref())))),
        (None, Some(bytes), Some(hash)) => files.find(bytes, hash).map(|(file, said)| (Some(file), said)),
        (None, ..) => Err("its format does not state its length".into()),
    };
    let (file, fallback) = known.as_ref().ok().cloned().unwrap_or_default();
    CodeObject {
        id,
        file: file.map(|file| file.to_string_lossy().into_owned()),
        fallback,
        unmatched: known.err(),
        source: if image.path.is_some() { "file" } else { "memory" }.into(),
        path: image.path.map(|path| path.into_owned()),
        format: (!image.format.is_empty()).then(|| image.format.into_owned()),
        bytes: image.bytes,
        xxh3: image.hash.map(|hash| format!("{hash:032x}")),
        targets: image.targets.into_iter().map(|target| target.into_owned()).collect(),
        kernels: image.kernels,
        ..CodeObject::default()
    }
}

/// The record of a kernel, emitted before its first launch.
pub(crate) fn kernel_record(id: u32, kernel: &kernels::Kernel) -> Kernel {
    let own = |text: &Text| text.to_string();
    let argument = |argument: &kernel::Argument| Argument {
        offset: argument.offset,
        size: argument.size,
        kind: own(&argument.kind),
        name: argument.name.as_ref().map(own),
        type_name: argument.type_name.as_ref().or(argument.value_type.as_ref()).map(own),
    };
    let name = kernel.name.to_string();
    let record = Kernel {
        id,
        demangled: demangle(&name),
        tensile: Tensile::of(&name),
        name,
        code_object: kernel.code_object,
        callers: kernel.callers.clone(),
        ..Kernel::default()
    };
    let Some(kernels::Code { code, .. }) = &kernel.code else { return record };
    Kernel {
        target: code.target.as_ref().map(own),
        vgprs: code.vgprs,
        agprs: code.agprs,
        sgprs: code.sgprs,
        vgpr_spills: code.vgpr_spills,
        sgpr_spills: code.sgpr_spills,
        lds: code.lds,
        scratch: code.scratch,
        wavefront: code.wavefront,
        kernarg: code.kernarg,
        max_block: code.max_block,
        args: code.args.as_ref().map(|args| args.iter().map(argument).collect()),
        ..record
    }
}

/// File and name of Python functions, by the number of their definition.
pub(crate) type PythonFunctions = HashMap<u32, (String, String)>;

/// The callers of a kernel's first launch or of a call.
pub(crate) fn callers(chain: Chain, functions: &PythonFunctions) -> Callers {
    let frames = chain.frames.into_iter().map(|(binary, at)| Caller { binary, at: Hex(at) }).collect();
    let python = chain.python.into_iter().map_while(|(number, line)| {
        let (file, function) = functions.get(&number)?.clone();
        Some(PythonCaller { file, line: (line != 0).then_some(line), function })
    });
    let end = match chain.end {
        ChainEnd::Whole => "whole",
        ChainEnd::Limit => "limit",
        ChainEnd::Signal => "signal",
        ChainEnd::Unknown => "unknown",
    };
    Callers { tid: chain.tid, frames, end: end.into(), python: python.collect() }
}

/// The record of a GEMM. `set_to` returns a setting of the handle, if known. The caller adds the
/// stream.
pub(crate) fn gemm(call: Call, raw: &event::Gemm, set_to: impl Fn(u8) -> Option<u64>) -> Gemm {
    let mode = |setting: u8| set_to(setting).map(|number| number as u32);
    let form = GEMM_FORMS.get(raw.form as usize).copied().unwrap_or("unknown");
    let matrix = |i: usize| Matrix {
        ptr: Hex(raw.matrices[i]),
        element: datatype(raw.types[i]).into(),
        ld: raw.lds[i],
        stride: (form == "strided_batched").then_some(raw.strides[i]),
        row_stride: (form == "any_order").then_some(raw.strides[i]),
    };
    Gemm {
        call,
        form: form.into(),
        handle: Hex(raw.handle),
        trans_a: operation(raw.trans[0]).into(),
        trans_b: operation(raw.trans[1]).into(),
        m: raw.size[0],
        n: raw.size[1],
        k: raw.size[2],
        batch: raw.batch,
        a: matrix(0),
        b: matrix(1),
        c: matrix(2),
        d: matrix(3),
        alpha: Hex(raw.scalars[0]),
        beta: Hex(raw.scalars[1]),
        compute: compute(raw.compute).into(),
        algo: gemm_algo(raw.algo).into(),
        solution: raw.solution,
        flags: raw.flags.into(),
        stream: None,
        pointer_mode: mode(POINTER_MODE).map(|number| pointer_mode(number).into()),
        atomics: mode(ATOMICS).map(|number| atomics(number).into()),
        math_mode: mode(MATH_MODE).map(|number| math_mode(number).into()),
        metric: mode(METRIC).map(|number| metric(number).into()),
        capture: None,
    }
}

fn tensor(raw: &conv::Tensor) -> Option<Tensor> {
    let rank = raw.rank as usize;
    let of = |values: &[i32]| values.get(..rank).map(<[i32]>::to_vec);
    (rank > 0).then(|| {
        Some(Tensor {
            element: tensor_type(raw.element).into(),
            dims: of(&raw.dims)?,
            strides: of(&raw.strides)?,
        })
    })?
}

pub(crate) fn convolution(
    call: Call,
    raw: &conv::Conv,
    stream: StreamRef,
    returned: u64,
    results: Vec<conv::ConvResult>,
) -> Conv {
    let spatial =
        |values: &[i32]| values.get(..raw.spatial as usize).map(<[i32]>::to_vec).unwrap_or_default();
    let solver = |id: u64| solver_name(id).map(str::to_owned);
    let solution = |id: u64| (id != 0).then_some(id);
    let action = CONV_ACTIONS.get(raw.action as usize).copied().unwrap_or("unknown");
    let result = |r: conv::ConvResult| ConvResult {
        algorithm: match r.algorithm {
            conv::ConvResult::BY_SOLVER => solver_algorithm(r.solution).into(),
            number => conv_algorithm(number).into(),
        },
        time_ms: r.time.is_finite().then_some(r.time),
        workspace: r.workspace,
        solution_id: solution(r.solution),
        solver: solver(r.solution),
    };
    Conv {
        call,
        action: action.into(),
        direction: CONV_DIRECTIONS.get(raw.direction as usize).copied().unwrap_or("unknown").into(),
        x: tensor(&raw.tensors[0]),
        w: tensor(&raw.tensors[1]),
        y: tensor(&raw.tensors[2]),
        pads: spatial(&raw.pads),
        strides: spatial(&raw.strides),
        dilations: spatial(&raw.dilations),
        groups: raw.groups,
        mode: if raw.spatial == 0 { "unknown".into() } else { conv_mode(raw.mode).into() },
        operations: Some(words(raw.operations)).filter(|words| *words != ["convolution"]).unwrap_or_default(),
        stream,
        subject: Hex(raw.subject),
        algorithm: (action == "run").then(|| conv_algorithm(raw.algorithm).into()),
        solution_id: solution(raw.solution),
        solver: solver(raw.solution),
        exhaustive: raw.exhaustive,
        workspace: raw.workspace,
        returned,
        results: results.into_iter().map(result).collect(),
        capture: None,
    }
}

/// The names of a plan's or problem's operations.
fn words(operations: conv::Operations) -> Vec<String> {
    operations.words().into_iter().map(str::to_owned).collect()
}

/// A call with a MIOpen problem, solution or plan other than a convolution.
pub(crate) fn other_problem(call: Call, raw: &conv::Conv, stream: StreamRef) -> Span {
    Span {
        operations: words(raw.operations),
        solution_id: (raw.solution != 0).then_some(raw.solution),
        solver: solver_name(raw.solution).map(str::to_owned),
        ..span(call, &Named::default(), stream)
    }
}

pub(crate) fn span(call: Call, raw: &Named, stream: StreamRef) -> Span {
    Span {
        call,
        count: raw.count,
        datatype: raw.datatype.map(|number| nccl_type(number).into()),
        op: raw.op.map(|number| nccl_op(number).into()),
        peer: raw.peer,
        comm: Hex(raw.comm),
        members: raw.group.map(|group| group.members),
        member: raw.group.map(|group| group.member),
        group: Hex(raw.group.map_or(0, |group| group.hash)),
        stream,
        ..Span::default()
    }
}

pub(crate) fn mark(call: Call, raw: mark::Mark<Vec<u8>>) -> Mark {
    let mut text = raw.text;
    if let Some(text) = text.as_mut().filter(|_| raw.cut) {
        drop_half_character(text);
    }
    Mark {
        call,
        action: MARK_ACTIONS.get(raw.action as usize).copied().unwrap_or("unknown").into(),
        text: text.map(|text| String::from_utf8_lossy(&text).into_owned()),
        cut: raw.cut,
        level: raw.level,
        value: Hex(raw.value),
    }
}

/// Removes an incomplete UTF-8 character at the end of a truncated text.
fn drop_half_character(text: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(text)
        && error.error_len().is_none()
    {
        text.truncate(error.valid_up_to());
    }
}
