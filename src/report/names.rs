//! Shortens kernel names, file names and paths to the width of a column.

pub use rocshim_analysis::names::{family, function, tidy, to_tile};

/// Shortens a text to at most `width` columns. A name with template arguments loses its end,
/// because the first arguments say most (type, columns); another loses its middle, because both
/// ends differ.
pub fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_string();
    }
    let kept = width.saturating_sub(1);
    let is_template = text.ends_with('>') && text.chars().take(kept).any(|c| c == '<');
    let tail = if is_template { 0 } else { kept / 3 };
    let head: String = text.chars().take(kept - tail).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{head}…{tail}")
}

/// Shortens a path to at most `width` columns; keeps its end, which identifies it best.
pub(crate) fn fit_path(path: &str, width: usize) -> String {
    let length = path.chars().count();
    if length <= width {
        return path.to_string();
    }
    let tail: String = path.chars().skip(length - width.saturating_sub(1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits() {
        assert_eq!(fit("abcdefghij", 10), "abcdefghij");
        assert_eq!(fit("abcdefghijk", 10), "abcdef…ijk");
        assert_eq!(fit("mul_mat_q<q4_0, 32, false>", 20), "mul_mat_q<q4_0, 32,…");
        assert_eq!(fit("äöüäöü", 4), "äö…ü");
        assert_eq!(fit_path("/opt/rocm/lib/libx.so", 8), "…libx.so");
        assert_eq!(fit("abc", 0), "…");
    }
}
