"""check: holds rocshim's rows, types and numbers against the vendors' headers, release by release. scripts/check-headers runs it."""
import argparse, concurrent.futures, os, pathlib, re, sys, tempfile
from dataclasses import dataclass

import ours, tables, words
from known import Known, number
from vendor import LIBRARIES, Headers, as_type, library_of, parameter_name


@dataclass
class Release:
    """Headers of one suite of the distribution, unpacked, and the version of each package."""
    folder: pathlib.Path
    versions: dict

    @classmethod
    def read(cls, folder):
        return cls(folder, dict(line.split() for line in (folder / "versions").read_text().splitlines()))

    def version(self, library):
        """As the vendor counts: 6.4.3; None where the suite lacks the package."""
        version = self.versions.get(LIBRARIES[library][0].split()[0])
        return version and re.match(r"[0-9.]+", version.split(":")[-1])[0]


def releases(headers):
    """Those in the folders of a folder, the oldest first."""
    return sorted(map(Release.read, headers.iterdir()), key=lambda release: number(release.version("libamdhip64.so")))


@dataclass
class Ours:
    """All comparisons."""
    rows: list
    abi: ours.Abi
    words: dict
    tables: dict
    known: Known

    @classmethod
    def read(cls, rows, sources, known):
        abi = sources / "shim/abi"
        rows = ours.rows(rows.read_text().splitlines())
        return cls(rows, ours.abi(abi), ours.words(sources / "drain/values.rs"), tables.read(abi), Known.read(known))


