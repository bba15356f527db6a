//! Finds librocshim.so, and reads the lists that it contains about itself.

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection};
use rocshim_report::{HookLine, VariableLine};
use rocshim_trace::SHIM_LIBRARY;
use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

const NAME: &str = "librocshim.so";

/// Returns the shim's absolute path: as requested, else `$ROCSHIM_LIB`, else beside this program,
/// else in `../lib` of it.
pub(crate) fn find_shim(asked: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = asked {
        return absolute(path).with_context(|| format!("cannot use --shim {}", path.display()));
    }
    if let Some(path) = env::var_os("ROCSHIM_LIB").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return absolute(&path).with_context(|| format!("cannot use ROCSHIM_LIB={}", path.display()));
    }
    let own = env::current_exe().context("cannot find the folder of rocshim itself; give --shim PATH")?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(NAME), folder.join("../lib").join(NAME)];
    if let Some(found) = places.iter().find_map(|place| absolute(place).ok()) {
        return Ok(found);
    }
    bail!(
        "{NAME} is neither in {} nor in ../lib beside it; give --shim PATH or set ROCSHIM_LIB",
        folder.display()
    )
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let path = path.canonicalize()?;
    if path.is_dir() {
        return Err(std::io::Error::other("it is a folder, not librocshim.so"));
    }
    Ok(path)
}

/// Returns the value of LD_PRELOAD that loads the shim before other preloaded libraries.
pub(crate) fn preload_value(shim: &Path, existing: Option<&OsStr>) -> Result<OsString> {
    if shim.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b':' | b' ')) {
        bail!(
            "LD_PRELOAD cannot carry the path {} because of its space or colon; copy {NAME} elsewhere and give --shim PATH",
            shim.display()
        );
    }
    let mut value = shim.as_os_str().to_owned();
    if let Some(existing) = existing.filter(|existing| !existing.is_empty()) {
        value.push(":");
        value.push(existing);
    }
    Ok(value)
}

/// Returns the functions that a shim hooks, in the order of its table, without its built-in ones.
pub(crate) fn hooks_of(shim: &Path) -> Result<Vec<HookLine>> {
    Ok(rows_of(shim, ".rocshim.hooks")?
        .into_iter()
        .filter(|[library, ..]| library != SHIM_LIBRARY)
        .map(|[library, symbol, signature]| HookLine { library, symbol, signature })
        .collect())
}

/// Returns those that are not exported: other interception points lead to them.
pub(crate) fn unexported_of(shim: &Path) -> Result<Vec<String>> {
    Ok(rows_of(shim, ".rocshim.unexported")?.into_iter().map(|[symbol, ..]| symbol).collect())
}

/// Returns the environment variables that a shim reads, in the order of its table.
pub(crate) fn variables_of(shim: &Path) -> Result<Vec<VariableLine>> {
    Ok(rows_of(shim, ".rocshim.variables")?
        .into_iter()
        .map(|[name, default, meaning]| VariableLine { name, default, meaning })
        .collect())
}

fn rows_of(shim: &Path, section: &str) -> Result<Vec<[String; 3]>> {
    let name = shim.display();
    let bytes = std::fs::read(shim).with_context(|| format!("cannot read {name}"))?;
    let file = object::File::parse(&*bytes).with_context(|| format!("{name} is no shared library"))?;
    let Some(section) = file.section_by_name(section) else {
        bail!("{name} is not a librocshim.so of this version: it has no section {section}");
    };
    Ok(rows(section.data().with_context(|| format!("cannot read the lists in {name}"))?))
}

/// Parses lines of three columns. Zeros between them are the linker's padding; a line without
/// columns continues the previous one.
fn rows(section: &[u8]) -> Vec<[String; 3]> {
    let text = String::from_utf8_lossy(section).replace('\0', "");
    let mut rows: Vec<[String; 3]> = Vec::new();
    for line in text.lines() {
        let mut columns = line.splitn(3, '\t').map(str::to_string);
        match (columns.next(), columns.next(), columns.next()) {
            (Some(first), Some(second), third) => rows.push([first, second, third.unwrap_or_default()]),
            (Some(more), None, _) => rows.iter_mut().last().into_iter().for_each(|row| {
                row[2].push(' ');
                row[2].push_str(more.trim());
            }),
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shim_comes_before_what_is_preloaded_already() {
        let shim = Path::new("/opt/librocshim.so");
        assert_eq!(preload_value(shim, None).unwrap(), "/opt/librocshim.so");
        assert_eq!(preload_value(shim, Some(OsStr::new(""))).unwrap(), "/opt/librocshim.so");
        assert_eq!(
            preload_value(shim, Some(OsStr::new("/a.so /b.so"))).unwrap(),
            "/opt/librocshim.so:/a.so /b.so"
        );
        assert!(preload_value(Path::new("/my files/librocshim.so"), None).is_err());
    }

    #[test]
    fn padding_is_passed_over_and_broken_lines_are_joined() {
        let section = b"liba.so\tf\tint f(void)\n\0\0\0libb.so\tg\tint g(int a,\n  int b)\n\0\0";
        assert_eq!(
            rows(section),
            [["liba.so", "f", "int f(void)"], ["libb.so", "g", "int g(int a, int b)"]]
                .map(|row| row.map(str::to_string))
        );
    }
}
