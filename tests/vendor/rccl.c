// librccl stand-in: a collective of one rank is one kernel launch; in a group, the group's end
// makes a single launch for all.
#include "code_object.h"
#include "rccl.h"
#include "standin.h"
#include <pthread.h>

struct ncclComm {
    int rank;
};

static _Thread_local int depth, waiting;
static _Thread_local hipStream_t group_stream;
static _Thread_local char last[256];

PUBLIC const char *standin_rccl_last(void) { return last; }

static ncclResult_t launch(hipStream_t stream)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static hipFunction_t f;
    pthread_mutex_lock(&lock);
    if (!f) {
        struct co_kernel kernel = {"_Z21ncclDevKernel_Generic18ncclDevKernelArgs4K", "p"};
        unsigned char *code = co_module(&kernel, 1);
        hipModule_t module;
        if (!hipModuleLoadData(&module, code))
            hipModuleGetFunction(&f, module, kernel.name);
        free(code);
    }
    pthread_mutex_unlock(&lock);
    void *work = NULL, *params[] = {&work};
    return f && !hipModuleLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, stream, params, NULL) ? ncclSuccess : ncclInvalidUsage;
}

static ncclResult_t collective(ncclComm_t comm, hipStream_t stream)
{
    if (!comm)
        return ncclInvalidArgument;
    if (!depth)
        return launch(stream);
    waiting++;
    group_stream = stream;
    return ncclSuccess;
}

#define GIVEN(format, ...) snprintf(last, sizeof last, "%s " format, __func__, __VA_ARGS__)
#define MOVED "%d elements of type %d, comm %d, stream %d"

PUBLIC ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
{
    (void)devlist;
    for (int i = 0; i < ndev; i++)
        (comm[i] = malloc(sizeof **comm))->rank = i;
    return ncclSuccess;
}

PUBLIC ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank)
{
    GIVEN("rank %d of %d, id %d to %d", rank, nranks, commId.internal[0], commId.internal[127]);
    if (rank >= nranks)
        return ncclInvalidArgument;
    return ncclCommInitAll(comm, 1, NULL);
}

PUBLIC ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t *config)
{
    GIVEN("rank %d of %d, id %d to %d, config %d", rank, nranks, commId.internal[0], commId.internal[127], !!config);
    return rank < nranks ? ncclCommInitAll(comm, 1, NULL) : ncclInvalidArgument;
}

PUBLIC ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    return ncclSuccess;
}

#define BUFFERS const void *sendbuff, void *recvbuff
#define TAIL ncclComm_t comm, hipStream_t stream
#define REDUCES(NAME) \
    PUBLIC ncclResult_t NAME(BUFFERS, size_t count, ncclDataType_t datatype, ncclRedOp_t op, TAIL) \
    { \
        GIVEN(MOVED ", op %d, buffers %ld apart", (int)count, datatype, !!comm, !!stream, op, (long)((char *)recvbuff - (const char *)sendbuff)); \
        return collective(comm, stream); \
    }
#define ROOTED(NAME) \
    PUBLIC ncclResult_t NAME(BUFFERS, size_t count, ncclDataType_t datatype, int root, TAIL) \
    { \
        GIVEN(MOVED ", root %d, buffers %ld apart", (int)count, datatype, !!comm, !!stream, root, (long)((char *)recvbuff - (const char *)sendbuff)); \
        return collective(comm, stream); \
    }
#define MOVES(NAME) \
    PUBLIC ncclResult_t NAME(BUFFERS, size_t count, ncclDataType_t datatype, TAIL) \
    { \
        GIVEN(MOVED ", buffers %ld apart", (int)count, datatype, !!comm, !!stream, (long)((char *)recvbuff - (const char *)sendbuff)); \
        return collective(comm, stream); \
    }
#define MESSAGE(NAME, BUFFER) \
    PUBLIC ncclResult_t NAME(BUFFER, size_t count, ncclDataType_t datatype, int peer, TAIL) \
    { \
        GIVEN(MOVED ", peer %d, buffer %d", (int)count, datatype, !!comm, !!stream, peer, !!buff); \
        return collective(comm, stream); \
    }
REDUCES(ncclAllReduce)
REDUCES(ncclReduceScatter)
ROOTED(ncclBroadcast)
ROOTED(ncclGather)
ROOTED(ncclScatter)
MOVES(ncclAllGather)
MOVES(ncclAllToAll)
MESSAGE(ncclBcast, void *buff)
MESSAGE(ncclSend, const void *buff)
MESSAGE(ncclRecv, void *buff)

PUBLIC ncclResult_t ncclReduce(BUFFERS, size_t count, ncclDataType_t datatype, ncclRedOp_t op, int root, TAIL)
{
    GIVEN(MOVED ", op %d, root %d, buffers %ld apart", (int)count, datatype, !!comm, !!stream, op, root, (long)((char *)recvbuff - (const char *)sendbuff));
    return collective(comm, stream);
}

PUBLIC ncclResult_t ncclAllToAllv(const void *sendbuff, const size_t sendcounts[], const size_t sdispls[], void *recvbuff, const size_t recvcounts[], const size_t rdispls[], ncclDataType_t datatype, TAIL)
{
    int numbers = (int)(sendcounts[0] + 10 * sdispls[0] + 100 * recvcounts[0] + 1000 * rdispls[0]);
    GIVEN(MOVED ", buffers %ld apart", numbers, datatype, !!comm, !!stream, (long)((char *)recvbuff - (const char *)sendbuff));
    return collective(comm, stream);
}

PUBLIC ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

PUBLIC ncclResult_t ncclGroupEnd(void)
{
    if (!depth)
        return ncclInvalidUsage;
    if (--depth || !waiting)
        return ncclSuccess;
    waiting = 0;
    return launch(group_stream);
}
