//! What was requested and what was launched for it: the decisions of a trace before they are
//! explained.

use crate::{gemms::GemmProblem, nesting::Launches, units::counted};
use rocshim_catalog::Product;
use rocshim_trace::{
    Blas, CodeObject, Conv, ConvResult, Header, Library, StreamRef, Tensile, Tensor, Word, ggml::Columns,
};
use std::collections::{BTreeMap, BTreeSet};

/// What makes two decisions the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) process: usize,
    pub(super) asked: Asked,
    /// Kernels that were launched, by number.
    pub(super) kernels: Vec<usize>,
    pub(super) end: CallEnd,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CallEnd {
    /// With this status; 0 for success.
    Returned(i32),
    /// Not: its process died in it.
    InFlight,
}

impl CallEnd {
    /// In words, unless it succeeded.
    pub(super) fn failure(self) -> Option<String> {
        match self {
            CallEnd::Returned(0) => None,
            CallEnd::Returned(status) => Some(format!("the call failed with {status}")),
            CallEnd::InFlight => Some("the process died in the call".into()),
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    Gemm(Box<Gemm>),
    Conv(Box<ConvKey>),
    /// A kernel of ggml: its family, the type of its weights, how many columns.
    Ggml {
        family: &'static str,
        element: Option<String>,
        band: Band,
    },
}

/// Numbers of columns between which ggml's rules do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Band {
    /// 1 to 8.
    Few,
    /// 9 to 63.
    Some,
    /// 64 and more.
    Many,
    /// Those of all experts together.
    Experts,
    /// Not known, or on both sides of a limit.
    Unknown,
}

impl Band {
    pub(super) fn of(columns: Option<Columns>) -> Band {
        match columns {
            Some(columns) if columns.of_all_experts() => Band::Experts,
            Some(Columns { most: ..=8, .. }) => Band::Few,
            Some(Columns { least: 9.., most: ..=63, .. }) => Band::Some,
            Some(Columns { least: 64.., .. }) => Band::Many,
            _ => Band::Unknown,
        }
    }

    /// In words, after a comma.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Band::Few => ", 1 to 8 columns",
            Band::Some => ", 9 to 63 columns",
            Band::Many => ", 64 or more columns",
            Band::Experts => ", columns of all experts",
            Band::Unknown => "",
        }
    }
}

/// A GEMM of rocBLAS, hipBLAS or hipBLASLt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Gemm {
    pub(super) library: String,
    pub(super) function: String,
    pub(super) problem: GemmProblem,
    /// Leading dimensions of A, B, C and D.
    pub(super) leading: [Option<i64>; 4],
    /// In Tensile's terms, where rocBLAS asks Tensile so.
    pub(super) product: Option<Product>,
    /// What the handle was set to: name and value.
    pub(super) settings: Vec<(&'static str, Word)>,
    /// Workspace given to the call, bytes; of hipBLASLt alone.
    pub(super) workspace: Option<u64>,
}

/// A convolution, without times and addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConvKey {
    pub(super) function: String,
    pub(super) action: Word,
    pub(super) direction: Word,
    /// Lengths of the input, the filter and the output with their types.
    pub(super) tensors: [Option<String>; 3],
    pub(super) pads: Vec<i32>,
    pub(super) strides: Vec<i32>,
    pub(super) dilations: Vec<i32>,
    pub(super) groups: i32,
    pub(super) algorithm: Option<Word>,
    pub(super) solution: Option<u64>,
    pub(super) solver: Option<String>,
    /// Its key in MIOpen's find database; `None`: not known.
    pub(super) key: Option<String>,
}

