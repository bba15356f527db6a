"""known: the differences between rocshim and the headers that have a reason, from known.tsv. A stated one that is none is wrong, too."""
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


KINDS = ("since", "until", "ours", "name", "group", "word")


@dataclass
class Known:
    """What known.tsv states; its first lines say what each kind of row means."""
    since: dict = field(default_factory=dict)  # name: release
    until: dict = field(default_factory=dict)  # name: release
    ours: dict = field(default_factory=dict)   # name: why
    name: dict = field(default_factory=dict)   # FUNCTION.parameter or struct.field: the header's name
    group: dict = field(default_factory=dict)  # struct.field: the header's fields, between commas
    word: dict = field(default_factory=dict)   # the header's name of a number: our word
    used: set = field(default_factory=set)     # (kind, name) of the rows that were used

    @classmethod
    def read(cls, path):
        known = cls()
        for at, line in enumerate(path.read_text().splitlines(), 1):
            if line and not line.startswith("#"):
                columns = line.split("\t")
                if len(columns) != 4 or columns[0] not in KINDS or not columns[3]:
                    raise SystemExit(f"{path}:{at}: four columns are needed: kind, name, value, why")
                table = getattr(known, columns[0])
                if columns[1] in table:
                    raise SystemExit(f"{path}:{at}: {columns[0]} {columns[1]} is stated twice")
                table[columns[1]] = columns[2]
        return known

    def expects(self, name, version):
        """A release is said to have this function, type or constant."""
        first, last = self.release("since", name), self.release("until", name)
        return (not first or number(version) >= number(first)) and (not last or number(version) < number(last))

    def release(self, kind, name):
        """What the row for a name states, or else the first row for names like it."""
        table = getattr(self, kind)
        row = name if name in table else next((row for row in table if "*" in row and fnmatchcase(name, row)), name)
        self.used.add((kind, row))
        return table.get(row)

    def is_ours(self, name):
        self.used.add(("ours", name))
        return name in self.ours

    def their_name(self, owner, name):
        """What the headers call `name` of a function or struct."""
        self.used.add(("name", f"{owner}.{name}"))
        return self.name.get(f"{owner}.{name}", name)

    def their_fields(self, struct, field):
        """The header's fields that `field` of our struct is."""
        self.used.add(("group", f"{struct}.{field}"))
        group = self.group.get(f"{struct}.{field}")
        return group.split(",") if group else [self.their_name(struct, field)]

    def their_word(self, name, prefix):
        """Our word for the number that the headers call `name`."""
        self.used.add(("word", name))
        return self.word.get(name, name.removeprefix(prefix))

    def unused(self):
        """(kind, name) of the rows that nothing was held against."""
        stated = [(kind, name) for kind in KINDS for name in getattr(self, kind)]
        return [row for row in stated if row not in self.used]


def number(version):
    """6.4.3 as [6, 4, 3]."""
    return [int(part) for part in version.split(".") if part]
