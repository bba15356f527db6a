//! The path that traces go to, in which each process fills in what it is: `traces/%h/rank%r-%p`.
//!
//! The letters are those of core(5) and of MPI tools. Without a placeholder, or with one in its
//! folders only, the path is a folder, in which a trace is named by its program and process. A path
//! whose last component has `%p` names the file itself, without its extension.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// What a process fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder<'a> {
    /// `%h`: the machine's name.
    Host,
    /// `%p`: the process id.
    Pid,
    /// `%e`: the executable's file name.
    Program,
    /// `%r`: the rank in a job, see [`crate::launcher`].
    Rank,
    /// `%l`: the rank among those of this machine.
    LocalRank,
    /// `%j`: the job's id.
    Job,
    /// `%q{NAME}`: an environment variable.
    Variable(&'a str),
}

/// The placeholder at the beginning of `text`, and what follows it.
fn placeholder(text: &str) -> Option<(Placeholder<'_>, &str)> {
    let rest = text.strip_prefix('%')?;
    let found = match rest.chars().next()? {
        'h' => Placeholder::Host,
        'p' => Placeholder::Pid,
        'e' => Placeholder::Program,
        'r' => Placeholder::Rank,
        'l' => Placeholder::LocalRank,
        'j' => Placeholder::Job,
        'q' => {
            let (name, rest) = rest.strip_prefix("q{")?.split_once('}')?;
            return Some((Placeholder::Variable(name), rest));
        }
        _ => return None,
    };
    Some((found, &rest[1..]))
}

/// Replaces each placeholder of `text` by its `value`, in which `/` becomes `_`; a value that the
/// process does not have is `none`. `%%` is a percent sign, and another one is left as it is.
pub fn fill_in(text: &str, mut value: impl FnMut(Placeholder<'_>) -> Option<String>) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('%') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((placeholder, after)) = placeholder(rest) {
            let value = value(placeholder).filter(|value| !value.is_empty());
            // A value is a part of a component: it leads into no other folder.
            filled.push_str(&value.map_or_else(|| "none".into(), |value| value.replace('/', "_")));
            rest = after;
        } else {
            filled.push('%');
            rest = rest.strip_prefix("%%").unwrap_or(&rest[1..]);
        }
    }
    filled + rest
}

fn has(text: &str, is_it: impl Fn(Placeholder<'_>) -> bool) -> bool {
    let mut found = false;
    fill_in(text, |placeholder| {
        found |= is_it(placeholder);
        None
    });
    found
}

/// True if the last component of `path` names the trace's file: if it has `%p`.
pub fn names_file(path: &Path) -> bool {
    let last = path.file_name().and_then(|last| last.to_str());
    last.is_some_and(|last| has(last, |placeholder| placeholder == Placeholder::Pid))
}

/// The folder that all traces of the pattern are in or below: the components before the first with
/// a placeholder.
pub fn common_folder(path: &Path) -> PathBuf {
    let is_fixed = |part: &Component<'_>| !part.as_os_str().to_str().is_some_and(|part| has(part, |_| true));
    // Without a placeholder, only `%%` is replaced.
    let filled = |part: Component<'_>| match part.as_os_str().to_str() {
        Some(text) => OsString::from(fill_in(text, |_| None)),
        None => part.as_os_str().to_owned(),
    };
    path.components().take_while(is_fixed).map(filled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        fill_in(text, |placeholder| match placeholder {
            Placeholder::Host => Some("node7".into()),
            Placeholder::Pid => Some("4711".into()),
            Placeholder::Program => Some("../python3".into()),
            Placeholder::Rank => Some("12".into()),
            Placeholder::LocalRank => Some(String::new()),
            Placeholder::Job => None,
            Placeholder::Variable(name) => (name == "USER").then(|| "me".into()),
        })
    }

    #[test]
    fn a_process_fills_in_what_it_is() {
        assert_eq!(filled("traces/%h/%r-%p"), "traces/node7/12-4711");
        assert_eq!(filled("%q{USER}/%q{ABSENT}/%e"), "me/none/.._python3", "a value leads nowhere else");
        assert_eq!(filled("%l%j"), "nonenone");
        assert_eq!(filled("100%/%%p/%x/%q{/%"), "100%/%p/%x/%q{/%");
    }

    #[test]
    fn the_last_component_names_the_file_if_it_has_the_process() {
        for (path, is_file, folder) in [
            ("traces", false, "traces"),
            ("/a/%h/%r-%p", true, "/a"),
            ("/a/100%/%r", false, "/a/100%"),
            ("/a/50%%/%p", true, "/a/50%"),
            ("%p/traces", false, ""),
            ("/a/%%p", false, "/a/%p"),
        ] {
            assert_eq!(
                (names_file(Path::new(path)), common_folder(Path::new(path))),
                (is_file, folder.into()),
                "{path}"
            );
        }
    }
}
