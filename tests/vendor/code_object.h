// AMDGPU code objects made in memory: the ELF image of one target and the clang offload bundle
// around several.
//
// An image is laid out as a linker would: header, program headers (PT_LOAD, PT_NOTE), the AMDGPU
// metadata note (MessagePack, NT_AMDGPU_METADATA), .dynsym and .dynstr with one `<kernel>.kd`
// object per kernel, .rodata with the 64-byte kernel descriptors, .shstrtab, and the section
// headers last, so that e_shoff + e_shentsize * e_shnum is its length. There is no machine code in
// it. The list of kernels is the list of `.kd` symbols.
//
// Every writer runs with `out == NULL` to measure, and again to write.
#ifndef CODE_OBJECT_H
#define CODE_OBJECT_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One kernel: its name as linked (mangled), and its arguments, a letter each: p pointer · l 8 bytes
// · i 4 bytes · t three 4-byte words · w two 4-byte words · s a struct of 32 bytes · h a hidden
// 4-byte one, filled by the runtime and absent from kernelParams. After the letters, optionally,
// `:VGPRS:LDS`.
struct co_kernel {
    const char *name;
    const char *args;
};

struct co_out {
    unsigned char *at; // NULL while measuring
    size_t len;
};

static inline void co_put(struct co_out *o, const void *bytes, size_t n)
{
    if (o->at)
        memcpy(o->at + o->len, bytes, n);
    o->len += n;
}

static inline void co_pad(struct co_out *o, size_t align)
{
    for (; o->len % align; o->len++)
        if (o->at)
            o->at[o->len] = 0;
}

// The mach byte in e_flags of a target such as "gfx1100" or "gfx900:xnack-"; 0 if unknown.
static inline unsigned co_mach(const char *gfx)
{
    static const struct {
        const char *gfx;
        unsigned mach;
    } MACHS[] = {{"gfx803", 0x2a},  {"gfx900", 0x2c},  {"gfx906", 0x2f},  {"gfx908", 0x30},  {"gfx90a", 0x3f},
                 {"gfx942", 0x4c},  {"gfx1010", 0x33}, {"gfx1030", 0x36}, {"gfx1100", 0x41}, {"gfx1101", 0x46},
                 {"gfx1102", 0x47}, {"gfx1151", 0x4a}, {"gfx1200", 0x48}, {"gfx1201", 0x4e}};
    size_t n = strcspn(gfx, ":");
    for (size_t i = 0; i < sizeof MACHS / sizeof *MACHS; i++)
        if (strlen(MACHS[i].gfx) == n && !memcmp(MACHS[i].gfx, gfx, n))
            return MACHS[i].mach;
    return 0;
}

// The device of this run: STANDIN_GFX, default gfx1100.
static inline const char *co_gfx(void)
{
    const char *gfx = getenv("STANDIN_GFX");
    return gfx && *gfx ? gfx : "gfx1100";
}

static inline void co_map(struct co_out *o, unsigned n) { co_put(o, (unsigned char[]){0xde, n >> 8, n}, 3); }
static inline void co_array(struct co_out *o, unsigned n) { co_put(o, (unsigned char[]){0xdc, n >> 8, n}, 3); }
static inline void co_uint(struct co_out *o, unsigned n)
{
    if (n < 128)
        co_put(o, (unsigned char[]){n}, 1);
    else
        co_put(o, (unsigned char[]){0xce, n >> 24, n >> 16, n >> 8, n}, 5);
}
static inline void co_str(struct co_out *o, const char *s)
{
    size_t n = strlen(s);
    if (n < 32)
        co_put(o, (unsigned char[]){0xa0 | n}, 1);
    else
        co_put(o, (unsigned char[]){0xda, n >> 8, n}, 3);
    co_put(o, s, n);
}
static inline void co_key_uint(struct co_out *o, const char *key, unsigned n) { co_str(o, key), co_uint(o, n); }
static inline void co_key_str(struct co_out *o, const char *key, const char *s) { co_str(o, key), co_str(o, s); }

