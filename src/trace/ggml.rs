//! Finds how many columns of activations a GEMM kernel of ggml works on; this number decides which
//! kernel path ggml takes.

use crate::{Arg, Kernel, Launch};

/// A number of columns (`ne11`; for a model's weights, the tokens), and the rule that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Columns {
    /// Lower bound.
    pub least: u64,
    /// Upper bound; equal to `least` if the number is exact.
    pub most: u64,
    /// Which argument or name it was read from.
    pub rule: &'static str,
}

impl Columns {
    /// True if the columns are those of all experts together, each of which has a share: more than
    /// the tokens.
    pub fn of_all_experts(&self) -> bool {
        self.rule == TOTAL
    }
}

const TEMPLATE: &str = "template argument ncols_dst";
const TILE: &str =
    "template argument cols_per_block, which is the number of columns where there are no expert ids";
const ONE: &str = "the kernel has one column";
const ARGUMENT: &str = "argument ncols_dst";
const TOTAL: &str = "argument ncols_dst, the columns of all experts together";
const GRID: &str = "grid.y tiles of mmq_x columns";

/// A GEMM kernel of ggml, and how the columns of its launches are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatMul(Source);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// There is no known rule.
    Unknown,
    /// By the kernel's name: this number, by this rule.
    Name(u64, &'static str),
    /// By the argument with this index.
    Argument(usize, &'static str),
    /// By the kernel's name, provided the third argument is a null pointer: there are no expert
    /// ids.
    WithoutIds(u64),
    /// By this argument of `mul_mat_q`, else, if it was not recorded, by the grid in tiles of this
    /// many columns.
    Tiles { argument: Option<(usize, Ids)>, tile: Option<u64> },
}

/// Whether a form of `mul_mat_q` has expert ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Never,
    /// Where the third argument, a pointer, is not null.
    ByArgument,
}

impl MatMul {
    /// `None` for a kernel that is not one of ggml's GEMMs.
    pub fn of(kernel: &Kernel) -> Option<MatMul> {
        let (name, template) = name_and_template(kernel.demangled.as_deref()?)?;
        let is_matmul = name.starts_with("mul_mat") || name == "dequantize_mul_mat_vec";
        is_matmul.then(|| MatMul(Source::of(kernel, name, &template).unwrap_or(Source::Unknown)))
    }

    /// Whether the columns of a launch depend on its arguments.
    pub fn reads_arguments(&self) -> bool {
        !matches!(self.0, Source::Unknown | Source::Name(..))
    }

    /// The columns of a launch; `None` if neither the kernel's name nor the recorded arguments
    /// determine them.
    pub fn columns(&self, launch: &Launch) -> Option<Columns> {
        let exactly = |value: u64, rule| Some(Columns { least: value, most: value, rule });
        match self.0 {
            Source::Unknown => None,
            Source::Name(value, rule) => exactly(value, rule),
            Source::Argument(at, rule) => exactly(number(launch, at)?, rule),
            Source::WithoutIds(value) => {
                (launch.args.len() > 2 && is_null(launch, 2)).then(|| exactly(value, TILE))?
            }
            Source::Tiles { argument, tile } => {
                let of_argument = argument.and_then(|(at, ids)| Some((number(launch, at)?, ids)));
                if let Some((value, ids)) = of_argument {
                    let alone = ids == Ids::Never || is_null(launch, 2);
                    return exactly(value, if alone { ARGUMENT } else { TOTAL });
                }
                // A single tile can also come from another work distribution (stream-k).
                let (tile, tiles) = (tile?, u64::from(launch.grid[1]));
                (tiles > 1).then(|| Columns { least: tile * (tiles - 1) + 1, most: tile * tiles, rule: GRID })
            }
        }
    }
}