/// A decision as often as it was made.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) calls: u64,
    /// Smallest alignment of A, B, C and D over all calls, bytes; at most 256. Zero: not known.
    pub(super) alignment: [u32; 4],
    /// Streams, by id; `None` for a call whose stream is not known.
    pub(super) streams: BTreeSet<Option<u32>>,
    /// The calls around it: function and how often.
    pub(super) asked_by: BTreeMap<String, u64>,
    /// Launches of each kernel: those that succeeded or were captured, and those that failed.
    pub(super) launches: BTreeMap<usize, (u64, u64)>,
    /// Calls that made a GEMM by another library's function.
    pub(super) handed_on: u64,
    /// Those functions.
    pub(super) handed_to: BTreeSet<String>,
    /// What the heuristic last returned for this problem before each call, with the calls: distinct
    /// answers, the first eight.
    pub(super) heuristics: Vec<(Option<Heuristic>, u64)>,
    /// Calls with other answers than those.
    pub(super) other_heuristics: u64,
    /// What a find or a question of immediate mode returned for this problem before.
    pub(super) search: Option<Search>,
    /// The least workspace that a call was given, bytes; of MIOpen alone.
    pub(super) workspace: Option<u64>,
    /// The search was not the same for all calls.
    pub(super) answers_differ: bool,
    /// Columns of ggml's products, with launches.
    pub(super) columns: BTreeMap<(u64, u64), u64>,
    /// Launches whose columns are those of all experts together.
    pub(super) of_experts: u64,
    /// Launches whose columns are not known.
    pub(super) without_columns: u64,
}

/// What hipBLASLt's heuristic was asked and returned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heuristic {
    pub(super) requested: u64,
    pub(super) returned: Option<u64>,
    pub(super) solutions: Vec<i32>,
    pub(super) needs: u64,
}

/// What MIOpen was asked before the convolution ran.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Search {
    pub(super) function: String,
    pub(super) action: Word,
    pub(super) exhaustive: bool,
    pub(super) returned: u64,
    pub(super) results: Vec<ConvResult>,
    /// Kernels that it launched itself: trials.
    pub(super) launched: u64,
    /// Workspace that it was given, bytes.
    pub(super) workspace: u64,
}

/// A kernel with where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) demangled: Option<String>,
    pub(super) tensile: Option<Tensile>,
    pub(super) target: Option<String>,
    pub(super) object: Option<CodeObject>,
    /// Family and whose it is.
    pub(super) family: Option<(&'static str, &'static str)>,
}

/// What a process says about itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) host: String,
    /// When it began to record, Unix nanoseconds.
    pub(super) epoch: u64,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) libraries: Vec<Library>,
    /// Images that it loaded from memory and that are a file of rocBLAS's folder.
    pub(super) objects: Vec<CodeObject>,
    /// Targets of its devices as HIP named them.
    pub(super) devices: BTreeSet<String>,
    /// Events that were lost.
    pub(super) lost: u64,
    /// Other reasons why not all that it did is in the trace: damaged lines, no end.
    pub(super) limits: Vec<String>,
}

impl Kernel {
    /// Its name as far as it says what it computes: of a Tensile kernel up to its parameters, of a
    /// C++ one without its arguments.
    pub(super) fn in_short(&self) -> String {
        let name = self.demangled.as_deref().unwrap_or(&self.name);
        short(name)
    }
}

/// `Cijk_Alik_Bljk_HHS_BH_MT32x32x32_MI16x16x16x1_SN_…` → up to `SN`.
pub(super) fn short(name: &str) -> String {
    if name.starts_with("Cijk_") {
        let end = ["_SN_", "_SE_"].iter().filter_map(|mark| name.find(mark)).min();
        return end.map_or_else(|| name.to_owned(), |end| format!("{}…", &name[..end]));
    }
    let plain = name.strip_prefix("void ").unwrap_or(name);
    match plain.rfind(">(") {
        Some(at) => plain[..=at].to_owned(),
        None => plain.to_owned(),
    }
}