static inline void co_arg_shape(char letter, unsigned *size, unsigned *align)
{
    *size = letter == 'p' || letter == 'l' || letter == 'w' ? 8 : letter == 't' ? 12 : letter == 's' ? 32 : 4;
    *align = letter == 'p' || letter == 'l' || letter == 's' ? 8 : 4;
}

// Size of the kernel's argument segment in bytes; writes the `.args` entries if `o` is given.
static inline unsigned co_args(struct co_out *o, const char *args)
{
    unsigned offset = 0, size, align;
    for (; *args && *args != ':'; args++, offset += size) {
        co_arg_shape(*args, &size, &align);
        offset = (offset + align - 1) / align * align;
        if (!o)
            continue;
        co_map(o, *args == 'p' ? 4 : 3);
        if (*args == 'p')
            co_key_str(o, ".address_space", "global");
        co_key_uint(o, ".offset", offset);
        co_key_uint(o, ".size", size);
        co_key_str(o, ".value_kind", *args == 'p' ? "global_buffer" : *args == 'h' ? "hidden_block_count_x" : "by_value");
    }
    return (offset + 7) / 8 * 8;
}

static inline void co_metadata(struct co_out *o, const char *gfx, const struct co_kernel *k, int n)
{
    char text[1024];
    co_map(o, 3);
    co_str(o, "amdhsa.kernels"), co_array(o, n);
    for (int i = 0; i < n; i++) {
        unsigned vgprs = 32, lds = 0;
        const char *colon = strchr(k[i].args, ':');
        if (colon)
            sscanf(colon, ":%u:%u", &vgprs, &lds);
        co_map(o, 13);
        co_str(o, ".args"), co_array(o, strcspn(k[i].args, ":")), co_args(o, k[i].args);
        co_key_uint(o, ".group_segment_fixed_size", lds);
        co_key_uint(o, ".kernarg_segment_align", 8);
        co_key_uint(o, ".kernarg_segment_size", co_args(NULL, k[i].args));
        co_key_uint(o, ".max_flat_workgroup_size", 1024);
        co_key_str(o, ".name", k[i].name);
        co_key_uint(o, ".private_segment_fixed_size", 0);
        co_key_uint(o, ".sgpr_count", 18);
        co_key_uint(o, ".sgpr_spill_count", 0);
        snprintf(text, sizeof text, "%s.kd", k[i].name);
        co_key_str(o, ".symbol", text);
        co_key_uint(o, ".vgpr_count", vgprs);
        co_key_uint(o, ".vgpr_spill_count", 0);
        co_key_uint(o, ".wavefront_size", !strncmp(gfx, "gfx9", 4) ? 64 : 32);
    }
    snprintf(text, sizeof text, "amdgcn-amd-amdhsa--%s", gfx);
    co_key_str(o, "amdhsa.target", text);
    co_str(o, "amdhsa.version"), co_array(o, 2), co_uint(o, 1), co_uint(o, 2);
}

