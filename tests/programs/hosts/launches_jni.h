// The native side of Launches.java. A header, because it is compiled only where there is a JDK.
#include "launching.h"
#include <jni.h>

static hipFunction_t of_java;

JNIEXPORT jint JNICALL Java_Launches_begin(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    of_java = kernel("of_java");
    return failed;
}

JNIEXPORT jint JNICALL Java_Launches_launch(JNIEnv *env, jclass class, jint times)
{
    (void)env, (void)class;
    launch(of_java, times);
    return failed;
}
