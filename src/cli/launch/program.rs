//! Finds the program to run, and known reasons that prevent a library from being preloaded into it.

use super::elf::Elf;
use rustix::fs::{Access, access, getxattr};
use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

/// Result of a search for a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// It can be run.
    Found(PathBuf),
    /// It exists but cannot be run.
    NotExecutable(PathBuf),
    /// It does not exist.
    Missing,
}

/// Searches for a program as a shell does: by its path, else in the folders of PATH.
pub(crate) fn find_program(name: &OsStr) -> Program {
    find_in(name, &env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin")))
}

fn find_in(name: &OsStr, folders: &OsStr) -> Program {
    if name.as_bytes().contains(&b'/') {
        return look(PathBuf::from(name));
    }
    if name.is_empty() {
        return Program::Missing;
    }
    let mut found = Program::Missing;
    for folder in env::split_paths(folders) {
        match look(folder.join(name)) {
            Program::Found(path) => return Program::Found(path),
            Program::NotExecutable(path) if found == Program::Missing => found = Program::NotExecutable(path),
            _ => {}
        }
    }
    found
}

fn look(path: PathBuf) -> Program {
    match path.metadata() {
        Err(_) => Program::Missing,
        Ok(kind) if kind.is_file() && access(&path, Access::EXEC_OK).is_ok() => Program::Found(path),
        Ok(_) => Program::NotExecutable(path),
    }
}

/// A known reason why a program, or part of it, will not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreflightWarning {
    /// The reason, with the file's name.
    pub(crate) what: String,
    /// The next step.
    pub(crate) advice: String,
    /// True when nothing at all will be seen of the program itself.
    pub(crate) is_invisible: bool,
}

impl PreflightWarning {
    fn new(what: String, advice: &str, is_invisible: bool) -> Self {
        PreflightWarning { what, advice: advice.to_string(), is_invisible }
    }
}

/// Returns the warnings about running `path` with these arguments (the program's name first).
pub(crate) fn preflight_warnings(path: &Path, line: &[OsString]) -> Vec<PreflightWarning> {
    let mut preflight_warnings = Vec::from_iter(ollama_client(line));
    preflight_warnings.extend(other_environment(line));
    let files = interpreters(path);
    preflight_warnings.extend(files.iter().filter_map(|file| privileged(file)));
    preflight_warnings.extend(files.last().and_then(|file| not_preloadable(file)));
    preflight_warnings
}

/// Returns the file that the kernel executes in the end: the program, or the interpreter of a
/// script.
pub(crate) fn executed_file(path: &Path) -> PathBuf {
    interpreters(path).pop().unwrap_or_else(|| path.to_path_buf())
}

/// Returns the program and its interpreters. A script's may be a script again, up to a limit.
fn interpreters(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_path_buf()];
    while let Some(next) = files.last().filter(|_| files.len() < 4).and_then(|file| shebang(file)) {
        files.push(next);
    }
    files
}

/// `ollama run` and similar commands talk to a server over HTTP and never use the GPU.
fn ollama_client(line: &[OsString]) -> Option<PreflightWarning> {
    let name = Path::new(line.first()?).file_name()?;
    let verb = line.get(1)?.to_str()?;
    if name != "ollama" || matches!(verb, "serve" | "runner" | "start") || verb.starts_with('-') {
        return None;
    }
    let what = format!("`ollama {verb}` is only a client of the Ollama server, which does the GPU work");
    Some(PreflightWarning::new(
        what,
        "stop the server, run `rocshim run -- ollama serve`, and use ollama as before",
        true,
    ))
}

/// Names of programs that start others without passing on our environment.
const ELSEWHERE: [&str; 8] = ["sudo", "doas", "su", "ssh", "docker", "podman", "systemd-run", "systemctl"];

fn other_environment(line: &[OsString]) -> Option<PreflightWarning> {
    let name = Path::new(line.first()?).file_name()?.to_str()?;
    ELSEWHERE.contains(&name).then(|| {
        let what = format!("`{name}` does not hand LD_PRELOAD on to what it starts");
        PreflightWarning::new(
            what,
            "put rocshim behind it: `sudo rocshim run -- CMD`, or inside the container",
            true,
        )
    })
}

