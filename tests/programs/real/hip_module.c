// Launches from modules on the real HIP: hip_module PATH-OF-vectors-gfx1100.co
// link: amdhip64
#include "../api/hip.h"
#include <stdio.h>
#include <stdlib.h>

static void *contents(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        exit(2);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    void *image = malloc(bytes);
    if (fread(image, bytes, 1, file) != 1)
        exit(2);
    fclose(file);
    return image;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "vectors-gfx1100.co";
    int n = 1024, sent[1024], back[1024] = {0}, same = 1;
    hipModule_t from_file, from_memory;
    hipFunction_t add, scale, none;
    void *a, *b, *c;
    for (int i = 0; i < n; i++)
        sent[i] = i;
    printf("malloc %d %d %d\n", hipMalloc(&a, sizeof sent), hipMalloc(&b, sizeof sent), hipMalloc(&c, sizeof sent));
    printf("to the device %d\n", hipMemcpy(a, sent, sizeof sent, hipMemcpyHostToDevice));
    printf("from the device %d\n", hipMemcpy(back, a, sizeof back, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        same &= sent[i] == back[i];
    printf("the same %d\n", same);
    void *add_arguments[] = {&a, &b, &c, &n}, *scale_arguments[] = {&a, &n};
    printf("load %d\n", hipModuleLoad(&from_file, path));
    printf("load data %d\n", hipModuleLoadData(&from_memory, contents(path)));
    printf("add %d\n", hipModuleGetFunction(&add, from_file, "vector_add"));
    printf("scale %d\n", hipModuleGetFunction(&scale, from_memory, "_Z12vector_scaleILi2EEvPfi"));
    printf("no such function %d\n", hipModuleGetFunction(&none, from_file, "vector_sub"));
    printf("launch %d\n", hipModuleLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, NULL, add_arguments, NULL));
    printf("launch with items %d\n", hipExtModuleLaunchKernel(scale, 1024, 1, 1, 128, 1, 1, 64, NULL, scale_arguments, NULL, NULL, NULL, 0));
    printf("block too large %d\n", hipModuleLaunchKernel(add, 1, 1, 1, 2048, 1, 1, 0, NULL, add_arguments, NULL));
    printf("last error %d\n", hipGetLastError());
    printf("synchronize %d\n", hipDeviceSynchronize());
    printf("unload %d %d\n", hipModuleUnload(from_file), hipModuleUnload(from_memory));
    return 0;
}
