//! A C++ function's name as people write it, and its parameters as that name tells them.

/// The name as people write it; `None` where it is not a mangled C++ name.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    cpp_demangle::Symbol::new(name).ok()?.demangle().ok()
}

/// The types of the parameters: what stands in the last pair of parentheses. `None` where there is none.
pub(crate) fn parameters(demangled: &str) -> Option<Vec<&str>> {
    let end = demangled.rfind(')')?;
    let begin = opening(&demangled[..end])?;
    let list = demangled[begin + 1..end].trim();
    Some(if list.is_empty() || list == "void" { Vec::new() } else { split(list) })
}

/// Where the parenthesis was opened that ends behind `text`.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.bytes().enumerate().rev().find_map(|(at, byte)| {
        match byte {
            b')' => depth += 1,
            b'(' if depth == 0 => return Some(at),
            b'(' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// Splits at the commas that stand in no brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut round, mut angle, mut start) = (0_i32, 0_i32, 0);
    let mut types = Vec::new();
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => round += 1,
            b')' | b']' | b'}' => round -= 1,
            // Between parentheses they may compare or shift.
            b'<' if round == 0 => angle += 1,
            b'>' if round == 0 => angle -= 1,
            b',' if round == 0 && angle == 0 => {
                types.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    types.push(list[start..].trim());
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_where_its_types_end() {
        let name = "void k<(ggml_type)2, 1, (3 > 2)>(float const*, HIP_vector_type<unsigned int, 3u>, void (*)(int, long), Array<(2 < 3), int>)";
        let types = [
            "float const*",
            "HIP_vector_type<unsigned int, 3u>",
            "void (*)(int, long)",
            "Array<(2 < 3), int>",
        ];
        assert_eq!(parameters(name), Some(types.to_vec()));
        assert_eq!(parameters("k()"), Some(vec![]));
        assert_eq!(parameters("k(void)"), Some(vec![]));
        assert_eq!(parameters("k"), None);
        assert_eq!(parameters("k)"), None);
        assert_eq!(parameters("k<f(1)>(int) [clone .kd]"), Some(vec!["int"]));
    }
}
