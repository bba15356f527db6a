// Modules, fat binaries and kernel names of the HIP stand-in.
//
// A kernel handle is a heap object from a free list: hipModuleUnload gives handles back and the
// next hipModuleGetFunction takes the last one given back, so that handles are reused, always in
// the same way.
#include "module.h"
#include "code_object.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

pthread_mutex_t standin_modules_lock = PTHREAD_MUTEX_INITIALIZER;
static hipFunction_t free_handles;
static struct ihipModule_t *free_modules;

// Host stub -> handle: open addressing, read without a lock; a table that has grown is replaced,
// never freed.
struct stubs {
    size_t room, used;
    struct {
        const void *host_function;
        hipFunction_t handle;
    } at[];
};
static struct stubs *stubs;

static size_t slot_of(const struct stubs *t, const void *host_function)
{
    size_t i = (uintptr_t)host_function * 0x9e3779b97f4a7c15u >> 20;
    while (t->at[i & (t->room - 1)].host_function && t->at[i & (t->room - 1)].host_function != host_function)
        i++;
    return i & (t->room - 1);
}

hipFunction_t standin_stub(const void *host_function)
{
    const struct stubs *t = __atomic_load_n(&stubs, __ATOMIC_ACQUIRE);
    return t && host_function ? __atomic_load_n(&t->at[slot_of(t, host_function)].handle, __ATOMIC_ACQUIRE) : NULL;
}

void standin_stub_put(const void *host_function, hipFunction_t handle)
{
    if (!stubs || stubs->used * 2 >= stubs->room) {
        size_t room = stubs ? stubs->room * 2 : 64;
        struct stubs *t = calloc(1, sizeof *t + room * sizeof *t->at);
        t->room = room;
        for (size_t i = 0; stubs && i < stubs->room; i++)
            if (stubs->at[i].host_function)
                t->at[slot_of(t, stubs->at[i].host_function)] = stubs->at[i], t->used++;
        __atomic_store_n(&stubs, t, __ATOMIC_RELEASE);
    }
    size_t i = slot_of(stubs, host_function);
    stubs->used += !stubs->at[i].host_function;
    __atomic_store_n(&stubs->at[i].handle, handle, __ATOMIC_RELEASE);
    __atomic_store_n(&stubs->at[i].host_function, host_function, __ATOMIC_RELEASE);
}

// The kernel names of an ELF image: its dynamic symbols that end in ".kd". Also works on real code
// objects.
static hipError_t read_elf(struct ihipModule_t *m, const unsigned char *image)
{
    const Elf64_Ehdr *e = (const void *)image;
    if (e->e_machine != 224 || e->e_ident[EI_OSABI] != 64)
        return hipErrorInvalidImage;
    if ((e->e_flags & 0xff) != co_mach(co_gfx()))
        return hipErrorNoBinaryForGpu;
    const Elf64_Shdr *sections = (const void *)(image + e->e_shoff);
    for (int s = 0; s < e->e_shnum; s++) {
        if (sections[s].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + sections[s].sh_offset);
        const char *strings = (const char *)image + sections[sections[s].sh_link].sh_offset;
        m->names = malloc(sections[sections[s].sh_link].sh_size + 1);
        for (size_t i = 1; i < sections[s].sh_size / sizeof *symbols; i++) {
            const char *name = strings + symbols[i].st_name;
            size_t n = strlen(name);
            if (n < 4 || strcmp(name + n - 3, ".kd"))
                continue;
            memcpy(m->names + m->names_len, name, n - 3);
            m->names[m->names_len + n - 3] = 0;
            m->names_len += n - 2;
        }
    }
    return hipSuccess;
}

// True if a bundle entry's id, such as `hipv4-amdgcn-amd-amdhsa--gfx900`, is for this device's
// target; features that it does not name (`:xnack-`) may have any state.
static int for_this_device(const char *id, size_t id_len)
{
    const char *gfx = co_gfx(), *dashes = memmem(id, id_len, "amdhsa--", 8);
    size_t n = dashes ? id_len - (dashes + 8 - id) : 0;
    return n && (n == strlen(gfx) || n == strcspn(gfx, ":")) && !memcmp(dashes + 8, gfx, n);
}

hipError_t standin_read_image(struct ihipModule_t *m, const unsigned char *image)
{
    if (!memcmp(image, ELFMAG, SELFMAG))
        return read_elf(m, image);
    if (memcmp(image, "__CLANG_OFFLOAD_BUNDLE__", 24))
        return hipErrorInvalidImage;
    const unsigned char *entry = image + 32;
    for (uint64_t i = 0, count = *(const uint64_t *)(image + 24); i < count; i++) {
        uint64_t at, id_len;
        memcpy(&at, entry, 8);
        memcpy(&id_len, entry + 16, 8);
        if (for_this_device((const char *)entry + 24, id_len))
            return read_elf(m, image + at);
        entry += 24 + id_len;
    }
    return hipErrorNoBinaryForGpu;
}