impl Source {
    fn of(kernel: &Kernel, name: &str, template: &[&str]) -> Option<Source> {
        let integers: Vec<u64> = template.iter().filter_map(|word| word.parse().ok()).collect();
        let third_is_pointer =
            kernel.args.as_ref().and_then(|args| args.get(2)).is_none_or(|arg| arg.kind != "by_value");
        Some(match name {
            // <type, ncols_dst, …>; before that <ncols_y, qk, qi, block_q_t, …>; before that <qk,
            // qi, block_q_t, …>.
            "mul_mat_vec_q" if template.first()?.starts_with('(') => {
                Source::Name(*integers.first()?, TEMPLATE)
            }
            "mul_mat_vec_q" if integers.len() >= 4 => Source::Name(integers[0], TEMPLATE),
            "mul_mat_vec_q" | "dequantize_mul_mat_vec" => Source::Name(1, ONE),
            // <T, type_acc, ncols_dst, block_size, …>; before that <T, type_acc, block_size>.
            "mul_mat_vec_f" | "mul_mat_vec" if integers.len() >= 2 => Source::Name(integers[0], TEMPLATE),
            "mul_mat_vec_f" | "mul_mat_vec" => Source::Name(1, ONE),
            // …, ncols_dst, ids_stride)
            "mul_mat_vec_q_moe" => {
                let scalars = scalars(kernel)?;
                Source::Argument(*scalars.get(scalars.len().checked_sub(2)?)?, ARGUMENT)
            }
            "mul_mat_q" => {
                let (argument, tile) = (columns_of_mul_mat_q(kernel)?, integers.first().copied());
                let ids = |(at, pointers)| (at, if pointers < 6 { Ids::Never } else { Ids::ByArgument });
                Source::Tiles { argument: argument.map(ids), tile }
            }
            // <T, rows_per_block, cols_per_block, nwarps, has_ids>; before that without has_ids.
            "mul_mat_f" if template.last() == Some(&"false") => Source::Name(*integers.get(1)?, TILE),
            "mul_mat_f" if third_is_pointer => Source::WithoutIds(*integers.get(1)?),
            // (…, ncols, ncols_dst_total, …)
            "mul_mat_f_ids" => Source::Argument(*scalars(kernel)?.get(1)?, TOTAL),
            _ => return None,
        })
    }
}

/// Which argument of `mul_mat_q` is the number of columns, and how many arguments are pointers. The
/// inner `None`: the arguments are not known. The outer: an unknown form.
fn columns_of_mul_mat_q(kernel: &Kernel) -> Option<Option<(usize, usize)>> {
    let Some(scalars) = scalars(kernel) else { return Some(None) };
    let pointers = kernel.args.as_ref()?.len() - scalars.len();
    let place = match (pointers, scalars.len()) {
        // (x, y, dst, ncols_x, nrows_x, ncols_y, nrows_y, nrows_dst)
        (3, 5) => 2,
        // (x, y, dst, [tmp_fixup,] ne00, ne01, stride01, ne10, ne11, stride11, ne0)
        (3 | 4, 7) => 4,
        // (x, y, ids_dst, expert_bounds, dst, tmp_fixup, …, ncols_x or blocks_per_ne00, nrows_x,
        // ncols_dst, …)
        (6.., 10..) => 2,
        _ => return None,
    };
    Some(Some((*scalars.get(place)?, pointers)))
}

/// The indices of the arguments that are not pointers.
fn scalars(kernel: &Kernel) -> Option<Vec<usize>> {
    let args = kernel.args.as_ref()?;
    Some((0..args.len()).filter(|at| args[*at].kind == "by_value").collect())
}

