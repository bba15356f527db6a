//! Names of statuses, in the vendors' words, of the libraries whose calls are recorded by name.

type Words = &'static [(i32, &'static str)];

/// Every table, by its library. rocSOLVER answers with `rocblas_status`.
pub(super) const TABLES: &[(&str, Words)] = &[
    ("librccl.so", RCCL),
    ("librocfft.so", ROCFFT),
    ("libhipfft.so", HIPFFT),
    ("librocsparse.so", ROCSPARSE),
    ("libhipsparse.so", HIPSPARSE),
    ("libhipsolver.so", HIPSOLVER),
    ("librocrand.so", ROCRAND),
    ("libhiprand.so", HIPRAND),
];

/// `ncclResult_t`, by number.
#[rustfmt::skip]
const RCCL: Words = &[
    (1, "ncclUnhandledCudaError"),
    (2, "ncclSystemError"),
    (3, "ncclInternalError"),
    (4, "ncclInvalidArgument"),
    (5, "ncclInvalidUsage"),
    (6, "ncclRemoteError"),
    (7, "ncclInProgress"),
];

/// `rocfft_status`, by number.
#[rustfmt::skip]
const ROCFFT: Words = &[
    (1, "rocfft_status_failure"),
    (2, "rocfft_status_invalid_arg_value"),
    (3, "rocfft_status_invalid_dimensions"),
    (4, "rocfft_status_invalid_array_type"),
    (5, "rocfft_status_invalid_strides"),
    (6, "rocfft_status_invalid_distance"),
    (7, "rocfft_status_invalid_offset"),
    (8, "rocfft_status_invalid_work_buffer"),
];

/// `hipfftResult`, by number.
#[rustfmt::skip]
const HIPFFT: Words = &[
    (1, "HIPFFT_INVALID_PLAN"),
    (2, "HIPFFT_ALLOC_FAILED"),
    (3, "HIPFFT_INVALID_TYPE"),
    (4, "HIPFFT_INVALID_VALUE"),
    (5, "HIPFFT_INTERNAL_ERROR"),
    (6, "HIPFFT_EXEC_FAILED"),
    (7, "HIPFFT_SETUP_FAILED"),
    (8, "HIPFFT_INVALID_SIZE"),
    (9, "HIPFFT_UNALIGNED_DATA"),
    (10, "HIPFFT_INCOMPLETE_PARAMETER_LIST"),
    (11, "HIPFFT_INVALID_DEVICE"),
    (12, "HIPFFT_PARSE_ERROR"),
    (13, "HIPFFT_NO_WORKSPACE"),
    (14, "HIPFFT_NOT_IMPLEMENTED"),
    (16, "HIPFFT_NOT_SUPPORTED"),
];

/// `rocsparse_status`, by number.
#[rustfmt::skip]
const ROCSPARSE: Words = &[
    (1, "rocsparse_status_invalid_handle"),
    (2, "rocsparse_status_not_implemented"),
    (3, "rocsparse_status_invalid_pointer"),
    (4, "rocsparse_status_invalid_size"),
    (5, "rocsparse_status_memory_error"),
    (6, "rocsparse_status_internal_error"),
    (7, "rocsparse_status_invalid_value"),
    (8, "rocsparse_status_arch_mismatch"),
    (9, "rocsparse_status_zero_pivot"),
    (10, "rocsparse_status_not_initialized"),
    (11, "rocsparse_status_type_mismatch"),
    (12, "rocsparse_status_requires_sorted_storage"),
    (13, "rocsparse_status_thrown_exception"),
    (14, "rocsparse_status_continue"),
];

/// `hipsparseStatus_t`, by number.
#[rustfmt::skip]
const HIPSPARSE: Words = &[
    (1, "HIPSPARSE_STATUS_NOT_INITIALIZED"),
    (2, "HIPSPARSE_STATUS_ALLOC_FAILED"),
    (3, "HIPSPARSE_STATUS_INVALID_VALUE"),
    (4, "HIPSPARSE_STATUS_ARCH_MISMATCH"),
    (5, "HIPSPARSE_STATUS_MAPPING_ERROR"),
    (6, "HIPSPARSE_STATUS_EXECUTION_FAILED"),
    (7, "HIPSPARSE_STATUS_INTERNAL_ERROR"),
    (8, "HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED"),
    (9, "HIPSPARSE_STATUS_ZERO_PIVOT"),
    (10, "HIPSPARSE_STATUS_NOT_SUPPORTED"),
    (11, "HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES"),
];

/// `hipsolverStatus_t`, by number.
#[rustfmt::skip]
const HIPSOLVER: Words = &[
    (1, "HIPSOLVER_STATUS_NOT_INITIALIZED"),
    (2, "HIPSOLVER_STATUS_ALLOC_FAILED"),
    (3, "HIPSOLVER_STATUS_INVALID_VALUE"),
    (4, "HIPSOLVER_STATUS_MAPPING_ERROR"),
    (5, "HIPSOLVER_STATUS_EXECUTION_FAILED"),
    (6, "HIPSOLVER_STATUS_INTERNAL_ERROR"),
    (7, "HIPSOLVER_STATUS_NOT_SUPPORTED"),
    (8, "HIPSOLVER_STATUS_ARCH_MISMATCH"),
    (9, "HIPSOLVER_STATUS_HANDLE_IS_NULLPTR"),
    (10, "HIPSOLVER_STATUS_INVALID_ENUM"),
    (11, "HIPSOLVER_STATUS_UNKNOWN"),
    (12, "HIPSOLVER_STATUS_ZERO_PIVOT"),
    (13, "HIPSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED"),
];

/// `rocrand_status`, by number.
#[rustfmt::skip]
const ROCRAND: Words = &[
    (100, "ROCRAND_STATUS_VERSION_MISMATCH"),
    (101, "ROCRAND_STATUS_NOT_CREATED"),
    (102, "ROCRAND_STATUS_ALLOCATION_FAILED"),
    (103, "ROCRAND_STATUS_TYPE_ERROR"),
    (104, "ROCRAND_STATUS_OUT_OF_RANGE"),
    (105, "ROCRAND_STATUS_LENGTH_NOT_MULTIPLE"),
    (106, "ROCRAND_STATUS_DOUBLE_PRECISION_REQUIRED"),
    (107, "ROCRAND_STATUS_LAUNCH_FAILURE"),
    (108, "ROCRAND_STATUS_INTERNAL_ERROR"),
];

/// `hiprandStatus_t`, by number.
#[rustfmt::skip]
const HIPRAND: Words = &[
    (100, "HIPRAND_STATUS_VERSION_MISMATCH"),
    (101, "HIPRAND_STATUS_NOT_INITIALIZED"),
    (102, "HIPRAND_STATUS_ALLOCATION_FAILED"),
    (103, "HIPRAND_STATUS_TYPE_ERROR"),
    (104, "HIPRAND_STATUS_OUT_OF_RANGE"),
    (105, "HIPRAND_STATUS_LENGTH_NOT_MULTIPLE"),
    (106, "HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED"),
    (201, "HIPRAND_STATUS_LAUNCH_FAILURE"),
    (202, "HIPRAND_STATUS_PREEXISTING_FAILURE"),
    (203, "HIPRAND_STATUS_INITIALIZATION_FAILED"),
    (204, "HIPRAND_STATUS_ARCH_MISMATCH"),
    (999, "HIPRAND_STATUS_INTERNAL_ERROR"),
    (1000, "HIPRAND_STATUS_NOT_IMPLEMENTED"),
];
