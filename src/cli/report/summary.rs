//! The page of `rocshim summary`: one sentence, then a section for each kind of thing that the traces hold.

use super::{
    sections,
    table::{Style, broken},
    units::{count, counted},
};
use crate::analysis::{Summary, Totals};

/// The whole page.
pub(crate) fn summary(summary: &Summary, style: &Style) -> String {
    let mut page = broken(&sentence(&summary.totals), style.width.unwrap_or(usize::MAX)).join("\n");
    page.push('\n');
    let sections = [
        sections::processes(summary, style),
        sections::kernels(summary, style),
        sections::gemms(summary, style),
        sections::convolutions(summary, style),
        sections::modules(summary, style),
        sections::code_objects(summary, style),
        sections::failures(summary, style),
        sections::losses(summary, style),
        sections::in_flight(summary, style),
        sections::libraries(summary, style),
    ];
    for section in sections.into_iter().flatten() {
        page.push('\n');
        page.push_str(&section);
    }
    for note in &summary.notes {
        page.push_str(&format!("\nnot read: {note}\n"));
    }
    page
}

/// The most important numbers in one sentence.
pub(crate) fn sentence(totals: &Totals) -> String {
    let mut parts =
        vec![format!("{} of {}", counted(totals.launches, "launch"), counted(totals.kernels, "kernel"))];
    parts.push(match totals.gemm_calls - totals.gemms {
        0 => counted(totals.gemms, "GEMM"),
        inner => format!(
            "{} ({} calls, {} inside another)",
            counted(totals.gemms, "GEMM"),
            count(totals.gemm_calls),
            count(inner)
        ),
    });
    parts.push(counted(totals.convolutions, "convolution call"));
    parts.push(format!("{} failed", count(totals.failed)));
    parts.push(format!("{} lost", count(totals.lost)));
    if totals.in_flight > 0 {
        parts.push(format!("{} in flight at death", count(totals.in_flight)));
    }
    let who = match totals.processes {
        1 => "1 process".to_string(),
        many => format!("{} processes", count(many)),
    };
    format!("{who}: {}", parts.join(", "))
}
