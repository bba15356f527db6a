// Ends that come from outside the program's own calls: an uncaught exception, no memory left.
#pragma once
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// What `throw 1;` is in C++.
static inline void throw_uncaught(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    void *(*allocate)(size_t) = (void *(*)(size_t))(library ? dlsym(library, "__cxa_allocate_exception") : NULL);
    void (*throw)(void *, void *, void (*)(void *)) = (void (*)(void *, void *, void (*)(void *)))(library ? dlsym(library, "__cxa_throw") : NULL);
    if (allocate && throw)
        throw(allocate(sizeof(int)), dlsym(library, "_ZTIi"), NULL);
}

// Allocates until the kernel kills the process: in a cgroup with little memory, or not at all.
static inline void take_all_memory(void)
{
    enum { MIB = 1 << 20, MOST = 4096 };
    for (int i = 0; i < MOST; i++) {
        char *memory = malloc(MIB);
        if (memory)
            memset(memory, i | 1, MIB);
    }
}
