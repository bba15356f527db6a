//! Command lines of GEMMs for `rocblas-bench` and `hipblaslt-bench`.

use super::Line;
use rocshim_trace::{Gemm, LtMatrix, Matmul, Matrix};
use std::fmt::Write;

/// Returns the command of a GEMM of rocBLAS or hipBLAS, which have the same arguments.
pub(super) fn gemm(gemm: &Gemm, function: &str) -> Line {
    let mut line = String::from("rocblas-bench -f gemm");
    let strided = gemm.form == "strided_batched";
    line += match &*gemm.form {
        "plain" => "",
        "batched" => "_batched",
        "strided_batched" => "_strided_batched",
        _ => return Err("a product of another form than rocblas-bench makes"),
    };
    let is_typed = !function.contains("_ex") && !function.contains("Ex");
    line += if is_typed { "" } else { "_ex" };
    if is_typed {
        put(&mut line, "-r", &gemm.a.element);
    }
    put(&mut line, "--transposeA", &gemm.trans_a);
    put(&mut line, "--transposeB", &gemm.trans_b);
    sizes(&mut line, [gemm.m, gemm.n, gemm.k]);
    line += " --alpha 1 --beta 0";
    for (name, matrix) in [("a", &gemm.a), ("b", &gemm.b), ("c", &gemm.c), ("d", &gemm.d)] {
        if is_typed && name == "d" {
            continue;
        }
        if !is_typed {
            put(&mut line, &format!("--{name}_type"), &matrix.element);
        }
        put(&mut line, &format!("--ld{name}"), matrix.ld);
        if strided {
            put(&mut line, &format!("--stride_{name}"), stride(matrix));
        }
    }
    if gemm.form != "plain" {
        put(&mut line, "--batch_count", gemm.batch);
    }
    if !is_typed {
        put(&mut line, "--compute_type", compute(&gemm.compute)?);
        put(&mut line, "--algo", u8::from(gemm.algo == "solution_index"));
        put(&mut line, "--solution_index", gemm.solution);
        put(&mut line, "--flags", gemm.flags);
    }
    Ok(line)
}

fn stride(matrix: &Matrix) -> i64 {
    matrix.stride.unwrap_or(0)
}

/// Returns the command of a GEMM of hipBLASLt.
pub(super) fn matmul(matmul: &Matmul) -> Line {
    const UNKNOWN: &str =
        "not everything of the problem was seen, because a descriptor or an object was made before";
    let problem = &matmul.problem;
    let matrices = [("a", &problem.a), ("b", &problem.b), ("c", &problem.c), ("d", &problem.d)];
    let is_by_column = |matrix: &LtMatrix| matrix.order.as_ref().is_none_or(|order| order == "col");
    if !matrices.iter().all(|(_, matrix)| matrix.as_ref().is_none_or(is_by_column)) {
        return Err("a matrix that is not stored by columns");
    }
    let mut line = String::from("hipblaslt-bench --api_method ");
    line += if matmul.instance.is_some() { "cpp" } else { "c" };
    let size = |size: Option<i64>| size.ok_or(UNKNOWN);
    sizes(&mut line, [size(problem.m)?, size(problem.n)?, size(problem.k)?]);
    let known = |matrix: &Option<LtMatrix>| matrix.clone().ok_or(UNKNOWN);
    for (name, matrix) in matrices {
        put(&mut line, &format!("--ld{name}"), size(known(matrix)?.ld)?);
    }
    for (name, matrix) in matrices {
        put(&mut line, &format!("--stride_{name}"), known(matrix)?.stride.unwrap_or(0));
    }
    line += " --alpha 1 --beta 0";
    put(&mut line, "--transA", problem.trans_a.as_ref().ok_or(UNKNOWN)?);
    put(&mut line, "--transB", problem.trans_b.as_ref().ok_or(UNKNOWN)?);
    put(&mut line, "--batch_count", problem.batch.unwrap_or(1));
    for (name, matrix) in matrices {
        put(&mut line, &format!("--{name}_type"), known(matrix)?.element.ok_or(UNKNOWN)?);
    }
    put(&mut line, "--scale_type", problem.scale_type.as_ref().ok_or(UNKNOWN)?);
    put(&mut line, "--compute_type", compute(problem.compute.as_ref().ok_or(UNKNOWN)?)?);
    epilogue(&mut line, problem.epilogue.as_deref().unwrap_or("default"))?;
    if line.contains("--bias_vector") {
        let bias_type = problem.bias_type.as_ref().filter(|element| **element != "invalid");
        bias_type.into_iter().for_each(|element| put(&mut line, "--bias_type", element));
    }
    match matmul.algo {
        Some(index) => put(&mut line, "--algo_method index --solution_index", index),
        None => line += " --algo_method heuristic",
    }
    Ok(line)
}

fn epilogue(line: &mut String, epilogue: &str) -> Result<(), &'static str> {
    for word in epilogue.split('_') {
        match word {
            "default" => {}
            "relu" | "gelu" => put(line, "--activation_type", word),
            "bias" => *line += " --bias_vector",
            "aux" => *line += " --use_e",
            _ => return Err("an epilogue of which hipblaslt-bench's option is not known"),
        }
    }
    Ok(())
}

/// Returns the benchmark programs' name of a compute type. rocBLAS's names are the same as its own;
/// those of hipBLAS and hipBLASLt differ.
fn compute(word: &str) -> Result<&str, &'static str> {
    Ok(match word {
        "16f" => "f16_r",
        "32f" => "f32_r",
        "64f" => "f64_r",
        "32i" => "i32_r",
        "32f_fast_tf32" => "xf32_r",
        "32f_fast_16f" => "f32_f16_r",
        "32f_fast_bf16" => "f32_bf16_r",
        own if own.ends_with("_r") || own.ends_with("_c") => own,
        _ => return Err("a compute type of which the benchmark program's word is not known"),
    })
}

fn sizes(line: &mut String, [m, n, k]: [i64; 3]) {
    put(line, "-m", m);
    put(line, "-n", n);
    put(line, "-k", k);
}

fn put(line: &mut String, option: &str, value: impl std::fmt::Display) {
    let _ = write!(line, " {option} {value}");
}
