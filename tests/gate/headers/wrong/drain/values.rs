//! Wrong statements, for test_check.py.

/// One number is wrong, one is missing, one is too many.
pub(crate) fn operation(number: u32) -> Cow<'static, str> {
    word(&[(111, "T"), (112, "T"), (114, "C")], number)
}

const UNKNOWN: &[(u32, &str)] = &[(1, "one")];
