"""What is compiled for a run: the shim, the command, the stand-in libraries, the programs and the C hooks."""
import os, pathlib, subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests/bench"


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()


def cargo(package):
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", package], cwd=ROOT, check=True)


def shim():
    cargo("rocshim")
    return target() / "release/librocshim.so"


def command():
    cargo("rocshim-cli")
    return target() / "release/rocshim"


def compile_c(output, source, *arguments):
    """One program or library of this folder; the stand-ins' headers are its own."""
    tests = ROOT / "tests"
    flags = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-pthread", f"-I{tests}/vendor", f"-I{tests}/programs/api", f"-I{tests}/programs/common", f"-I{output.parent}", f"-Wa,-I,{output.parent}"]
    cc = os.environ.get("CC", "cc").split()
    subprocess.run([*cc, *flags, HERE / source, *arguments, "-ldl", "-o", output], check=True)
    return output


def libraries():
    """The stand-in libraries, which `harness` builds."""
    vendor = target() / "vendor"
    return [f"-L{vendor}", f"-Wl,-rpath-link,{vendor}", f"-Wl,-rpath,{vendor}", "-Wl,--no-as-needed", "-l:libamdhip64.so.6", "-l:librocblas.so.4"]


def program(work, name):
    """A program of this folder, linked to the stand-in libraries."""
    return compile_c(work / name, f"{name}.c", *libraries())


def plugin(work, name):
    """What that program opens while it runs."""
    return compile_c(work / f"{name}-plugin.so", f"{name}.c", "-fPIC", "-shared", "-DPLUGIN", *libraries())


def harness(work):
    """Compiles into `work` what every section uses: loop, steady, pass.so and floor.so."""
    vendor = target() / "vendor"
    subprocess.run([ROOT / "tests/vendor/build", vendor], check=True)
    subprocess.run([vendor / "generate", "fatbin", HERE / "loop.c", work / "loop"], check=True)
    program(work, "loop")
    program(work, "steady")
    compile_c(work / "pass.so", "hook.c", "-fPIC", "-shared")
    compile_c(work / "floor.so", "hook.c", "-fPIC", "-shared", "-DFLOOR")
