// Ends while four threads launch: by exit, by returning from main, or by pthread_exit of the first
// thread and exit of another. exit_race HOW
// link: amdhip64
#include "launching.h"
#include <pthread.h>
#include <unistd.h>

static hipFunction_t f;

static void *launches(void *arg)
{
    for (;;)
        launch(f, 100);
    return arg;
}

static void *ends(void *arg)
{
    usleep(30000);
    exit(5);
    return arg;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    pthread_t thread;
    f = kernel("until_the_end");
    for (int t = 0; t < 4; t++)
        pthread_create(&thread, NULL, launches, NULL);
    usleep(30000);
    printf("ending by %s, failed %d\n", how, failed);
    fflush(stdout);
    if (!strcmp(how, "return"))
        return 4;
    if (strcmp(how, "thread"))
        exit(3);
    pthread_create(&thread, NULL, ends, NULL);
    pthread_exit(NULL);
}
