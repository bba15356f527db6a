"""The release binaries: built, stripped, their debug files split off, and checked with readelf."""
import os
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass

# The oldest glibc that ROCm supports: that of RHEL 8, AlmaLinux 8, and Ollama's and ROCm's images.
GLIBC = (2, 28)
# The C library's own files, and the unwinder that every glibc system has: C++ exceptions and
# pthread_cancel use it. It needs nothing newer than GCC 4.2.
LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1",
             "ld-linux-x86-64.so.2", "libgcc_s.so.1"}
LIBGCC = (4, 2)


class Wrong(Exception):
    """A build or a check failed; the text says what."""


@dataclass
class Built:
    """Where the stripped files are, and what they are of."""
    folder: pathlib.Path
    version: str
    commit: str
    epoch: int


def output(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        raise Wrong(f"`{' '.join(map(str, command))}` failed with code {done.returncode}")
    return done.stdout.strip()


def build(profile, target, folder):
    """Builds librocshim.so and rocshim, and leaves both in `folder` with their .debug files."""
    version = re.search(r'^version = "(.*)"', pathlib.Path("Cargo.toml").read_text(), re.M)[1]
    dirty = "+changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    commit = output("git", "rev-parse", "--short=12", "HEAD") + dirty
    epoch = int(output("git", "log", "-1", "--format=%ct"))
    environment = dict(os.environ, ROCSHIM_COMMIT=commit, SOURCE_DATE_EPOCH=str(epoch))
    environment["ROCSHIM_ZIG"] = output("scripts/test-tools", "zig")
    if profile == "dist":  # Paths of this machine stay out of the binaries.
        cargo = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
        environment["RUSTFLAGS"] = f"--remap-path-prefix={os.getcwd()}=. --remap-path-prefix={cargo}=/cargo"
    linker = f"linker={pathlib.Path('scripts/linker').resolve()}"
    for package in [["-p", "rocshim"], ["-p", "rocshim-cli", "--bin", "rocshim"]]:
        command = ["cargo", "rustc", "--quiet", "--profile", profile, *package, "--", "-C", linker]
        if subprocess.run(command, env=environment).returncode:
            raise Wrong(f"`{' '.join(command)}` failed")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ["librocshim.so", "rocshim"]:
        built = target / profile / name
        check(built)
        split(built, folder / name)
        if exports(folder / name) != exports(built):
            raise Wrong(f"stripping changed what {name} exports")
    check_exports(folder / "librocshim.so")
    return Built(folder, version, commit, epoch)


def split(source, to):
    """Copies a binary without its debug information, which goes to a file beside it."""
    debug = to.with_name(to.name + ".debug")
    output("objcopy", "--only-keep-debug", source, debug)
    shutil.copy(source, to)
    output("strip", "--strip-unneeded", to)
    output("objcopy", f"--add-gnu-debuglink={debug}", to)


def check(binary):
    """Fails where the binary would not load on a system with glibc 2.28."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", binary)))
    if needed - LIBRARIES:
        raise Wrong(f"{binary} needs {', '.join(sorted(needed - LIBRARIES))}, which are not the C library's")
    # What it asks of others, not the version of its own symbols.
    versions = output("readelf", "--version-info", "--wide", binary).split("Version needs section", 1)[1]
    for library, bar in [("GLIBC", GLIBC), ("GCC", LIBGCC)]:
        found = {tuple(map(int, v.split("."))) for v in re.findall(rf"Name: {library}_([0-9.]+)", versions)}
        newest = max(found, default=(0,))
        if newest[:2] > bar:
            raise Wrong(f"{binary} needs {library}_{'.'.join(map(str, newest))}; the bar is "
                        f"{library}_{'.'.join(map(str, bar))}")
    if not re.search(r"NT_GNU_BUILD_ID", output("readelf", "--notes", "--wide", binary)):
        raise Wrong(f"{binary} has no build id")


def exports(binary):
    """The names of the symbols that a binary defines for others."""
    lines = output("nm", "--dynamic", "--defined-only", binary).splitlines()
    return sorted(line.split()[-1] for line in lines)


# What librocshim.so exports beside its hooks: functions of the C library by which programs find
# others, ROCm's registration, options of the sanitizers, and the C API of include/rocshim.h.
OTHERS = {"dlopen", "dlmopen", "dlsym", "dlvsym", "prctl", "syscall",
          "rocprofiler_register_library_api_table",
          "__asan_default_options", "__lsan_default_suppressions", "__tsan_default_options",
          "__tsan_default_suppressions", "rocshim_flush", "rocshim_recording"}


def check_exports(library):
    """Fails unless the library exports exactly its hooks, less those it lists as unexported, and OTHERS."""
    hooks = {line.split("\t")[1] for line in section_text(library, ".rocshim.hooks").splitlines() if "\t" in line}
    unexported = {line.split("\t")[0] for line in section_text(library, ".rocshim.unexported").splitlines()}
    differs = (hooks - unexported | OTHERS) ^ set(exports(library))
    if differs:
        raise Wrong(f"{library} exports too much or too little: {', '.join(sorted(differs)[:9])}")


def section_text(library, section):
    """The text of one section, without the linker's padding."""
    copied = pathlib.Path(str(library) + ".section")
    output("objcopy", "-O", "binary", f"--only-section={section}", "--set-section-flags", f"{section}=alloc",
           library, copied)
    text = copied.read_bytes().replace(b"\0", b"").decode()
    copied.unlink()
    return text
