//! Differences between two environments, which may explain a changed decision: variables, files,
//! libraries, GPUs.

use crate::Environment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One difference between environments A and B. `name` says what differs; `a` and `b` are its
/// values in A and B, absent where that environment does not have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Difference {
    /// An environment variable.
    Variable {
        /// The variable's name.
        name: String,
        /// Its value in A.
        a: Option<String>,
        /// Its value in B.
        b: Option<String>,
    },
    /// A file below a library folder, by its path there; the value is its size in bytes.
    File {
        /// Its path below the folder.
        name: String,
        /// Its size in A.
        a: Option<u64>,
        /// Its size in B.
        b: Option<u64>,
    },
    /// A ROCm library that the processes had, by its name without version; the values are build ids
    /// or, where there are none, paths.
    Library {
        /// `librocblas.so`, …
        name: String,
        /// The files in A.
        a: Option<String>,
        /// The files in B.
        b: Option<String>,
    },
    /// The GPUs' targets.
    Target {
        /// The targets in A, as in `gfx1100`.
        a: Option<String>,
        /// The targets in B.
        b: Option<String>,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        match self {
            Difference::Variable { name, b: Some(value), .. } => write!(f, "{name}={value}"),
            Difference::Variable { name, b: None, .. } => write!(f, "{name} unset"),
            Difference::File { name, a: Some(_), b: Some(_) } => write!(f, "{name} of B"),
            Difference::File { name, b: None, .. } => write!(f, "{name} missing in B"),
            Difference::File { name, .. } => write!(f, "{name} missing in A"),
            Difference::Library { name, a, b } => write!(f, "{name} {} instead of {}", word(b), word(a)),
            Difference::Target { a, b } => write!(f, "target {} instead of {}", word(b), word(a)),
        }
    }
}

/// Variables of the shell or of the recording, which do not influence a program's decisions.
const OTHERS: [&str; 6] = ["_", "LD_PRELOAD", "OLDPWD", "PWD", "SHLVL", "STANDIN_LOG"];

/// Returns the variables that differ, in order of name.
pub fn variables(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let is_other = |name: &str| OTHERS.contains(&name) || name.starts_with("ROCSHIM_");
    names
        .into_iter()
        .filter(|name| !is_other(name) && a.get(*name) != b.get(*name))
        .map(|name| Difference::Variable {
            name: name.clone(),
            a: a.get(name).cloned(),
            b: b.get(name).cloned(),
        })
        .collect()
}

/// Returns the differences between the recorded environments of two runs: variables, libraries,
/// targets.
pub fn between(a: &Environment, b: &Environment) -> Vec<Difference> {
    let [variables_a, variables_b] = [a, b].map(|environment| {
        let joined = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(" or ");
        environment.environment.iter().map(|(name, values)| (name.clone(), joined(values))).collect()
    });
    let mut all = variables(&variables_a, &variables_b);
    let [libraries_a, libraries_b] = [a, b].map(libraries);
    let names: BTreeSet<&String> = libraries_a.keys().chain(libraries_b.keys()).collect();
    for name in names {
        let (a, b) = (libraries_a.get(name).cloned(), libraries_b.get(name).cloned());
        if a != b {
            all.push(Difference::Library { name: name.clone(), a, b });
        }
    }
    let [a, b] = [a, b].map(targets);
    if a != b {
        all.push(Difference::Target { a, b });
    }
    all
}

/// Returns build ids by library name.
fn libraries(environment: &Environment) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::<String, BTreeSet<String>>::new();
    for row in &environment.libraries {
        let file = row.path.rsplit('/').next().unwrap_or(&row.path);
        let name = file.split_once(".so").map_or(file, |(stem, _)| stem).to_string() + ".so";
        let id = row.build_id.clone().unwrap_or_else(|| row.path.clone());
        ids.entry(name).or_default().insert(id);
    }
    ids.into_iter().map(|(name, ids)| (name, ids.into_iter().collect::<Vec<_>>().join(" and "))).collect()
}

fn targets(environment: &Environment) -> Option<String> {
    let targets: BTreeSet<&str> = environment.devices.iter().map(|row| row.gfx.as_str()).collect();
    (!targets.is_empty()).then(|| targets.into_iter().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn variables_differ_by_value_and_by_being_set() {
        let a = map(&[("ROCBLAS_LAYER", "1"), ("SAME", "x"), ("HIP_VISIBLE_DEVICES", "0"), ("SHLVL", "1")]);
        let b = map(&[("ROCBLAS_USE_HIPBLASLT", "1"), ("SAME", "x"), ("HIP_VISIBLE_DEVICES", "1")]);
        let texts: Vec<String> = variables(&a, &b).iter().map(Difference::to_string).collect();
        assert_eq!(texts, ["HIP_VISIBLE_DEVICES=1", "ROCBLAS_LAYER unset", "ROCBLAS_USE_HIPBLASLT=1"]);
    }
}
