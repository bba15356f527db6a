"""words: the numbers that readers of a trace see as words (src/drain/values.rs), against the enums that they come from."""

import re

# One row per table of ours and enum of a library: the prefix of the enum's names that is dropped.
WORDS = [
    ("operation",      "librocblas.so",   "rocblas_operation",               "rocblas_operation_"),
    ("operation",      "libhipblas.so",   "hipblasOperation_t",              "HIPBLAS_OP_"),
    ("DATATYPES",      "librocblas.so",   "rocblas_datatype",                "rocblas_datatype_"),
    ("DATATYPES",      "libhipblas.so",   "hipblasDatatype_t",               "HIPBLAS_"),
    ("HIP_DATATYPES",  "libamdhip64.so",  "hipDataType",                     "HIP_"),
    ("COMPUTE_TYPES",  "libhipblas.so",   "hipblasComputeType_t",            "HIPBLAS_COMPUTE_"),
    ("EX3_TYPES",      "librocblas.so",   "rocblas_computetype",             "rocblas_compute_type_"),
    ("gemm_algo",      "librocblas.so",   "rocblas_gemm_algo",               "rocblas_gemm_algo_"),
    ("pointer_mode",   "librocblas.so",   "rocblas_pointer_mode",            "rocblas_pointer_mode_"),
    ("pointer_mode",   "libhipblas.so",   "hipblasPointerMode_t",            "HIPBLAS_POINTER_MODE_"),
    ("atomics",        "librocblas.so",   "rocblas_atomics_mode",            "rocblas_atomics_"),
    ("atomics",        "libhipblas.so",   "hipblasAtomicsMode_t",            "HIPBLAS_ATOMICS_"),
    ("math_mode",      "librocblas.so",   "rocblas_math_mode",               "rocblas_"),
    ("metric",         "librocblas.so",   "rocblas_performance_metric",      "rocblas_"),
    ("EPILOGUES",      "libhipblaslt.so", "hipblasLtEpilogue_t",             "HIPBLASLT_EPILOGUE_"),
    ("ORDERS",         "libhipblaslt.so", "hipblasLtOrder_t",                "HIPBLASLT_ORDER_"),
    ("SCALE_MODES",    "libhipblaslt.so", "hipblasLtMatmulMatrixScale_t",    "HIPBLASLT_MATMUL_MATRIX_SCALE_"),
    ("tensor_type",    "libMIOpen.so",    "miopenDataType_t",                "miopen"),
    ("conv_algorithm", "libMIOpen.so",    "miopenConvAlgorithm_t",           "miopenConvolutionAlgo"),
    ("conv_algorithm", "libMIOpen.so",    "miopenConvFwdAlgorithm_t",        "miopenConvolutionFwdAlgo"),
    ("conv_algorithm", "libMIOpen.so",    "miopenConvBwdDataAlgorithm_t",    "miopenConvolutionBwdDataAlgo"),
    ("conv_algorithm", "libMIOpen.so",    "miopenConvBwdWeightsAlgorithm_t", "miopenConvolutionBwdWeightsAlgo"),
    ("conv_mode",      "libMIOpen.so",    "miopenConvolutionMode_t",         "miopen"),
    ("copy_kind",      "libamdhip64.so",  "hipMemcpyKind",                   "hipMemcpy"),
    ("capture_mode",   "libamdhip64.so",  "hipStreamCaptureMode",            "hipStreamCaptureMode"),
    ("node_kind",      "libamdhip64.so",  "hipGraphNodeType",                "hipGraphNodeType"),
    ("nccl_type",      "librccl.so",      "ncclDataType_t",                  "nccl"),
    ("nccl_op",        "librccl.so",      "ncclRedOp_t",                     "nccl"),
]


def tables():
    """The tables of ours that are compared."""
    return {table for table, _, _, _ in WORDS}


def enums_of(library):
    """(table, enum, prefix) of a library."""
    return [(table, enum, prefix) for table, of, enum, prefix in WORDS if of == library]


def questions(library, headers):
    """The numbers to ask for."""
    names = {name for _, enum, _ in enums_of(library) for name in headers.enumerators.get(enum, [])}
    return [f'VALUE("{name}", {name})' for name in sorted(names)]


def compare(comparison):
    """Reports each number of the header that has no word, or another one; returns the (table, number) that it has."""
    our, headers, seen = comparison.our, comparison.headers, set()
    for table, enum, prefix in enums_of(comparison.library):
        if table not in our.words:
            comparison.report(f"the words of {table}", "are no table of drain/values.rs")
        elif comparison.agree_on_presence(enum, enum in headers.enumerators):
            numbers = {}
            for name in headers.enumerators[enum]:
                if (word := our.known.their_word(name, prefix)) != COUNT:
                    numbers.setdefault(comparison.facts.values[name], {})[name] = plain(word)
            for number, names in numbers.items():
                compare_number(comparison, table, number, names)
                seen.add((table, number))
    return seen


# Value in known.tsv for a name without a number of its own.
COUNT = "-"


def compare_number(comparison, table, number, names):
    """`names` are the header's for `number`, with what their words should be: ours is one of them."""
    words, header = dict(comparison.our.words[table]), ", ".join(names)
    if comparison.our.known.is_ours(f"{table}.{number}"):
        comparison.report(f"{table}.{number}", f"is said to be ours alone (known.tsv), but the header has {header}")
    if number not in words:
        comparison.report(f"the words of {table}", f"{number} has no word, in the header {header}")
    elif plain(words[number]) not in names.values():
        comparison.report(f"the words of {table}", f"{number} is {words[number]}, in the header {header}")


# The vendors' spelling of types, and ours.
SPELLINGS = [
    (r"^R_(\d+)F_",              r"f\1_"),     # R_8F_E4M3
    (r"^([RC])_(\d+)BF?$",       r"bf\2_\1"),  # R_16BF
    (r"^([RC])_(\d+)([FIU])$",   r"\3\2_\1"),  # R_32F
    (r"^U[Ii]nt(?=\d)",          "u"),
    (r"^Int(?=\d)",              "i"),
    (r"^B[Ff]loat(?=\d)",        "bf"),
    (r"^Float(?=\d)",            "f"),
]


def plain(word):
    """Normalises the spelling of a name: implicit_gemm for ImplicitGEMM, f32_r for R_32F."""
    for theirs, ours in SPELLINGS:
        word = re.sub(theirs, ours, word)
    return word.replace("_", "").lower()
