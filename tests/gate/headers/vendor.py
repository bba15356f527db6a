"""vendor: what the real headers of one release of one library say, asked of the preprocessor and the compiler."""
import pathlib, re, subprocess
from dataclasses import dataclass, field

# One row per library: its Debian packages; X if its types are in src/shim/abi/X.rs, X_*.rs; its
# headers, some of which an old release lacks.
LIBRARIES = {
    "libamdhip64.so":  ("libamdhip64-dev",                       "hip",       ["hip/hip_runtime_api.h", "hip/hip_deprecated.h", "hip/hip_gl_interop.h", "hip/hip_ext.h", "hip/amd_detail/hip_api_trace.hpp"]),
    "librocblas.so":   ("librocblas-dev",                        "rocblas",   ["rocblas/rocblas.h"]),
    "libhipblas.so":   ("libhipblas-dev libhipblas-common-dev", "hipblas",   ["hipblas/hipblas.h"]),
    "libhipblaslt.so": ("libhipblaslt-dev",                      "hipblaslt", ["hipblaslt/hipblaslt.h"]),
    "libMIOpen.so":    ("libmiopen-dev",                         "miopen",    ["miopen/miopen.h"]),
    "librccl.so":      ("librccl-dev",                           "rccl",      ["rccl/rccl.h"]),
    "librocfft.so":    ("librocfft-dev",                         "rocfft",    ["rocfft/rocfft.h"]),
    "libhipfft.so":    ("libhipfft-dev",                         "hipfft",    ["hipfft/hipfft.h", "hipfft/hipfftXt.h"]),
    "librocrand.so":   ("librocrand-dev",                        "rocrand",   ["rocrand/rocrand.h"]),
    "libhiprand.so":   ("libhiprand-dev",                        "hiprand",   ["hiprand/hiprand.h"]),
    "librocsparse.so": ("librocsparse-dev",                      "rocsparse", ["rocsparse/rocsparse.h"]),
    "libhipsparse.so": ("libhipsparse-dev",                      "hipsparse", ["hipsparse/hipsparse.h"]),
    "librocsolver.so": ("librocsolver-dev",                      "rocsolver", ["rocsolver/rocsolver.h"]),
    "libhipsolver.so": ("libhipsolver-dev",                      "hipsolver", ["hipsolver/hipsolver.h"]),
    "libroctx64.so":   ("libroctx-dev",                          "roctx",     ["roctracer/roctx.h"]),
}
# All declarations of the libraries, without the C++ overloads of C functions.
DEFINES = ["__HIP_PLATFORM_AMD__", "__HIP_DISABLE_CPP_FUNCTIONS__", "ROCBLAS_BETA_FEATURES_API", "MIOPEN_BETA_API"]
HERE = pathlib.Path(__file__).resolve().parent


@dataclass
class Facts:
    """The output of a compiled program; shapes are those of shapes.hpp."""
    functions: dict = field(default_factory=dict)  # name: [shape of the result, of each parameter]
    types: dict = field(default_factory=dict)      # name: shape
    sizes: dict = field(default_factory=dict)      # name: [bytes, alignment]
    fields: dict = field(default_factory=dict)     # struct.field: [offset, shape]
    values: dict = field(default_factory=dict)     # name: number
    symbols: set = field(default_factory=set)      # symbols to be linked


def library_of(file):
    """The library whose types a file of src/shim/abi has; None where it is none of them."""
    stems = {stem: library for library, (_, stem, _) in LIBRARIES.items()}
    return stems.get(file.with_suffix("").parts[0].split("_")[0])


