"""words: the numbers that readers of a trace see as words (src/drain/values.rs), against the enums that they come from."""

# One row a table of ours and an enum of a library: the part of the enum's names that is no word.
WORDS = [
    ("operation",      "librocblas.so", "rocblas_operation",               "rocblas_operation_"),
    ("DATATYPES",      "librocblas.so", "rocblas_datatype",                "rocblas_datatype_"),
    ("HIP_DATATYPES",  "libamdhip64.so", "hipDataType",                    "HIP_"),
    ("COMPUTE_TYPES",  "libhipblas.so", "hipblasComputeType_t",            "HIPBLAS_COMPUTE_"),
    ("EX3_TYPES",      "librocblas.so", "rocblas_computetype",             "rocblas_compute_type_"),
    ("gemm_algo",      "librocblas.so", "rocblas_gemm_algo",               "rocblas_gemm_algo_"),
    ("tensor_type",    "libMIOpen.so",  "miopenDataType_t",                "miopen"),
    ("conv_algorithm", "libMIOpen.so",  "miopenConvAlgorithm_t",           "miopenConvolutionAlgo"),
    ("conv_algorithm", "libMIOpen.so",  "miopenConvFwdAlgorithm_t",        "miopenConvolutionFwdAlgo"),
    ("conv_algorithm", "libMIOpen.so",  "miopenConvBwdDataAlgorithm_t",    "miopenConvolutionBwdDataAlgo"),
    ("conv_algorithm", "libMIOpen.so",  "miopenConvBwdWeightsAlgorithm_t", "miopenConvolutionBwdWeightsAlgo"),
    ("conv_mode",      "libMIOpen.so",  "miopenConvolutionMode_t",         "miopen"),
]
TABLES = {row[0] for row in WORDS}


def enums_of(library):
    """(table, enum, prefix) of a library."""
    return [(table, enum, prefix) for table, of, enum, prefix in WORDS if of == library]


def questions_of_words(library, headers):
    """The numbers to ask for."""
    names = {name for _, enum, _ in enums_of(library) for name in headers.enumerators.get(enum, [])}
    return [f'VALUE("{name}", {name})' for name in sorted(names)]


def compare_words(comparison):
    """Complains of each number of the header that has no word, or another one; returns the (table, number) that it has."""
    our, headers, seen = comparison.our, comparison.headers, set()
    for table, enum, prefix in enums_of(comparison.library):
        what = f"the words of {table}"
        if table not in our.words:
            comparison.complain(what, "are no table of drain/values.rs")
        elif comparison.agree_on_presence(enum, enum in headers.enumerators):
            words = dict(our.words[table])
            for name in headers.enumerators[enum]:
                number = comparison.facts.values[name]
                seen.add((table, number))
                if our.known.is_ours(f"{table}.{number}"):
                    comparison.complain(f"{table}.{number}", f"is said to be ours alone (known.tsv), but the header has {name}")
                if plain(words.get(number)) != plain(our.known.their_word(name, prefix)):
                    said = f"is {words[number]}" if number in words else "has no word"
                    comparison.complain(what, f"{number} {said}, in the header {name}")
    return seen


def plain(word):
    """Without what only the spelling adds: implicit_gemm and ImplicitGEMM."""
    return word and word.replace("_", "").lower()
