"""The programs of the matrix, in the order of what users run."""
import collections
import os

import gguf

AMD = "/usr/libexec/rocm/"
# The distribution installs LAPACK under a name that a package script would choose.
LAPACK = {"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/lapack:/usr/lib/x86_64-linux-gnu/blas"}
# Tokens that are asked for: below, on and above each boundary of a batch (512) and of a kernel (8
# columns), repeated.
SHORT = [(20, 3), (513, 3)]
LONG = [(1, 3), (5, 3), (8, 2), (9, 2), (20, 4), (511, 2), (512, 3), (513, 3), (600, 3), (1024, 2), (1025, 3), (1300, 2)]

# One row. `command` is a list, or a server's options, questions and how many it is asked at once.
# `repeats`: another run makes the same calls. `short`: taken by --short. `package`: the Python
# package that it needs, of which the folder is PACKAGE.
Program = collections.namedtuple("Program", "name tree command environment model repeats short package")


def program(name, command, tree="libs", environment={}, model=None, repeats=True, short=False, package=None):
    return Program(name, tree, command, environment, model, repeats, short, package)


def tests(package, command, filter):
    """Some tests of AMD's own test program for a library."""
    environment = {"ROCFFT_RTC_CACHE_PATH": "SCRATCH/rocfft.db", **LAPACK}
    line = [AMD + package + "/" + command, "--gtest_filter=" + filter]
    name = filter.split(":")[0].split("/accuracy_test.vs_fftw")[0].replace("*", "…")
    size = filter.split("len_")[-1].split("_")[0] if "len_" in filter else ""
    return program("%s %s" % (command, (name + " " + size).strip()), line, environment=environment)


def llama(short_only):
    bench = lambda p, n: ["llama-bench", "-ngl", "99", "-p", str(p), "-n", str(n), "-r", "2", "-o", "json", "-m", "MODEL"]
    for kind in [*gguf.TYPES, *(kind + gguf.MOE for kind in ("Q4_0", "F16"))]:
        short = kind in ("Q4_0", "F16")
        for graphs in (True, False):
            environment = {} if graphs else {"GGML_CUDA_DISABLE_GRAPHS": "1"}
            name = "%s, %s graphs" % (kind, "with" if graphs else "without")
            row = lambda what, command, repeats=True, short=False: program(
                what + name, command, "hip6", environment, kind, repeats, short)
            questions = SHORT if short_only or kind not in gguf.MAIN else LONG
            yield row("llama-server ", (["-np", "1"], questions, 1), short=short and graphs)
            yield row("llama-bench ", bench(600, 4), short=short and graphs)
            if kind in gguf.MAIN or kind.endswith(gguf.MOE):
                yield row("llama-server -np 4 ", (["-np", "4"], [(40, 8), (600, 4)], 4), repeats=False)
                yield row("llama-bench 1025 ", bench(1025, 2))
                yield row("llama-server --embeddings ", (["--embeddings", "--pooling", "mean"], [(8, 2), (300, 2)], 1))


def libraries():
    for options in (
        "getrf -m 48 -n 48", "potrf --uplo L -n 48", "geqrf -m 48 -n 48", "sytrd --uplo L -n 48",
        "syevd --evect V --uplo L -n 32", "getri -n 32",
    ):
        line = [AMD + "librocsolver0-bench/rocsolver-bench", "-f", *options.split(), "-i", "1", "--perf", "1"]
        yield program("rocsolver-bench " + options.split()[0], line, environment=LAPACK)
    transform = "pow2_1D/accuracy_test.vs_fftw/complex_forward_len_%s_single_*p_batch_1_istride_1_CI_*"
    for length in ("16", "256"):
        yield tests("librocfft0-tests", "rocfft-test", transform % length)
    yield tests("libhipfft0-tests", "hipfft-test", "hipfftTest.*")
    yield tests("libhipfft0-tests", "hipfft-test", transform % "256")
    for one in ("basic", "generate", "generate_uniform", "generate_normal", "generate_poisson", "hipgraphs"):
        yield program("rocRAND test_rocrand_" + one, [AMD + "librocrand1-tests/test_rocrand_" + one])
    yield program("hipRAND test_hiprand_api", [AMD + "libhiprand1-tests/test_hiprand_api"])
    for one in ("spmv_csr", "spmm_csr", "csrgemm2_a", "csrsv2", "axpyi", "dense2csr", "csrsort", "gtsv2_nopivot", "spgemm_csr"):
        yield tests("libhipsparse1-tests", "hipsparse-test", "%s/*_float/1*" % one)
    for one in ("GETRF", "POTRF", "SYEVD", "GESVD"):
        yield tests("libhipsolver0-tests", "hipsolver-test", "checkin_lapack/%s.__float/1*" % one)


def miopen():
    driver = AMD + "libmiopen1-tests/MIOpenDriver"
    cache = {
        "MIOPEN_USER_DB_PATH": "SCRATCH/miopen", "MIOPEN_CUSTOM_CACHE_DIR": "SCRATCH/miopen",
        "NULL_GPU_KERNEL_NS": "20000",  # A solver with time 0 is rejected.
        "CCC_OVERRIDE_OPTIONS": "#X-isystem",  # It calls clang with -isystem /usr/include, which hides clang's own.
    }
    for what, options in [
        ("conv", "-n 1 -c 8 -H 16 -W 16 -k 8 -y 3 -x 3 -p 1 -q 1 -F 1 -V 0 -i 2"),
        ("softmax", "-n 4 -c 16 -H 1 -W 1 -F 1 -V 0 -i 2"),
        ("bnorm", "-n 2 -c 4 -H 8 -W 8 -F 1 -V 0 -i 2"), ("activ", "-n 1 -c 4 -H 8 -W 8 -F 1 -V 0 -i 2"),
    ]:
        yield program("MIOpenDriver " + what, [driver, what, *options.split()], environment=cache, repeats=False)


def triton():
    """Triton's launcher, which finds HIP's functions by name."""
    environment = {"PYTHONPATH": "PACKAGE", "TRITON_CACHE_DIR": "SCRATCH/triton", "TRITON_DEFAULT_FP_FUSION": "1", "CC": "clang-21"}
    client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../programs/real/python/triton_client.py")
    command = ["/usr/bin/python3", os.path.realpath(client), "/usr/lib/x86_64-linux-gnu/libamdhip64.so.6", "200"]
    yield program("Triton vector_add", command, "hip6", environment, package="triton")


def all_programs(short):
    rows = [*miopen(), *libraries(), *triton(), *llama(short)]
    return [row for row in rows if row.short or not short]