fn number(launch: &Launch, at: usize) -> Option<u64> {
    match launch.args.get(at)? {
        Arg::Integer(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

/// True if the pointer argument `at` is null or was not recorded.
fn is_null(launch: &Launch, at: usize) -> bool {
    launch.args.get(at).is_none_or(|arg| matches!(arg, Arg::Hex(value) if value.is_zero()))
}

/// `void f<(t)2, 1>(int)` → `f`, [`(t)2`, `1`].
fn name_and_template(demangled: &str) -> Option<(&str, Vec<&str>)> {
    let end = demangled.find(['<', '('])?;
    let name = demangled[..end].rsplit([' ', ':']).next()?;
    if !demangled[end..].starts_with('<') {
        return Some((name, Vec::new()));
    }
    let (mut depth, mut start, mut words) = (0, end + 1, Vec::new());
    for (at, byte) in demangled.bytes().enumerate().skip(end) {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && byte == b',') {
            words.push(demangled[start..at].trim());
            start = at + 1;
        }
        if depth == 0 {
            return Some((name, words));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Hex};

    /// Launches a kernel whose arguments have these kinds (p: pointer, i: integer, s: struct), with
    /// each integer equal to its index.
    fn launched(demangled: &str, kinds: &str, ids: u64) -> Option<(u64, u64, &'static str)> {
        let kind = |kind| if kind == 'p' { "global_buffer" } else { "by_value" };
        let argument = |c| Argument { kind: kind(c).into(), ..Argument::default() };
        let value = |(at, kind): (usize, char)| match kind {
            'p' if at == 2 => Arg::Hex(Hex(ids)),
            'p' => Arg::Hex(Hex(0x7f00)),
            's' => Arg::Bytes([0; 12].into()),
            _ => Arg::Integer(at as i64),
        };
        let args = Some(kinds.chars().map(argument).collect()).filter(|_| !kinds.is_empty());
        let kernel = Kernel { demangled: Some(demangled.into()), args, ..Kernel::default() };
        let args = kinds.chars().enumerate().map(value).collect();
        let launch = Launch { args, grid: [8, 3, 1], ..Launch::default() };
        let found = MatMul::of(&kernel).and_then(|product| product.columns(&launch));
        found.map(|columns| (columns.least, columns.most, columns.rule))
    }

    #[test]
    fn the_name_of_a_vector_kernel_has_the_columns() {
        let of = |demangled| launched(demangled, "", 0).map(|(least, ..)| least);
        assert_eq!(of("void mul_mat_vec_q<(ggml_type)2, 3, false, true>(void const*)"), Some(3));
        assert_eq!(of("mul_mat_vec_q<(ggml_type)12, 1>(void const*)"), Some(1));
        assert_eq!(
            of("void mul_mat_vec_q<4, 32, 4, block_q4_0, 2, &(vec_dot(int, int))>(void const*)"),
            Some(4)
        );
        assert_eq!(
            of("void mul_mat_vec_q<32, 4, block_q4_0, 2, &(vec_dot(int, int))>(void const*)"),
            Some(1)
        );
        assert_eq!(of("void mul_mat_vec_f<__half, float, 5, 128, false, false>(__half const*)"), Some(5));
        assert_eq!(of("void mul_mat_vec<__half, float, 128>(__half const*)"), Some(1));
        assert_eq!(of("void mul_mat_f<__half2, 32, 7, 2, false>(__half2 const*)"), Some(7));
        for other in [
            "void mul_mat_f<__half2, 32, 16, 2, true>(int)",
            "mul_mat_vec_q_moe<(ggml_type)2, 2>(int)",
            "rms_norm_f32<256>(int)",
            "mul_mat_vec_q<(ggml_type)2, ncols>(int)",
            "mul_mat_vec_q<(ggml_type)2, 3",
            "k",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn the_columns_of_each_form_of_mul_mat_q_are_read() {
        let new = "void mul_mat_q<(ggml_type)10, 104, false, (ggml_prec)30>(char const*)";
        assert_eq!(launched(new, "pppppppsiiiiissiiissiiis", 0), Some((9, 9, ARGUMENT)));
        assert_eq!(launched(new, "pppppppsiiiiissiiissiiis", 1), Some((9, 9, TOTAL)));
        assert_eq!(launched(new, "ppppppiiiiiiiiiiiiiiiii", 0), Some((8, 8, ARGUMENT)));
        assert_eq!(launched(new, "ppppiiiiiii", 1), Some((8, 8, ARGUMENT)));
        assert_eq!(launched(new, "pppiiiiiii", 1), Some((7, 7, ARGUMENT)));
        assert_eq!(launched(new, "pppiiiii", 1), Some((5, 5, ARGUMENT)));
        assert_eq!(launched(new, "ppi", 1), None, "an unknown form");
    }

    #[test]
    fn without_arguments_the_grid_gives_a_range() {
        assert_eq!(launched("void mul_mat_q<(ggml_type)2, 32, false>(int)", "", 0), Some((65, 96, GRID)));
    }

    #[test]
    fn columns_of_expert_kernels_are_arguments() {
        let moe = "void mul_mat_vec_q_moe<(ggml_type)2, 2, false>(void const*)";
        assert_eq!(launched(moe, "pppspisiiiiiiiii", 1), Some((14, 14, ARGUMENT)));
        assert_eq!(
            launched("void mul_mat_f_ids<__half2, 32, 10, 1>(int)", "ppppppiiiiiiiiiiiiiiss", 1),
            Some((7, 7, TOTAL))
        );
        assert_eq!(
            launched("void mul_mat_f<__half2, 32, 7, 2>(int)", "ppppiiiiiiiiiiiiiiii", 1),
            None,
            "with ids"
        );
    }
}
