//! The section on Tensile's fallback kernels: which were dispatched, from which file; or that none
//! were, with the evidence class.

use crate::{section::Part, table::Style};
use rocshim_analysis::{Evidence, FALLBACK_KERNELS, Summary};

pub(crate) fn fallback(summary: &Summary, style: &Style) -> Option<String> {
    let found = &summary.fallback;
    if found.products == 0 && summary.gemms.is_empty() {
        return None;
    }
    let title = match (found.kernels.is_empty(), found.evidence) {
        (true, Evidence::Limited | Evidence::Unresolved) => {
            format!("Fallback kernels: none seen, {} ({})", found.evidence, found.why)
        }
        (true, _) => format!("Fallback kernels: none dispatched, {} ({})", found.evidence, found.why),
        (false, _) => format!("Fallback kernels: {}", found.why),
    };
    let is_inferred = found.kernels.iter().any(|row| row.evidence == Evidence::Inferred);
    let rule = "inferred: only the fallback library holds source kernels for any target (KLS, ISA000)";
    let part = Part::new(&FALLBACK_KERNELS, &found.kernels).titled(title);
    Some(part.remarks(is_inferred.then(|| rule.into())).even_empty(style))
}
