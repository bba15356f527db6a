//! Statements that repeat what a record says, and those that need only that nothing was missed.

use super::{
    Evidence, Seal,
    rules::{Class, Rule, RuleRow, premises},
};

/// What is read directly from a trace, one a row: the name, what it confirms, and the record.
macro_rules! observations {
    ($($name:ident $says:literal $from:literal;)*) => {
        /// What a record says by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Observation {
            $(#[doc = $says] $name,)*
        }

        impl Observation {
            const ALL: &[Observation] = &[$(Observation::$name),*];

            fn row(self) -> RuleRow {
                let (says, from) = match self {
                    $(Observation::$name => ($says, $from),)*
                };
                RuleRow::observed("read from a record", says, from)
            }
        }
    };
}

observations! {
    Record   "it happened"                                     "the trace has a record of it";
    Call     "a function was called"                          "the call was intercepted";
    Argument "a call asked for it"                            "it is an argument of the call";
    Returned "a call returned it"                             "it is what the call returned or wrote";
    Launch   "a kernel was launched, out of its code object"  "the launch is recorded";
    Origin   "a code object is a file's image"                "its bytes are those of the file";
    Device   "the GPU"                                        "HIP described the device to the program";
    Variable "a variable was set"                             "the process's environment has it";
    Label    "a phase"                                        "the program or the user marked its begin and end";
    Nodes    "the kernels of a graph"                         "the runtime listed the graph's nodes, all of them known";
    Id       "communicators are one"                          "their ranks gave the same unique id";
    FirstHost "the first host is 0 ns ahead of itself" "clocks are compared with the first host's";
    Absent   "a rank has no trace among those given"          "the others say how many ranks there are";
}

impl Observation {
    /// *Confirmed*: a record says it.
    pub(crate) fn evidence(self) -> Evidence {
        Evidence::Confirmed(Seal(()))
    }
}

/// Why something may have been missed: lost events, a bypass of the hooks, a trace without an end.
pub(crate) type Limit = Option<String>;

const ABSENT: Rule<Limit> = Rule {
    says: "it did not happen: the trace does not have it",
    class: Class::ConfirmedAbsent,
    premises: premises! {
        "nothing that would show it was lost, passed the hooks by, or is in no trace" Observed
            |limit: &Limit| Some(limit.is_none());
    },
};

const COMPLETE: Rule<Limit> = Rule {
    says: "the number is of all that happened",
    class: Class::Confirmed,
    premises: premises! {
        "nothing that counts was lost, passed the hooks by, or is in no trace" Observed
            |limit: &Limit| Some(limit.is_none());
    },
};

/// The class of an absence: *confirmed absent*, or *limited* with the reason.
pub(crate) fn absence(limit: Limit) -> (Evidence, Option<String>) {
    (ABSENT.evidence(&limit).unwrap_or(Evidence::Limited), limit)
}

/// The class of a number, or of a list: *confirmed*, or *limited* with the reason.
pub(crate) fn complete(limit: Limit) -> (Evidence, Option<String>) {
    (COMPLETE.evidence(&limit).unwrap_or(Evidence::Limited), limit)
}

/// As they are listed.
pub(crate) fn rules() -> Vec<RuleRow> {
    let general = [ABSENT.row("anything"), COMPLETE.row("anything")];
    Observation::ALL.iter().map(|of| of.row()).chain(general).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::check;

    #[test]
    fn what_may_have_been_missed_is_never_absent() {
        let limit = Some("9 events were lost".to_string());
        check(&ABSENT, &None, std::slice::from_ref(&limit), &[]);
        check(&COMPLETE, &None, std::slice::from_ref(&limit), &[]);
        assert!(absence(None).0.is_confirmed_absent() && complete(None).0.is_confirmed());
        assert_eq!(absence(limit.clone()), (Evidence::Limited, limit));
    }
}