// Length of the ELF image of `n` kernels for one target; writes it to `out` unless that is NULL.
static inline size_t co_elf(unsigned char *out, const char *gfx, const struct co_kernel *k, int n)
{
    static const char SHSTR[] = "\0.note\0.dynsym\0.dynstr\0.rodata\0.shstrtab";
    struct co_out o = {out, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)}, metadata = {NULL, 0};
    co_metadata(&metadata, gfx, k, n);
    size_t note = o.len, notes = sizeof(Elf64_Nhdr) + 8 + (metadata.len + 3) / 4 * 4;
    co_put(&o, &(Elf64_Nhdr){7, metadata.len, 32}, sizeof(Elf64_Nhdr));
    co_put(&o, "AMDGPU\0", 8);
    co_metadata(&o, gfx, k, n);
    co_pad(&o, 8);

    size_t dynsym = o.len, dynstr = dynsym + (n + 1) * sizeof(Elf64_Sym), strings = 1;
    for (int i = 0; i < n; i++)
        strings += strlen(k[i].name) + 4;
    size_t rodata = (dynstr + strings + 63) / 64 * 64;
    co_put(&o, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (size_t i = 0, name = 1; i < (size_t)n; name += strlen(k[i].name) + 4, i++)
        co_put(&o, &(Elf64_Sym){name, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), STV_PROTECTED, 4, rodata + 64 * i, 64},
               sizeof(Elf64_Sym));
    co_put(&o, "", 1);
    for (int i = 0; i < n; i++)
        co_put(&o, k[i].name, strlen(k[i].name)), co_put(&o, ".kd", 4);
    co_pad(&o, 64);
    for (int i = 0; i < n; i++)
        co_put(&o, (uint32_t[16]){0, 0, co_args(NULL, k[i].args)}, 64);

    size_t shstr = o.len;
    co_put(&o, SHSTR, sizeof SHSTR);
    co_pad(&o, 8);
    size_t sections = o.len;
    Elf64_Shdr shdrs[6] = {
        {0},
        {1, SHT_NOTE, SHF_ALLOC, note, note, notes, 0, 0, 4, 0},
        {7, SHT_DYNSYM, SHF_ALLOC, dynsym, dynsym, dynstr - dynsym, 3, 1, 8, sizeof(Elf64_Sym)},
        {15, SHT_STRTAB, SHF_ALLOC, dynstr, dynstr, strings, 0, 0, 1, 0},
        {23, SHT_PROGBITS, SHF_ALLOC, rodata, rodata, 64 * n, 0, 0, 64, 0},
        {31, SHT_STRTAB, 0, 0, shstr, sizeof SHSTR, 0, 0, 1, 0},
    };
    co_put(&o, shdrs, sizeof shdrs);
    if (out) {
        unsigned mach = co_mach(gfx), features = 0;
        if (mach == 0x2c || mach == 0x2f || mach == 0x30 || mach == 0x3f || mach == 0x4c)
            features = mach == 0x2c ? 0x100 : 0x500; // gfx9: xnack "any", and sramecc "any" where the target has it
        Elf64_Ehdr e = {{0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 64, 3}, ET_DYN, 224, 1, 0, sizeof e, sections,
                        mach | features, sizeof e, sizeof(Elf64_Phdr), 2, sizeof(Elf64_Shdr), 6, 5};
        Elf64_Phdr p[2] = {{PT_LOAD, PF_R, 0, 0, 0, shstr, shstr, 4096}, {PT_NOTE, PF_R, note, note, note, notes, notes, 4}};
        memcpy(out, &e, sizeof e);
        memcpy(out + sizeof e, p, sizeof p);
    }
    return o.len;
}

// The uncompressed offload bundle of `n` kernels for each of `targets`, every device entry on a 4
// KiB boundary.
static inline size_t co_bundle(unsigned char *out, const char *const *gfx, int targets, const struct co_kernel *k, int n)
{
    struct co_out o = {out, 0};
    size_t at = 4096;
    char id[80];
    co_put(&o, "__CLANG_OFFLOAD_BUNDLE__", 24);
    co_put(&o, &(uint64_t){targets + 1}, 8);
    for (int i = -1; i < targets; i++) {
        size_t size = i < 0 ? 0 : co_elf(NULL, gfx[i], k, n);
        snprintf(id, sizeof id, i < 0 ? "host-x86_64-unknown-linux--" : "hipv4-amdgcn-amd-amdhsa--%s", i < 0 ? "" : gfx[i]);
        co_put(&o, (uint64_t[]){at, size, strlen(id)}, 24);
        co_put(&o, id, strlen(id));
        at += (size + 4095) / 4096 * 4096;
    }
    for (int i = 0; i < targets; i++) {
        co_pad(&o, 4096);
        o.len += co_elf(out ? out + o.len : NULL, gfx[i], k, n);
    }
    return o.len;
}

// A malloc'ed image of `n` kernels for this run's device, as hipModuleLoadData takes it.
static inline unsigned char *co_module(const struct co_kernel *k, int n)
{
    unsigned char *image = malloc(co_elf(NULL, co_gfx(), k, n));
    co_elf(image, co_gfx(), k, n);
    return image;
}

#endif
