// Opens the plug-ins beside this program.
#ifndef PLUGIN_H
#define PLUGIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int run_t(int n);

static inline void *open_beside(const char *name, int flags)
{
    char path[4200] = "";
    ssize_t n = readlink("/proc/self/exe", path, 4096);
    path[n < 0 ? 0 : n] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    void *plugin = dlopen(path, flags);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return plugin;
}

static inline void *open_plugin(int flags) { return open_beside("plugin.so", flags); }

static inline int run_plugin(void *plugin, int n)
{
    run_t *run = (run_t *)dlsym(plugin, "run");
    return run ? run(n) : -1;
}

// The file that holds an address, without its folder.
static inline const char *file_of(const void *address)
{
    Dl_info info;
    if (!address || !dladdr(address, &info))
        return address ? "nowhere" : "not found";
    return strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
}

#endif
