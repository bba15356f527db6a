"""words: the numbers that readers of a trace see as words (src/drain/values.rs), against the enums that they come from."""

# One row a table of ours: the library, its enums with the part of their names that is no word.
WORDS = {
    "operation":      ("librocblas.so", {"rocblas_operation": "rocblas_operation_"}),
    "DATATYPES":      ("librocblas.so", {"rocblas_datatype": "rocblas_datatype_"}),
    "gemm_algo":      ("librocblas.so", {"rocblas_gemm_algo": "rocblas_gemm_algo_"}),
    "tensor_type":    ("libMIOpen.so",  {"miopenDataType_t": "miopen"}),
    "conv_algorithm": ("libMIOpen.so",  {"miopenConvAlgorithm_t": "miopenConvolutionAlgo", "miopenConvFwdAlgorithm_t": "miopenConvolutionFwdAlgo",
                                         "miopenConvBwdDataAlgorithm_t": "miopenConvolutionBwdDataAlgo", "miopenConvBwdWeightsAlgorithm_t": "miopenConvolutionBwdWeightsAlgo"}),
    "conv_mode":      ("libMIOpen.so",  {"miopenConvolutionMode_t": "miopen"}),
}


def tables_of(library):
    return {table: enums for table, (of, enums) in WORDS.items() if of == library}


def questions_of_words(library, headers):
    """The numbers to ask for."""
    names = {name for enums in tables_of(library).values() for enum in enums for name in headers.enumerators.get(enum, [])}
    return [f'VALUE("{name}", {name})' for name in sorted(names)]


def compare_words(comparison):
    """Complains of each number of the header that has no word, or another one; returns the (table, number) that it has."""
    our, headers, seen = comparison.our, comparison.headers, set()
    for table, enums in tables_of(comparison.library).items():
        if table not in our.words:
            comparison.complain(f"the words of {table}", "are no table of drain/values.rs")
            continue
        words = dict(our.words[table])
        for enum, prefix in enums.items():
            if enum not in headers.enumerators:
                comparison.complain(f"the words of {table}", f"are for the enum {enum}, which the header lacks")
            for name in headers.enumerators.get(enum, []):
                number = comparison.facts.values[name]
                seen.add((table, number))
                our.known.used.add(("word", name))
                wanted = our.known.word.get(name, name.removeprefix(prefix))
                if our.known.is_ours(f"{table}.{number}"):
                    comparison.complain(f"{table}.{number}", f"is said to be ours alone (known.tsv), but the header has {name}")
                if plain(words.get(number)) != plain(wanted):
                    said = f"is {words[number]}" if number in words else "has no word"
                    comparison.complain(f"the words of {table}", f"{number} {said}, in the header {name}")
    return seen


def plain(word):
    """Without what only the spelling adds: implicit_gemm and ImplicitGEMM."""
    return word and word.replace("_", "").lower()