impl Process {
    /// Why not all that it did is in the trace.
    pub(super) fn limits(&self) -> Option<String> {
        let lost = (self.lost > 0).then(|| format!("{} were lost", counted(self.lost, "event")));
        let all: Vec<String> = lost.into_iter().chain(self.limits.iter().cloned()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// The library that begins with `name`.
    pub(super) fn library(&self, name: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| rocshim_trace::is_library(&library.path, name))
    }

    /// The target of its devices without features, where all have the same.
    pub(super) fn target(&self) -> Option<&str> {
        let mut targets = self.devices.iter().map(|gfx| gfx.split(':').next().unwrap_or(gfx));
        let first = targets.next()?;
        targets.all(|target| target == first).then_some(first)
    }
}

impl Heuristic {
    /// What a successful question returned.
    pub(super) fn of(blas: &Blas) -> Heuristic {
        Heuristic {
            requested: blas.requested,
            returned: blas.returned,
            solutions: blas.solutions.clone(),
            needs: blas.needs,
        }
    }
}

impl Seen {
    /// Adds a call of hipBLASLt by what the heuristic had returned before.
    pub(super) fn count_heuristic(&mut self, heuristic: Option<Heuristic>) {
        const KEPT: usize = 8;
        if let Some((_, calls)) = self.heuristics.iter_mut().find(|(known, _)| *known == heuristic) {
            *calls += 1;
        } else if self.heuristics.len() < KEPT {
            self.heuristics.push((heuristic, 1));
        } else {
            self.other_heuristics += 1;
        }
    }

    pub(super) fn launched(&mut self, kernel: usize, launches: Launches) {
        let (ran, failed) = self.launches.entry(kernel).or_default();
        *ran += launches.launches + launches.captured;
        *failed += launches.failed;
    }

    pub(super) fn count_columns(&mut self, columns: Option<Columns>, launches: u64) {
        match columns {
            Some(columns) => {
                *self.columns.entry((columns.least, columns.most)).or_default() += launches;
                self.of_experts += if columns.of_all_experts() { launches } else { 0 };
            }
            None => self.without_columns += launches,
        }
    }

    /// Its streams in words, where any is known.
    pub(super) fn streams(&self) -> Option<String> {
        let known: Vec<u32> = self.streams.iter().flatten().copied().collect();
        match known.as_slice() {
            [] => None,
            [id] if *id == u32::from(StreamRef::Default) => Some("on the default stream".into()),
            [id] => Some(format!("on stream {id}")),
            many => Some(format!("on {} streams", many.len())),
        }
    }
}

/// The key of a convolution in MIOpen's find database (`ProblemDescription::Serialize` in
/// src/conv/problem_description.cpp), for two dimensions, dense NCHW and one group.
fn find_key(conv: &Conv) -> Option<String> {
    let [x, w, y] = [conv.x.as_ref()?, conv.w.as_ref()?, conv.y.as_ref()?];
    let is_dense = |tensor: &Tensor| {
        let mut stride = 1;
        tensor.dims.iter().zip(&tensor.strides).rev().all(|(length, actual)| {
            let is_so = *length == 1 || *actual == stride;
            stride *= length;
            is_so
        })
    };
    let are_plain = [x, w, y].iter().all(|t| t.dims.len() == 4 && t.element == x.element && is_dense(t));
    if !are_plain || conv.groups != 1 || conv.mode != "convolution" || !conv.operations.is_empty() {
        return None;
    }
    let element = match x.element.as_str() {
        "f32" => "FP32",
        "f16" => "FP16",
        "bf16" => "BF16",
        _ => return None,
    };
    // A backward direction reads the output's gradient.
    let (input, output, direction) = match conv.direction.as_str() {
        "forward" => (x, y, "F"),
        "backward_data" => (y, x, "B"),
        "backward_weights" => (y, x, "W"),
        _ => return None,
    };
    let two = |numbers: &[i32]| match numbers {
        [height, width] => Some(format!("{height}x{width}")),
        _ => None,
    };
    let ([n, c, h, wide], [_, k, oh, ow]) = (dims(input)?, dims(output)?);
    let [_, _, fh, fw] = dims(w)?;
    let (pads, strides, dilations) = (two(&conv.pads)?, two(&conv.strides)?, two(&conv.dilations)?);
    Some(format!(
        "{c}-{h}-{wide}-{fh}x{fw}-{k}-{oh}-{ow}-{n}-{pads}-{strides}-{dilations}-0-NCHW-{element}-{direction}"
    ))
}

fn dims(tensor: &Tensor) -> Option<[i32; 4]> {
    tensor.dims.as_slice().try_into().ok()
}

impl ConvKey {
    pub(super) fn new(function: &str, conv: &Conv) -> ConvKey {
        let tensors = [&conv.x, &conv.w, &conv.y]
            .map(|tensor| tensor.as_ref().map(|tensor| format!("{} {}", tensor.lengths(), tensor.element)));
        ConvKey {
            function: function.to_owned(),
            action: conv.action.clone(),
            direction: conv.direction.clone(),
            tensors,
            pads: conv.pads.clone(),
            strides: conv.strides.clone(),
            dilations: conv.dilations.clone(),
            groups: conv.groups,
            algorithm: conv.algorithm.clone(),
            solution: conv.solution_id,
            solver: conv.solver.clone(),
            key: find_key(conv),
        }
    }

