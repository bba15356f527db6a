//! Builds what a traced program needs: the shim, the command, the stand-in libraries and programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository")
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| root().join("target"))
}

/// A release artifact. The whole workspace is built, as in `scripts/test`: with fewer packages,
/// dependencies would have other features and be built again.
fn released(file: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(root()).args(["build", "--release", "--quiet", "--workspace"]);
        assert!(cargo.status().expect("cargo runs").success(), "cargo build failed");
        target().join("release")
    });
    folder.join(file)
}

/// `librocshim.so`, release build.
pub fn shim() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| released("librocshim.so"))
}

/// `rocshim`, the command, release build.
pub fn command() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| released("rocshim"))
}

/// The folder of the stand-in libraries; programs built against them are in its `programs`.
pub fn vendor() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = target().join("vendor");
        let status = Command::new(root().join("tests/vendor/build")).arg(&folder).status();
        assert!(status.expect("tests/vendor/build runs").success(), "the stand-ins do not build");
        folder
    })
}

/// The C source of a program of `tests/programs`.
pub fn source(name: &str) -> PathBuf {
    let folders = std::fs::read_dir(root().join("tests/programs")).expect("the folders of programs");
    let mut sources = folders.flatten().map(|folder| folder.path().join(name).with_extension("c"));
    sources.find(|source| source.exists()).unwrap_or_else(|| panic!("there is no {name}.c in tests/programs"))
}

/// The compiler's include options for the programs' headers.
pub fn includes() -> [String; 3] {
    ["vendor", "programs/api", "programs/common"]
        .map(|folder| format!("-I{}", root().join("tests").join(folder).display()))
}

/// A program of `tests/programs`, built against the stand-ins.
pub fn program(name: &str) -> PathBuf {
    let path = vendor().join("programs").join(name);
    assert!(path.exists(), "there is no program {name} in tests/programs");
    path
}
