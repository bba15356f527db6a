// A code object loaded from a file by hipModuleLoad, as hipBLASLt does: module_file PATH (the file
// is made, and stays).
// link: amdhip64
#include "code_object.h"
#include "hip.h"

int main(int argc, char **argv)
{
    struct co_kernel kernels[] = {{"from_file", "pi"}, {"also_from_file", ""}};
    void *p = NULL, *params[] = {&p, &p};
    hipModule_t module;
    hipFunction_t f;
    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (!out || fwrite(co_module(kernels, 2), co_elf(NULL, co_gfx(), kernels, 2), 1, out) != 1 || fclose(out))
        return 1;
    printf("load %d\n", hipModuleLoad(&module, argv[1]));
    printf("get %d\n", hipModuleGetFunction(&f, module, "from_file"));
    printf("launch %d\n", hipModuleLaunchKernel(f, 1, 2, 3, 64, 1, 1, 0, NULL, params, NULL));
    return 0;
}
