//! Selects the programs that are recorded: `--only` and `--skip`, or their variables.

use super::program::{PreflightWarning, executed_file};
use rocshim_trace::is_chosen;
use std::{env, path::Path};

/// The selection.
pub(crate) struct Choice {
    only: String,
    skip: String,
}

impl Choice {
    /// Returns the selection of the options, or else of the variables.
    pub(crate) fn new(only: Option<&str>, skip: Option<&str>) -> Choice {
        let chosen = |asked: Option<&str>, name| asked.map(str::to_owned).or_else(|| env::var(name).ok());
        Choice {
            only: chosen(only, "ROCSHIM_ONLY").unwrap_or_default(),
            skip: chosen(skip, "ROCSHIM_SKIP").unwrap_or_default(),
        }
    }

    /// Returns the variables for this selection.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 2] {
        [("ROCSHIM_ONLY", &self.only), ("ROCSHIM_SKIP", &self.skip)]
    }

    /// Returns the warning for a program that is not recorded, although what it starts may be.
    pub(crate) fn warning(&self, path: &Path) -> Option<PreflightWarning> {
        let file = executed_file(path);
        let resolved = file.canonicalize().unwrap_or_else(|_| file.clone());
        let names = [path, &file, &resolved].map(|path| path.to_string_lossy().into_owned());
        let names = names.each_ref().map(String::as_str);
        if is_chosen(&self.only, &self.skip, &names) {
            return None;
        }
        let is_skipped = !is_chosen("", &self.skip, &names);
        let why = match is_skipped {
            true => format!("fits what is left alone (ROCSHIM_SKIP, --skip): {}", self.skip),
            false => format!("fits none of what is recorded (ROCSHIM_ONLY, --only): {}", self.only),
        };
        Some(PreflightWarning {
            what: format!("{} {why}", path.display()),
            advice: "of it nothing is recorded; of the programs that it starts, what the lists allow".into(),
            is_invisible: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_left_alone_is_a_trap() {
        let warning = |only, skip| Choice::new(Some(only), Some(skip)).warning(Path::new("/bin/sh"));
        assert_eq!(warning("", ""), None);
        assert_eq!(warning("sh,ollama", ""), None);
        assert!(warning("ollama", "").is_some_and(|warning| warning.what.contains("--only): ollama")));
        assert!(warning("sh", "s*").is_some_and(|warning| warning.what.contains("--skip): s*")));
    }
}
