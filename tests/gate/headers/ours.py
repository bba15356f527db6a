"""ours: what rocshim says of the vendors' functions, types and numbers, read from its list of hooks and its sources."""
import re
from dataclasses import dataclass


@dataclass
class Row:
    """A hooked function: its library, its symbol, its parameters as (name, type), its result."""
    library: str
    symbol: str
    parameters: list
    result: str

    def source_name(self):
        """As the header writes it: f for _Z1fv."""
        match = re.match(r"_Z(\d+)(\w+)", self.symbol)
        return match[2][:int(match[1])] if match else self.symbol


@dataclass
class Abi:
    """The declarations in src/shim/abi, each with the file that has it: aliases, structs as [(field, type)], the alignments asked for, constants."""
    types: dict
    structs: dict
    alignments: dict
    constants: dict
    files: dict


class NotUnderstood(SystemExit):
    """Something of ours is written as this check cannot read it."""

    def __init__(self, what):
        super().__init__(f"check-headers: not understood: {what}")


# ---- rows ----

def rows(lines):
    """Rows as the library carries them: LIBRARY, SYMBOL, SIGNATURE between tabs."""
    return [row(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def row(library, symbol, signature):
    # A row written by a macro has spaces elsewhere, and its raw identifiers keep their prefix.
    signature = re.sub(r"\* (const|mut)\b", r"*\1", " ".join(signature.split()).replace("r#", ""))
    match = re.fullmatch(r"\((.*)\) -> (.+)", signature)
    if not match:
        raise NotUnderstood(f"{symbol}: the signature {signature}")
    return Row(library, symbol, named_types(match[1], symbol), match[2].strip())


def named_types(text, where):
    """`a: T, b: U`, as [(a, T), (b, U)]."""
    pairs = [part.split(":", 1) for part in split(text)]
    if any(len(pair) != 2 for pair in pairs):
        raise NotUnderstood(f"{where}: {text}")
    return [(name.strip().removeprefix("r#"), kind.strip()) for name, kind in pairs]


def split(text):
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text.replace("->", "  ")):
        depth += (char in "([<{") - (char in ")]>}")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in parts + [text[start:]] if part.strip()]


# ---- types and constants ----

VISIBLE = r"(?:pub(?:\([a-z]+\))? )?"


def abi(folder):
    """Everything that the files of a folder declare. What is neither known nor harmless is NotUnderstood."""
    found = Abi({}, {}, {}, {}, {})
    for path in sorted(folder.rglob("*.rs")):
        for item in items(path.read_text()):
            declare(item, found, path.relative_to(folder))
    return found


