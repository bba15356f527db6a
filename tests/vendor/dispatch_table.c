// The dispatch tables of the registering libamdhip64 and their hand-over, as in HIP since ROCm 6.2.
//
// Each table is built and registered once, on first use: the compiler's on the first
// __hipRegister*, HIP's on the first API call. That is a C++ function-local static in the real one:
// other threads wait for it, and a call from inside, such as from a profiler that is just being
// handed the table, can never return. Here it aborts with a message.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void function(void);
struct table {
    size_t size; // in bytes, with this field: entry i is there if 8 + 8 * i < size
    function *entries[];
};

uint32_t rocprofiler_register_library_api_table(const char *lib_name, uint32_t (*import_func)(void), uint32_t lib_version, void **api_tables, uint64_t api_table_length, uint64_t *register_id);
__attribute__((visibility("hidden"))) struct table *standin_hip_table, *standin_compiler_table; // NULL until registered
__attribute__((visibility("hidden"))) function standin_missing;

// The targets of the stubs: the functions that the other builds export, renamed by the build. Not
// all are implemented.
#define X(name, node) extern function impl_##name __attribute__((weak, visibility("hidden")));
#define C X
#include "hip.def"

#define C(name, node)
#define X(name, node) impl_##name,
static function *const HIP[] = {
#include "hip.def"
};
#define X(name, node)
#define C(name, node) impl_##name,
static function *const COMPILER[] = {
#include "hip.def"
};

static __thread int registering;

static uint32_t version(void) { return 10000 * 6 + 100 * 3; }

// A table that ends at a page end, so that accesses beyond its size fault.
static struct table *new_table(size_t size, function *const *functions, size_t count)
{
    size_t page = sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE))
        abort();
    struct table *t = (struct table *)(memory + room - size);
    t->size = size;
    for (size_t i = 0; 8 + 8 * i < size; i++)
        t->entries[i] = i < count && functions[i] ? functions[i] : standin_missing;
    return t;
}

// STANDIN_TABLE_SIZE: size of HIP's table in bytes, such as 3624 (ROCm 6.2) or 4056 (7.2, the
// default).
static struct table *build(int compiler)
{
    const char *size = getenv("STANDIN_TABLE_SIZE");
    if (compiler)
        return new_table(8 + sizeof COMPILER, COMPILER, sizeof COMPILER / sizeof *COMPILER);
    return new_table(size ? strtoul(size, NULL, 0) : 8 + sizeof HIP, HIP, sizeof HIP / sizeof *HIP);
}

__attribute__((visibility("hidden"))) void standin_register(int compiler)
{
    static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    struct table **table = compiler ? &standin_compiler_table : &standin_hip_table;
    if (registering) {
        fputs("stand-in libamdhip64: a HIP function was called while a dispatch table was being registered\n", stderr);
        abort();
    }
    pthread_mutex_lock(&locks[compiler]);
    if (!*table) {
        struct table *t = build(compiler);
        size_t size = t->size;
        uint64_t id = 0;
        registering = 1;
        rocprofiler_register_library_api_table(compiler ? "hip_compiler" : "hip", version, version(), (void *[]){t}, 1, &id);
        registering = 0;
        if (t->size != size) {
            fputs("stand-in libamdhip64: the size of a dispatch table was overwritten\n", stderr);
            abort();
        }
        __atomic_store_n(table, t, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&locks[compiler]);
}
