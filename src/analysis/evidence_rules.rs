//! Lists all rules by which statements are classified.

use super::{RuleRow, experiment, gpu, phases, verdict, why};

/// Every rule, by what it is about.
pub fn evidence_rules() -> Vec<RuleRow> {
    [verdict::rules(), gpu::rules(), phases::rules(), experiment::rules(), why::rules()].concat()
}
