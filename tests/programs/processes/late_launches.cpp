// Launches from destructors: of thread-local objects, of static objects, of a library that is never
// closed.
// link: amdhip64
// kernel: 0 late _Z4latev -
#include "late_launches.fatbin.h"
#include <cstdio>
#include <thread>

static void launch(const char *where)
{
    int failed = 0;
    for (unsigned i = 1; i <= 10; i++)
        failed += !!hipLaunchKernel(reinterpret_cast<const void *>(&late), {i, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr);
    printf("%s: failed %d\n", where, failed);
}

struct Launcher {
    const char *where;
    ~Launcher() { launch(where); }
};
static Launcher of_the_program{"a static object"};
static thread_local Launcher of_a_thread{"an object of a thread"};

int main()
{
    std::thread([] { of_a_thread.where = "an object of another thread"; }).join();
    std::thread([] { of_a_thread.where = "an object of a thread that launches", launch("a thread"); }).join();
    of_a_thread.where = "an object of the first thread";
    static Launcher in_main{"a static object in a function"};
    return 0;
}
