// Launches in another environment than it started in: another folder, or another root. elsewhere
// chdir|chroot|chroot_later FOLDER
// link: amdhip64
#include "launching.h"
#include <unistd.h>

static int go(const char *how, const char *folder)
{
    if (!strcmp(how, "chdir"))
        return chdir(folder);
    return chroot(folder) || chdir("/");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int later = !strcmp(argv[1], "chroot_later"), gone = later ? 0 : go(argv[1], argv[2]);
    hipFunction_t f = kernel("elsewhere");
    launch(f, 1000);
    usleep(50000);
    if (later)
        gone = go(argv[1], argv[2]);
    launch(f, 1000);
    launch(kernel("later"), 1000);
    printf("gone %d, failed %d\n", gone, failed);
    return 0;
}