    /// What makes two problems the same, whatever is done with them.
    pub(super) fn problem(&self) -> String {
        let ConvKey { direction, tensors, pads, strides, dilations, groups, .. } = self;
        format!("{direction} {tensors:?} {pads:?} {strides:?} {dilations:?} {groups}")
    }
}

/// The largest power of two, up to 256, that divides an address; 0 for no address.
pub(super) fn alignment(address: u64) -> u32 {
    if address == 0 { 0 } else { 1 << address.trailing_zeros().min(8) }
}

/// The type of the weights: the first template argument of ggml's products, `(ggml_type)2` →
/// `q4_0`.
pub(super) fn element(demangled: &str) -> Option<String> {
    let first = demangled.split_once('<')?.1.split([',', '>']).next()?.trim();
    let Some(number) = first.strip_prefix("(ggml_type)") else {
        return Some(first.to_owned()).filter(|word| word.chars().next().is_some_and(char::is_alphabetic));
    };
    Some(ggml_type(number.parse().ok()?).map_or_else(|| format!("ggml type {number}"), str::to_owned))
}

/// `enum ggml_type` of ggml.h: numbers that are never reused.
fn ggml_type(number: u32) -> Option<&'static str> {
    #[rustfmt::skip]
    const NAMES: &[(u32, &str)] = &[
        (0, "f32"), (1, "f16"), (2, "q4_0"), (3, "q4_1"), (6, "q5_0"), (7, "q5_1"), (8, "q8_0"), (9, "q8_1"),
        (10, "q2_K"), (11, "q3_K"), (12, "q4_K"), (13, "q5_K"), (14, "q6_K"), (15, "q8_K"), (16, "iq2_xxs"),
        (17, "iq2_xs"), (18, "iq3_xxs"), (19, "iq1_s"), (20, "iq4_nl"), (21, "iq3_s"), (22, "iq2_s"),
        (23, "iq4_xs"), (29, "iq1_m"), (30, "bf16"), (34, "tq1_0"), (35, "tq2_0"), (39, "mxfp4"),
    ];
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// True for an image from memory that is a file of rocBLAS's folder: the only other one with such
/// files is hipBLASLt's.
pub(super) fn is_of_tensile(object: &CodeObject, environment: &BTreeMap<String, String>) -> bool {
    let Some(file) = object.file.as_deref().filter(|_| object.source == "memory") else { return false };
    let of_hipblaslt =
        environment.get("HIPBLASLT_TENSILE_LIBPATH").is_some_and(|path| file.starts_with(path));
    !of_hipblaslt && !file.contains("/hipblaslt/")
}

/// True when `header` is that of a later segment of the trace that `first` began.
pub(super) fn continues(first: &Header, header: &Header) -> bool {
    let process = |header: &Header| (header.pid, header.start_ticks, header.epoch.clone());
    process(first) == process(header) && header.part() > first.part()
}
