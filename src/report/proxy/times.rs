//! What the times that the server states consist of.

use super::name;
use crate::section::section;
use crate::table::{Column, Style, Table};
use rocshim_analysis::units::time;
use rocshim_analysis::{Proxy, TimeParts};

/// A row for the prompt of each request, and one for its generated tokens; nothing without GPU
/// times.
pub(super) fn times(proxy: &Proxy, style: &Style) -> Option<String> {
    let mut table = Table::new(&[
        Column::Right("#"),
        Column::Left("request"),
        Column::Left("of"),
        Column::Right("stated"),
        Column::Right("GPU busy"),
        Column::Right("not launched"),
        Column::Right("held"),
        Column::Right("rest"),
        Column::Left("evidence"),
    ]);
    for request in &proxy.requests {
        let Some(times) = &request.times else { continue };
        for (of, parts) in [("prompt", &times.prompt), ("generated", &times.generated)] {
            let TimeParts { stated_ns, busy_ns, not_launched_ns, held_ns, rest_ns, evidence } = parts;
            let known = |ns: &Option<u64>| ns.map_or("-".into(), time);
            table.row(vec![
                request.response.number.to_string(),
                name(request),
                of.into(),
                known(stated_ns),
                time(*busy_ns),
                time(*not_launched_ns),
                time(*held_ns),
                known(rest_ns),
                evidence.to_string(),
            ]);
        }
    }
    if table.rows().is_empty() {
        return None;
    }
    let remarks = [
        "stated: prompt_ms and predicted_ms, or prompt_eval_duration and eval_duration; rest: what is left of it (sampling, the server's own work)",
        "GPU busy, not launched, held: of the request's passes, as `rocshim phases` explains them",
    ];
    let title = "The server's times: work on the GPU, and the rest";
    section(title, &table, style, &remarks.map(str::to_owned))
}