class Comparison:
    """One library in one release: what was asked, and what is wrong, as (what, text)."""

    def __init__(self, our, release, library, work):
        self.our, self.library, self.version, self.complaints = our, library, release.version(library), []
        self.headers = Headers(release.folder / "usr/include", library, work)
        self.rows = [row for row in our.rows if row.library == library]
        self.types, self.constants = (
            [name for name in table if library_of(our.abi.files[name]) == library]
            for table in (our.abi.types | our.abi.structs, our.abi.constants))
        self.ask()
        self.compare_rows()
        self.compare_types()
        self.compare_constants()
        tables.compare(self)
        self.seen_words = words.compare(self)

    def report(self, what, text):
        self.complaints.append((what, text))

    def agree_on_presence(self, name, is_there):
        """Whether the release has `name`, reporting where known.tsv says otherwise. What is ours alone must not be there."""
        if self.our.known.is_ours(name):
            if is_there:
                self.report(name, "is said to be ours alone (known.tsv), but the header has it")
            return False
        if is_there != self.our.known.expects(name, self.version):
            self.report(name, "is in the header, where it should not be (known.tsv)" if is_there else "is not in the header")
        return is_there

    # ---- questions ----

    def ask(self):
        """Fills `facts` with all that the comparison needs, by one program."""
        headers, abi = self.headers, self.our.abi
        questions = words.questions(self.library, headers) + tables.questions(self)
        self.declarations, self.slots = {}, {}
        for row in self.rows:
            name = row.source_name()
            if declaration := headers.declarations.get(name):
                self.declarations[row.symbol] = declaration
                questions.append(f'FUNCTION("{row.symbol}", static_cast<{as_type(declaration)}>(&{name}))')
            if slot := headers.pointer_declarations.get(f"t_{name}"):
                self.slots[row.symbol] = slot
                questions.append(f'POINTER("t_{row.symbol}", t_{name})')
        self.found = headers.types.intersection(self.types)
        for name in sorted(self.found):
            questions.append(f'TYPE("{name}", {name})')
            if name in abi.structs:
                questions.append(f'SIZE("{name}", {name})')
                theirs = [theirs for field, _ in abi.structs[name] for theirs in self.our.known.their_fields(name, field)]
                questions += [f'FIELD("{name}.{field}", {name}, {field})' for field in theirs]
        for name, fields in abi.structs.items():
            questions.append(f'SIZE("ours::{name}", ours::{name})')
            questions += [f'FIELD("ours::{name}.{field}", ours::{name}, {field})' for field, _ in fields]
        questions += [f'VALUE("{name}", {name})' for name in self.constants if headers.has_constant(name)]
        self.facts = headers.ask(ours.cpp_structs(abi), questions)

    # ---- rows ----

    def compare_rows(self):
        for row in self.rows:
            symbol, slot = row.symbol, f"t_{row.symbol}"
            is_there = symbol in self.declarations and symbol in self.facts.symbols
            if self.agree_on_presence(symbol, is_there or symbol not in self.declarations and symbol in self.slots):
                found = list(self.differences(row, self.declarations[symbol][1], self.facts.functions[symbol])) if is_there else []
                if symbol in self.slots:
                    # It repeats the declaration, but for some names.
                    parameters = self.declarations[symbol][1] if is_there else self.slots[symbol][1]
                    of_slot = self.differences(row, parameters, self.facts.functions[slot])
                    found += [f"{text} ({slot})" for text in of_slot if text not in found]
                for text in found:
                    self.report(symbol, text)

    def differences(self, row, parameters, shapes):
        """From a declaration: its result, the number of parameters, then each one's shape and name."""
        if not self.agrees(row.result, shapes[0]):
            yield f"returns {self.shown(row.result)}, in the header {shapes[0]}"
        if len(row.parameters) != len(shapes) - 1:
            yield f"has {len(row.parameters)} parameters, in the header {len(shapes) - 1}"
            return
        for at, ((name, kind), text, shape) in enumerate(zip(row.parameters, parameters, shapes[1:]), 1):
            if not self.agrees(kind, shape):
                yield f"parameter {at}, {name}, is {self.shown(kind)}, in the header {shape}"
            theirs = parameter_name(text)
            if theirs and theirs != self.our.known.their_name(row.symbol, name):
                yield f"parameter {at} is called {name}, in the header {theirs}"

    def shown(self, kind):
        shape = self.shape(kind)
        return kind if kind == shape else f"{kind} ({shape})"

    def shape(self, kind):
        """A type of ours in the spelling of the header."""
        shape = ours.shape(kind, self.our.abi)
        return re.sub(r"struct (\w+)", lambda match: self.facts.types.get(match[1], match[0]), shape)

    def agrees(self, kind, theirs):
        return agree(self.shape(kind), theirs)

    # ---- types and constants ----

    def compare_types(self):
        for name in self.types:
            if self.agree_on_presence(name, name in self.found):
                if name in self.our.abi.structs:
                    self.compare_struct(name)
                elif not self.agrees(name, self.facts.types[name]):
                    self.report(name, f"is {self.shown(name)}, in the header {self.facts.types[name]}")

    def compare_struct(self, name):
        """Size and alignment, then each field's place and shape."""
        for part, our, their in zip(("size", "alignment"), self.facts.sizes[f"ours::{name}"], self.facts.sizes[name]):
            if our != their:
                self.report(name, f"has {part} {our}, in the header {their}")
        offsets = {field.removeprefix("ours::"): offset for field, (offset, _) in self.facts.fields.items() if field.startswith("ours::")}
        for field, kind in self.our.abi.structs[name]:
            theirs = self.our.known.their_fields(name, field)
            if self.agree_on_presence(f"{name}.{field}", all(f"{name}.{one}" in self.facts.fields for one in theirs)):
                places = [(offsets[f"{name}.{field}"], self.shape(kind))]
                if len(theirs) > 1:
                    places = ours.leaves(kind, self.our.abi, offsets, offsets[f"{name}.{field}"])
                self.compare_places(f"{name}.{field}", places, [self.facts.fields[f"{name}.{one}"] for one in theirs])

    def compare_places(self, field, our, their):
        """(offset, shape) of a field's parts."""
        if len(our) != len(their):
            self.report(field, f"has {len(our)} parts, in the header {len(their)}")
        for (our_offset, our_shape), (offset, shape) in zip(our, their):
            if our_offset != offset:
                self.report(field, f"is at {our_offset}, in the header at {offset}")
            if not agree(our_shape, shape):
                self.report(field, f"is {our_shape}, in the header {shape}")

    def compare_constants(self):
        for name in self.constants:
            if self.agree_on_presence(name, name in self.facts.values):
                our, their = self.our.abi.constants[name], self.facts.values[name]
                if our != their:
                    self.report(name, f"is {our}, in the header {their}")


