// Layers of MIOpen: arguments in every kind of register and on the stack, a failure, an exception
// that unwinds through.
// link: amdhip64 rocblas MIOpen
extern "C" {
#include "miopen.h"
}
#include <cstdio>
#include <stdexcept>

extern "C" void standin_on_launch(void (*callback)(void *), void *arg);

static void throw_it(void *) { throw std::runtime_error("from a launch"); }

static void *at(unsigned long value) { return reinterpret_cast<void *>(value); }

int main()
{
    const float one = 1, zero = 0;
    miopenHandle_t handle;
    miopenTensorDescriptor_t t;
    printf("create %d, tensor %d", miopenCreate(&handle), miopenCreateTensorDescriptor(&t));
    printf(", set %d\n", miopenSet4dTensorDescriptor(t, miopenFloat, 2, 3, 8, 8));
    printf("softmax %d", miopenSoftmaxForward(handle, &one, t, &one, &zero, t, nullptr));
    printf(", without a handle %d\n", miopenSoftmaxForward(nullptr, &one, t, &one, &zero, t, nullptr));
    printf("batch norm %d\n", miopenBatchNormalizationForwardTraining(handle, miopenBNSpatial, at(1), at(2), t, at(3), t, at(4), t, at(5), at(6), 0.125, at(7), at(8), 1e-5, at(9), at(10)));
    printf("adam %d\n", miopenFusedAdam(handle, t, at(1), t, at(2), nullptr, at(3), t, at(4), t, at(5), nullptr, at(6), 7u, 0.5f, 1.5f, 2.5f, 3.5f, 4.5f, true, false, true, t, at(8), nullptr, at(9)));
    standin_on_launch(throw_it, nullptr);
    try {
        printf("not reached %d\n", miopenSoftmaxForward(handle, &one, t, &one, &zero, t, nullptr));
    } catch (const std::exception &e) {
        printf("caught: %s\n", e.what());
    }
    standin_on_launch(nullptr, nullptr);
    printf("after: %d\n", miopenSoftmaxForward(handle, &one, t, &one, &zero, t, nullptr));
    return 0;
}
