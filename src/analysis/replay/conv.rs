//! Command lines of convolutions for `MIOpenDriver`.

use super::Line;
use rocshim_trace::{Conv, Tensor};
use std::fmt::Write;

/// Returns the command of a convolution; `None` for a call that neither runs one nor searches for
/// one.
pub(super) fn line(conv: &Conv) -> Option<Line> {
    const ACTIONS: [&str; 5] = ["find", "run", "immediate", "run_solution", "execute_plan"];
    ACTIONS.contains(&conv.action.as_str()).then(|| command(conv))
}

fn command(conv: &Conv) -> Line {
    const UNKNOWN: &str = "a tensor of the problem was not seen being made";
    let (Some(x), Some(w), Some(y)) = (&conv.x, &conv.w, &conv.y) else { return Err(UNKNOWN) };
    if !conv.operations.is_empty() {
        return Err("a fusion, which MIOpenDriver makes by other options");
    }
    let program = match x.element.as_str() {
        "f32" => "conv",
        "f16" => "convfp16",
        "bf16" => "convbfp16",
        "i8" => "convint8",
        _ => return Err("an element type that MIOpenDriver has no name for"),
    };
    let spatial = x.dims.len().checked_sub(2).filter(|spatial| [2, 3].contains(spatial));
    let spatial = spatial.ok_or("a tensor with other dimensions than MIOpenDriver makes")?;
    let parts = [&conv.pads, &conv.strides, &conv.dilations];
    if w.dims.len() != x.dims.len() || parts.iter().any(|part| part.len() != spatial) {
        return Err(UNKNOWN);
    }
    let transposed = conv.mode == "transpose";
    let mut line = format!("MIOpenDriver {program}");
    let mut put = |option: &str, value: i32| {
        let _ = write!(line, " {option} {value}");
    };
    put("-n", x.dims[0]);
    put("-c", x.dims[1]);
    each(&mut put, &["--in_d", "-H", "-W"], &x.dims[2..]);
    put("-k", w.dims[usize::from(transposed)]);
    each(&mut put, &["--fil_d", "-y", "-x"], &w.dims[2..]);
    each(&mut put, &["--pad_d", "-p", "-q"], &conv.pads);
    each(&mut put, &["--conv_stride_d", "-u", "-v"], &conv.strides);
    each(&mut put, &["--dilation_d", "-l", "-j"], &conv.dilations);
    if spatial == 3 {
        put("--spatial_dim", 3);
    }
    let _ = write!(line, " -m {} -g {}", if transposed { "trans" } else { "conv" }, conv.groups);
    for (option, tensor) in [("in", x), ("fil", w), ("out", y)] {
        match layout(tensor).ok_or("a tensor with a memory order of its own")? {
            Layout::ChannelsFirst => {}
            Layout::ChannelsLast => {
                let _ = write!(line, " --{option}_layout {}", if spatial == 3 { "NDHWC" } else { "NHWC" });
            }
        }
    }
    let direction = match conv.direction.as_str() {
        "forward" => 1,
        "backward_data" => 2,
        "backward_weights" => 4,
        _ => return Err("which direction it has is not known"),
    };
    let _ = write!(line, " -F {direction} -t 1");
    if conv.exhaustive {
        line += " -s 1";
    }
    if let Some(solution) = conv.solution_id {
        let _ = write!(line, " -S {solution}");
    }
    Ok(line)
}

/// Writes the last of the options, as many as there are values.
fn each(put: &mut impl FnMut(&str, i32), options: &[&str], values: &[i32]) {
    let options = &options[options.len() - values.len().min(options.len())..];
    options.iter().zip(values).for_each(|(option, value)| put(option, *value));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    ChannelsFirst,
    ChannelsLast,
}

/// Returns the memory layout of a tensor; `None` if it has gaps or another order.
fn layout(tensor: &Tensor) -> Option<Layout> {
    let rank = tensor.dims.len();
    let first: Vec<usize> = (0..rank).collect();
    let last: Vec<usize> = std::iter::once(0).chain(2..rank).chain([1]).collect();
    // A dimension of one element may have any stride.
    let lies = |order: &[usize]| {
        let mut expected = 1;
        order.iter().rev().all(|dim| {
            let fits = tensor.dims[*dim] == 1 || tensor.strides.get(*dim) == Some(&expected);
            expected = expected.saturating_mul(tensor.dims[*dim]);
            fits
        })
    };
    if tensor.strides.is_empty() || lies(&first) {
        return Some(Layout::ChannelsFirst);
    }
    lies(&last).then_some(Layout::ChannelsLast)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: [i32; 4], strides: [i32; 4]) -> Tensor {
        Tensor { element: "f16".into(), dims: dims.into(), strides: strides.into() }
    }

    fn conv() -> Conv {
        Conv {
            action: "immediate".into(),
            direction: "backward_data".into(),
            mode: "convolution".into(),
            x: Some(tensor([2, 16, 28, 30], [13440, 840, 30, 1])),
            w: Some(tensor([32, 16, 3, 5], [240, 15, 5, 1])),
            y: Some(tensor([2, 32, 28, 30], [26880, 840, 30, 1])),
            pads: vec![1, 2],
            strides: vec![1, 1],
            dilations: vec![1, 1],
            groups: 1,
            solution_id: Some(91),
            ..Conv::default()
        }
    }

    #[test]
    fn a_line_has_every_size_in_its_option() {
        let expected = "MIOpenDriver convfp16 -n 2 -c 16 -H 28 -W 30 -k 32 -y 3 -x 5 -p 1 -q 2 -u 1 -v 1 -l 1 -j 1 \
                        -m conv -g 1 -F 2 -t 1 -S 91";
        assert_eq!(line(&conv()), Some(Ok(expected.into())));
        let asked = Conv { action: "workspace".into(), ..conv() };
        assert_eq!(line(&asked), None, "a question is no work");
    }

    #[test]
    fn channels_may_come_last_and_what_lies_otherwise_has_no_line() {
        let x = Some(tensor([2, 16, 28, 30], [13440, 1, 480, 16]));
        let of = |x| line(&Conv { x, ..conv() }).unwrap();
        assert!(of(x).unwrap().contains(" -g 1 --in_layout NHWC -F 2"));
        let gaps = Some(tensor([2, 16, 28, 30], [99999, 840, 30, 1]));
        assert!(of(gaps).unwrap_err().contains("order of its own"));
        assert!(of(None).unwrap_err().contains("not seen"));
    }
}
