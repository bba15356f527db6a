//! The fixed parts of the page: styles, plotly.js, the page's own script, and the content security
//! policy that allows these and nothing else.

pub(super) const STYLE: &str = include_str!("page.css");
pub(super) const SCRIPT: &str = include_str!("page.js");
const PLOTLY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.deflate"));

/// Returns plotly.js, which the build has compressed.
pub(super) fn plotly() -> String {
    let length = env!("PLOTLY_BYTES").parse().expect("the build wrote a number");
    let script = miniz_oxide::inflate::decompress_to_vec_with_limit(PLOTLY, length);
    String::from_utf8(script.expect("the build packed it")).expect("a script is text")
}

/// Returns the content security policy: no network, and no script but the two.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{}' '{}'",
        env!("PLOTLY_HASH"),
        env!("PAGE_HASH")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plotly_is_whole_and_says_whose_it_is() {
        let script = plotly();
        assert!(script.starts_with("/**\n* plotly.js (cartesian - minified) v3.7.0"), "{}", &script[..40]);
        assert!(script.contains("Licensed under the MIT license") && !script.contains("</script"));
        assert_eq!(script.len().to_string(), env!("PLOTLY_BYTES"));
    }
}
