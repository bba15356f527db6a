// Launches that pass arguments in every form. Each prints a line: KERNEL STATUS CUT VALUES, as a
// trace should have them. With the argument `ask`, the device's properties are queried first.
// link: amdhip64
// kernel: 0 mixed _Z5mixedPfifl6Triple4Pair6Struct piiltwsh:40:512
// kernel: 0 nothing _Z7nothingv -
#include "code_object.h"
#include "arguments.fatbin.h"
#include <stdio.h>
#include <string.h>

struct mixed { // as laid out in the metadata
    void *p;
    int32_t i;
    float f;
    int64_t l;
    uint32_t t[3], w[2];
    int pad;
    unsigned char s[32];
};

static void **pointers_to(struct mixed *m)
{
    static void *params[7];
    void *all[] = {&m->p, &m->i, &m->f, &m->l, m->t, m->w, m->s};
    memcpy(params, all, sizeof all);
    return params;
}

static void **list_of(void *buffer, size_t *size)
{
    static void *extra[5];
    void *all[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, size, HIP_LAUNCH_PARAM_END};
    memcpy(extra, all, sizeof all);
    return extra;
}

static void bytes(const void *from, size_t n)
{
    printf(",\"");
    for (size_t i = 0; i < n; i++)
        printf("%02x", ((const unsigned char *)from)[i]);
    printf("\"");
}

static void say_mixed(hipError_t status, const struct mixed *m)
{
    printf("_Z5mixedPfifl6Triple4Pair6Struct %d 0 [\"0x%lx\",%d,%.9g,%ld", status, (long)m->p, m->i, m->f, (long)m->l);
    bytes(m->t, sizeof m->t), bytes(m->w, sizeof m->w), bytes(m->s, sizeof m->s);
    printf("]\n");
}

static void say_none(const char *kernel, hipError_t status) { printf("%s %d 0 []\n", kernel, status); }

int main(int argc, char **argv)
{
    const char *mixed_name = "_Z5mixedPfifl6Triple4Pair6Struct";
    struct co_kernel first[] = {{mixed_name, "piiltwsh:40:512"}, {"large", "ssssssssssssssi"}, {"_Z5plainv", ""}};
    struct co_kernel second[] = {{"pair_of_longs", "ll"}};
    struct mixed m = {.p = (void *)0x7f0012345678, .i = -7, .f = 0.25f, .l = 1l << 40, .t = {1, 2, 3}, .w = {4, 5}, .s = "thirty-two bytes of something"};
    size_t size = sizeof m;
    dim3 one = {1, 1, 1}, block = {64, 1, 1};
    hipModule_t module, other;
    hipFunction_t mixed_f, large, plain, longs;
    if (argc > 1 && !strcmp(argv[1], "ask")) {
        hipDeviceProp_tR0600 properties;
        hipDeviceProp_tR0000 old;
        hipGetDevicePropertiesR0600(&properties, 0);
        hipGetDeviceProperties(&old, 0); // the same answer
    }
    // The image is freed as soon as it is loaded.
    unsigned char *image = co_module(first, 3);
    hipModuleLoadData(&module, image);
    memset(image, 0xff, 64);
    free(image);
    hipModuleGetFunction(&mixed_f, module, mixed_name);
    hipModuleGetFunction(&large, module, "large");
    hipModuleGetFunction(&plain, module, "_Z5plainv");

    say_mixed(hipModuleLaunchKernel(mixed_f, 1, 1, 1, 64, 1, 1, 0, NULL, pointers_to(&m), NULL), &m);
    m.i = 8, m.f = -1e-3f, m.l = -3;
    say_mixed(hipModuleLaunchKernel(mixed_f, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, list_of(&m, &size)), &m);
    m.i = 9, m.p = NULL;
    say_mixed(hipExtModuleLaunchKernel(mixed_f, 64, 1, 1, 64, 1, 1, 0, NULL, NULL, list_of(&m, &size), NULL, NULL, 1), &m);
    m.i = 10;
    say_mixed(hipLaunchKernel(&mixed, one, block, pointers_to(&m), 0, NULL), &m);
    m.i = 11;
    say_mixed(hipExtLaunchKernel(&mixed, one, block, pointers_to(&m), 0, NULL, (hipEvent_t)0x10, NULL, 0), &m);
    m.i = 12; // a failed one
    say_mixed(hipModuleLaunchKernel(mixed_f, 0, 1, 1, 64, 1, 1, 0, NULL, pointers_to(&m), NULL), &m);

    // A buffer that ends within an argument: the arguments before it.
    size_t shorter = 20;
    printf("%s %d 4 [\"0x%lx\",12,%.9g]\n", mixed_name, hipModuleLaunchKernel(mixed_f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, list_of(&m, &shorter)), (long)m.p, m.f);

    // No arguments, or none that the runtime accepts.
    say_none("_Z5plainv", hipModuleLaunchKernel(plain, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    say_none("_Z7nothingv", hipLaunchKernel(&nothing, one, block, NULL, 0, NULL));
    say_none(mixed_name, hipModuleLaunchKernel(mixed_f, 1, 1, 1, 64, 1, 1, 0, NULL, pointers_to(&m), list_of(&m, &size)));
    void *no_list[] = {HIP_LAUNCH_PARAM_END};
    say_none(mixed_name, hipModuleLaunchKernel(mixed_f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, no_list));
    void **params = pointers_to(&m);
    params[2] = NULL;
    say_none(mixed_name, hipModuleLaunchKernel(mixed_f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));

    // More than an event has room for: 11 of 15.
    unsigned char blocks[14][32];
    void *many[15];
    int last = 5;
    for (int i = 0; i < 14; i++)
        memset(blocks[i], 0x10 + i, 32), many[i] = blocks[i];
    many[14] = &last;
    hipError_t status = hipModuleLaunchKernel(large, 1, 1, 1, 64, 1, 1, 0, NULL, many, NULL);
    printf("large %d 4 [\"", status);
    for (int i = 0; i < 11; i++, printf(i < 11 ? "\",\"" : "\"]\n"))
        for (int j = 0; j < 32; j++)
            printf("%02x", blocks[i][j]);

    // The handle of an unloaded function is reused.
    hipFunction_t before = mixed_f;
    hipModuleUnload(module);
    hipModuleLoadData(&other, co_module(second, 1));
    hipModuleGetFunction(&longs, other, "pair_of_longs");
    uint64_t l[] = {7, ~0ul};
    void *both[] = {&l[0], &l[1]};
    printf("pair_of_longs %d 0 [7,\"0xffffffffffffffff\"]\n", hipModuleLaunchKernel(longs, 1, 1, 1, 64, 1, 1, 0, NULL, both, NULL));
    fprintf(stderr, "handle %s\n", longs == before || longs == large || longs == plain ? "reused" : "new");
    return 0;
}
