// hipBLASLt beyond the plain matmul: attributes that are read back, and C++ entry points of
// `hipblaslt_ext` by their mangled names, which is what rocBLAS calls.
#ifndef HIPBLASLT_EXT_H
#define HIPBLASLT_EXT_H

#include "hipblaslt.h"

enum { HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = 5, HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER = 8, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 10, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 11, HIPBLASLT_MATMUL_DESC_POINTER_MODE = 13 };
enum { HIPBLASLT_MATRIX_LAYOUT_TYPE = 2, HIPBLASLT_MATRIX_LAYOUT_ORDER = 3, HIPBLASLT_MATRIX_LAYOUT_ROWS = 4, HIPBLASLT_MATRIX_LAYOUT_COLS = 5, HIPBLASLT_MATRIX_LAYOUT_LD = 6 };

typedef struct hipblasLtMatrixTransformDesc *hipblasLtMatrixTransformDesc_t;

hipblasStatus_t hipblasLtMatrixTransform(hipblasLtHandle_t lightHandle, hipblasLtMatrixTransformDesc_t transformDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t Adesc, const void *beta, const void *B, hipblasLtMatrixLayout_t Bdesc, void *C, hipblasLtMatrixLayout_t Cdesc, hipStream_t stream);
hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t handle, int *version);
hipblasStatus_t hipblasLtMatrixLayoutGetAttribute(hipblasLtMatrixLayout_t matLayout, hipblasLtMatrixLayoutAttribute_t attr, void *buf, size_t sizeInBytes, size_t *sizeWritten);
hipblasStatus_t hipblasLtMatmulDescGetAttribute(hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatmulDescAttributes_t attr, void *buf, size_t sizeInBytes, size_t *sizeWritten);

// `struct hipblaslt_gemm` is hipblaslt_ext::Gemm: room for it, whatever is in it.
struct hipblaslt_gemm { void *room[16]; };
void hipblaslt_ext_Gemm(struct hipblaslt_gemm *self, hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, const void *alpha, const void *A, hipblasLtMatrixLayout_t matA, const void *B, hipblasLtMatrixLayout_t matB, const void *beta, const void *C, hipblasLtMatrixLayout_t matC, void *D, hipblasLtMatrixLayout_t matD)
    __asm__("_ZN13hipblaslt_ext4GemmC1EPvP27hipblasLtMatmulDescOpaque_tPKvS5_P29hipblasLtMatrixLayoutOpaque_tS5_S7_S5_S5_S7_S1_S7_");
hipblasStatus_t hipblaslt_ext_setProblem(struct hipblaslt_gemm *self, int64_t m, int64_t n, int64_t k, int64_t batch_count, int64_t lda, int64_t ldb, int64_t ldc, int64_t ldd, int64_t strideA, int64_t strideB, int64_t strideC, int64_t strideD, void *epilogue, void *inputs, void *problemtype)
    __asm__("_ZN13hipblaslt_ext4Gemm10setProblemEllllllllllllRNS_12GemmEpilogueERNS_10GemmInputsERNS_15GemmProblemTypeE");
hipblasStatus_t hipblaslt_ext_setProblem_described(struct hipblaslt_gemm *self, hipblasLtMatmulDesc_t matmul_descr, const void *alpha, const void *A, hipblasLtMatrixLayout_t matA, const void *B, hipblasLtMatrixLayout_t matB, const void *beta, const void *C, hipblasLtMatrixLayout_t matC, void *D, hipblasLtMatrixLayout_t matD)
    __asm__("_ZN13hipblaslt_ext4Gemm10setProblemEP27hipblasLtMatmulDescOpaque_tPKvS4_P29hipblasLtMatrixLayoutOpaque_tS4_S6_S4_S4_S6_PvS6_");
hipblasStatus_t hipblaslt_ext_copyMatmul(hipblasLtMatmulDesc_t src, hipblasLtMatmulDesc_t dst)
    __asm__("_ZN13hipblaslt_ext10copyMatmulEP27hipblasLtMatmulDescOpaque_tS1_");
hipblasStatus_t hipblaslt_ext_initialize(struct hipblaslt_gemm *self, const hipblasLtMatmulAlgo_t *algo, void *workspace, _Bool useUserArgs, hipStream_t stream)
    __asm__("_ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tPvbP12ihipStream_t");
hipblasStatus_t hipblaslt_ext_run(struct hipblaslt_gemm *self, hipStream_t stream, hipEvent_t start, hipEvent_t stop)
    __asm__("_ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_tP11ihipEvent_tS4_"); // ROCm 6.2 on
hipblasStatus_t hipblaslt_ext_run_60(struct hipblaslt_gemm *self, hipStream_t stream)
    __asm__("_ZN13hipblaslt_ext12GemmInstance3runEP12ihipStream_t"); // ROCm 5.7 to 6.1
hipblasStatus_t hipblaslt_ext_run_grouped(struct hipblaslt_gemm *self, void *deviceUserArgs, hipStream_t stream)
    __asm__("_ZN13hipblaslt_ext11GroupedGemm3runEPvP12ihipStream_t");
int hipblaslt_ext_getIndexFromAlgo(hipblasLtMatmulAlgo_t *algo)
    __asm__("_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t");

#endif