struct ihipModule_t *standin_new_module(void)
{
    struct ihipModule_t *m = free_modules;
    if (m)
        free_modules = m->next_free;
    else
        m = malloc(sizeof *m);
    memset(m, 0, sizeof *m);
    return m;
}

void standin_drop_module(struct ihipModule_t *m)
{
    for (hipFunction_t f = m->handles, next; f; f = next) {
        next = f->next;
        f->module = NULL;
        f->next = free_handles;
        free_handles = f;
    }
    free(m->names);
    m->names = NULL;
    m->status = hipErrorInvalidHandle;
    m->next_free = free_modules;
    free_modules = m;
}

const char *standin_find_name(const struct ihipModule_t *m, const char *name)
{
    const char *end = m->names + m->names_len;
    for (const char *at = m->names; at < end; at += strlen(at) + 1)
        if (!strcmp(at, name))
            return at;
    return NULL;
}

// The handle of a kernel of this module, the same on each call; NULL if there is none of that name.
static hipFunction_t handle_of(struct ihipModule_t *m, const char *name)
{
    for (hipFunction_t f = m->handles; f; f = f->next)
        if (!strcmp(f->name, name))
            return f;
    const char *at = standin_find_name(m, name);
    if (!at)
        return NULL;
    hipFunction_t f = free_handles;
    if (f)
        free_handles = f->next;
    else
        f = malloc(sizeof *f);
    *f = (struct ihipModuleSymbol_t){m, at, hipSuccess, m->handles};
    return m->handles = f;
}

hipError_t standin_load(hipModule_t *module, const void *image)
{
    if (!module || !image)
        return standin_fail(hipErrorInvalidValue);
    pthread_mutex_lock(&standin_modules_lock);
    struct ihipModule_t *m = standin_new_module();
    hipError_t status = standin_read_image(m, image);
    if (status)
        standin_drop_module(m);
    else
        *module = m;
    pthread_mutex_unlock(&standin_modules_lock);
    return status ? standin_fail(status) : hipSuccess;
}

hipError_t standin_load_file(hipModule_t *module, const char *fname)
{
    int fd = fname ? open(fname, O_RDONLY | O_CLOEXEC) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        return standin_fail(hipErrorFileNotFound);
    char *image = calloc(1, st.st_size + 64);
    ssize_t got = read(fd, image, st.st_size);
    close(fd);
    hipError_t status = got == st.st_size ? standin_load(module, image) : standin_fail(hipErrorInvalidValue);
    free(image);
    return status;
}

hipError_t standin_unload(hipModule_t module)
{
    if (!module || module->status)
        return standin_fail(hipErrorInvalidHandle);
    pthread_mutex_lock(&standin_modules_lock);
    standin_drop_module(module);
    pthread_mutex_unlock(&standin_modules_lock);
    return hipSuccess;
}

PUBLIC hipError_t hipModuleLoadData(hipModule_t *module, const void *image) { return standin_load(module, image); }

PUBLIC hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned numOptions, int *options, void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    return standin_load(module, image);
}

PUBLIC hipError_t hipModuleLoad(hipModule_t *module, const char *fname) { return standin_load_file(module, fname); }

PUBLIC hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin)
{
    const struct hip_fatbin_wrapper *wrapper = fatbin;
    return standin_load(module, fatbin && wrapper->magic == HIP_FATBIN_MAGIC ? wrapper->binary : fatbin);
}

PUBLIC hipError_t hipModuleUnload(hipModule_t module) { return standin_unload(module); }

hipError_t standin_function(hipFunction_t *function, hipModule_t module, const char *kname)
{
    if (!function || !kname)
        return standin_fail(hipErrorInvalidValue);
    if (!module || module->status)
        return standin_fail(hipErrorInvalidHandle);
    pthread_mutex_lock(&standin_modules_lock);
    hipFunction_t f = handle_of(module, kname);
    pthread_mutex_unlock(&standin_modules_lock);
    if (!f)
        return standin_fail(hipErrorNotFound);
    *function = f;
    return hipSuccess;
}

PUBLIC hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname) { return standin_function(function, module, kname); }

PUBLIC const char *hipKernelNameRef(hipFunction_t f) { return f && f->module ? f->name : NULL; }

PUBLIC const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream)
{
    (void)stream;
    return hipKernelNameRef(standin_stub(hostFunction));
}
