"""Triton's own launcher on the real HIP: triton_client.py LIBAMDHIP64 LAUNCHES

Triton opens LIBAMDHIP64 by itself with RTLD_LOCAL, and reaches every function through dlsym and hipGetProcAddress.
"""

import ctypes
import os
import sys

library, launches = sys.argv[1], int(sys.argv[2])
os.environ["TRITON_LIBHIP_PATH"] = library

import torch
import triton
import triton.language as tl

hip = ctypes.CDLL(library)


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def matrix_product(a, b, out, N, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    along = tl.arange(0, DEPTH)
    sum = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, DEPTH):
        left = tl.load(a + row[:, None] * K + (k + along)[None, :])
        right = tl.load(b + (k + along)[:, None] * N + column[None, :])
        sum += tl.dot(left, right)
    tl.store(out + row[:, None] * N + column[None, :], sum)


def tensor(bytes, dtype):
    address = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(address), ctypes.c_size_t(bytes)) == 0
    return torch.Tensor(address.value, dtype)


x, y, out = (tensor(4 << 20, "fp32") for _ in range(3))
a, b = (tensor(1 << 20, "fp16") for _ in range(2))
matrix_product[(4, 4)](a, b, out, 256, 256, BLOCK=64, DEPTH=32)
for _ in range(launches):
    vector_add[(1024,)](x, y, out, 1 << 20, BLOCK=1024)
print("synchronize", hip.hipDeviceSynchronize())
