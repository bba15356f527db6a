//! Kernel metadata from an image's notes (LLVM, AMDGPUUsage: code object metadata, versions 3 to
//! 6).

use super::elf::{Allowance, Header};
use super::msgpack::Reader;
use super::source::Source;
use rocshim_ring::kernel::{Argument, KernelCode};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Bytes of a note that contain the number of its kernels.
const HEAD: usize = 64;

/// The metadata of one target's code, copied out of its image.
pub struct Metadata {
    target: String,
    /// MessagePack maps.
    notes: Vec<Vec<u8>>,
    /// Symbol → position of its kernel: note, bytes before that note's end. Built on first use.
    index: OnceCell<HashMap<Box<str>, (usize, usize)>>,
}

impl Metadata {
    /// Reads the metadata of the ELF in `source`; `None` if it has none.
    pub(super) fn of_elf(source: &dyn Source, target: &str, allowance: &Allowance) -> Option<Metadata> {
        let notes = Header::read(source)?.notes(source, allowance);
        let index = OnceCell::new();
        (!notes.is_empty()).then(|| Metadata { target: target.into(), notes, index })
    }

    /// The metadata of the kernel with this symbol.
    pub fn find(&self, symbol: &str) -> Option<KernelCode<'_>> {
        let index = self.index.get_or_init(|| self.make_index());
        let (note, left) = *index.get(symbol)?;
        let (_, kernel) = kernel(&mut self.reader(note, left)?)?;
        Some(KernelCode { target: Some(self.target.as_str().into()), ..kernel })
    }

    /// Every kernel with its symbol, in the order of the metadata.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, KernelCode<'_>)> {
        let mut places = Vec::new();
        self.each_place(|_, note, left| places.push((note, left)));
        places.into_iter().filter_map(|(note, left)| {
            let (names, kernel) = kernel(&mut self.reader(note, left)?)?;
            Some((names.symbol()?, KernelCode { target: Some(self.target.as_str().into()), ..kernel }))
        })
    }

    fn reader(&self, note: usize, left: usize) -> Option<Reader<'_>> {
        let bytes = self.notes.get(note)?;
        bytes.get(bytes.len().checked_sub(left)?..).map(Reader::new)
    }

    fn make_index(&self) -> HashMap<Box<str>, (usize, usize)> {
        let mut index = HashMap::new();
        self.each_place(|names, note, left| {
            for name in [names.symbol(), names.name].into_iter().flatten() {
                index.entry(name.into()).or_insert((note, left));
            }
        });
        index
    }

    /// Passes the names and the position of each kernel to `each`.
    fn each_place(&self, mut each: impl FnMut(KernelNames<'_>, usize, usize)) {
        for (note, bytes) in self.notes.iter().enumerate() {
            let Some((mut reader, count)) = kernels_of(bytes) else { continue };
            for _ in 0..count {
                let left = reader.left();
                let Some(names) = names(&mut reader) else { break };
                each(names, note, left);
            }
        }
    }
}

/// The number of kernels in the ELF in `source`, reading as little of it as possible.
pub(super) fn count(source: &dyn Source, allowance: &Allowance) -> Option<u32> {
    let heads = Header::read(source)?.note_heads(source, HEAD, allowance);
    heads.iter().try_fold(0_u32, |sum, head| sum.checked_add(kernels_of(head)?.1))
}

/// The beginning of a note's array of kernels, and its length.
fn kernels_of(note: &[u8]) -> Option<(Reader<'_>, u32)> {
    let mut reader = Reader::new(note);
    for _ in 0..reader.map()? {
        if reader.text_or_skip()? == Some("amdhsa.kernels") {
            let count = reader.array()?;
            return Some((reader, count));
        }
        reader.skip()?;
    }
    None
}