def agree(our, their):
    """True if two shapes are passed and read alike. A void pointer matches any pointer; enums and
    chars have no sign."""
    if our.startswith("*") and their.startswith("*"):
        return "void" in (our[1:], their[1:]) or agree(our[1:], their[1:])
    signless = re.sub(r"^(enum|char)", "", their)
    return our == their or signless != their and our in ("i" + signless, "u" + signless)


# ---- all of them ----

def compare(our, releases):
    """Every comparison that there are headers for, several at a time."""
    with tempfile.TemporaryDirectory(prefix="check-headers.") as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = {row.library for row in our.rows} | {library_of(file) for file in our.abi.files.values()} | {library for table, library, _, _ in words.WORDS if table in our.words}
        pairs = {}
        for library in filter(wanted.__contains__, LIBRARIES):
            for release in releases: # of which one may have what an older one has
                pairs.setdefault((library, release.version(library)), release)
        todo = [pool.submit(Comparison, our, release, library, pathlib.Path(work) / release.folder.name / library)
                for (library, version), release in pairs.items() if version]
        return [one.result() for one in todo]


def complaints_of(our, comparisons):
    """(what, text, [library version]) of all that is wrong, and of what nothing was held against."""
    merged = {}
    for comparison in comparisons:
        of = f"{comparison.library.removesuffix('.so')} {comparison.version}"
        for complaint in comparison.complaints:
            merged.setdefault(complaint, []).append(of)
    found = [(what, text, releases) for (what, text), releases in merged.items()]
    compared = {comparison.library for comparison in comparisons}
    found += [(library, "has rows but no headers here: give it a row in LIBRARIES (tests/gate/headers/vendor.py)", [])
              for library in dict.fromkeys(row.library for row in our.rows) if library not in compared]
    found += [(name, f"is in src/shim/abi/{file}, which belongs to no library", []) for name, file in our.abi.files.items()
              if library_of(file) not in compared and not our.known.is_ours(name)]
    for struct, functions in our.tables.items():
        longest = max(len(comparison.headers.members(struct) or []) for comparison in comparisons) - 1
        if len(functions) > longest:
            found.append((struct, f"has {len(functions)} functions, in the headers at most {longest}", []))
    seen = set().union(*(comparison.seen_words for comparison in comparisons))
    for table, numbers in our.words.items():
        if table not in words.tables():
            found.append((f"the words of {table}", "have no enum: give them a row in WORDS (tests/gate/headers/words.py)", []))
        found += [(f"the words of {table}", f"{number} is {word}, in no header", []) for number, word in numbers if table in words.tables() and (table, number) not in seen and not our.known.is_ours(f"{table}.{number}")]
    found += [("known.tsv", f"{kind} {name} is about nothing that rocshim has", []) for kind, name in our.known.unused()]
    return found


def report(our, comparisons, complaints):
    """A line for each disagreement, then what was compared with what."""
    for what, text, releases in complaints:
        print(f"{what}: {text}" + (f" ({', '.join(releases)})" if releases else ""))
    for library in dict.fromkeys(comparison.library for comparison in comparisons):
        of = [comparison for comparison in comparisons if comparison.library == library]
        rows = f"{len(of[0].rows)} rows, {len(of[0].types)} types, {len(of[0].constants)} constants"
        print(f"  {library:<15}  {rows:<36}  {'  '.join(comparison.version for comparison in of)}")
    if complaints:
        print(f"check-headers: {len(complaints)} disagreements", file=sys.stderr)
    else:
        print(f"check-headers: passed: {len(our.rows)} rows and {len(our.words)} tables of words say what the vendors' headers say")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("headers", type=pathlib.Path, help="a folder with a folder of headers for each release")
    parser.add_argument("rows", type=pathlib.Path, help="the rows: LIBRARY, SYMBOL, SIGNATURE between tabs")
    parser.add_argument("sources", type=pathlib.Path, help="the folder with shim/abi and drain/values.rs")
    parser.add_argument("known", type=pathlib.Path, help="the known differences, as in known.tsv")
    args = parser.parse_args()
    our = Ours.read(args.rows, args.sources, args.known)
    comparisons = compare(our, releases(args.headers))
    complaints = complaints_of(our, comparisons)
    report(our, comparisons, complaints)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
