// Generates the device-side files of the build:
//   generate fatbin SOURCE BASE   BASE.fatbin and BASE.fatbin.h from the `// kernel:` lines of a program
//   generate tensile DIR          the Tensile library files of librocblas, for three targets
//   generate lite DIR             the TensileLite library files of libhipblaslt, likewise
//
// A program's line `// kernel: BUNDLE HANDLE NAME ARGS` puts kernel NAME into its BUNDLE-th fat
// binary (counted from 0, ascending) and lets the program launch it by `&HANDLE`; ARGS as in
// code_object.h, `-` for none. The header holds what hipcc would emit: the bundles in .hip_fatbin,
// their wrappers in .hipFatBinSegment, the host handles, and a constructor and destructor that
// register them (with FATBIN_BY_HAND: only hip_register() and hip_unregister()).
#include "tensile.h"
#include "tensilelite.h"

static const char *const TARGETS[] = {"gfx900", "gfx942", "gfx1100", "gfx1201"};
enum { TARGET_COUNT = 4, MAX_KERNELS = 600, NAME_ROOM = 512 };

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, n, out) != n || fclose(out)) {
        perror(path);
        exit(1);
    }
}

static int tensile(const char *dir)
{
    char name[128], path[4096];
    size_t len;
    for (int g = 0; g < TARGET_COUNT; g++) {
        for (int i = 0; i < TENSILE_TYPES * TENSILE_LAYOUTS; i++) {
            const struct tensile_type *t = &TENSILE[i / TENSILE_LAYOUTS];
            unsigned char *code = tensile_code(t, i % TENSILE_LAYOUTS, TARGETS[g], &len);
            tensile_file(name, sizeof name, t, i % TENSILE_LAYOUTS, TARGETS[g]);
            snprintf(path, sizeof path, "%s/%s", dir, name);
            write_file(path, code, len);
            free(code);
        }
        unsigned char *code = tensile_beta_code(TARGETS[g], &len);
        tensile_beta_file(name, sizeof name, TARGETS[g]);
        snprintf(path, sizeof path, "%s/%s", dir, name);
        write_file(path, code, len);
        free(code);
    }
    return 0;
}

static int lite(const char *dir)
{
    char name[256], path[4096];
    size_t len;
    for (int g = 0; g < TARGET_COUNT; g++)
        for (int i = 0; i < LITE_TYPES * LITE_LAYOUTS; i++) {
            unsigned char *code = lite_code(i / LITE_LAYOUTS, i % LITE_LAYOUTS, TARGETS[g], &len);
            lite_file(name, sizeof name, i / LITE_LAYOUTS, i % LITE_LAYOUTS, TARGETS[g]);
            snprintf(path, sizeof path, "%s/%s", dir, name);
            write_file(path, code, len);
            free(code);
        }
    return 0;
}

static int fatbin(const char *source, const char *base)
{
    static char handles[MAX_KERNELS][NAME_ROOM], names[MAX_KERNELS][NAME_ROOM], args[MAX_KERNELS][NAME_ROOM], line[4096], path[4096];
    static struct co_kernel kernels[MAX_KERNELS];
    int bundle_of[MAX_KERNELS], count = 0;
    FILE *in = fopen(source, "r");
    while (in && fgets(line, sizeof line, in) && count < MAX_KERNELS)
        if (sscanf(line, "// kernel: %d %511s %511s %511s", &bundle_of[count], handles[count], names[count], args[count]) == 4) {
            if (args[count][0] == '-')
                args[count][0] = 0;
            kernels[count] = (struct co_kernel){names[count], args[count]};
            count++;
        }
    snprintf(path, sizeof path, "%s.fatbin.h", base);
    FILE *h = fopen(path, "w");
    if (!in || !h || !count) {
        fprintf(stderr, "generate: no `// kernel:` line in %s, or %s cannot be written\n", source, path);
        return 1;
    }
    const char *stem = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
    unsigned char *all = NULL;
    size_t len = 0;
    int bundles = 0;
    fprintf(h, "// Made by the build from the `// kernel:` lines of %s.\n#include \"hip.h\"\n", strrchr(source, '/') ? strrchr(source, '/') + 1 : source);
    for (int from = 0, to; from < count; from = to, bundles++) {
        for (to = from; to < count && bundle_of[to] == bundle_of[from]; to++)
            fprintf(h, "static char %s __attribute__((unused));\n", handles[to]);
        size_t size = co_bundle(NULL, TARGETS, TARGET_COUNT, kernels + from, to - from), room = (size + 4095) / 4096 * 4096;
        all = realloc(all, len + room);
        memset(all + len, 0, room);
        co_bundle(all + len, TARGETS, TARGET_COUNT, kernels + from, to - from);
        fprintf(h, "__asm__(\".pushsection .hip_fatbin,\\\"a\\\",@progbits\\n.p2align 12\\n.globl hip_fatbin_%d\\n.hidden hip_fatbin_%d\\nhip_fatbin_%d:\\n.incbin \\\"%s.fatbin\\\",%zu,%zu\\n.popsection\");\n",
                bundles, bundles, bundles, stem, len, room);
        fprintf(h, "extern const unsigned char hip_fatbin_%d[] __attribute__((visibility(\"hidden\")));\n", bundles);
        fprintf(h, "static struct hip_fatbin_wrapper hip_wrapper_%d __attribute__((section(\".hipFatBinSegment\"), aligned(8))) = {HIP_FATBIN_MAGIC, 1, hip_fatbin_%d, NULL};\n", bundles, bundles);
        len += room;
    }
    fprintf(h, "static void **hip_modules[%d];\nstatic void hip_register(void)\n{\n", bundles);
    for (int i = 0, b = -1; i < count; i++) {
        if (!i || bundle_of[i] != bundle_of[i - 1])
            b++, fprintf(h, "    hip_modules[%d] = __hipRegisterFatBinary(&hip_wrapper_%d);\n", b, b);
        fprintf(h, "    __hipRegisterFunction(hip_modules[%d], &%s, (char *)\"%s\", \"%s\", -1, NULL, NULL, NULL, NULL, NULL);\n", b, handles[i], names[i], names[i]);
    }
    fprintf(h, "}\nstatic void hip_unregister(void)\n{\n    for (int i = 0; i < %d; i++)\n        __hipUnregisterFatBinary(hip_modules[i]);\n}\n", bundles);
    fprintf(h, "#ifndef FATBIN_BY_HAND\n__attribute__((constructor)) static void hip_module_ctor(void) { hip_register(); }\n__attribute__((destructor)) static void hip_module_dtor(void) { hip_unregister(); }\n#endif\n");
    if (fclose(h))
        return 1;
    snprintf(path, sizeof path, "%s.fatbin", base);
    write_file(path, all, len);
    free(all);
    fclose(in);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "tensile"))
        return tensile(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "lite"))
        return lite(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "fatbin"))
        return fatbin(argv[2], argv[3]);
    fprintf(stderr, "usage: generate fatbin SOURCE BASE | generate tensile DIR | generate lite DIR\n");
    return 2;
}
