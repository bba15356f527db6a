// First GEMMs of a shape on stacks that C++ makes. For each prints its rows, the address of the
// function that calls, and where each function on its stack returns to, innermost first; all as
// addresses of the file. Each GEMM is made twice.
// link: amdhip64 rocblas
extern "C" {
#include "rocblas.h"
}
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

extern "C" const char __executable_start[], end[];
#define NOINLINE __attribute__((noinline, noclone))

static rocblas_handle handle;
static int failed;
static thread_local uintptr_t returns[64];
static thread_local int depth;

static uintptr_t linked(const void *address) { return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(__executable_start); }

// The function is on the stack, until it returns or is unwound.
struct Here {
    explicit Here(const void *address) { returns[depth++] = linked(address); }
    ~Here() { depth--; }
};
#define HERE Here here_(__builtin_return_address(0))

NOINLINE static void gemm(int rows)
{
    HERE;
    static float one = 1, zero = 0, matrix[1024];
    printf("%d 0x%zx", rows, linked(reinterpret_cast<const void *>(gemm)));
    for (int i = depth; i-- > 0;)
        if (returns[i] < linked(end)) // not into a library
            printf(" 0x%zx", returns[i]);
    printf("\n");
    for (int i = 0; i < 2; i++)
        failed += rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, rows, 8, 8, &one, matrix, rows, matrix, 8, &zero, matrix, rows) != 0;
}

template <int More> NOINLINE static void templated(int rows)
{
    HERE;
    if constexpr (More > 0)
        templated<More - 1>(rows);
    else
        gemm(rows);
}

// Inlined: it has no frame.
__attribute__((always_inline)) static inline void inlined(int rows) { gemm(rows); }

NOINLINE static void inlines(int rows)
{
    HERE;
    inlined(rows);
}

struct Layer {
    virtual ~Layer() = default;
    virtual void forward(int rows) = 0;
};

struct Linear : Layer {
    NOINLINE void forward(int rows) override
    {
        HERE;
        gemm(rows);
    }
};

// Makes a GEMM when it is destroyed.
struct Late {
    int rows;
    NOINLINE ~Late()
    {
        HERE;
        gemm(rows);
    }
};

NOINLINE static void throws(int rows)
{
    HERE;
    if (rows > 0)
        throw std::runtime_error("expected");
}

NOINLINE static void unwound(int rows)
{
    HERE;
    Late late{rows};
    throws(rows);
}

NOINLINE static void catches(int rows)
{
    HERE;
    try {
        unwound(rows);
    } catch (const std::runtime_error &) {
        gemm(rows + 1);
    }
}

NOINLINE static void rethrows(int rows)
{
    HERE;
    try {
        try {
            throws(rows);
        } catch (...) {
            throw;
        }
    } catch (const std::exception &) {
        inlined(rows);
    }
}

NOINLINE static void by_function(const std::function<void(int)> &function, int rows)
{
    HERE;
    function(rows);
}

int main()
{
    if (rocblas_create_handle(&handle))
        return 1;
    gemm(16);
    templated<5>(17);
    inlines(18);
    std::unique_ptr<Layer> layer = std::make_unique<Linear>();
    layer->forward(19);
    catches(20); // 20 and 21
    rethrows(22);
    by_function([](int rows) { gemm(rows); }, 23);
    std::thread([] { templated<2>(24); }).join();
    printf("failed %d\n", failed);
    return failed;
}
