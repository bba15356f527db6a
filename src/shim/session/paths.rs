//! Paths of a process's files: its trace, and the folder of its ring files.

use crate::platform::ids::uid;
use crate::table::config::Config;
use rocshim_drain::Stat;
use rocshim_ring::definition::ProcessIdentity;
use rocshim_ring::{Control, Folder, Log, Pool};
use rocshim_trace::out_path::{Placeholder, fill_in, names_file};
use rocshim_trace::{TracePath, launcher};
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Creates the empty trace file: in the configured folder or else in the fallback folder under the
/// temporary folder, then with a note that has the reason.
pub(crate) fn create_trace(
    config: &Config,
    identity: &ProcessIdentity,
) -> io::Result<(PathBuf, Option<String>)> {
    let fallback = std::env::temp_dir().join(format!("rocshim-{}", uid()));
    let end = if config.compress.is_some() { "ndjson.zst" } else { "ndjson" };
    let (folder, name) = place(&config.out, identity);
    let first = create_trace_in(&folder, true, &name, end);
    let Err(error) = first else { return first.map(|path| (path, None)) };
    let path = create_trace_in(&fallback, false, &name, end)?;
    let note =
        config.is_out_given.then(|| format!("{}: {error}; the trace is here instead", folder.display()));
    Ok((path, note))
}

/// Returns the folder of this process's trace, and the file's name without its extension.
fn place(out: &Path, identity: &ProcessIdentity) -> (PathBuf, String) {
    let program = identity.exe.rsplit('/').next().unwrap_or("program");
    let variable = |name: &str| std::env::var(name).ok();
    let first_of = |names: &[&str]| names.iter().find_map(|name| variable(name));
    let value = |placeholder: Placeholder<'_>| match placeholder {
        Placeholder::Host => Some(identity.host.to_string()),
        Placeholder::Pid => Some(identity.pid.to_string()),
        Placeholder::Program => Some(program.to_owned()),
        Placeholder::Rank => launcher::rank(variable).map(|(rank, ..)| rank.to_string()),
        Placeholder::LocalRank => first_of(&launcher::LOCAL_RANKS),
        Placeholder::Job => first_of(&launcher::JOBS),
        Placeholder::Variable(name) => variable(name),
    };
    // A path that is not text has no placeholders.
    let folder = out.to_str().map_or_else(|| out.to_owned(), |text| fill_in(text, value).into());
    match (names_file(out), folder.parent(), folder.file_name().and_then(|name| name.to_str())) {
        (true, Some(parent), Some(name)) => (parent.to_owned(), name.to_owned()),
        _ => (folder, format!("{program}-{}", identity.pid)),
    }
}

/// Creates the trace file in `folder`, which is created if missing, with its parents only if
/// `is_configured`. Its name is `name`, or, where that is taken, `name` with a number.
fn create_trace_in(folder: &Path, is_configured: bool, name: &str, end: &str) -> io::Result<PathBuf> {
    match DirBuilder::new().recursive(is_configured).mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !is_configured {
        // The fallback folder's name is predictable: it must be ours, and closed to other users.
        let found = std::fs::symlink_metadata(folder)?;
        if !found.is_dir() || found.uid() != uid() || found.mode() & 0o077 != 0 {
            let what = format!("{}: not a folder of this user alone", folder.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
    }
    // A process image replaced by `exec` has the same pid and keeps its own file.
    for attempt in 0.. {
        let suffix = if attempt == 0 { String::new() } else { format!("-{attempt}") };
        let path = folder.join(format!("{name}{suffix}.{end}"));
        if has_segments(&path) {
            continue;
        }
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match made {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 10_000 => {}
            made => return made.map(|_| path),
        }
    }
    unreachable!("the loop returns")
}

/// Returns true when other segments of this first file exist: it was deleted, and its process had
/// the same pid.
fn has_segments(first: &Path) -> bool {
    let stem = first.file_name().unwrap_or_default().as_encoded_bytes();
    let stem = stem.strip_suffix(b".zst").unwrap_or(stem);
    let stem = stem.strip_suffix(b".ndjson").unwrap_or(stem);
    let is_segment = |path: PathBuf| TracePath::of(&path).is_some_and(|of| of.part > 1 && of.first == first);
    let folder = first.parent().and_then(|folder| folder.read_dir().ok());
    // By the name alone first: the folder may hold thousands of traces.
    let mut entries = folder.into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().as_encoded_bytes().starts_with(stem) && is_segment(entry.path()))
}

/// Creates the folder of the ring files and the files that exist once per process: in the
/// configured folder, or else beside the trace; `None` when neither works. `is_child`: this process
/// is a forked child of one that is recorded.
pub(crate) fn create_folder(
    config: &Config,
    identity: &ProcessIdentity,
    trace: &Path,
    is_child: bool,
) -> Option<RingFiles> {
    let name = format!("rocshim-{}-{}-{}", uid(), identity.pid, identity.start_ticks);
    let file = trace.file_name()?.to_string_lossy();
    let file = file.split(".ndjson").next()?;
    let beside = trace.with_file_name(format!(".rocshim-{file}"));
    let configured = (0..100).map(|attempt| config.rings.join(format!("{name}-{attempt}")));
    configured.chain([beside]).find_map(|path| {
        let folder = Folder::create(path).ok()?;
        let begun = begin(&folder, config, is_child);
        if begun.is_err() {
            let _ = folder.remove();
        }
        begun.ok().map(|(control, log, pool)| RingFiles { folder, control, log, pool })
    })
}

/// The folder, and the files created in it before anything is recorded.
pub(crate) struct RingFiles {
    pub(crate) folder: Folder,
    pub(crate) control: Control,
    pub(crate) log: Log,
    pub(crate) pool: Pool,
}

fn begin(folder: &Folder, config: &Config, is_child: bool) -> io::Result<(Control, Log, Pool)> {
    let (control, log) = (Control::create(Some(folder))?, Log::new(Some(folder.path())));
    control.set_pid_namespace(Stat::pid_namespace());
    log.begin()?;
    let create = if is_child { Pool::create_in_child } else { Pool::create };
    Ok((control, log, create(Some(&folder.pool_path()), config.memory_bytes)?))
}
