//! Glob patterns with `*`, as configuration variables list them for functions and programs.

use crate::file_name;

/// The patterns of a comma-separated list.
pub fn patterns(list: &str) -> impl DoubleEndedIterator<Item = &str> {
    list.split(',').map(str::trim).filter(|pattern| !pattern.is_empty())
}

/// True if `pattern`, in which `*` matches any text, matches all of `name`.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(before) else { return false };
    let (between, after) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The leftmost match leaves most room for the rest.
    for part in between.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(after)
}

/// True if a program with any of these names (paths, of which the last component counts as well) is
/// chosen: it matches a pattern of `only`, if there are any, and none of `skip`.
pub fn is_chosen(only: &str, skip: &str, names: &[&str]) -> bool {
    let is = |pattern: &str| names.iter().any(|name| fits(pattern, name) || fits(pattern, file_name(name)));
    (patterns(only).next().is_none() || patterns(only).any(is)) && !patterns(skip).any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text_and_none() {
        let fitting = |pattern| ["", "a", "ab", "aXb", "b"].map(|name| fits(pattern, name));
        assert_eq!(fitting("*"), [true; 5]);
        assert_eq!(fitting("a*"), [false, true, true, true, false]);
        assert_eq!(fitting("a*b"), [false, false, true, true, false]);
        assert_eq!(fitting(""), [true, false, false, false, false]);
        assert_eq!(fitting("*b"), [false, false, true, true, true]);
        let long = |pattern| fits(pattern, "a::b::kernel_conv_fwd");
        assert!(long("*::*kernel_*conv*") && long("a*b*fwd") && long("a**fwd") && long("*wd"));
        assert!(
            !long("*kernel_*kernel_*") && !long("a*fwdx") && !long("*conv*conv*") && !fits("ab*ba", "aba")
        );
    }

    #[test]
    fn without_patterns_every_program_is_chosen() {
        assert!(is_chosen("", "", &["/bin/sh"]) && is_chosen(" , ", ",", &["/bin/sh"]));
        assert!(!is_chosen("*", "*", &["/bin/sh"]));
    }
}
