//! The statements that go beyond a call or an argument, each with its premises.

use crate::Evidence;
use crate::evidence::rules::{Answer, Class, Rule, RuleRow, premises};

/// What is known about a GEMM of rocBLAS and the catalog that was read for it. `None`: not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// A code object that the process loaded is a file of the folder.
    pub(super) loaded: bool,
    /// The folder was read on the traced machine, under the process's own path.
    pub(super) here: bool,
    /// Neither the folder nor the files that were read have changed since the process began.
    pub(super) unchanged: Option<bool>,
    /// The code objects that the process loaded have the same bytes in the folder now.
    pub(super) content: Option<bool>,
    /// Every file that the catalog names for the target is a fallback one.
    pub(super) only_fallback: Option<bool>,
    /// The catalog names no native file for the operation and types.
    pub(super) no_native: Option<bool>,
    /// It names one, and no solution of it fits.
    pub(super) native_unfit: Option<bool>,
    /// It names one, which is missing or damaged.
    pub(super) native_unread: Option<bool>,
    /// The product kernel came from a fallback file.
    pub(super) fallback: Option<bool>,
    /// The kernel is the one that the table of sizes picks.
    pub(super) predicted: Option<bool>,
}

impl Facts {
    /// The catalog is the one that the process had.
    fn is_same(&self) -> Option<bool> {
        if !self.loaded || !self.here {
            return Some(false);
        }
        match (self.unchanged, self.content) {
            (Some(true), Some(true)) => Some(true),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        }
    }

    /// Evidence that the catalog is the process's, with what is missing.
    pub(super) fn catalog(&self) -> (Evidence, Option<&'static str>) {
        if let Some(evidence) = SAME.evidence(self) {
            return (evidence, None);
        }
        let why = match (self.content, self.loaded, self.here, self.unchanged) {
            (Some(false), ..) => "a code object of the folder has other bytes than the process loaded",
            (_, false, ..) => "no code object that the process loaded was found in the folder",
            (_, _, false, _) => "the folder was read on another machine or under another path",
            (_, _, _, Some(false)) => "a file of the folder has changed since the process began",
            _ => "it is not known whether the folder has changed",
        };
        let same_build = self.loaded && self.content == Some(true);
        (if same_build { Evidence::Inferred } else { Evidence::Unresolved }, Some(why))
    }
}

/// A rule about a GEMM of rocBLAS.
pub(super) type RuleOf = Rule<Facts>;

/// The catalog that was read is the process's.
pub(super) const SAME: Rule<Facts> = Rule {
    says: "the catalog says what the library could choose from",
    class: Class::Confirmed,
    premises: premises! {
        "a code object that the process loaded is a file of the folder" Observed |facts: &Facts| Some(facts.loaded);
        "the folder was read on the traced machine, under the process's own path" Observed |facts: &Facts| Some(facts.here);
        "no file of it has changed since the process began" Observed |facts: &Facts| facts.unchanged;
        "the code objects have the bytes that the process loaded" Observed |facts: &Facts| facts.content;
    },
};

/// No type has native kernels.
pub(super) const NO_TARGET: Rule<Facts> = Rule {
    says: "fallback, because the library has no native kernels for the target, for any type",
    class: Class::Confirmed,
    premises: premises! {
        "the catalog is the one that the process had" Observed Facts::is_same;
        "the kernel came from a fallback file" Observed |facts: &Facts| facts.fallback;
        "every file that the catalog names for the target is a fallback one" Observed |facts: &Facts| facts.only_fallback;
    },
};

/// These types have none.
pub(super) const NO_TYPE: Rule<Facts> = Rule {
    says: "fallback, because the library has no native kernels for the target for this operation and these types",
    class: Class::Confirmed,
    premises: premises! {
        "the catalog is the one that the process had" Observed Facts::is_same;
        "the kernel came from a fallback file" Observed |facts: &Facts| facts.fallback;
        "the catalog names no native file for the operation and types" Observed |facts: &Facts| facts.no_native;
    },
};

/// There are native solutions, and none fits.
pub(super) const NONE_FITS: Rule<Facts> = Rule {
    says: "fallback, because no native solution for these types fits the problem",
    class: Class::Inferred,
    premises: premises! {
        "the catalog is the one that the process had" Observed Facts::is_same;
        "the kernel came from a fallback file" Observed |facts: &Facts| facts.fallback;
        "a condition of each native solution does not hold, as Tensile evaluates it" Known |facts: &Facts| facts.native_unfit;
    },
};

