//! Variables and handle settings that steer a decision: the effect of each, the library and
//! version, and the source.

use serde::Serialize;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VariableRow {
    /// Its name; with a `*` at its end all that begin so.
    pub name: &'static str,
    /// The library that reads it.
    pub library: &'static str,
    /// Where it was read: the source of a release, or the manual.
    pub versions: &'static str,
    /// What it changes, in words.
    pub effect: &'static str,
    /// The source file of the library that reads it, or that only the manual was read.
    pub source: &'static str,
}

crate::table! {
    /// The variables that steer a decision.
    STEERING_VARIABLES: VariableRow = "variables", "Variables that steer a decision", "a variable";
    |row|
    words("name", "variable", "its name; with a * at its end all that begin so") => row.name;
    words("library", "of", "the library that reads it") => row.library;
    words("versions", "read in", "where it was read: the source of a release, or the manual") => row.versions;
    sentence("effect", "what it does", "what it changes, and the source that says so")
        => row.effect_with_source();
}

impl VariableRow {
    pub(super) fn effect_with_source(&self) -> String {
        format!("{} [{}]", self.effect, self.source)
    }
}

/// One row each.
macro_rules! rows {
    ($($name:literal $library:literal $versions:literal $effect:literal $source:literal;)*) => {
        &[$(VariableRow {
            name: $name, library: $library, versions: $versions, effect: $effect, source: $source,
        }),*]
    };
}

