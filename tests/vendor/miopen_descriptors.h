// The contents of the handle and the descriptors of the libMIOpen stand-in.
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

// A convolution, its tensors as x, w, y whatever the order in which they were passed.
struct problem {
    enum direction direction;
    miopenHandle_t handle;
    miopenTensorDescriptor_t x, w, y;
    miopenConvolutionDescriptor_t conv;
};

// One of the two solvers that a convolution has.
struct candidate {
    uint64_t id;
    int algorithm;
    float time;
    size_t workspace;
};

bool problem_is_valid(const struct problem *p);
void problem_candidates(const struct problem *p, struct candidate both[2]); // the faster one first
miopenStatus_t problem_run(const struct problem *p, uint64_t id, const void *a, const void *b, void *o, const void *work, size_t size);
void problem_log(const char *api, const struct problem *p, int algo, uint64_t solution_id, size_t workspace, miopenStatus_t status);

// The kernel with this name and these arguments, from a code object of its own.
hipFunction_t miopen_kernel(const char *name, const char *args);

// As in the real library: a failed call prints a message, and with MIOPEN_ENABLE_LOGGING=1 every
// call does.
miopenStatus_t miopen_fails(const char *api);
void miopen_logs(const char *api);
#define CALLED() miopen_logs(__func__)
#define FAILS() miopen_fails(__func__)
