"""The real HIP through ctypes, which opens it with RTLD_LOCAL and finds functions with dlsym:
ctypes_client.py LIBAMDHIP64 CODE_OBJECT LAUNCHES

Two threads launch, each LAUNCHES times, each on a stream of its own.
"""

import ctypes
import sys
import threading

hip = ctypes.CDLL(sys.argv[1])
code_object, launches = sys.argv[2].encode(), int(sys.argv[3])


def check(status):
    assert status == 0, status


def memory(bytes):
    address = ctypes.c_void_p()
    check(hip.hipMalloc(ctypes.byref(address), ctypes.c_size_t(bytes)))
    return address


def function(module, name):
    found = ctypes.c_void_p()
    check(hip.hipModuleGetFunction(ctypes.byref(found), module, name))
    return found


def launch(function, stream, *arguments):
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
    check(hip.hipModuleLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, pointers, None))


def work(module):
    stream, n = ctypes.c_void_p(), ctypes.c_int(1024)
    check(hip.hipStreamCreate(ctypes.byref(stream)))
    add, scale = function(module, b"vector_add"), function(module, b"_Z12vector_scaleILi2EEvPfi")
    a, b, c = (memory(4096) for _ in range(3))
    for _ in range(launches):
        launch(add, stream, a, b, c, n)
        launch(scale, stream, c, n)
    check(hip.hipStreamSynchronize(stream))


module = ctypes.c_void_p()
check(hip.hipModuleLoad(ctypes.byref(module), code_object))
threads = [threading.Thread(target=work, args=(module,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("synchronize", hip.hipDeviceSynchronize())
