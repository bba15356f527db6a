//! Reads a systemd service's settings from its unit file and drop-ins, as systemd does.

use anyhow::{Context, Result, bail};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Name of the service.
pub(crate) const SERVICE: &str = "ollama.service";

/// The folder of the traces. systemd creates it for the service's user, even if the rest of the
/// system is read-only to it.
pub(crate) const TRACES: &str = "/var/lib/rocshim";

/// The folders of unit files; the first file of a name wins.
const FOLDERS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// The service's unit file, with the settings of all its files in the order in which they apply.
pub(crate) struct Unit {
    /// The unit file, below the root.
    pub(crate) file: PathBuf,
    settings: Vec<(String, String)>,
}

/// Returns the path of an absolute path in a system whose root folder is `root`.
pub(crate) fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

impl Unit {
    /// Reads the service below `root`, without the drop-in of the name `except`.
    ///
    /// # Errors
    /// When there is no such service, or one of its files cannot be read.
    pub(crate) fn read(root: &Path, except: &str) -> Result<Unit> {
        let folders = FOLDERS.map(|folder| below(root, folder));
        let Some(file) = folders.iter().map(|folder| folder.join(SERVICE)).find(|file| file.is_file()) else {
            bail!(
                "there is no {SERVICE} in {} or systemd's other folders; for a server without systemd use `rocshim run \
                 -- ollama serve`, for a container `rocshim ollama container`",
                folders[0].display()
            );
        };
        let mut drop_ins = BTreeMap::new();
        for folder in folders.iter().rev() {
            for entry in fs::read_dir(folder.join(format!("{SERVICE}.d"))).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(".conf") && name != except {
                    drop_ins.insert(name, entry.path());
                }
            }
        }
        let mut settings = Vec::new();
        for file in std::iter::once(&file).chain(drop_ins.values()) {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            settings.extend(section_service(&text));
        }
        Ok(Unit { file, settings })
    }

    /// Returns the last value of a setting.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).pop()
    }

    /// Returns all values of a repeatable setting; an empty one resets those before it.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for (_, value) in self.settings.iter().filter(|(known, _)| known == name) {
            if value.is_empty() {
                values.clear();
            } else {
                values.push(value.as_str());
            }
        }
        values
    }

    /// Returns whether a setting is on: `yes`, or one of its other words (`strict`).
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.last(name).is_some_and(|value| !matches!(value, "no" | "false" | "off" | "0"))
    }

    /// Returns the value of a variable in the service's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let assignments = self.all("Environment").into_iter().flat_map(words);
        assignments
            .filter_map(|word| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_string()))
            .next_back()
    }
}

/// Returns the assignments of the section `[Service]`, with continued lines joined.
fn section_service(text: &str) -> Vec<(String, String)> {
    let joined = text.replace("\\\n", " ");
    let mut section = "";
    let mut settings = Vec::new();
    for line in joined.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[Service]" && !line.starts_with(['#', ';']) {
            settings
                .extend(line.split_once('=').map(|(name, value)| (name.trim().into(), value.trim().into())));
        }
    }
    settings
}

/// Splits a value into words: separated by blanks, quoted if they contain any.
fn words(value: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in value.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            None if letter.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)))
            }
            _ => word.push(letter),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_systemd_reads_them() {
        let text = "[Unit]\nEnvironment=no\n[Service]\n# Environment=no\nEnvironment=A=1 \\\n  \"B=two words\"\nUser = ollama\n\
                    ProtectSystem=no\nEnvironment=A=2\n[Install]\nUser=no\n";
        let unit = Unit { file: PathBuf::new(), settings: section_service(text) };
        assert_eq!(unit.variable("A").as_deref(), Some("2"));
        assert_eq!(unit.variable("B").as_deref(), Some("two words"));
        assert_eq!(unit.last("User"), Some("ollama"));
        assert!(!unit.is_on("ProtectSystem") && !unit.is_on("PrivateTmp"));
        let reset = Unit {
            file: PathBuf::new(),
            settings: section_service(&format!("{text}[Service]\nEnvironment=\n")),
        };
        assert_eq!(reset.variable("A"), None);
    }
}