/// The names of a kernel.
#[derive(Default)]
struct KernelNames<'a> {
    /// Of its descriptor: `k.kd`.
    descriptor: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> KernelNames<'a> {
    fn symbol(&self) -> Option<&'a str> {
        self.descriptor.map(|descriptor| descriptor.strip_suffix(".kd").unwrap_or(descriptor)).or(self.name)
    }
}

/// Reads a kernel's names and skips the rest.
fn names<'a>(reader: &mut Reader<'a>) -> Option<KernelNames<'a>> {
    let mut names = KernelNames::default();
    for _ in 0..reader.map()? {
        match reader.text_or_skip()?.unwrap_or_default() {
            ".symbol" => names.descriptor = reader.text_or_skip()?,
            ".name" => names.name = reader.text_or_skip()?,
            _ => reader.skip()?,
        }
    }
    Some(names)
}

/// Reads a kernel.
fn kernel<'a>(reader: &mut Reader<'a>) -> Option<(KernelNames<'a>, KernelCode<'a>)> {
    let (mut names, mut kernel) = (KernelNames::default(), KernelCode::default());
    for _ in 0..reader.map()? {
        let number = match reader.text_or_skip()?.unwrap_or_default() {
            ".symbol" => {
                names.descriptor = reader.text_or_skip()?;
                continue;
            }
            ".name" => {
                names.name = reader.text_or_skip()?;
                continue;
            }
            ".args" => {
                kernel.args = arguments(reader)?;
                continue;
            }
            ".vgpr_count" => &mut kernel.vgprs,
            ".agpr_count" => &mut kernel.agprs,
            ".sgpr_count" => &mut kernel.sgprs,
            ".vgpr_spill_count" => &mut kernel.vgpr_spills,
            ".sgpr_spill_count" => &mut kernel.sgpr_spills,
            ".group_segment_fixed_size" => &mut kernel.lds,
            ".private_segment_fixed_size" => &mut kernel.scratch,
            ".wavefront_size" => &mut kernel.wavefront,
            ".kernarg_segment_size" => &mut kernel.kernarg,
            ".max_flat_workgroup_size" => &mut kernel.max_block,
            _ => {
                reader.skip()?;
                continue;
            }
        };
        *number = reader.number_or_skip()?;
    }
    // A kernel without arguments may have no `.args` at all.
    kernel.args = kernel.args.or_else(|| (kernel.kernarg == Some(0)).then(Vec::new));
    Some((names, kernel))
}

/// Reads the explicit arguments; `Some(None)` if their offsets, sizes or kinds are missing.
fn arguments<'a>(reader: &mut Reader<'a>) -> Option<Option<Vec<Argument<'a>>>> {
    let (mut arguments, mut whole) = (Vec::new(), true);
    for _ in 0..reader.array()? {
        let (argument, has_place) = argument(reader)?;
        if argument.kind.starts_with("hidden_") {
            continue;
        }
        whole &= has_place;
        arguments.push(argument);
    }
    Some(whole.then_some(arguments))
}

/// Reads an argument, and whether offset, size and kind are present.
fn argument<'a>(reader: &mut Reader<'a>) -> Option<(Argument<'a>, bool)> {
    let (mut argument, mut offset, mut size) = (Argument::default(), None, None);
    for _ in 0..reader.map()? {
        match reader.text_or_skip()?.unwrap_or_default() {
            ".offset" => offset = reader.number_or_skip()?,
            ".size" => size = reader.number_or_skip()?,
            ".value_kind" => argument.kind = reader.text_or_skip()?.unwrap_or_default().into(),
            ".name" => argument.name = reader.text_or_skip()?.map(Into::into),
            ".type_name" => argument.type_name = reader.text_or_skip()?.map(Into::into),
            ".value_type" => argument.value_type = reader.text_or_skip()?.map(Into::into),
            _ => reader.skip()?,
        }
    }
    let has_place = offset.is_some() && size.is_some() && !argument.kind.is_empty();
    Some((Argument { offset: offset.unwrap_or(0), size: size.unwrap_or(0), ..argument }, has_place))
}
