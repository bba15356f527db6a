//! The kernels, longest host time first.

use crate::{section::Part, table::Style};
use rocshim_analysis::units::{count, counted};
use rocshim_analysis::{KERNELS, Summary};

pub(crate) fn kernels(summary: &Summary, style: &Style) -> Option<String> {
    Part::new(&KERNELS, &summary.kernels).remarks(remarks(summary)).section(style)
}

/// Explains columns that few traces have, and what the table lacks.
fn remarks(summary: &Summary) -> Vec<String> {
    let totals = &summary.totals;
    let mut remarks = Vec::new();
    if summary.kernels.iter().any(|row| row.shapes > 1) {
        remarks.push("+n: n more shapes; the most common one is shown".to_string());
    }
    if summary.kernels.iter().any(|row| row.share.is_some()) {
        let first = "first calls: one in each process, which may load code; the columns after it are of the later calls";
        remarks.push(first.to_string());
    }
    if totals.by_graphs > 0 {
        remarks
            .push("by graphs: launches made by graph launches, which have no call of their own".to_string());
    }
    if totals.trials > 0 {
        remarks.push("trials: launches of a library's search for its fastest kernel (autotuning)".into());
    }
    if totals.swept > 0 {
        remarks.push("in a row: launches that seem to be trials by the program itself, see below".into());
    }
    if totals.captured > 0 {
        remarks
            .push("captured: calls recorded into a graph; they took time and launched nothing".to_string());
    }
    let unlisted = totals.unlisted_graph_launches;
    if unlisted > 0 {
        remarks.push(format!(
            "limited: the kernels of {} are not known and not counted here",
            counted(unlisted, "graph launch")
        ));
    }
    let in_doubt = totals.launches_in_doubt;
    if in_doubt > 0 {
        remarks.push(format!(
            "limited: {} of the captured calls came after their capture had failed to end, and may have launched",
            count(in_doubt)
        ));
    }
    let unnamed = totals.unnamed_launches;
    if unnamed > 0 {
        remarks.push(format!(
            "unresolved: {} launches have no name, because the creation of their handle was not seen",
            count(unnamed)
        ));
    }
    remarks.extend(missing_gpu_times(summary.gpu.is_some()));
    remarks
}

/// How to get GPU times, for a page of traces without them.
pub const MISSING_GPU_TIMES: &str = "no GPU times in this trace: `rocshim run --gpu-time` records them, as does `rocshim ctl PID gpu-time on`";

pub(crate) fn missing_gpu_times(has_them: bool) -> Option<String> {
    (!has_them).then(|| MISSING_GPU_TIMES.to_owned())
}
