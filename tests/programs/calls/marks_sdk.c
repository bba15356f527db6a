// A plug-in that names, pauses and marks through librocprofiler-sdk-roctx.
// shared
// link: roctx-sdk
#include "roctx.h"
#include <stdio.h>

void run(void)
{
    static char agent, stream;
    printf("push %d\n", roctxRangePushA("in a plug-in"));
    printf("pause %d\n", roctxProfilerPause(0));
    printf("pause thread 13 %d\n", roctxProfilerPause(13));
    printf("resume %d\n", roctxProfilerResume(12));
    printf("name thread %d\n", roctxNameOsThread("worker"));
    printf("name agent %d\n", roctxNameHsaAgent("gpu", (void *)&agent));
    printf("name device %d\n", roctxNameHipDevice("first", 0));
    printf("name stream %d\n", roctxNameHipStream("copy", (void *)&stream));
    printf("pop %d\n", roctxRangePop());
}
