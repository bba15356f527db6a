// librocprofiler-register stand-in: receives the dispatch tables and, if a profiler is configured,
// wraps every entry first.
#include "standin.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum status { SUCCESS = 0, NO_TOOLS = 1, BAD_API_TABLE_LENGTH = 3, UNSUPPORTED_API = 4, EXCESS_API_INSTANCES = 7 };
enum { INSTANCES = 2, ROOM = REGISTER_WRAPPERS / INSTANCES }; // of a library; entries of all its tables

struct table {
    size_t size;
    void *entries[];
};

extern char register_wrappers[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *register_wrapped[REGISTER_WRAPPERS];
__attribute__((visibility("hidden"))) unsigned long register_calls[REGISTER_WRAPPERS];

#define X(name, node) #name,
static const char *const HIP[] = {
#include "hip.def"
};
#define X(name, node)
#define C(name, node) #name,
static const char *const COMPILER[] = {
#include "hip.def"
};

// The libraries that register, in the order of their wrappers within an instance.
static struct library {
    const char *name;
    const char *const *functions; // NULL: its table is not wrapped
    int count, registered;
} libraries[] = {
    {"hip", HIP, sizeof HIP / sizeof *HIP, 0},
    {"hip_compiler", COMPILER, sizeof COMPILER / sizeof *COMPILER, 0},
    {"hsa", NULL, 0, 0},
    {"roctx", NULL, 0, 0},
    {"rccl", NULL, 0, 0},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long number(const char *name, long otherwise) { return getenv(name) ? strtol(getenv(name), NULL, 0) : otherwise; }

__attribute__((format(printf, 4, 5))) static void log_line(const char *kind, int n, const char *symbol, const char *format, ...)
{
    const char *path = getenv("STANDIN_LOG");
    FILE *out = path && *path ? fopen(path, "ae") : NULL;
    char line[512];
    va_list args;
    if (!out)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(out, "%s\t%ld\t%d\t%s\t%s\n", kind, syscall(SYS_gettid), n, symbol, line);
    fclose(out);
}

static int first_wrapper(const struct library *l, int instance)
{
    int first = instance * ROOM;
    for (const struct library *before = libraries; before < l; before++)
        first += before->count;
    return first;
}

static void wrap(const struct library *l, int instance, struct table *t)
{
    int first = first_wrapper(l, instance);
    for (int i = 0; i < l->count && 8 + 8 * (size_t)i < t->size; i++) {
        register_wrapped[first + i] = t->entries[i];
        t->entries[i] = register_wrappers + 32 * (first + i);
    }
}

PUBLIC uint32_t rocprofiler_register_library_api_table(const char *lib_name, uint32_t (*import_func)(void), uint32_t lib_version, void **api_tables, uint64_t api_table_length, uint64_t *register_id)
{
    enum status status = number("STANDIN_REGISTER_STATUS", number("STANDIN_PROFILER", 0) ? SUCCESS : NO_TOOLS);
    struct library *l = libraries;
    int instance = 0;
    (void)import_func;
    while (l < libraries + LIBRARIES && strcmp(l->name, lib_name))
        l++;
    pthread_mutex_lock(&lock);
    if (api_table_length < 1)
        status = BAD_API_TABLE_LENGTH;
    else if (l == libraries + LIBRARIES)
        status = UNSUPPORTED_API;
    else if ((instance = l->registered++) >= INSTANCES)
        status = EXCESS_API_INSTANCES;
    if (!status && l->functions)
        wrap(l, instance, api_tables[0]);
    if (!status && register_id)
        *register_id = 8 * (l - libraries) + instance;
    log_line("register", instance, lib_name, "version=%u tables=%lu size=%zu\t%d", lib_version, api_table_length, api_table_length ? *(size_t *)api_tables[0] : 0, status);
    pthread_mutex_unlock(&lock);
    return status;
}

__attribute__((destructor)) static void tell(void)
{
    for (int instance = 0; instance < INSTANCES; instance++)
        for (const struct library *l = libraries; l < libraries + LIBRARIES; l++)
            for (int i = 0; i < l->count; i++)
                if (register_calls[first_wrapper(l, instance) + i])
                    log_line("wrapped", instance, l->functions[i], "calls=%lu\t0", register_calls[first_wrapper(l, instance) + i]);
}
