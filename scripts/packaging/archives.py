"""Packages from the release binaries: tarball, .deb, wheel, container recipes. Bytes depend on the commit alone."""
import base64
import gzip
import hashlib
import io
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

from binaries import Wrong

SUMMARY = "Shows which kernels, GEMMs and convolution solvers a ROCm program really uses"
HERE = pathlib.Path(__file__).parent


def make(built, out):
    """Writes all packages to `out`, and returns their paths."""
    files = installed(built)
    return [tarball(built, files, out), deb(built, files, out), wheel(built, out), debug(built, out),
            *recipes(built, out)]


def installed(built):
    """What a package installs below its prefix: path to (bytes, mode)."""
    return {
        **manual(built),
        **completions(built),
        "bin/rocshim": ((built.folder / "rocshim").read_bytes(), 0o755),
        "lib/librocshim.so": ((built.folder / "librocshim.so").read_bytes(), 0o644),
        "include/rocshim.h": (pathlib.Path("include/rocshim.h").read_bytes(), 0o644),
        "share/doc/rocshim/README.md": (pathlib.Path("README.md").read_bytes(), 0o644),
        "share/doc/rocshim/copyright": (pathlib.Path("LICENSE").read_bytes(), 0o644),
    }


def manual(built):
    """The man pages, which the command writes."""
    with tempfile.TemporaryDirectory() as folder:
        command(built, "help", "--man", folder)
        pages = sorted(pathlib.Path(folder).iterdir())
        return {f"share/man/man1/{page.name}.gz": (gzip.compress(page.read_bytes(), mtime=0), 0o644) for page in pages}


# Where each shell looks for the completions of a command.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/rocshim",
    "zsh": "share/zsh/site-functions/_rocshim",
    "fish": "share/fish/vendor_completions.d/rocshim.fish",
}


def completions(built):
    return {path: (command(built, "help", "--completions", shell), 0o644) for shell, path in COMPLETIONS.items()}


def command(built, *words):
    """What the command that is packed prints."""
    return subprocess.run([built.folder / "rocshim", *words], check=True, stdout=subprocess.PIPE).stdout


def tar_of(files, epoch, prefix=""):
    """A tar archive of files and the folders above them, all of root."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        folders = {str(above) for path in files for above in pathlib.PurePosixPath(prefix + path).parents}
        entries = [(folder, None, 0o755) for folder in folders - {"."}]
        entries += [(prefix + path, *content) for path, content in files.items()]
        for path, content, mode in sorted(entries, key=lambda entry: entry[0]):
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime, entry.uname, entry.gname = mode, epoch, "root", "root"
            entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            entry.size = len(content or b"")
            tar.addfile(entry, io.BytesIO(content or b""))
    return gzip.compress(packed.getvalue(), mtime=0)


def tarball(built, files, out):
    name = f"rocshim-{built.version}-linux-x86_64"
    inside = {**files, "install.sh": ((HERE / "install.sh").read_bytes(), 0o755)}
    return write(out / f"{name}.tar.gz", tar_of(inside, built.epoch, f"{name}/"))


def deb(built, files, out):
    size = sum(len(content) for content, _ in files.values()) // 1024
    control = (f"Package: rocshim\nVersion: {built.version}\nArchitecture: amd64\nMaintainer: rocshim\n"
               f"Installed-Size: {size}\nDepends: libc6 (>= 2.28), libgcc-s1 | libgcc1\nSection: devel\n"
               f"Priority: optional\nDescription: {SUMMARY}\n librocshim.so is preloaded under a program, and records"
               " its kernel launches and\n library calls. The command rocshim reads these traces.\n")
    data = {f"usr/{path}": content for path, content in files.items()}
    members = [("debian-binary", b"2.0\n"),
               ("control.tar.gz", tar_of({"control": (control.encode(), 0o644)}, built.epoch)),
               ("data.tar.gz", tar_of(data, built.epoch))]
    packed = b"!<arch>\n"
    for name, content in members:
        packed += f"{name:<16}{built.epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    return write(out / f"rocshim_{built.version}_amd64.deb", packed)


def wheel(built, out):
    """The module, and, below the prefix that it is installed into, bin/rocshim and lib/librocshim.so."""
    name, tag = f"rocshim-{built.version}", "py3-none-manylinux_2_28_x86_64"
    readme = pathlib.Path("src/python/README.md").read_text()
    files = {f"rocshim/{path.name}": (path.read_bytes(), 0o644) for path in sorted(pathlib.Path("src/python/rocshim").iterdir())
             if path.is_file()}
    if "rocshim/py.typed" not in files:
        raise Wrong("src/python/rocshim/py.typed is missing")
    files[f"{name}.data/scripts/rocshim"] = ((built.folder / "rocshim").read_bytes(), 0o755)
    for path, (content, mode) in {**manual(built), **completions(built)}.items():
        files[f"{name}.data/data/{path}"] = (content, mode)
    files[f"{name}.data/data/lib/librocshim.so"] = ((built.folder / "librocshim.so").read_bytes(), 0o755)
    info = f"{name}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: rocshim\nVersion: {built.version}\nSummary: {SUMMARY}\nLicense: MIT\n"
                "Requires-Python: >=3.9\nClassifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
                "Provides-Extra: arrow\nRequires-Dist: pyarrow>=14; extra == 'arrow'\n"
                "Provides-Extra: sql\nRequires-Dist: duckdb>=1.1; extra == 'sql'\n"
                f"Description-Content-Type: text/markdown\n\n{readme}")
    files[f"{info}/METADATA"] = (metadata.encode(), 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: rocshim\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/licenses/LICENSE"] = (pathlib.Path("LICENSE").read_bytes(), 0o644)
    record = "".join(f"{path},{record_hash(content)},{len(content)}\n" for path, (content, _) in files.items())
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return write(out / f"{name}-{tag}.whl", packed.getvalue())


def record_hash(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def debug(built, out):
    names = ["librocshim.so.debug", "rocshim.debug"]
    files = {name: ((built.folder / name).read_bytes(), 0o644) for name in names}
    name = f"rocshim-{built.version}-debug"
    return write(out / f"{name}.tar.gz", tar_of(files, built.epoch, f"{name}/"))


def recipes(built, out):
    """The recipes, with this version's tarball in them."""
    for name in ["Dockerfile", "rocshim.def"]:
        text = (HERE / name).read_text().replace("@VERSION@", built.version)
        yield write(out / name, text.encode())


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    shutil.move(partial, path)
    return path
