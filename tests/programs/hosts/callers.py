"""First GEMMs of a shape on stacks that Python makes: callers.py LIBROCBLAS

For each prints its rows and the functions on its stack, innermost first: FILE:LINE:NAME. Each GEMM
is made twice.
"""

import asyncio
import contextlib
import ctypes
import sys
import threading
import traceback

blas = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_void_p()
assert blas.rocblas_create_handle(ctypes.byref(handle)) == 0
one = ctypes.c_float(1)
memory = ctypes.create_string_buffer(1 << 16)
at = ctypes.c_void_p((ctypes.addressof(memory) + 63) & ~63)
rows = iter(range(16, 1000))


def gemm():
    m = next(rows)
    stack = traceback.extract_stack()
    line = [m, *(f"{f.filename}:{f.lineno}:{f.name}" for f in reversed(stack))]
    for _ in range(2):
        line[1] = f"{__file__}:{sys._getframe().f_lineno + 1}:gemm"
        status = blas.rocblas_sgemm(handle, 111, 111, m, 8, 8, ctypes.byref(one), at, m, at, 8, ctypes.byref(one), at, m)
        assert status == 0, status
    print(*line, sep="\t")


class Model:
    def step(self):
        return (lambda: gemm())()

    def __del__(self):
        gemm()


def generator():
    yield gemm()


async def inner():
    await asyncio.sleep(0)
    gemm()


def deep(more):
    if more:
        deep(more - 1)
    else:
        gemm()


def in_comprehension():
    return [gemm() for _ in range(1)]


def sort():
    sorted([2, 1], key=lambda number: gemm() or number)


@contextlib.contextmanager
def managed():
    gemm()
    yield


def name_ünï():
    gemm()


gemm()
Model().step()
list(generator())
asyncio.run(inner())
deep(50)
in_comprehension()
sort()
with managed():
    gemm()
name_ünï()
thread = threading.Thread(target=deep, args=(2,))
thread.start()
thread.join()
exec(compile("gemm(\n)", "made", "exec"))
callback = ctypes.CFUNCTYPE(None)(gemm)
callback()