#[rustfmt::skip]
const VARIABLES: &[VariableRow] = rows! {
    "ROCBLAS_TENSILE_LIBPATH" "rocBLAS" "4.4" "the folder of Tensile files, in place of the one beside the library" "library/src/tensile_host.cpp";
    "ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH" "rocBLAS" "4.4" "a file that names the solution for some problems" "library/src/tensile_host.cpp";
    "ROCBLAS_USE_HIPBLASLT" "rocBLAS" "4.4, where built with hipBLASLt" "1: GEMMs go to hipBLASLt first; 0: never; unset: on gfx1200 and gfx1201 alone" "library/src/handle.cpp";
    "ROCBLAS_DEFAULT_ATOMICS_MODE" "rocBLAS" "4.4" "whether a new handle allows solutions that use atomics" "library/src/handle.cpp";
    "ROCBLAS_DEVICE_MEMORY_SIZE" "rocBLAS" "4.4" "bytes of workspace of a handle; solutions that need more are left out" "library/src/handle.cpp";
    "ROCBLAS_INTERNAL_FP16_ALT_IMPL" "rocBLAS" "4.4" "f16 GEMMs on gfx90a by the alternative instructions" "library/src/tensile_host.cpp";
    "ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ" "rocBLAS" "4.4" "rounding of the alternative f16 instructions" "library/src/tensile_host.cpp";
    "ROCBLAS_INTERNAL_FORCE_VALU_FOR_DGEMM" "rocBLAS" "4.4" "f64 GEMMs without matrix instructions" "library/src/tensile_host.cpp";
    "TENSILE_SOLUTION_INDEX" "Tensile in rocBLAS" "4.43" "one solution for every problem" "Tensile/Source/lib/source/Debug.cpp";
    "TENSILE_METRIC" "Tensile in rocBLAS" "4.43" "the measure by which a solution is chosen" "Tensile/Source/lib/source/Debug.cpp";
    "TENSILE_EXPERIMENTAL_SELECTION" "Tensile in rocBLAS" "4.43" "experimental tables of solutions" "Tensile/Source/lib/source/Debug.cpp";
    "TENSILE_TAM_SELECTION_ENABLE" "Tensile in rocBLAS" "4.43" "a solution by a score of tiles instead of the nearest size" "Tensile/Source/lib/source/Debug.cpp";
    "TENSILE_NAIVE_SEARCH" "Tensile in rocBLAS" "4.43" "the table of sizes is searched row by row" "Tensile/Source/lib/source/Debug.cpp";
    "HIPBLASLT_TENSILE_LIBPATH" "hipBLASLt" "manual of ROCm 6.4 and 7.0" "the folder of TensileLite files, in place of the one beside the library" "the manual; its source was not read";
    "HIPBLASLT_TUNING_OVERRIDE_FILE" "hipBLASLt" "manual of ROCm 6.4 and 7.0" "a file that names the solution for some problems" "the manual; its source was not read";
    "MIOPEN_FIND_MODE" "MIOpen" "3.3" "how a search is made: normal, fast, hybrid, fast hybrid, dynamic hybrid" "src/find_controls.cpp";
    "MIOPEN_FIND_MODE_FUSION" "MIOpen" "3.3" "the same for fusion plans" "src/find_controls.cpp";
    "MIOPEN_FIND_ENFORCE" "MIOpen" "3.3" "searches and updates of the performance database that are forced" "src/find_controls.cpp";
    "MIOPEN_DEBUG_FIND_ONLY_SOLVER" "MIOpen" "3.3" "only these solvers are tried" "src/find_controls.cpp";
    "MIOPEN_DEBUG_DISABLE_FIND_DB" "MIOpen" "3.3" "the find database is not read: every search is made" "src/include/miopen/find_db.hpp";
    "MIOPEN_DEBUG_FORCE_IMMED_MODE_FALLBACK" "MIOpen" "3.3" "immediate mode answers without the find database" "src/ocl/convolutionocl.cpp";
    "MIOPEN_DEBUG_CONV_IMMED_FALLBACK" "MIOpen" "3.3" "0: immediate mode offers nothing where the find database has no entry" "src/ocl/convolutionocl.cpp";
    "MIOPEN_DEBUG_ENABLE_AI_IMMED_MODE_FALLBACK" "MIOpen" "3.3" "immediate mode guesses by a model where the find database has no entry" "src/ocl/convolutionocl.cpp";
    "MIOPEN_DEBUG_CONVOLUTION_DETERMINISTIC" "MIOpen" "3.3" "solvers whose results may differ from run to run are left out" "src/include/miopen/convolution.hpp";
    "MIOPEN_DEBUG_CONV_*" "MIOpen" "3.3" "0: solvers of this kind are left out" "src/solver";
    "MIOPEN_DEBUG_AMD_*" "MIOpen" "3.3" "0: Winograd solvers of this kind are left out" "src/solver";
    "MIOPEN_DEBUG_GCN_ASM_KERNELS" "MIOpen" "3.3" "0: solvers written in assembly are left out" "src/execution_context.cpp";
    "MIOPEN_USER_DB_PATH" "MIOpen" "3.3" "the folder of the user's find and performance databases" "src/db_path.cpp.in";
    "MIOPEN_SYSTEM_DB_PATH" "MIOpen" "3.3" "the folder of the installed databases" "src/db_path.cpp.in";
    "HSA_OVERRIDE_GFX_VERSION" "ROCr" "ROCm manual" "every GPU reports this target, so that code for it is taken" "the manual; its source was not read";
    "GGML_CUDA_FORCE_CUBLAS_COMPUTE_32F" "ggml" "2025 to 2026" "f16 products by a BLAS library are computed in f32" "ggml/src/ggml-cuda/ggml-cuda.cu";
    "GGML_CUDA_DISABLE_GRAPHS" "ggml" "2024 to 2026" "kernels are launched one by one instead of in graphs" "ggml/src/ggml-cuda/ggml-cuda.cu";
    "TORCH_BLAS_PREFER_HIPBLASLT" "PyTorch" "2.x manual" "1: GEMMs go to hipBLASLt; 0: to rocBLAS" "the manual; its source was not read";
    "DISABLE_ADDMM_CUDA_LT" "PyTorch" "2.x manual" "1: addmm does not take hipBLASLt" "the manual; its source was not read";
    "PYTORCH_TUNABLEOP_ENABLED" "PyTorch" "2.x manual" "GEMMs take the solution that was the fastest in a trial" "the manual; its source was not read";
    "PYTORCH_TUNABLEOP_FILENAME" "PyTorch" "2.x manual" "the file of solutions that trials found" "the manual; its source was not read";
};

/// Every variable, by library.
pub fn variables() -> &'static [VariableRow] {
    VARIABLES
}

impl VariableRow {
    /// True for a variable of this name.
    pub(super) fn is_named(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }
}

/// Returns the row of a variable: that of its own name before one of a prefix.
pub(super) fn variable(name: &str) -> Option<&'static VariableRow> {
    let own = VARIABLES.iter().find(|row| row.name == name);
    own.or_else(|| VARIABLES.iter().find(|row| row.is_named(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_variable_once_and_every_cell_filled() {
        for (at, row) in VARIABLES.iter().enumerate() {
            let cells = [row.name, row.library, row.versions, row.effect, row.source];
            assert!(cells.iter().all(|cell| !cell.is_empty() && !cell.ends_with('.')), "{row:?}");
            assert!(!VARIABLES[..at].iter().any(|other| other.name == row.name), "{} twice", row.name);
        }
        assert_eq!(variable("MIOPEN_DEBUG_CONV_GEMM").map(|row| row.name), Some("MIOPEN_DEBUG_CONV_*"));
        let own = variable("MIOPEN_DEBUG_CONV_IMMED_FALLBACK").map(|row| row.name);
        assert_eq!((own, variable("PATH")), (Some("MIOPEN_DEBUG_CONV_IMMED_FALLBACK"), None));
    }
}
