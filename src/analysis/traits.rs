//! What ranks of a job do, as texts that can be compared, and which of them differ from most.

use super::session::{KernelId, Session};
use rocshim_trace::file_name;
use std::collections::{BTreeMap, BTreeSet};

/// Something that a rank did, which other ranks of the same program do too.
pub(crate) type Trait = (TraitKind, String);

/// What a [`Trait`] is about, in the order in which it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TraitKind {
    Device,
    Library,
    Fallback,
    Problem,
    Solution,
    Kernel,
}

impl TraitKind {
    /// What a rank did, before the text.
    fn verb(self) -> &'static str {
        match self {
            TraitKind::Device => "runs on",
            TraitKind::Library => "loads",
            TraitKind::Fallback => "runs fallback kernels of",
            TraitKind::Problem => "computes",
            TraitKind::Solution => "solves",
            TraitKind::Kernel => "launches",
        }
    }
}

/// The traits of a launched kernel: its name, and the fallback file that it came from.
pub(crate) fn of_kernel(session: &Session, kernel: KernelId) -> Vec<Trait> {
    let of = session.kernel(kernel);
    let target = of.target.as_ref().map_or(String::new(), |target| format!(" for {target}"));
    let mut traits = vec![(TraitKind::Kernel, format!("{}{target}", session.symbol(of.symbol).readable()))];
    let object = of.code_object.map(|object| session.code_object(object));
    if let Some(object) = object.filter(|object| object.fallback == Some(true)) {
        let file = object.file.as_deref().or(object.path.as_deref()).unwrap_or("an image in memory");
        traits.push((TraitKind::Fallback, file_name(file).to_owned()));
    }
    traits
}

/// Ranks that differ from most, all in the same traits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Differing {
    /// Their places among the ranks that were compared.
    pub(crate) ranks: Vec<usize>,
    /// How many ranks are alike.
    pub(crate) others: usize,
    /// What they do and the others do not, and the other way round.
    pub(crate) what: String,
}

/// Finds the ranks that differ from most others. Each rank has its traits, and whether they are all
/// of what it does: one whose trace lacks calls is compared only by what it has.
///
/// # Errors
/// The classes of equal ranks, where no class has most of them.
pub(crate) fn differing(ranks: &[(&BTreeSet<Trait>, bool)]) -> Result<Vec<Differing>, Vec<Vec<usize>>> {
    let mut classes: BTreeMap<&BTreeSet<Trait>, Vec<usize>> = BTreeMap::new();
    let mut whole = 0;
    for (rank, (traits, _)) in ranks.iter().enumerate().filter(|(_, (_, is_whole))| *is_whole) {
        classes.entry(traits).or_default().push(rank);
        whole += 1;
    }
    let largest = classes.iter().max_by_key(|(_, ranks)| ranks.len());
    let Some((usual, others)) = largest.map(|(traits, ranks)| (*traits, ranks.len())) else {
        return Ok(Vec::new());
    };
    if 2 * others <= whole {
        return Err(classes.into_values().collect());
    }
    // What differs, and the ranks that differ so.
    let mut found: BTreeMap<(Vec<&Trait>, Vec<&Trait>), Vec<usize>> = BTreeMap::new();
    for (rank, (traits, is_whole)) in ranks.iter().enumerate() {
        let has: Vec<&Trait> = traits.difference(usual).collect();
        let lacks: Vec<&Trait> = usual.difference(traits).filter(|_| *is_whole).collect();
        if !has.is_empty() || !lacks.is_empty() {
            found.entry((has, lacks)).or_default().push(rank);
        }
    }
    let row = |((has, lacks), ranks): ((Vec<&Trait>, Vec<&Trait>), Vec<usize>)| Differing {
        ranks,
        others,
        what: what(&sentence(&has), &sentence(&lacks), others),
    };
    Ok(found.into_iter().map(row).collect())
}

fn what(has: &str, lacks: &str, others: usize) -> String {
    match (has.is_empty(), lacks.is_empty()) {
        (false, false) => format!("{has}; {others} others do not, but {lacks}"),
        (false, true) => format!("{has}; {others} others do not"),
        _ => format!("does not do what {others} others do: {lacks}"),
    }
}

/// The most texts of a kind in a sentence.
const LISTED: usize = 3;

/// `launches gelu_tanh; runs on gfx942`: a part for each kind.
pub(crate) fn sentence(traits: &[&Trait]) -> String {
    let mut by_kind: BTreeMap<TraitKind, Vec<&str>> = BTreeMap::new();
    let of_kind = |wanted| traits.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, text)| text);
    let solutions: Vec<&String> = of_kind(TraitKind::Solution).collect();
    // A kernel that serves a product is said there.
    let is_said = |kernel: &str| {
        let symbol = kernel.split(" for gfx").next().unwrap_or(kernel);
        solutions.iter().any(|solution| solution.ends_with(symbol))
    };
    for (kind, text) in traits.iter().filter(|(kind, text)| *kind != TraitKind::Kernel || !is_said(text)) {
        by_kind.entry(*kind).or_default().push(text);
    }
    let part = |(kind, texts): (TraitKind, Vec<&str>)| {
        let shown = texts[..texts.len().min(LISTED)].join(", ");
        let more = texts.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} {shown}{more}", kind.verb())
    };
    by_kind.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(kernels: &[&str]) -> BTreeSet<Trait> {
        kernels.iter().map(|name| (TraitKind::Kernel, name.to_string())).collect()
    }

    #[test]
    fn a_rank_differs_from_most_or_no_rank_does() {
        let (usual, other, short) = (does(&["a", "b"]), does(&["a", "c"]), does(&["a"]));
        let found = differing(&[(&usual, true), (&other, true), (&usual, true)]).unwrap();
        let what = "launches c; 2 others do not, but launches b".to_owned();
        assert_eq!(found, [Differing { ranks: vec![1], others: 2, what }]);
        // What a trace without its end lacks, its rank may have done.
        assert_eq!(differing(&[(&usual, true), (&usual, true), (&short, false)]), Ok(Vec::new()));
        assert_eq!(differing(&[(&usual, true), (&other, true)]), Err(vec![vec![0], vec![1]]));
        assert_eq!(differing(&[(&short, false)]), Ok(Vec::new()));
    }
}
