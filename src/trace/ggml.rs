//! ggml's matrix products: how many columns of activations a launch works on, which decides the path that ggml takes.
//!
//! Kernel signatures as in llama.cpp's ggml-cuda folder, 2023 to 2026: mmvq.cu, mmvf.cu, mmq.cuh, mmf.cuh.

use crate::{Arg, Kernel, Launch};

/// How many columns (`ne11`; tokens, for a model's weights), and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Columns {
    /// At least so many.
    pub least: u64,
    /// At most so many; the same as `least` where the number is known.
    pub most: u64,
    /// Where it was read.
    pub rule: &'static str,
}

impl Columns {
    /// They are those of all experts together, of which each has a part: more than the tokens.
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

/// A kernel of ggml's that makes matrix products, and how the columns of its launches are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product(Way);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nobody knows.
    Unknown,
    /// By the kernel's name.
    Name(u64, &'static str),
    /// By this argument.
    Argument(usize, &'static str),
    /// By the kernel's name, where the third argument is a pointer to nothing: there are no expert ids.
    WithoutIds(u64),
    /// By this argument of `mul_mat_q`; by the grid, in tiles of so many columns, where it was not recorded.
    Tiles { argument: Option<(usize, Ids)>, tile: Option<u64> },
}

/// Whether a form of `mul_mat_q` has expert ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Never,
    /// Where the third argument, a pointer, points to something.
    ByArgument,
}

impl Product {
    /// `None` for a kernel that is none of ggml's matrix products.
    pub fn of(kernel: &Kernel) -> Option<Product> {
        let (name, template) = name_and_template(kernel.demangled.as_deref()?)?;
        let is_product = name.starts_with("mul_mat") || name == "dequantize_mul_mat_vec";
        is_product.then(|| Product(Way::of(kernel, name, &template).unwrap_or(Way::Unknown)))
    }

    /// Whether the columns of a launch depend on its arguments.
    pub fn reads_arguments(&self) -> bool {
        !matches!(self.0, Way::Unknown | Way::Name(..))
    }

