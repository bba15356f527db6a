//! Formats an error as one sentence: what, where, why.

/// Formats the chain of an error as one sentence: what, where, why.
pub fn format_error(error: &anyhow::Error) -> String {
    let links: Vec<String> = error.chain().map(|link| plain(&link.to_string())).collect();
    links.join(": ")
}

/// Removes the OS error number, which adds nothing to the words.
fn plain(text: &str) -> String {
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text[..at].to_string(),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_is_one_sentence_without_numbers() {
        let missing = std::fs::read("/no/such/file").context("cannot read /no/such/file").unwrap_err();
        assert_eq!(format_error(&missing), "cannot read /no/such/file: No such file or directory");
    }
}
