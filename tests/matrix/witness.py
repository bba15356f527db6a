"""What is known of a run from elsewhere than rocshim: the device's log, a counter of library calls, and the
libraries' files, whose fat binaries are read here. No table or rule of rocshim's is used."""
import collections
import mmap
import os
import re
import struct

# Library, its file by tree, what its functions begin with, and what the names of its own kernels
# match (None: it has none; they are the library's under it).
LIBRARIES = [
    ("librocblas.so", {"hip6": "librocblas.so.4", "hip7": "librocblas.so.5"}, "rocblas_", r"^Cijk_|^_ZL?\d*rocblas_|^_ZN7rocblas"),
    ("libhipblas.so", {"hip6": "libhipblas.so.2", "hip7": "libhipblas.so.3"}, "hipblas(?!Lt)", None),
    ("libhipblaslt.so", {"hip7": "libhipblaslt.so.1"}, "hipblasLt|hipblaslt", None),
    ("libMIOpen.so", {"hip6": "libMIOpen.so.1", "hip7": "libMIOpen.so.1"}, "miopen", r"^[Mm][Ii][Oo]pen|naive_conv|^igemm_|^Op\dd"),
    ("librocfft.so", {"hip6": "librocfft.so.0", "hip7": "librocfft.so.0"}, "rocfft_", r"^fft_rtc_|^_Z.*rocfft"),
    ("libhipfft.so", {"hip6": "libhipfft.so.0", "hip7": "libhipfft.so.0"}, "hipfft", None),
    ("librocrand.so", {"hip6": "librocrand.so.1", "hip7": "librocrand.so.1"}, "rocrand_", r"^_ZN12rocrand_impl"),
    ("libhiprand.so", {"hip6": "libhiprand.so.1", "hip7": "libhiprand.so.1"}, "hiprand", None),
    ("librocsparse.so", {"hip6": "librocsparse.so.1", "hip7": "librocsparse.so.1"}, "rocsparse_", r"^_ZN9rocsparse|^_ZL11init_kernelv$"),
    ("libhipsparse.so", {"hip6": "libhipsparse.so.1", "hip7": "libhipsparse.so.4"}, "hipsparse", None),
    ("librocsolver.so", {"hip6": "librocsolver.so.0", "hip7": "librocsolver.so.0"}, "rocsolver_", r"^_ZN9rocsolver"),
    ("libhipsolver.so", {"hip6": "libhipsolver.so.0", "hip7": "libhipsolver.so.1"}, "hipsolver", None),
]


class Log:
    """The dispatches in the device's log, without the HIP runtime's own copies and fills."""

    def __init__(self, path):
        self.kernels = []
        for line in open(path) if os.path.exists(path) else []:
            if line.startswith("kernel "):
                fields = dict(word.split("=", 1) for word in line.split()[1:])
                if not fields["name"].startswith(("#", "__amd_rocclr_")):
                    sizes = [int(size) for size in fields["grid"].split(",")]
                    self.kernels.append((int(fields["start"]), fields["name"], sizes, fields["block"]))
        self.names = collections.Counter(row[1] for row in self.kernels)

    def within(self, begin, end):
        return [row for row in self.kernels if begin <= row[0] <= end]

    def of_library(self, library, kernels=None):
        """Dispatches of kernels that are this library's own, by their names."""
        pattern = next((pattern for name, _, _, pattern in LIBRARIES if name == library), None)
        names = self.names if kernels is None else collections.Counter(row[1] for row in kernels)
        return sum(number for name, number in names.items() if re.search(pattern, name)) if pattern else 0


class Calls:
    """Calls of exported functions, as the counter saw them; `None` of a library that it does not count."""

    def __init__(self, path, tree):
        self.by_name, self.counted = collections.Counter(), {row[0] for row in LIBRARIES if tree in row[1]}
        for line in open(path) if os.path.exists(path) else []:
            _, name, number = line.split()
            self.by_name[name] += int(number)

    def of_library(self, library):
        if library not in self.counted:
            return None
        prefix = next(prefix for name, _, prefix, _ in LIBRARIES if name == library)
        return sum(number for name, number in self.by_name.items() if re.match(prefix, name))


MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
images = {}


def kernels_of(path, target):
    """For each fat binary of a file, in its order, the kernels that it has for a target, and those that no
    other has; None where one is compressed, because it is not read then."""
    if path not in images:
        found = read_images(path, target)
        times = collections.Counter(name for kernels in found or [] for name in kernels)
        alone = lambda kernels: {name for name in kernels if times[name] == 1}
        images[path] = found and [(kernels, alone(kernels)) for kernels in found]
    return images[path]


def read_images(path, target):
    found = []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begin, size = section(data, b".hip_fatbin")
        if data[begin:begin + 4] == b"CCOB":
            return None
        at = data.find(MAGIC, begin, begin + size)
        while at >= 0:
            entries, place, end = struct.unpack_from("<Q", data, at + 24)[0], at + 32, 0
            kernels = set()
            for _ in range(entries):
                offset, length, letters = struct.unpack_from("<QQQ", data, place)
                triple = data[place + 24:place + 24 + letters].decode()
                place, end = place + 24 + letters, max(end, offset + length)
                if triple.split("--")[-1].split(":")[0] == target and length:
                    kernels |= kernels_of_elf(data, at + offset)
            found.append(kernels)
            at = data.find(MAGIC, at + end, begin + size)
    return found


def section(data, name):
    """Where a section of an ELF file is, and how long."""
    sections, (size, number, strings) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, sections + one * size) for one in range(number)]
    for head in heads:
        begin = heads[strings][4] + head[0]
        if data[begin:data.find(b"\0", begin)] == name:
            return head[4], head[5]
    return 0, 0


def kernels_of_elf(data, at):
    """The names of the symbols that end in `.kd`: kernel descriptors."""
    sections, size, number = struct.unpack_from("<Q", data, at + 40)[0], *struct.unpack_from("<HH", data, at + 58)
    names = set()
    for section in range(number):
        head = struct.unpack_from("<IIQQQQIIQQ", data, at + sections + section * size)
        if head[1] != 11:  # SHT_DYNSYM
            continue
        strings = struct.unpack_from("<IIQQQQIIQQ", data, at + sections + head[6] * size)
        for symbol in range(head[5] // 24):
            begin = at + strings[4] + struct.unpack_from("<I", data, at + head[4] + symbol * 24)[0]
            name = data[begin:data.find(b"\0", begin)]
            if name.endswith(b".kd"):
                names.add(name[:-3].decode())
    return names
