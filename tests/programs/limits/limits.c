// Launches where next to nothing may be had. limits WHAT [N]
//   fsize N        files of at most N bytes                          nofile     no descriptor is left
//   space N        N KiB of address space more than it has now       nproc      no thread or process more (as another user)
//   room N         the same; it takes seven tenths of that itself after the first launches
//   nofile_later   the same after the first launches                 dropped    becomes another user after the first launches
// link: amdhip64
#include "launching.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, rlim_t to)
{
    struct rlimit both = {to, to};
    if (setrlimit(what, &both))
        perror("setrlimit");
}

static rlim_t space(void)
{
    char text[64];
    int fd = open("/proc/self/statm", O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return strtoul(text, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static void no_files(void)
{
    limit(RLIMIT_NOFILE, 64);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    rlim_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    int later = !strcmp(what, "nofile_later") || !strcmp(what, "dropped");
    struct co_kernel kernels[] = {{"within_limits", ""}, {"later", ""}};
    const void *image = co_module(kernels, 2);
    hipModule_t module = NULL;
    hipFunction_t f = NULL, g = NULL;
    setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
    printf("in");
    void *held = malloc(1 << 20); // what the program itself needs later
    if (!strcmp(what, "fsize"))
        limit(RLIMIT_FSIZE, n);
    if (!strcmp(what, "nofile"))
        no_files();
    if (!strcmp(what, "nproc")) {
        if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
            return printf(" no other user\n"), 0;
        limit(RLIMIT_NPROC, 0);
    }
    if (!strcmp(what, "space") || !strcmp(what, "room"))
        limit(RLIMIT_AS, space() + n * 1024);
    int status = hipModuleLoadData(&module, image);
    free(held);
    if (!status)
        failed += hipModuleGetFunction(&f, module, "within_limits") || hipModuleGetFunction(&g, module, "later");
    launch(f, status ? 0 : 1000);
    if (later) {
        usleep(100000);
        if (!strcmp(what, "dropped") && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
            return printf(" no other user\n"), 0;
        if (!strcmp(what, "nofile_later"))
            no_files();
    }
    if (!strcmp(what, "room")) {
        usleep(20000);
        held = malloc(n * 1024 / 10 * 7);
        printf(" room %d", !!held);
    }
    errno = 0;
    launch(g, status ? 0 : 1000);
    usleep(later ? 100000 : 0);
    launch(g, status ? 0 : 1000);
    printf(" limits: status %d, failed %d, errno %d\n", status, failed, errno);
    return 6;
}