    /// The columns that a launch of it works on; `None` where neither the kernel's name nor what was recorded of the
    /// launch tells.
    pub fn columns(&self, launch: &Launch) -> Option<Columns> {
        let exactly = |value: u64, rule| Some(Columns { least: value, most: value, rule });
        match self.0 {
            Way::Unknown => None,
            Way::Name(value, rule) => exactly(value, rule),
            Way::Argument(at, rule) => exactly(number(launch, at)?, rule),
            Way::WithoutIds(value) => {
                (launch.args.len() > 2 && is_null(launch, 2)).then(|| exactly(value, TILE))?
            }
            Way::Tiles { argument, tile } => {
                let of_argument = argument.and_then(|(at, ids)| Some((number(launch, at)?, ids)));
                if let Some((value, ids)) = of_argument {
                    let alone = ids == Ids::Never || is_null(launch, 2);
                    return exactly(value, if alone { ARGUMENT } else { TOTAL });
                }
                // One tile may also be the sign of another way to share out the work (stream-k).
                let (tile, tiles) = (tile?, u64::from(launch.grid[1]));
                (tiles > 1).then(|| Columns { least: tile * (tiles - 1) + 1, most: tile * tiles, rule: GRID })
            }
        }
    }
}

impl Way {
    fn of(kernel: &Kernel, name: &str, template: &[&str]) -> Option<Way> {
        let integers: Vec<u64> = template.iter().filter_map(|word| word.parse().ok()).collect();
        let third_is_pointer =
            kernel.args.as_ref().and_then(|args| args.get(2)).is_none_or(|arg| arg.kind != "by_value");
        Some(match name {
            // <type, ncols_dst, …>; before that <ncols_y, qk, qi, block_q_t, …>; before that <qk, qi, block_q_t, …>.
            "mul_mat_vec_q" if template.first()?.starts_with('(') => Way::Name(*integers.first()?, TEMPLATE),
            "mul_mat_vec_q" if integers.len() >= 4 => Way::Name(integers[0], TEMPLATE),
            "mul_mat_vec_q" | "dequantize_mul_mat_vec" => Way::Name(1, ONE),
            // <T, type_acc, ncols_dst, block_size, …>; before that <T, type_acc, block_size>.
            "mul_mat_vec_f" | "mul_mat_vec" if integers.len() >= 2 => Way::Name(integers[0], TEMPLATE),
            "mul_mat_vec_f" | "mul_mat_vec" => Way::Name(1, ONE),
            // …, ncols_dst, ids_stride)
            "mul_mat_vec_q_moe" => {
                let scalars = scalars(kernel)?;
                Way::Argument(*scalars.get(scalars.len().checked_sub(2)?)?, ARGUMENT)
            }
            "mul_mat_q" => {
                let (argument, tile) = (columns_of_mul_mat_q(kernel)?, integers.first().copied());
                let ids = |(at, pointers)| (at, if pointers < 6 { Ids::Never } else { Ids::ByArgument });
                Way::Tiles { argument: argument.map(ids), tile }
            }
            // <T, rows_per_block, cols_per_block, nwarps, has_ids>; before that without has_ids.
            "mul_mat_f" if template.last() == Some(&"false") => Way::Name(*integers.get(1)?, TILE),
            "mul_mat_f" if third_is_pointer => Way::WithoutIds(*integers.get(1)?),
            // (…, ncols, ncols_dst_total, …)
            "mul_mat_f_ids" => Way::Argument(*scalars(kernel)?.get(1)?, TOTAL),
            _ => return None,
        })
    }
}

/// Which argument of `mul_mat_q` is the number of columns, and how many arguments are pointers. The inner `None` where
/// the arguments are not known; the outer one for a form that nobody has seen.
fn columns_of_mul_mat_q(kernel: &Kernel) -> Option<Option<(usize, usize)>> {
    let Some(scalars) = scalars(kernel) else { return Some(None) };
    let pointers = kernel.args.as_ref()?.len() - scalars.len();
    let place = match (pointers, scalars.len()) {
        // (x, y, dst, ncols_x, nrows_x, ncols_y, nrows_y, nrows_dst)
        (3, 5) => 2,
        // (x, y, dst, [tmp_fixup,] ne00, ne01, stride01, ne10, ne11, stride11, ne0)
        (3 | 4, 7) => 4,
        // (x, y, ids_dst, expert_bounds, dst, tmp_fixup, …, ncols_x or blocks_per_ne00, nrows_x, ncols_dst, …)
        (6.., 10..) => 2,
        _ => return None,
    };
    Some(Some((*scalars.get(place)?, pointers)))
}

/// The places of the arguments that are no pointers.
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

/// True when the pointer that is argument `at` points to nothing, or was not recorded.
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

    /// A kernel whose arguments have these kinds (p: a pointer, i: an integer, s: a struct), launched with integers that
    /// tell their places.
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
        let found = Product::of(&kernel).and_then(|product| product.columns(&launch));
        found.map(|columns| (columns.least, columns.most, columns.rule))
    }

    #[test]
    fn the_name_of_a_vector_kernel_tells() {
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
    fn each_form_of_mul_mat_q_has_its_columns_in_their_place() {
        let new = "void mul_mat_q<(ggml_type)10, 104, false, (ggml_prec)30>(char const*)";
        assert_eq!(launched(new, "pppppppsiiiiissiiissiiis", 0), Some((9, 9, ARGUMENT)));
        assert_eq!(launched(new, "pppppppsiiiiissiiissiiis", 1), Some((9, 9, TOTAL)));
        assert_eq!(launched(new, "ppppppiiiiiiiiiiiiiiiii", 0), Some((8, 8, ARGUMENT)));
        assert_eq!(launched(new, "ppppiiiiiii", 1), Some((8, 8, ARGUMENT)));
        assert_eq!(launched(new, "pppiiiiiii", 1), Some((7, 7, ARGUMENT)));
        assert_eq!(launched(new, "pppiiiii", 1), Some((5, 5, ARGUMENT)));
        assert_eq!(launched(new, "ppi", 1), None, "a form that nobody has seen");
    }

    #[test]
    fn without_arguments_the_grid_tells_a_range() {
        assert_eq!(launched("void mul_mat_q<(ggml_type)2, 32, false>(int)", "", 0), Some((65, 96, GRID)));
    }

    #[test]
    fn kernels_of_experts_have_their_columns_among_their_arguments() {
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
