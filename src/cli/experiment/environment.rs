//! The two environments of a bisection: their sources, their differences, and a run in one with
//! some differences of the other.

use super::{Setup, mix::Mix};
use anyhow::{Context, Result, bail};
use rocshim_analysis::{Difference, Differences, variables};
use rocshim_reader as reader;
use std::{
    collections::BTreeMap,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
};

/// Two environments.
pub(crate) struct Environments {
    pub(crate) differences: Vec<Difference>,
    from: From,
}

enum From {
    /// A's variables; B's are in the differences.
    Variables(BTreeMap<String, String>),
    /// Library folders.
    Folders(Mix),
}

impl Environments {
    /// Returns the environments of two arguments of the same kind. `scratch`: where a folder can be
    /// created.
    ///
    /// # Errors
    /// When an argument is neither a trace, nor a list of variables, nor a library folder, or the
    /// two differ in kind.
    pub(crate) fn read(a: &Path, b: &Path, scratch: &Path) -> Result<Environments> {
        let [kind_a, kind_b] = [Source::of(a)?, Source::of(b)?];
        match (kind_a, kind_b) {
            (Source::Variables(of_a), Source::Variables(of_b)) => {
                let differences = variables(&of_a, &of_b);
                Ok(Environments { differences, from: From::Variables(of_a) })
            }
            (Source::Folder, Source::Folder) => {
                let mix = Mix::of(a, b, scratch)?;
                Ok(Environments { differences: mix.differences(), from: From::Folders(mix) })
            }
            _ => bail!(
                "{} and {} are not of one kind: give two traces, two files of variables, or two library folders",
                a.display(),
                b.display()
            ),
        }
    }

    /// Returns A's environment with these differences of B.
    ///
    /// # Errors
    /// When the folder of links cannot be created.
    pub(crate) fn setup(&self, differences: &Differences) -> Result<Setup> {
        match &self.from {
            From::Variables(of_a) => {
                let mut values: BTreeMap<&str, Option<&str>> =
                    of_a.iter().map(|(name, value)| (name.as_str(), Some(value.as_str()))).collect();
                for (at, difference) in self.differences.iter().enumerate() {
                    if let Difference::Variable { name, a, b } = difference {
                        let value = if differences.contains(&at) { b } else { a };
                        values.insert(name, value.as_deref());
                    }
                }
                values.retain(|name, _| is_the_programs(name));
                let variables = values.into_iter();
                Ok(Setup {
                    variables: variables.map(|(name, value)| (name.into(), value.map(Into::into))).collect(),
                    ..Setup::default()
                })
            }
            From::Folders(mix) => mix.setup(differences),
        }
    }
}

/// Without the recording's own variables, which the command sets.
fn is_the_programs(name: &str) -> bool {
    name != "LD_PRELOAD" && !name.starts_with("ROCSHIM_")
}

/// Kind of an argument.
enum Source {
    Variables(BTreeMap<String, String>),
    Folder,
}

impl Source {
    fn of(path: &Path) -> Result<Source> {
        let cannot = || format!("cannot read {}", path.display());
        if path.is_dir() {
            let traces = reader::traces_in(path)?;
            return match traces.as_slice() {
                [] => Ok(Source::Folder),
                traces => variables_of(traces.iter().map(|trace| trace.as_path())),
            };
        }
        if rocshim_trace::TracePath::of(path).is_some() {
            return variables_of([path]);
        }
        let text = fs::read(path).with_context(cannot)?;
        let variables = parse(&String::from_utf8_lossy(&text));
        if variables.is_empty() {
            bail!("{} has no line VAR=VALUE, and is no trace and no folder", path.display());
        }
        Ok(Source::Variables(variables))
    }
}

/// Returns the variables on which the headers of traces agree.
fn variables_of<'a>(traces: impl IntoIterator<Item = &'a Path>) -> Result<Source> {
    let mut all: Option<BTreeMap<String, String>> = None;
    for trace in traces {
        let header = rocshim_drain::header_of(trace)
            .with_context(|| format!("cannot read {}", trace.display()))?
            .with_context(|| format!("{} is no trace: its first line is no header", trace.display()))?;
        match &mut all {
            None => all = Some(header.env),
            Some(known) => known.retain(|name, value| header.env.get(name) == Some(value)),
        }
    }
    Ok(Source::Variables(all.unwrap_or_default()))
}

/// Parses lines as `env` prints them, or bytes as `env -0` does. A line without a variable
/// continues the previous value; `#` begins a comment.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let mut last = None;
    let is_zero = text.contains('\0');
    for line in text.split(if is_zero { '\0' } else { '\n' }) {
        let named = line.split_once('=').filter(|(name, _)| {
            let name = name.strip_prefix("export ").unwrap_or(name);
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        });
        match (named, &last) {
            (Some((name, value)), _) => {
                let name = name.strip_prefix("export ").unwrap_or(name).to_string();
                variables.insert(name.clone(), value.to_string());
                last = Some(name);
            }
            (None, Some(name)) if !line.is_empty() && !line.starts_with('#') => {
                if let Some(value) = variables.get_mut(name) {
                    value.push('\n');
                    value.push_str(line);
                }
            }
            _ => {}
        }
    }
    variables
}

/// Returns a number that no program can know beforehand.
pub(crate) fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_env_prints_them() {
        let parsed = parse("A=1\nB=two\nlines=not a variable: yes\n# remark\nexport C=\nnot one: 3\n");
        let parsed: Vec<_> = parsed.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            parsed,
            [("A", "1"), ("B", "two"), ("C", "\nnot one: 3"), ("lines", "not a variable: yes")]
        );
        assert_eq!(parse("A=1\n2\0B=3\0")["A"], "1\n2");
    }
}
