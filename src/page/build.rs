//! Packs the scripts of the page that `rocshim report` writes: plotly.js and the page's own, each
//! with the hash by which a browser is allowed to run it.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use std::{env, fs, path::Path};

/// plotly.js 3.7.0 (MIT), its bundle of Cartesian charts: the file of the package
/// `plotly.js-cartesian-dist-min` of the npm registry, unchanged.
const PLOTLY: &str = "plotly-cartesian.min.js";

/// The page's own script.
const OWN: &str = "page.js";

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo names the folder");
    for (script, variable) in [(PLOTLY, "PLOTLY_HASH"), (OWN, "PAGE_HASH")] {
        println!("cargo:rerun-if-changed={script}");
        println!("cargo:rustc-env={variable}={}", hash(&read(script)));
    }
    println!("cargo:rerun-if-changed=build.rs");
    let library = read(PLOTLY);
    // A third of its size, and quick to unpack.
    let packed = miniz_oxide::deflate::compress_to_vec(library.as_bytes(), 9);
    fs::write(Path::new(&out).join("plotly.js.deflate"), packed).expect("the folder can be written");
    println!("cargo:rustc-env=PLOTLY_BYTES={}", library.len());
}

fn read(script: &str) -> String {
    fs::read_to_string(script).unwrap_or_else(|error| panic!("{script}: {error}"))
}

/// The hash as a content security policy names a script.
fn hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script.as_bytes())))
}
