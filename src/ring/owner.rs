//! Opens files of another user with that user's rights, and follows no link: before root recovers
//! the trace of a killed process, its user may have replaced a file or folder by a link.
#![allow(unsafe_code)] // file-system ids of the thread, and opens relative to a folder

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

/// The user and group that a file belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    uid: u32,
    gid: u32,
}

impl Owner {
    /// The owner of a file.
    pub fn of(file: &Metadata) -> Owner {
        Owner { uid: file.uid(), gid: file.gid() }
    }

    /// True for the same user.
    pub fn is(self, other: Owner) -> bool {
        self.uid == other.uid
    }
}

/// True when the calling thread has the rights of root.
pub fn is_root() -> bool {
    // SAFETY: `geteuid` takes no argument and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// While it lives, the calling thread accesses files with the rights of their owner and no others.
/// Without effect on a thread that is not root's, which cannot change its rights.
pub struct Rights {
    /// The thread's groups before, the effective one first; `None` if they were not changed.
    before: Option<Vec<libc::gid_t>>,
    /// Makes the value `!Send`: the rights are the calling thread's.
    _own: std::marker::PhantomData<*const ()>,
}

impl Rights {
    /// Assumes the rights of `owner`.
    ///
    /// # Errors
    /// When the system refuses; the thread's rights are restored then.
    pub fn of(owner: Owner) -> io::Result<Rights> {
        let mut rights = Rights { before: None, _own: std::marker::PhantomData };
        if is_root() && owner.uid != 0 {
            let before = groups()?;
            set_groups(&[])?;
            rights.before = Some(before);
            set_group(owner.gid);
            set_user(owner.uid);
            // `setfsuid` does not report failure. With an invalid id it changes nothing, and
            // returns the current id.
            if set_user(u32::MAX) != owner.uid {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
        }
        Ok(rights)
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            set_user(0);
            set_group(before[0]);
            // Root may do this. If it failed, the thread would have fewer rights than before, not
            // more.
            let _ = set_groups(&before[1..]);
        }
    }
}

/// Sets the user with whose rights the calling thread accesses files; returns the previous one.
fn set_user(uid: u32) -> u32 {
    // SAFETY: `setfsuid` takes a number and affects the calling thread only.
    unsafe { libc::syscall(libc::SYS_setfsuid, uid) as u32 }
}

/// Sets the group with whose rights the calling thread accesses files.
fn set_group(gid: u32) {
    // SAFETY: `setfsgid` takes a number and affects the calling thread only.
    unsafe { libc::syscall(libc::SYS_setfsgid, gid) };
}

/// The calling thread's groups, the effective one first.
fn groups() -> io::Result<Vec<libc::gid_t>> {
    // SAFETY: with a size of 0 `getgroups` returns the number of groups and writes nothing.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut all = vec![0; usize::try_from(count).map_err(|_| io::Error::last_os_error())? + 1];
    // SAFETY: `getegid` takes no argument and cannot fail.
    all[0] = unsafe { libc::getegid() };
    // SAFETY: after its first element, `all` has room for the `count` ids that the call stores.
    let count = unsafe { libc::getgroups(count, all[1..].as_mut_ptr()) };
    all.truncate(1 + usize::try_from(count).map_err(|_| io::Error::last_os_error())?);
    Ok(all)
}

/// Sets the calling thread's supplementary groups, by the system call: the C library's function
/// changes those of all threads.
fn set_groups(groups: &[libc::gid_t]) -> io::Result<()> {
    // SAFETY: `groups` points to that many ids, which the call reads.
    let result = unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Opens file `path` for reading and writing; with `creates`, creates it if it is missing.
///
/// Follows no link: as root none in the whole path, which others may have changed; as another user,
/// who has no rights beyond the user's own, none at its end.
///
/// # Errors
/// Those of the system: `ELOOP` or `ENOTDIR` for a link. `InvalidInput` if it is not a regular
/// file.
pub fn open(path: &Path, creates: bool) -> io::Result<File> {
    let create = if creates { libc::O_CREAT } else { 0 };
    let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK | create;
    let file = if is_root() { open_beneath(path, flags)? } else { open_at(None, path, flags)? };
    let file = File::from(file);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: not a regular file", path.display()),
        ));
    }
    Ok(file)
}

/// Opens a file by walking its path folder by folder; fails at a link.
fn open_beneath(path: &Path, flags: i32) -> io::Result<OwnedFd> {
    let folder_flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let mut folder: Option<OwnedFd> = None;
    let mut left = path.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(part) = left.next() {
        let flags = if left.peek().is_some() { folder_flags } else { flags };
        folder = Some(open_at(folder.as_ref(), part.as_ref(), flags)?);
    }
    folder.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn open_at(folder: Option<&OwnedFd>, name: &Path, flags: i32) -> io::Result<OwnedFd> {
    let at = folder.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    let name = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: `at` is an open folder or `AT_FDCWD`, `name` is a C string that outlives the call,
    // and the mode is passed, as O_CREAT requires.
    let file = unsafe { libc::openat(at, name.as_ptr(), flags, 0o600 as libc::mode_t) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `openat` has just returned this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn no_link_is_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("real")).unwrap();
        std::fs::write(folder.join("real/file"), "text").unwrap();
        symlink("real", folder.join("folder")).unwrap();
        symlink("file", folder.join("real/link")).unwrap();
        assert!(open(&folder.join("real/file"), false).is_ok());
        assert!(open(&folder.join("real/./new"), true).is_ok());
        assert!(open(&folder.join("real/none"), false).is_err());
        assert!(open(&folder.join("real/link"), true).is_err());
        assert!(open(&folder.join("real"), false).is_err());
        assert_eq!(open(&folder.join("folder/file"), false).is_err(), is_root());
    }

    #[test]
    fn root_has_an_owners_rights_for_a_while() {
        let scratch = tempfile::tempdir().unwrap();
        let secret = scratch.path().join("secret");
        std::fs::write(&secret, "root's").unwrap();
        std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
        if is_root() {
            let rights = Rights::of(Owner { uid: 65534, gid: 65534 }).unwrap();
            assert!(std::fs::read(&secret).is_err(), "it is root's alone");
            drop(rights);
        }
        assert!(std::fs::read(&secret).is_ok());
    }
}
