//! Recognises a library by file name or soname, whatever its version.

/// Libraries that export the names of another one: (name, file).
const TWINS: &[(&str, &str)] = &[("libroctx64.so", "librocprofiler-sdk-roctx.so")];

/// The library name of the shim's own API, `include/rocshim.h`.
pub const SHIM_LIBRARY: &str = "librocshim.so";

/// The last component of a path, as records hold it.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// True if a file with this path or soname is the library `name`, or one that exports the same
/// names.
pub fn is_library(file: &str, name: &str) -> bool {
    let file = file_name(file);
    let is = |name: &str| {
        file.strip_prefix(name).is_some_and(|version| version.is_empty() || version.starts_with('.'))
    };
    is(name) || TWINS.iter().any(|(of, twin)| *of == name && is(twin))
}