/// A file is missing or damaged.
pub(super) const UNREAD: Rule<Facts> = Rule {
    says: "a file of native solutions, which rocBLAS reads before it can choose, is missing or damaged",
    class: Class::Inferred,
    premises: premises! {
        "the catalog is the one that the process had" Observed Facts::is_same;
        "the file is missing or ends early" Observed |facts: &Facts| facts.native_unread;
    },
};

/// The table of sizes picked the kernel.
pub(super) const NEAREST: Rule<Facts> = Rule {
    says: "this solution, because its benchmarked size is the nearest of those that fit",
    class: Class::Inferred,
    premises: premises! {
        "the catalog is the one that the process had" Observed Facts::is_same;
        "the kernel that ran is the one that Tensile's search of its table of sizes gives" Known |facts: &Facts| facts.predicted;
    },
};

/// Evidence of a statement that all but the first premise of `rule` support: as the rule says, or
/// as much as the catalog's identity allows. `None`: the statement does not hold.
pub(super) fn evidence(rule: &Rule<Facts>, facts: &Facts) -> Option<Evidence> {
    let without_identity =
        Facts { loaded: true, here: true, unchanged: Some(true), content: Some(true), ..facts.clone() };
    if rule.answer(&without_identity) != Answer::Met {
        return None;
    }
    // A process whose folder is of the same build would choose so.
    Some(rule.evidence(facts).unwrap_or_else(|| facts.catalog().0))
}

/// All rules, listed.
pub(crate) fn rules() -> Vec<RuleRow> {
    let about = "why: a GEMM of rocBLAS";
    [SAME, NO_TARGET, NO_TYPE, NONE_FITS, UNREAD, NEAREST].iter().map(|rule| rule.row(about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::CONFIRMED;
    use crate::evidence::rules::check;

    fn same() -> Facts {
        Facts { loaded: true, here: true, unchanged: Some(true), content: Some(true), ..Facts::default() }
    }

    #[test]
    fn each_rule_answers_met_not_met_and_unknown() {
        let all = Facts {
            only_fallback: Some(true),
            no_native: Some(true),
            native_unfit: Some(true),
            native_unread: Some(true),
            fallback: Some(true),
            predicted: Some(true),
            ..same()
        };
        let other = Facts { loaded: false, ..all.clone() };
        let native = Facts { fallback: Some(false), ..all.clone() };
        check(
            &SAME,
            &all,
            &[
                other.clone(),
                Facts { here: false, ..all.clone() },
                Facts { unchanged: Some(false), ..all.clone() },
                Facts { content: Some(false), ..all.clone() },
            ],
            &[Facts { unchanged: None, ..all.clone() }, Facts { content: None, ..all.clone() }],
        );
        let unknown = [Facts { unchanged: None, ..all.clone() }];
        let without = |change: fn(&mut Facts)| {
            let mut facts = all.clone();
            change(&mut facts);
            facts
        };
        let cases: [(&Rule<Facts>, Vec<Facts>); 5] = [
            (&NO_TARGET, vec![native.clone(), without(|facts| facts.only_fallback = Some(false))]),
            (&NO_TYPE, vec![native.clone(), without(|facts| facts.no_native = Some(false))]),
            (&NONE_FITS, vec![native, without(|facts| facts.native_unfit = Some(false))]),
            (&UNREAD, vec![without(|facts| facts.native_unread = Some(false))]),
            (&NEAREST, vec![without(|facts| facts.predicted = Some(false))]),
        ];
        for (rule, mut unmet) in cases {
            unmet.push(other.clone());
            check(rule, &all, &unmet, &unknown);
        }
    }

    #[test]
    fn without_the_processs_own_catalog_nothing_is_confirmed() {
        let facts = Facts { fallback: Some(true), only_fallback: Some(true), ..same() };
        assert_eq!(evidence(&NO_TARGET, &facts), Some(CONFIRMED));
        let moved = Facts { here: false, ..facts.clone() };
        assert_eq!(evidence(&NO_TARGET, &moved), Some(Evidence::Inferred));
        let changed = Facts { unchanged: Some(false), ..facts.clone() };
        assert_eq!(evidence(&NO_TARGET, &changed), Some(Evidence::Inferred));
        for other in [Facts { content: Some(false), ..facts.clone() }, Facts { content: None, ..moved }] {
            assert_eq!(evidence(&NO_TARGET, &other), Some(Evidence::Unresolved));
        }
        assert_eq!(evidence(&NO_TYPE, &facts), None);
        assert_eq!(evidence(&NEAREST, &Facts { predicted: Some(true), ..same() }), Some(Evidence::Inferred));
    }
}
