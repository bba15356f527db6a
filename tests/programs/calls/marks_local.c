// A program without roctx opens a plug-in that uses it with RTLD_LOCAL.
// link: none
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *plugin = dlopen("$ORIGIN/marks_sdk.so", RTLD_NOW | RTLD_LOCAL);
    void (*run)(void) = plugin ? (void (*)(void))dlsym(plugin, "run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    run();
    return 0;
}