def items(text):
    """The items of a file, each in one line, without comments and attributes other than repr, and without tests."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S).split("#[cfg(test)]")[0]
    text = re.sub(r"#!?\[(?!repr)(?:[^\[\]]|\[[^\]]*\])*\]", "", text)
    text = " ".join(text.split())
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        item = text[start:at + 1].strip()
        # A block ends text that is not a statement.
        if depth == 0 and (char == ";" or char == "}" and not re.match(rf"{VISIBLE}(?:use|const|static) ", item)):
            yield item
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def declare(item, found, path):
    """Puts an item to what was found."""
    def put(table, name, value):
        if table.setdefault(name, value) != value:
            raise NotUnderstood(f"{path}: {name} is declared twice, differently")
        found.files.setdefault(name, path)

    if match := re.fullmatch(rf"{VISIBLE}type (\w+) = (.+);", item):
        put(found.types, match[1], match[2])
    elif match := re.fullmatch(rf"#\[repr\(transparent\)\] {VISIBLE}struct (\w+)\({VISIBLE}(.+)\);", item):
        put(found.types, match[1], match[2])
    elif match := re.fullmatch(rf"#\[repr\(C(?:, align\((\d+)\))?\)\] {VISIBLE}struct (\w+) \{{(.*)\}}", item):
        put(found.structs, match[2], named_types(re.sub(r"pub(\([a-z]+\))? ", "", match[3]), path))
        found.alignments[match[2]] = match[1] or "1"
    elif match := re.fullmatch(rf"{VISIBLE}const (\w+): (\w+) = (-?[0-9][0-9a-fA-Fx_]*);", item):
        if match[1] != "_":
            put(found.constants, match[1], int(match[3].replace("_", ""), 0))
    elif not re.match(rf"const _: |impl|{VISIBLE}use |{VISIBLE}mod \w+;", item):
        raise NotUnderstood(f"{path}: {item[:80]}")


# ---- the numbers that readers have names for ----

def words(path):
    """The tables of a file of numbers and words: {table: [(number, word)]}, a table by the name of its constant or function."""
    text = path.read_text().split("#[cfg(test)]")[0]
    tables, name = {}, None
    for match in re.finditer(r'\b(?:fn|const) (\w+)|\(\s*(\d+),\s*"([^"]+)"\s*\)', text):
        if match[1]:
            name = match[1]
        else:
            tables.setdefault(name, []).append((int(match[2]), match[3]))
    return tables


# ---- shapes, as in shapes.hpp ----

PRIMITIVES = {"bool": "bool", "()": "void", "c_void": "void", "c_char": "i8", "c_int": "i32", "c_uint": "u32", "isize": "i64", "usize": "u64"}


def shape(kind, abi):
    """The shape of a Rust type: what of it decides how it is passed and read."""
    kind = kind.removeprefix("std::ffi::").removeprefix("core::ffi::")
    if kind in PRIMITIVES:
        return PRIMITIVES[kind]
    if re.fullmatch(r"[iuf](8|16|32|64|128)", kind):
        return kind
    if match := re.fullmatch(r"\*(?:const|mut) (.+)", kind):
        return "*" + shape(match[1], abi)
    if match := re.fullmatch(r"\[(.+); ?(\d+)\]", kind):
        return f"{shape(match[1], abi)}[{match[2]}]"
    if match := re.fullmatch(r"Option<(?:unsafe )?extern .* ?fn ?\(.*\).*>", kind):
        return "*fn"
    if kind in abi.types:
        return shape(abi.types[kind], abi)
    if kind in abi.structs:
        return f"struct {kind}"
    raise NotUnderstood(f"the type {kind}, which is in no file of src/shim/abi")


def leaves(kind, abi, offsets, at=0):
    """(offset, shape) of everything in a type of ours, structs and arrays taken apart; `offsets` are those of STRUCT.field."""
    its = shape(kind, abi)
    if its.startswith("struct "):
        name = its.removeprefix("struct ")
        return [leaf for field, inner in abi.structs[name] for leaf in leaves(inner, abi, offsets, at + offsets[f"{name}.{field}"])]
    if match := re.fullmatch(r"([iuf])(\d+)\[(\d+)\]", its):
        return [(at + place * int(match[2]) // 8, match[1] + match[2]) for place in range(int(match[3]))]
    return [(at, its)]


def cpp_structs(abi):
    """Our structs in C++, in a namespace of their own, so that the compiler lays them out."""
    done = []

    def put(name):
        fields = [(field, shape(kind, abi)) for field, kind in abi.structs[name]]
        for _, its in fields:
            if (inner := its.removeprefix("struct ").split("[")[0]) in abi.structs:
                put(inner)
        line = f"struct alignas({abi.alignments[name]}) {name} {{ {' '.join(cpp_field(*field) for field in fields)} }};"
        if line not in done:
            done.append(line)

    for name in abi.structs:
        put(name)
    return ["namespace ours {", *done, "}"]


def cpp_field(name, its):
    """A field of a shape, in C++."""
    its, *extents = its.split("[")
    kind = "void*" if its[0] == "*" else its.removeprefix("struct ") if its.startswith("struct ") else CPP[its[0]].format(its[1:])
    return f"{kind} {name}{''.join('[' + extent for extent in extents)};"


CPP = {"i": "int{}_t", "u": "uint{}_t", "f": "_Float{}", "b": "bool"}
