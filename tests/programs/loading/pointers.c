// Compares the addresses of one function obtained in different ways: by its name in the code, by
// dlsym on HIP, on the program and by default, by hipGetProcAddress, and inside a plug-in.
// link: amdhip64
#include "hip.h"
#include "plugin.h"

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD), *self = dlopen(NULL, RTLD_NOW), *by_address = NULL;
    const struct { const char *name; void *address; } FUNCTIONS[] = {
        {"hipLaunchKernel", &hipLaunchKernel}, {"hipModuleLaunchKernel", &hipModuleLaunchKernel}, {"hipGetErrorName", &hipGetErrorName}, {"hipGetProcAddress", &hipGetProcAddress}};
    for (int i = 0; i < 4; i++) {
        void *const mine = FUNCTIONS[i].address;
        const char *name = FUNCTIONS[i].name;
        int failed = hipGetProcAddress(name, &by_address, 60342134, 0, NULL);
        printf("%s: handle %d, program %d, default %d, version %d, hipGetProcAddress %d %d, twice %d\n", name, dlsym(hip, name) == mine, dlsym(self, name) == mine,
               dlsym(RTLD_DEFAULT, name) == mine, dlvsym(hip, name, i < 3 ? "hip_4.2" : "hip_6.1") == mine, failed, by_address == mine, dlsym(hip, name) == dlsym(hip, name));
    }
    return 0;
}
