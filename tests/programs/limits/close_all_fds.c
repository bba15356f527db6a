// A program closes every file descriptor above 2, opens its own files under those numbers, and
// keeps launching.
// link: amdhip64
#include "code_object.h"
#include "hip.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 64 };
static const char TEXT[] = "only this\n";

int main(void)
{
    struct co_kernel kernels[] = {{"before_close", ""}, {"after_close", ""}};
    char path[] = "/tmp/close_all_fds.XXXXXX", read_back[64];
    int fds[FILES], failed = 0, foreign = 0, closed = 0;
    hipModule_t module;
    hipFunction_t before, after;
    failed += !!hipModuleLoadData(&module, co_module(kernels, 2)) + !!hipModuleGetFunction(&before, module, "before_close") + !!hipModuleGetFunction(&after, module, "after_close");
    for (int i = 1; i <= 1000; i++)
        failed += !!hipModuleLaunchKernel(before, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    usleep(50000); // a tracer has opened its files by now
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < FILES; i++) {
        strcpy(path, "/tmp/close_all_fds.XXXXXX");
        fds[i] = mkstemp(path);
        unlink(path);
        failed += write(fds[i], TEXT, sizeof TEXT - 1) != sizeof TEXT - 1;
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 1; i <= 1000; i++)
            failed += !!hipModuleLaunchKernel(after, i, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
        usleep(20000);
    }
    for (int i = 0; i < FILES; i++) {
        ssize_t n = pread(fds[i], read_back, sizeof read_back, 0);
        foreign += n != sizeof TEXT - 1 || memcmp(read_back, TEXT, n);
        closed += close(fds[i]) != 0;
    }
    printf("failed %d, files with foreign content %d, files closed by others %d\n", failed, foreign, closed);
    return failed || foreign || closed;
}
