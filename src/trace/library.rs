//! Which files are a library, whatever their version.

/// Libraries that export another one's names: (name, file).
const TWINS: &[(&str, &str)] = &[("libroctx64.so", "librocprofiler-sdk-roctx.so")];

/// The library under which rows stand that are no hooks of ROCm: what programs tell by `include/rocshim.h`.
pub const OWN_LIBRARY: &str = "librocshim.so";

/// The last part of a path, as records hold it.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// True when a file of this path or soname is the library `name`, or one that exports the same names.
///
/// ```
/// use rocshim_trace::is_library;
/// assert!(is_library("/opt/rocm/lib/libamdhip64.so.7", "libamdhip64.so"));
/// assert!(is_library("librocprofiler-sdk-roctx.so.1", "libroctx64.so"));
/// assert!(!is_library("/opt/rocm/lib/libhipblaslt.so.1", "libhipblas.so"));
/// ```
pub fn is_library(file: &str, name: &str) -> bool {
    let file = file_name(file);
    let is = |name: &str| {
        file.strip_prefix(name).is_some_and(|version| version.is_empty() || version.starts_with('.'))
    };
    is(name) || TWINS.iter().any(|(of, twin)| *of == name && is(twin))
}
