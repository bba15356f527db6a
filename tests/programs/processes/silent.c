// A process that is linked to HIP and never calls it: prints its numbers of threads and open files.
// link: amdhip64
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int count(const char *path)
{
    int n = 0;
    struct dirent *entry;
    DIR *dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

int main(void)
{
    printf("threads %d, files %d, ok\n", count("/proc/self/task"), count("/proc/self/fd") - 1);
    return 0;
}
