"""A library that counts calls of others by name: each exported function of theirs, by a jump through a counter.

It shares nothing with rocshim: no table of functions, no signatures. It sees what reaches it by the dynamic linker; what
a library looks up with dlsym by its own handle passes it by. Counts go to $CALL_COUNTS when the process ends.
"""
import re
import subprocess

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const char *names[] = { %(names)s };
static const char *libraries[] = { %(libraries)s };
static const unsigned char library_of[] = { %(owners)s };
unsigned long calls_of_others[%(count)d];
void *others[%(count)d];
void *find_other(unsigned long i) {
    void *library = dlopen(libraries[library_of[i]], RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlsym(library, names[i]) : 0;
    if (!found) { fprintf(stderr, "counter: no %%s\n", names[i]); _exit(99); }
    return others[i] = found;
}
__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("CALL_COUNTS");
    FILE *file = path ? fopen(path, "a") : 0;
    if (!file) return;
    for (unsigned long i = 0; i < %(count)d; i++)
        if (calls_of_others[i]) fprintf(file, "%%s %%s %%lu\n", libraries[library_of[i]], names[i], calls_of_others[i]);
    fclose(file);
}
__asm__(".text\n"
"common_entry:\n"  // r11: the number. Every register that may hold an argument is kept.
"  push %%rax\n push %%rdi\n push %%rsi\n push %%rdx\n push %%rcx\n push %%r8\n push %%r9\n push %%r11\n"
"  sub $136, %%rsp\n"
"  movups %%xmm0, 0(%%rsp)\n movups %%xmm1, 16(%%rsp)\n movups %%xmm2, 32(%%rsp)\n movups %%xmm3, 48(%%rsp)\n"
"  movups %%xmm4, 64(%%rsp)\n movups %%xmm5, 80(%%rsp)\n movups %%xmm6, 96(%%rsp)\n movups %%xmm7, 112(%%rsp)\n"
"  mov %%r11, %%rdi\n call find_other@PLT\n mov %%rax, %%r10\n"
"  movups 0(%%rsp), %%xmm0\n movups 16(%%rsp), %%xmm1\n movups 32(%%rsp), %%xmm2\n movups 48(%%rsp), %%xmm3\n"
"  movups 64(%%rsp), %%xmm4\n movups 80(%%rsp), %%xmm5\n movups 96(%%rsp), %%xmm6\n movups 112(%%rsp), %%xmm7\n"
"  add $136, %%rsp\n"
"  pop %%r11\n pop %%r9\n pop %%r8\n pop %%rcx\n pop %%rdx\n pop %%rsi\n pop %%rdi\n pop %%rax\n"
"  jmp *%%r10\n"
%(entries)s
);
"""

ENTRY = r'''".globl {name}\n.type {name}, @function\n{name}:\n mov ${i}, %r11\n mov calls_of_others@GOTPCREL(%rip), %r10\n lock incq (%r10,%r11,8)\n mov others@GOTPCREL(%rip), %r10\n mov (%r10,%r11,8), %r10\n test %r10, %r10\n jz common_entry\n jmp *%r10\n.size {name}, .-{name}\n"'''


def functions(path, prefix):
    """The C functions that a library exports, whose names begin as the pattern says."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    names = {row[2].split("@")[0] for row in rows if len(row) == 3 and row[1] in "TW"}
    return sorted(name for name in names if re.match(prefix, name))


def build(out, libraries):
    """Builds it for `libraries`: (path, soname, prefix of its functions)."""
    names, owners = [], []
    for number, (path, _, prefix) in enumerate(libraries):
        known = set(names)
        new = [name for name in functions(path, prefix) if name not in known]
        names, owners = names + new, owners + [number] * len(new)
    quoted = lambda words: ", ".join('"%s"' % word for word in words)
    source = SOURCE % {
        "names": quoted(names), "libraries": quoted(soname for _, soname, _ in libraries),
        "owners": ", ".join(map(str, owners)), "count": len(names),
        "entries": "\n".join(ENTRY.replace("{name}", name).replace("{i}", str(i)) for i, name in enumerate(names)),
    }
    with open(out + ".c", "w") as file:
        file.write(source)
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-o", out, out + ".c", "-ldl"], check=True)
    return len(names)
