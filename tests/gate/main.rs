//! Tests of the source tree's text: layers, style, words. `scripts/check` runs them.

/// The source tree.
#[path = "."]
mod gate {
    mod layers;
    mod source;
    mod style;
    mod words;
}
