// Its malloc refuses everything, from the Nth request on, that neither this file nor the HIP
// library makes: what is preloaded, and what the C library needs for it. no_malloc N|never
// link: amdhip64
#include "launching.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, LAUNCHES = 2000 };

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static struct range { uintptr_t begins, ends; } own[2]; // this program, the HIP library
static unsigned long requests, first = ~0ul;
static int is_armed;
static hipFunction_t f;

static int find(struct dl_phdr_info *object, size_t size, void *data)
{
    int is_hip = strstr(object->dlpi_name, "libamdhip64") != NULL;
    (void)size, (void)data;
    if (*object->dlpi_name && !is_hip)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_flags & PF_X && object->dlpi_phdr[i].p_type == PT_LOAD) {
            own[is_hip].begins = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            own[is_hip].ends = own[is_hip].begins + object->dlpi_phdr[i].p_memsz;
        }
    return 0;
}

static int refuses(const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (!is_armed || from - own[0].begins < own[0].ends - own[0].begins || from - own[1].begins < own[1].ends - own[1].begins)
        return 0;
    if (__atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED) < first)
        return 0;
    errno = ENOMEM;
    return 1;
}

#define REFUSES refuses(__builtin_return_address(0))
void *malloc(size_t size) { return REFUSES ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return REFUSES ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return REFUSES ? NULL : __libc_realloc(memory, size); }
void *memalign(size_t align, size_t size) { return REFUSES ? NULL : __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size) { return REFUSES ? NULL : __libc_memalign(align, size); }
int posix_memalign(void **to, size_t align, size_t size)
{
    if (REFUSES)
        return ENOMEM;
    *to = __libc_memalign(align, size);
    return *to ? 0 : ENOMEM;
}

static pthread_barrier_t ready;

static void *work(void *arg)
{
    pthread_barrier_wait(&ready);
    launch(f, LAUNCHES);
    return arg;
}

int main(int argc, char **argv)
{
    static char buffer[BUFSIZ];
    pthread_t threads[THREADS];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    printf("in");
    dl_iterate_phdr(find, NULL);
    if (argc > 1 && *argv[1] != 'n')
        first = strtoul(argv[1], NULL, 10);
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    is_armed = 1;
    f = kernel("without_malloc");
    pthread_barrier_wait(&ready);
    launch(f, LAUNCHES);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    f = kernel("later_without_malloc");
    usleep(30000);
    launch(f, LAUNCHES);
    printf(" no malloc: failed %d\n", failed);
    return 5;
}
