//! Demangles C++ function names, and splits their parameter types.

/// The demangled name; `None` if it is not a mangled C++ name.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let read = |name: &str| cpp_demangle::Symbol::new(name).ok()?.demangle().ok();
    read(name).or_else(|| read(&without_parameter_kinds(name)?))
}

/// The name without the types that `Tn` states: since C++20 a template argument may begin with the
/// type of its parameter (`Tnj` in `ITnjLj4EE`), which `cpp_demangle` does not read. A built-in
/// type is left out. A class type can be referred to later in the name, so `std::enable_if`'s
/// stays, as an argument before its value, where the value is the last argument. `None` if there
/// is none.
fn without_parameter_kinds(name: &str) -> Option<String> {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("Tn") {
        let (before, kind) = rest.split_at(at);
        plain.push_str(before);
        let left_out = stated_type(&kind[2..]).map(|length| 2 + length);
        plain.push_str(if left_out.is_some() { "" } else { "Tn" });
        rest = &kind[left_out.unwrap_or(2)..];
    }
    plain.push_str(rest);
    (plain.len() < name.len()).then_some(plain)
}

/// The length of what is left out after `Tn`; `None` if no known type follows.
fn stated_type(rest: &str) -> Option<usize> {
    let is_value = |at: usize| matches!(rest.as_bytes().get(at), Some(b'L' | b'X'));
    match rest.as_bytes() {
        [b'D', b'a', ..] if is_value(2) => Some(2),
        [b'a'..=b'z', ..] if is_value(1) => Some(1),
        _ if rest.starts_with("NSt9enable_ifI") && rest.contains("4typeELi0EE") => Some(0),
        _ => None,
    }
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
        assert_eq!(demangle("_Z1fITnDaXadL_Z1gvEEEvv").as_deref(), Some("void f<&g()>()"));
        let enabled = "_Z1fILi3ETnNSt9enable_ifIXgtT_Li2EEiE4typeELi0EEvv";
        let read = demangle(enabled).expect("a name");
        assert!(read.starts_with("void f<3, std::enable_if<"), "{read}");
        assert_eq!(demangle("_Z2Tnv").as_deref(), Some("Tn()"), "a name of its own");
        assert_eq!(demangle("_Z"), None);
    }
}
