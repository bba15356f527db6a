// libMIOpen stand-in: handles, tensor and convolution descriptors.
#include "miopen_descriptors.h"

miopenStatus_t miopen_fails(const char *api)
{
    fprintf(stderr, "MIOpen Error: %s\n", api);
    return miopenStatusBadParm;
}

void miopen_logs(const char *api)
{
    const char *on = getenv("MIOPEN_ENABLE_LOGGING");
    if (on && !strcmp(on, "1"))
        fprintf(stderr, "MIOpen(HIP): %s\n", api);
}

hipFunction_t miopen_kernel(const char *name, const char *args)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct { const char *name; hipFunction_t f; } known[8];
    hipFunction_t f = NULL;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (known[i].name && strcmp(known[i].name, name))
        i++;
    if (!known[i].name) {
        struct co_kernel kernel = {name, args};
        unsigned char *code = co_module(&kernel, 1);
        hipModule_t module;
        if (!hipModuleLoadData(&module, code) && !hipModuleGetFunction(&known[i].f, module, name))
            known[i].name = name;
        free(code);
    }
    f = known[i].f;
    pthread_mutex_unlock(&lock);
    return f;
}

PUBLIC miopenStatus_t miopenCreateWithStream(miopenHandle_t *handle, miopenAcceleratorQueue_t stream)
{
    rocblas_handle blas;
    if (!handle)
        return miopenStatusBadParm;
    if (rocblas_create_handle(&blas))
        return miopenStatusUnknownError;
    rocblas_set_stream(blas, stream);
    *handle = malloc(sizeof **handle);
    **handle = (struct miopenHandle){stream, blas};
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenCreate(miopenHandle_t *handle) { return miopenCreateWithStream(handle, NULL); }

PUBLIC miopenStatus_t miopenDestroy(miopenHandle_t handle)
{
    if (!handle)
        return miopenStatusBadParm;
    rocblas_destroy_handle(handle->blas);
    free(handle);
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t streamID)
{
    if (!handle)
        return miopenStatusBadParm;
    rocblas_set_stream(handle->blas, handle->stream = streamID);
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t *streamID)
{
    return handle ? (*streamID = handle->stream, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenGetVersion(size_t *major, size_t *minor, size_t *patch) { return *major = 3, *minor = 3, *patch = 0, miopenStatusSuccess; }

PUBLIC const char *miopenGetErrorString(miopenStatus_t error)
{
    static const char *const NAMES[] = {"miopenStatusSuccess", "miopenStatusNotInitialized", "miopenStatusInvalidValue", "miopenStatusBadParm", "miopenStatusAllocFailed", "miopenStatusInternalError", "miopenStatusNotImplemented", "miopenStatusUnknownError"};
    return error <= miopenStatusUnknownError ? NAMES[error] : "Unknown error status";
}

PUBLIC miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t *tensorDesc) { return *tensorDesc = calloc(1, sizeof **tensorDesc), miopenStatusSuccess; }
PUBLIC miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc) { return free(tensorDesc), miopenStatusSuccess; }

PUBLIC miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t dataType, int nbDims, const int *dimsA, const int *stridesA)
{
    if (!t || nbDims < 1 || nbDims > MAX_DIMS || !dimsA)
        return miopenStatusBadParm;
    t->type = dataType;
    t->dims = nbDims;
    for (int i = nbDims - 1, packed = 1; i >= 0; packed *= dimsA[i--]) {
        t->lens[i] = dimsA[i];
        t->strides[i] = stridesA ? stridesA[i] : packed;
    }
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t dataType, int n, int c, int h, int w)
{
    return miopenSetTensorDescriptor(t, dataType, 4, (int[]){n, c, h, w}, NULL);
}

PUBLIC miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t t, int *size)
{
    CALLED();
    return t ? (*size = t->dims, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t *dataType, int *dimsA, int *stridesA)
{
    CALLED();
    if (!t)
        return FAILS();
    if (dataType)
        *dataType = t->type;
    if (dimsA)
        memcpy(dimsA, t->lens, t->dims * sizeof *dimsA);
    if (stridesA)
        memcpy(stridesA, t->strides, t->dims * sizeof *stridesA);
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t t, miopenDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride, int *cStride, int *hStride, int *wStride)
{
    if (!t || t->dims != 4)
        return miopenStatusBadParm;
    *dataType = t->type;
    *n = t->lens[0], *c = t->lens[1], *h = t->lens[2], *w = t->lens[3];
    *nStride = t->strides[0], *cStride = t->strides[1], *hStride = t->strides[2], *wStride = t->strides[3];
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *convDesc) { return *convDesc = calloc(1, sizeof **convDesc), miopenStatusSuccess; }
PUBLIC miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc) { return free(convDesc), miopenStatusSuccess; }

PUBLIC miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t c, int spatialDim, const int *padA, const int *strideA, const int *dilationA, miopenConvolutionMode_t c_mode)
{
    if (!c || spatialDim < 1 || spatialDim > 3)
        return miopenStatusBadParm;
    *c = (struct miopenConvolutionDescriptor){.mode = c_mode, .spatial = spatialDim, .groups = 1};
    for (int i = 0; i < spatialDim; i++)
        c->pad[i] = padA[i], c->stride[i] = strideA[i], c->dilation[i] = dilationA[i];
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t c, miopenConvolutionMode_t c_mode, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w)
{
    return miopenInitConvolutionNdDescriptor(c, 2, (int[]){pad_h, pad_w}, (int[]){stride_h, stride_w}, (int[]){dilation_h, dilation_w}, c_mode);
}

PUBLIC miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t c, int requestedSpatialDim, int *spatialDim, int *padA, int *strideA, int *dilationA, miopenConvolutionMode_t *c_mode)
{
    CALLED();
    if (!c || c->spatial < requestedSpatialDim)
        return FAILS();
    if (spatialDim)
        *spatialDim = c->spatial;
    if (c_mode)
        *c_mode = c->mode;
    for (int i = 0; i < requestedSpatialDim; i++)
        padA[i] = c->pad[i], strideA[i] = c->stride[i], dilationA[i] = c->dilation[i];
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t c, miopenConvolutionMode_t *c_mode, int *pad_h, int *pad_w, int *stride_h, int *stride_w, int *dilation_h, int *dilation_w)
{
    if (!c || c->spatial != 2)
        return miopenStatusBadParm;
    *c_mode = c->mode;
    *pad_h = c->pad[0], *pad_w = c->pad[1], *stride_h = c->stride[0], *stride_w = c->stride[1], *dilation_h = c->dilation[0], *dilation_w = c->dilation[1];
    return miopenStatusSuccess;
}

PUBLIC miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t c, int *spatialDim) { return c ? (*spatialDim = c->spatial, miopenStatusSuccess) : miopenStatusBadParm; }
PUBLIC miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t c, int *groupCount)
{
    CALLED();
    return c ? (*groupCount = c->groups, miopenStatusSuccess) : FAILS();
}

PUBLIC miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t c, int groupCount) { return c && groupCount > 0 ? (c->groups = groupCount, miopenStatusSuccess) : miopenStatusBadParm; }

