// Prints dlerror after each kind of lookup, successful and failed.
// link: none
#include "plugin.h"

static void show(const char *what, void *found)
{
    const char *error = dlerror(), *again;
    // Paths differ from build to build: only the part after the last slash is printed.
    const char *text = error ? (strrchr(error, '/') ? strrchr(error, '/') + 1 : error) : "nothing";
    printf("%s: %s, dlerror says %s", what, found ? "found" : "not found", text);
    again = dlerror();
    printf(", then %s\n", again ? again : "nothing");
}

int main(void)
{
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
    show("a handle's name", dlsym(hip, "hipLaunchKernel"));
    show("no name of the handle's", dlsym(hip, "hipNoSuchFunction"));
    show("a handle's name after a failure", (dlsym(hip, "hipNoSuchFunction"), dlsym(hip, "hipLaunchKernel")));
    show("a handle's other name after a failure", (dlsym(hip, "hipNoSuchFunction"), dlsym(hip, "hipGetErrorName")));
    show("a failure after a name", (dlsym(hip, "hipLaunchKernel"), dlsym(hip, "hipNoSuchFunction")));
    show("by version", dlvsym(hip, "hipModuleLaunchKernel", "hip_4.2"));
    show("by a wrong version", dlvsym(hip, "hipModuleLaunchKernel", "hip_9.9"));
    show("by version, no name", dlvsym(hip, "hipNoSuchFunction", "hip_4.2"));
    show("next", dlsym(RTLD_NEXT, "getpid"));
    show("next, no name", dlsym(RTLD_NEXT, "hipNoSuchFunction"));
    show("default", dlsym(RTLD_DEFAULT, "getpid"));
    show("default, no name", dlsym(RTLD_DEFAULT, "hipNoSuchFunction"));
    show("default, only behind RTLD_LOCAL", dlsym(RTLD_DEFAULT, "hipLaunchKernel"));
    show("next, only behind RTLD_LOCAL", dlsym(RTLD_NEXT, "hipLaunchKernel"));
    show("no such library", dlopen("libnosuch.so.1", RTLD_NOW));
    show("a name after no such library", (dlopen("libnosuch.so.1", RTLD_NOW), dlsym(hip, "hipLaunchKernel")));
    dlsym(hip, "hipNoSuchFunction");
    __typeof__(int(int *)) *count = (__typeof__(count))dlsym(hip, "hipGetDeviceCount");
    int devices = 0;
    dlsym(hip, "hipNoSuchFunction"); // pending while HIP is called
    count(&devices);
    show("pending over a HIP call", NULL);
    return 0;
}
