//! Demangles C++ function names, and splits their parameter types.

/// The demangled name; `None` if it is not a mangled C++ name.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let read = |name: &str| cpp_demangle::Symbol::new(name).ok()?.demangle().ok();
    read(name).or_else(|| read(&without_parameter_kinds(name)?))
}

/// The name without `Tn` and a type letter before each value: since C++20 a template argument may
/// state the type of its parameter (`Tnj` in `ITnjLj4EE`), which `cpp_demangle` does not read.
/// `None` if there is none.
fn without_parameter_kinds(name: &str) -> Option<String> {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("Tn") {
        let (before, kind) = rest.split_at(at);
        plain.push_str(before);
        let is_kind = kind.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase)
            && kind.as_bytes().get(3) == Some(&b'L');
        let length = if is_kind { 3 } else { 2 };
        plain.push_str(if is_kind { "" } else { "Tn" });
        rest = &kind[length..];
    }
    plain.push_str(rest);
    (plain.len() < name.len()).then_some(plain)
}

/// The parameter types: the contents of the last pair of parentheses. `None` if there is none.
pub(crate) fn parameters(demangled: &str) -> Option<Vec<&str>> {
    let end = demangled.rfind(')')?;
    let begin = opening(&demangled[..end])?;
    let list = demangled[begin + 1..end].trim();
    Some(if list.is_empty() || list == "void" { Vec::new() } else { split(list) })
}

/// The position of the parenthesis that closes at the end of `text`.
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

/// Splits at the commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut round, mut angle, mut start) = (0_i32, 0_i32, 0);
    let mut types = Vec::new();
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => round += 1,
            b')' | b']' | b'}' => round -= 1,
            // Within parentheses, `<` and `>` may be operators.
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
    fn a_list_is_split_between_its_types() {
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

    #[test]
    fn values_with_a_parameter_type_are_demangled() {
        let plain = demangle("_Z1fILj4EEvv");
        assert_eq!(plain.as_deref(), Some("void f<(unsigned int)4>()"));
        assert_eq!(demangle("_Z1fITnjLj4EEvv"), plain);
        assert_eq!(demangle("_Z2Tnv").as_deref(), Some("Tn()"), "a name of its own");
        assert_eq!(demangle("_Z"), None);
    }
}
