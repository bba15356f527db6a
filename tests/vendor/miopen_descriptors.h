// What the handle and the descriptors of the libMIOpen stand-in hold.
#pragma once
#define _GNU_SOURCE
#include "miopen.h"
#include "rocblas.h"
#include "standin.h"
#include "code_object.h"
#include <pthread.h>

enum { MAX_DIMS = 5 };
enum direction { Forward, BackwardData, BackwardWeights };

struct miopenHandle {
    hipStream_t stream;
    rocblas_handle blas;
};
struct miopenTensorDescriptor {
    miopenDataType_t type;
    int dims, lens[MAX_DIMS], strides[MAX_DIMS];
};
struct miopenConvolutionDescriptor {
    miopenConvolutionMode_t mode;
    int spatial, groups, pad[3], stride[3], dilation[3];
};