/// A set-user-ID program is loaded without LD_PRELOAD.
fn privileged(file: &Path) -> Option<PreflightWarning> {
    let facts = file.metadata().ok()?;
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let changes_user = facts.mode() & 0o4000 != 0 && facts.uid() != user;
    let changes_group = facts.mode() & 0o2010 == 0o2010 && facts.gid() != group;
    let capabilities = user != 0 && getxattr(file, "security.capability", &mut [0_u8; 64]).is_ok();
    if !(changes_user || changes_group || capabilities) {
        return None;
    }
    let how = if capabilities { "has file capabilities" } else { "is setuid or setgid" };
    let what = format!("{} {how}, so the loader ignores LD_PRELOAD", file.display());
    Some(PreflightWarning::new(
        what,
        "run it as the user that it changes to, from a copy without the bit",
        true,
    ))
}

/// Returns the interpreter of a script, through `env` if that is used.
fn shebang(file: &Path) -> Option<PathBuf> {
    let bytes = first_bytes(file)?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    let first = PathBuf::from(OsStr::from_bytes(words.next()?));
    if first.file_name() != Some(OsStr::new("env")) {
        return Some(first);
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    match find_program(OsStr::from_bytes(name)) {
        Program::Found(path) => Some(path),
        _ => None,
    }
}

fn first_bytes(file: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(256).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the reasons in the file itself.
fn not_preloadable(file: &Path) -> Option<PreflightWarning> {
    let name = file.display();
    let elf = Elf::read(file).ok()??;
    if !elf.x86_64 {
        let what = format!("{name} is not a 64-bit x86 program, so librocshim.so cannot be loaded into it");
        return Some(PreflightWarning::new(what, "use an x86-64 build of it", true));
    }
    match elf.interpreter {
        None => {
            let what = format!("{name} is statically linked, so the loader preloads nothing");
            Some(PreflightWarning::new(
                what,
                "only dynamically linked programs that it starts can be seen",
                true,
            ))
        }
        Some(loader) if loader.contains("musl") => {
            let what = format!("{name} is linked with musl, and librocshim.so needs glibc");
            Some(PreflightWarning::new(
                what,
                "use a glibc build of it; under this one it may not even start",
                true,
            ))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn file(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let scratch = tempfile::tempdir().unwrap();
        let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        let path = env::join_paths([&one, &two]).unwrap();
        let find = |name: &str| find_in(OsStr::new(name), &path);

        assert_eq!(find("prog"), Program::Missing);
        assert_eq!(find(""), Program::Missing);
        let plain = file(&one, "prog", b"", 0o644);
        assert_eq!(find("prog"), Program::NotExecutable(plain));
        let runs = file(&two, "prog", b"", 0o755);
        assert_eq!(find("prog"), Program::Found(runs.clone()), "the one that can be run wins");
        assert_eq!(find(runs.to_str().unwrap()), Program::Found(runs));
        assert_eq!(find(two.to_str().unwrap()), Program::NotExecutable(two));
    }

    #[test]
    fn a_script_leads_to_its_interpreter() {
        let scratch = tempfile::tempdir().unwrap();
        let plain = file(scratch.path(), "a", b"#! /bin/sh -e\necho", 0o755);
        assert_eq!(shebang(&plain), Some("/bin/sh".into()));
        let through_env = file(scratch.path(), "b", b"#!/usr/bin/env -S X=1 sh -e\n", 0o755);
        assert!(shebang(&through_env).is_some_and(|path| path.ends_with("sh")));
        assert_eq!(shebang(&file(scratch.path(), "c", b"\x7fELF", 0o755)), None);
    }

    #[test]
    fn only_the_server_of_ollama_works_on_the_gpu() {
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(
            ollama_client(&line(&["/usr/bin/ollama", "run", "llama3"]))
                .is_some_and(|warning| warning.is_invisible)
        );
        assert_eq!(ollama_client(&line(&["ollama", "serve"])), None);
        assert_eq!(ollama_client(&line(&["ollama"])), None);
        assert_eq!(ollama_client(&line(&["my-ollama", "run"])), None);
    }

    #[test]
    fn who_clears_the_environment_is_reported() {
        let line = |name: &str| vec![OsString::from(name), OsString::from("x")];
        assert!(other_environment(&line("/usr/bin/sudo")).is_some());
        assert_eq!(other_environment(&line("python3")), None);
    }

    #[test]
    fn an_ordinary_program_has_no_traps() {
        let own = env::current_exe().unwrap();
        assert_eq!(preflight_warnings(&own, &[own.clone().into_os_string()]), []);
    }
}
