//! Renders an evidence class as a coloured word, the same colour for the same class everywhere.

use maud::{Markup, html};
use rocshim_analysis::{Evidence, Outcome};

/// Renders an evidence class: its name for the style sheet, and its word.
pub(super) fn badge(evidence: Evidence) -> Markup {
    let class = if evidence.is_confirmed_absent() { "confirmed" } else { evidence.word() };
    html! { span.badge.(class) { (evidence) } }
}

/// Renders the verdict on a server's statement.
pub(super) fn outcome(outcome: Outcome) -> Markup {
    html! { span.badge.(outcome.word()) { (outcome) } }
}

/// Renders the explanation of the classes.
pub(super) fn legend() -> Markup {
    html! {
        dl.legend {
            div { dt { span.badge.confirmed { "confirmed" } } dd { "read from an intercepted call, its arguments or its code object; “confirmed absent”: it would have been seen" } }
            div { dt { (badge(Evidence::Inferred)) } dd { "follows from that by the rule that is given" } }
            div { dt { (badge(Evidence::Limited)) } dd { "only part could be seen, for the reason given" } }
            div { dt { (badge(Evidence::Unresolved)) } dd { "cannot be decided from this trace" } }
        }
    }
}