class Headers:
    """The headers of a library in a release."""

    def __init__(self, include, library, work):
        self.headers = [header for header in LIBRARIES[library][2] if (include / header).exists()]
        self.work = work
        self.work.mkdir(parents=True)
        self.compiler = ["g++", "-std=c++20", "-w", *(f"-D{name}" for name in DEFINES), "-isystem", include, "-I", HERE]
        output = run([*self.compiler, "-E", "-dD", "-P", self.source("headers", "")])
        lines = output.splitlines()
        self.macros = {re.match(r"\w+", line[8:])[0] for line in lines if line.startswith("#define ")}
        code = " ".join(line for line in lines if not line.startswith("#"))
        self.text = without_attributes(" ".join(code.split()))
        self.enumerators = dict(self.read_enums())
        self.declarations = first(self.read_declarations())
        self.pointer_declarations = first(self.read_pointer_declarations())
        self.types = set(self.read_types())

    def source(self, name, text):
        """Writes a program that includes the headers."""
        path = self.work / f"{name}.cpp"
        path.write_text("".join(f"#include <{header}>\n" for header in ["shapes.hpp", *self.headers]) + text)
        return path

    def read_enums(self):
        """(tag and typedef name, the names in it) of every enum."""
        for match in re.finditer(r"\benum\b\s?(\w*)\s?(?::[^{;]*)?\{([^}]*)\}\s?(\w*)", self.text):
            names = [part.split("=")[0].strip() for part in match[2].split(",") if part.strip()]
            for enum in {match[1], match[3]} - {""}:
                yield enum, names

    def has_constant(self, name):
        """They declare a constant of this name."""
        return name in self.macros or any(name in names for names in self.enumerators.values())

    def read_types(self):
        """The names of the types that they declare."""
        for pattern in (r"\b(?:struct|union|enum) (\w+) ?[{:]", r"\btypedef [^;{}()]*\b(\w+) ?;", r"\} ?(\w+) ?;"):
            yield from re.findall(pattern, self.text)
        yield from self.pointer_declarations

    def read_declarations(self):
        """(name, result, parameters) of every function that is no template."""
        for match in re.finditer(r"[;{}]([^;{}()]*[\w*&\s])\b(\w+) ?\(", self.text):
            before = [word for word in match[1].split() if word not in NO_TYPE]
            if before and before[0] not in NO_DECLARATION:
                parameters, after = arguments(self.text, match.end())
                if after.startswith((";", "{")):
                    yield match[2], " ".join(before), parameters

    def read_pointer_declarations(self):
        """As `read_declarations`, of `typedef R (*name)(…)`."""
        for match in re.finditer(r"\btypedef ([^;(]*)\( ?\* ?(\w+) ?\) ?\(", self.text):
            yield match[2], match[1], arguments(self.text, match.end())[0]

    def members(self, struct):
        """The names of a struct's members, in order, where each is declared by `T name;`."""
        match = re.search(rf"\bstruct {struct} ?\{{([^}}]*)\}}", self.text)
        return [part.split()[-1] for part in match[1].split(";") if part.strip()] if match else None

    def ask(self, declarations, questions):
        """Compiles and runs a program of questions, which are uses of the macros in shapes.hpp."""
        source = self.source("ask", "\n".join([*declarations, "int main() {", *questions, "}\n"]))
        program, compiled = source.with_suffix(""), source.with_suffix(".o")
        run([*self.compiler, "-c", source, "-o", compiled])
        # Nothing is called, so the functions need not exist.
        run(["g++", compiled, "-o", program, "-Wl,--unresolved-symbols=ignore-all"])
        facts = Facts(symbols={line.split()[-1] for line in run(["nm", "-u", compiled]).splitlines()})
        for line in run([program]).splitlines():
            kind, name, *rest = line.split("\t")
            rest = [int(word) if word.lstrip("-").isdigit() else word for word in rest]
            getattr(facts, kind)[name] = rest[0] if kind in ("types", "values") else rest
        return facts


def first(declarations):
    """{name: (result, parameters)}, of each name the first."""
    found = {}
    for name, *declaration in declarations:
        found.setdefault(name, declaration)
    return found


def run(command):
    """What a command prints; ends the check where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"check-headers: this failed: {' '.join(map(str, command))}\n{done.stderr[:4000]}")
    return done.stdout


def without_attributes(text):
    """C without strings, `__attribute__((…))` and `[[…]]`."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    inside = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
    return re.sub(rf"\b(?:__attribute__|__asm__|alignas)\s*\({inside}\)\s?|\[\[[^\]]*\]\]\s?", "", text)


def arguments(text, start):
    """What lies between the parenthesis that ends at `start` and its partner, split at commas; and the text behind it."""
    parts, depth, begin, at = [], 1, start, start
    while depth:
        depth += (text[at] in "([{<") - (text[at] in ")]}>")
        if depth == 1 and text[at] == "," or depth == 0:
            parts.append(text[begin:at].split("=")[0].strip())
            begin = at + 1
        at += 1
    return ([] if parts in ([""], ["void"]) else parts), text[at:at + 3].lstrip()


# Words before a declaration that are not part of its result; words that begin other declarations.
NO_TYPE = {"extern", '""', "static", "inline", "__inline__", "constexpr"}
NO_DECLARATION = {"return", "template", "typedef", "using", "else", "new", "auto"}
# The last word of a parameter that has no name.
NO_NAME = {"int", "unsigned", "char", "short", "long", "float", "double", "bool", "*", "&"}


def parameter_name(text):
    """The name in `T name`, `T* name`, `T name[3]`, `T (*name)(…)`; None where there is none."""
    if match := re.search(r"\( ?\* ?(\w+) ?\)", text):
        return match[1]
    words = [word for word in re.findall(r"\w+|[*&]", re.sub(r"\[[^\]]*\]", "", text)) if word not in ("const", "struct", "enum")]
    return None if len(words) < 2 or words[-1] in NO_NAME else words[-1]


def as_type(declaration):
    """A declaration as the type of a pointer to the function."""
    return f"{declaration[0]} (*)({', '.join(declaration[1])})"


if __name__ == "__main__":
    # The packages to fetch.
    print(*sorted({package for packages, _, _ in LIBRARIES.values() for package in packages.split()}))
