// First launches of kernels on stacks of all kinds. For each prints the kernel, the address of the
// function that launches, and where each function on its stack returns to, innermost first; all as
// addresses of the file. What the shim cannot know (behind damage, or code without unwind
// information) is not printed.
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

extern const char __executable_start[], end[];
#define NOINLINE __attribute__((noinline, noclone))

static __thread uintptr_t returns[128];
static __thread int depth;

static uintptr_t linked(const void *address) { return (uintptr_t)address - (uintptr_t)__executable_start; }

static int enter(const void *address)
{
    returns[depth++] = linked(address);
    return 0;
}
static void leave(int *entered) { depth -= 1 + *entered; }
static void restore(int *before) { depth = *before; }
// The function is on the stack, until it returns.
#define HERE __attribute__((cleanup(leave), unused)) int here = enter(__builtin_return_address(0))
// What is further out is not expected, until the function returns.
#define OUTERMOST __attribute__((cleanup(restore), unused)) int before_ = depth; depth = 0

NOINLINE static void launch_first(const char *name)
{
    HERE;
    struct co_kernel k = {name, "i"};
    hipModule_t module;
    hipFunction_t f;
    int value = 7;
    void *params[] = {&value};
    if (hipModuleLoadData(&module, co_module(&k, 1)) || hipModuleGetFunction(&f, module, name))
        failed++;
    printf("%s 0x%zx", name, linked((const void *)launch_first));
    for (int i = depth; i-- > 0;)
        if (returns[i] < linked(end)) // not into the C library
            printf(" 0x%zx", returns[i]);
    printf("\n");
    for (int i = 0; i < 3; i++)
        if (hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL))
            failed++;
}

NOINLINE static void called(const char *name)
{
    HERE;
    launch_first(name);
}

NOINLINE static void recursive(int more, const char *name)
{
    HERE;
    if (more)
        recursive(more - 1, name);
    else
        called(name);
}

// Called by the C library.
static int compare(const void *one, const void *other)
{
    static int is_done;
    HERE;
    if (!is_done++)
        called("by_qsort");
    return *(const int *)one - *(const int *)other;
}

static void *on_thread(void *unused)
{
    (void)unused;
    OUTERMOST;
    called("by_thread");
    return NULL;
}

static void handler(int number)
{
    OUTERMOST;
    called(number == SIGUSR1 ? "by_handler" : "by_handler_on_stack");
}

static ucontext_t scheduler, coroutine;
static void body(void)
{
    OUTERMOST;
    called("by_coroutine");
}

// A large frame, which moves the stack pointer by a register.
NOINLINE static void with_alloca(int bytes)
{
    HERE;
    memset(__builtin_alloca(bytes), 1, bytes);
    called("by_alloca");
}

// Its own return address is changed while it launches.
NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void with_return(const char *name, uintptr_t changed)
{
    uintptr_t *frame = (uintptr_t *)__builtin_frame_address(0), before = frame[1];
    OUTERMOST;
    __atomic_store_n(&frame[1], changed, __ATOMIC_SEQ_CST);
    called(name);
    __atomic_store_n(&frame[1], before, __ATOMIC_SEQ_CST);
}

// The frame pointer of its caller, by which the caller is unwound, is changed while it launches.
NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void with_frame(const char *name, uintptr_t changed)
{
    uintptr_t *frame = (uintptr_t *)__builtin_frame_address(0), before = frame[0];
    OUTERMOST;
    HERE;
    __atomic_store_n(&frame[0], changed, __ATOMIC_SEQ_CST);
    called(name);
    __atomic_store_n(&frame[0], before, __ATOMIC_SEQ_CST);
}

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void framed(const char *name, uintptr_t changed, int bytes)
{
    memset(__builtin_alloca(bytes), 1, bytes);
    with_frame(name, changed);
}

static void from_bare(void)
{
    OUTERMOST;
    called("by_bare_code");
}

static void from_made(void)
{
    OUTERMOST;
    called("by_made_code");
}

// Code without unwind information in this file.
void bare_code(void (*call)(void));
asm(".text\n.globl bare_code\n.type bare_code,@function\nbare_code:\n sub $8, %rsp\n call *%rdi\n add $8, %rsp\n ret\n.size bare_code, .-bare_code\n");

int main(void)
{
    called("by_main");
    recursive(40, "by_recursion");
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compare);
    with_alloca(5000);
    pthread_t thread;
    pthread_create(&thread, NULL, on_thread, NULL);
    pthread_join(thread, NULL);

    static char stack[64 << 10], signals[64 << 10];
    stack_t other = {signals, 0, sizeof signals};
    sigaltstack(&other, NULL);
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);

    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &scheduler;
    makecontext(&coroutine, body, 0);
    swapcontext(&scheduler, &coroutine);

    with_return("returns_to_nothing", 0x4141414141414141);
    with_return("returns_to_data", (uintptr_t)&scheduler);
    with_return("returns_to_a_start", (uintptr_t)main);
    uintptr_t top = (uintptr_t)__builtin_frame_address(0);
    framed("frame_at_8", 8, 40);
    framed("frame_far_up", (top + (32 << 20)) & ~15ul, 40);
    framed("frame_odd", top + 3, 40);
    framed("frame_not_canonical", 0x4141414141414140, 40);

    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    ((void (*)(void (*)(void)))made)(from_made);
    bare_code(from_bare);
    printf("failed %d\n", failed);
    return failed;
}
