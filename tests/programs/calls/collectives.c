// Every collective of RCCL, alone and in a group, and one that fails.
// link: amdhip64 rccl
#include "rccl.h"
#include <stdio.h>

static ncclComm_t comm;
static hipStream_t stream;
static char send[64], receive[64];

static void show(ncclResult_t status) { printf("%s: %d\n", standin_rccl_last(), status); }

int main(void)
{
    size_t one = 1, two = 2, three = 3, four = 4;
    printf("stream %d\n", hipStreamCreate(&stream));
    printf("comm %d\n", ncclCommInitAll(&comm, 1, NULL));
    show(ncclAllReduce(send, receive, 1 << 20, ncclBfloat16, ncclSum, comm, stream));
    show(ncclReduce(send, receive, 11, ncclFloat32, ncclMax, 3, comm, stream));
    show(ncclReduceScatter(send, receive, 12, ncclFloat16, ncclAvg, comm, NULL));
    show(ncclBroadcast(send, receive, 13, ncclInt8, 1, comm, stream));
    show(ncclBcast(send, 14, ncclUint8, 2, comm, stream));
    show(ncclAllGather(send, receive, 15, ncclInt32, comm, stream));
    show(ncclGather(send, receive, 16, ncclFp8E4M3, 4, comm, stream));
    show(ncclScatter(send, receive, 17, ncclFloat32, 5, comm, stream));
    show(ncclAllToAll(send, receive, 18, ncclFloat32, comm, stream));
    show(ncclAllToAllv(send, &one, &two, receive, &three, &four, ncclFloat32, comm, stream));
    show(ncclAllReduce(send, receive, 0, ncclFloat32, (ncclRedOp_t)7, NULL, stream));
    printf("group %d\n", ncclGroupStart());
    show(ncclSend(send, 20, ncclFloat32, 6, comm, stream));
    show(ncclRecv(receive, 21, ncclFloat32, 7, comm, stream));
    printf("group end %d\n", ncclGroupEnd());
    printf("group end %d\n", ncclGroupEnd());
    ncclUniqueId id = {{0}};
    ncclComm_t first = NULL, second = NULL, third = NULL;
    id.internal[0] = 1, id.internal[127] = 2;
    show(ncclCommInitRank(&first, 8, id, 3));
    show(ncclCommInitRankConfig(&second, 8, id, 4, NULL));
    id.internal[127] = 3;
    show(ncclCommInitRank(&third, 2, id, 2));
    show(ncclAllReduce(send, receive, 22, ncclFloat32, ncclSum, first, stream));
    printf("destroy %d %d\n", ncclCommDestroy(first), ncclCommDestroy(second));
    printf("destroy %d\n", ncclCommDestroy(comm));
    return 0;
}
