"""tables: the order of HIP's dispatch tables (src/shim/abi/*_table.txt: a function a line), against the structs that have it."""

# One row per table of ours: the library, the struct.
TABLES = {
    "hip_table.txt":          ("libamdhip64.so", "HipDispatchTable"),
    "hip_compiler_table.txt": ("libamdhip64.so", "HipCompilerDispatchTable"),
}


def read(abi):
    """{struct: functions} of the tables in src/shim/abi."""
    return {struct: (abi / file).read_text().split() for file, (_, struct) in TABLES.items() if (abi / file).exists()}


def of(comparison):
    """(struct, functions, members in the header) of each table that the header has."""
    mine = {struct for library, struct in TABLES.values() if library == comparison.library}
    for struct, functions in comparison.our.tables.items():
        if struct in mine and comparison.headers.members(struct):
            yield struct, functions, comparison.headers.members(struct)


def questions(comparison):
    return [f'FIELD("{struct}.{member}", {struct}, {member})' for struct, _, members in of(comparison) for member in members]


def compare(comparison):
    """The size, then an entry a function: each of the header has our name at our place. The first that has not tells of the rest."""
    for struct, functions, members in of(comparison):
        ours = ["size"] + [f"{name}_fn" for name in functions] + ["nothing"] * len(members)
        wanted = [(name, 8 * place, "*fn" if place else "u64") for place, name in enumerate(ours[:len(members)])]
        theirs = [(member, *comparison.facts.fields[f"{struct}.{member}"]) for member in members]
        wrong = [pair for pair in zip(wanted, theirs) if pair[0] != pair[1]]
        if wrong:
            (name, place, _), (member, offset, shape) = wrong[0]
            comparison.report(struct, f"has {name} at {place}, in the header {member}, {shape}, at {offset}; {len(wrong)} of {len(members)} entries differ")
