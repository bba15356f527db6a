//! The rule on whether GPU times cover everything that was launched.

use crate::evidence::{
    Evidence,
    rules::{Class, Rule, RuleRow, premises},
};

const REPORTED: Rule<bool> = Rule {
    says: "the GPU times are of every kernel that was launched",
    class: Class::Confirmed,
    premises: premises! {
        "as many kernels were reported as were launched, and the runtime was asked all the time" Observed
            |is_whole: &bool| Some(*is_whole);
    },
};

/// Returns the rules on GPU times, for `rocshim help evidence`.
pub(crate) fn rules() -> Vec<RuleRow> {
    let ours = [REPORTED.row("time on the GPU"), super::in_graphs::IN_GRAPH.row("time on the GPU")];
    [ours.to_vec(), super::queues::rules()].concat()
}

/// Returns the class of GPU times: *confirmed* if everything launched was reported, else *limited*.
pub(super) fn reports(is_whole: bool) -> Evidence {
    REPORTED.evidence(&is_whole).unwrap_or(Evidence::Limited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::rules::check;

    #[test]
    fn times_are_confirmed_where_all_was_reported() {
        check(&REPORTED, &true, &[false], &[]);
        assert_eq!(reports(false), Evidence::Limited);
    }
}
