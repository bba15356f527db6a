//! Packs the scripts of the page that `rocshim report` writes: plotly.js, which the crate `plotly` carries, and the page's own;
//! each with the hash by which alone a browser runs it.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use std::{env, fs, path::Path};

const OWN: &str = "page.js";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={OWN}");
    let out = env::var_os("OUT_DIR").expect("cargo names the folder");
    let library = plotly();
    // As fast as it unpacks, at a third of the size.
    let packed = miniz_oxide::deflate::compress_to_vec(library.as_bytes(), 9);
    fs::write(Path::new(&out).join("plotly.js.deflate"), packed).expect("the folder can be written");
    println!("cargo:rustc-env=PLOTLY_BYTES={}", library.len());
    println!("cargo:rustc-env=PLOTLY_HASH={}", hash(&library));
    println!("cargo:rustc-env=PAGE_HASH={}", hash(&fs::read_to_string(OWN).expect("the page's script")));
}

/// plotly.min.js: the first of the scripts that the crate gives for use without a network.
fn plotly() -> String {
    let sources = plotly::Plot::offline_js_sources();
    let (_, script) = sources.split_once("<script type=\"text/javascript\">").expect("a script");
    let (script, _) = script.split_once("</script>").expect("the script's end");
    assert!(script.starts_with("/**\n* plotly.js v"), "the first script is plotly.js");
    script.to_owned()
}

/// As a content security policy names a script.
fn hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script.as_bytes())))
}
