// Prints where names are found, from the program and from two libraries that it opens, by every
// kind of lookup. `where_found hip` also looks up HIP's names, from a plug-in that depends on HIP.
// link: none
#include "plugin.h"
#include "who.h"

typedef void *look_up_t(char how, const char *name, const char *version);

static void show(const char *from, look_up_t *look_up, const char *name, const char *version)
{
    printf("%s from %s:", name, from);
    for (const char *how = version ? "ndND" : "nd"; *how; how++)
        printf(" %c %s", *how, file_of(look_up(*how, name, version)));
    printf("\n");
}

int main(int argc, char **argv)
{
    int hip = argc > 1 && !strcmp(argv[1], "hip");
    void *self = dlopen(NULL, RTLD_NOW);
    for (int global = 0; global < 2; global++) { // in this order: what was found in the global scope stays loaded
        void *first = open_beside("who_first.so", RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL)), *second = open_beside("who_second.so", RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        const struct { const char *name; look_up_t *look_up; } from[] = {
            {"the program", look_up}, {"the first", (look_up_t *)dlsym(first, "look_up")}, {"the second", (look_up_t *)dlsym(second, "look_up")}};
        for (int i = 0; i < 3; i++) {
            show(from[i].name, from[i].look_up, "who", NULL);
            show(from[i].name, from[i].look_up, "getpid", "GLIBC_2.2.5");
            show(from[i].name, from[i].look_up, "no_such_function", "GLIBC_2.2.5");
            show(from[i].name, from[i].look_up, "hipLaunchKernel", "hip_4.2"); // HIP is not here, or not for these
        }
        printf("by handle: %s %s %s\n", file_of(dlsym(first, "who")), file_of(dlsym(second, "who")), file_of(dlsym(self, "who")));
        printf("libc by handle: %s %s\n", file_of(dlsym(self, "getpid")), file_of(dlsym(first, "getpid")));
        printf("HIP by handle: %s %s\n", file_of(dlsym(self, "hipLaunchKernel")), file_of(dlsym(first, "hipLaunchKernel")));
        dlclose(first), dlclose(second);
    }
    if (hip) {
        void *plugin = open_plugin(RTLD_NOW | RTLD_LOCAL), *wheel = open_beside("plugin_wheel.so", RTLD_NOW | RTLD_LOCAL);
        static const char *const NAMES[] = {"hipLaunchKernel", "hipGetErrorName", "run"};
        for (int i = 0; i < 3; i++)
            printf("%s: plug-in %s, wheel %s, by version %s %s\n", NAMES[i], file_of(dlsym(plugin, NAMES[i])), file_of(dlsym(wheel, NAMES[i])),
                   file_of(dlvsym(plugin, NAMES[i], "hip_4.2")), file_of(dlvsym(plugin, NAMES[i], "hip_9.9")));
    }
    return 0;
}
