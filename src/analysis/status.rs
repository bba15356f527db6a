//! Names of each library's statuses, in the vendor's words, and which of them are failures.

use super::status_words::TABLES;
use rocshim_trace::Call;

/// Returns the name of a status that a function of `library` (`librocblas.so`) returned; `None` for
/// one without a name.
pub(crate) fn status_name(library: &str, status: i32) -> Option<&'static str> {
    let table: &[(i32, &str)] = match library {
        "libamdhip64.so" => HIP,
        "librocblas.so" | "librocsolver.so" => ROCBLAS,
        "libhipblas.so" | "libhipblaslt.so" => HIPBLAS,
        "libMIOpen.so" => MIOPEN,
        _ => TABLES.iter().find(|(name, _)| *name == library)?.1,
    };
    table.iter().find(|(number, _)| *number == status).map(|(_, name)| *name)
}

/// True when a call of `library` failed. Work that has begun and continues (`ncclInProgress`, of
/// communicators that do not block) is no failure.
pub(crate) fn is_failure(library: &str, call: &Call) -> bool {
    let goes_on = library == "librccl.so" && call.status == 7;
    call.unwound || (call.status != 0 && !goes_on && !is_query(library, call))
}

/// True when a call of `library` only answered how much workspace it would need, as between
/// `rocblas_start_device_memory_size_query` and `rocblas_stop_device_memory_size_query`: it did
/// nothing.
pub(crate) fn is_query(library: &str, call: &Call) -> bool {
    let of_rocblas = matches!(library, "librocblas.so" | "librocsolver.so");
    of_rocblas && !call.unwound && matches!(call.status, 9 | 10)
}

/// `hipError_t`, by number.
#[rustfmt::skip]
const HIP: &[(i32, &str)] = &[
    (1, "hipErrorInvalidValue"),
    (2, "hipErrorOutOfMemory"),
    (3, "hipErrorNotInitialized"),
    (4, "hipErrorDeinitialized"),
    (5, "hipErrorProfilerDisabled"),
    (6, "hipErrorProfilerNotInitialized"),
    (7, "hipErrorProfilerAlreadyStarted"),
    (8, "hipErrorProfilerAlreadyStopped"),
    (9, "hipErrorInvalidConfiguration"),
    (12, "hipErrorInvalidPitchValue"),
    (13, "hipErrorInvalidSymbol"),
    (17, "hipErrorInvalidDevicePointer"),
    (21, "hipErrorInvalidMemcpyDirection"),
    (35, "hipErrorInsufficientDriver"),
    (52, "hipErrorMissingConfiguration"),
    (53, "hipErrorPriorLaunchFailure"),
    (98, "hipErrorInvalidDeviceFunction"),
    (100, "hipErrorNoDevice"),
    (101, "hipErrorInvalidDevice"),
    (200, "hipErrorInvalidImage"),
    (201, "hipErrorInvalidContext"),
    (202, "hipErrorContextAlreadyCurrent"),
    (205, "hipErrorMapFailed"),
    (206, "hipErrorUnmapFailed"),
    (207, "hipErrorArrayIsMapped"),
    (208, "hipErrorAlreadyMapped"),
    (209, "hipErrorNoBinaryForGpu"),
    (210, "hipErrorAlreadyAcquired"),
    (211, "hipErrorNotMapped"),
    (212, "hipErrorNotMappedAsArray"),
    (213, "hipErrorNotMappedAsPointer"),
    (214, "hipErrorECCNotCorrectable"),
    (215, "hipErrorUnsupportedLimit"),
    (216, "hipErrorContextAlreadyInUse"),
    (217, "hipErrorPeerAccessUnsupported"),
    (218, "hipErrorInvalidKernelFile"),
    (219, "hipErrorInvalidGraphicsContext"),
    (300, "hipErrorInvalidSource"),
    (301, "hipErrorFileNotFound"),
    (302, "hipErrorSharedObjectSymbolNotFound"),
    (303, "hipErrorSharedObjectInitFailed"),
    (304, "hipErrorOperatingSystem"),
    (400, "hipErrorInvalidHandle"),
    (401, "hipErrorIllegalState"),
    (500, "hipErrorNotFound"),
    (600, "hipErrorNotReady"),
    (700, "hipErrorIllegalAddress"),
    (701, "hipErrorLaunchOutOfResources"),
    (702, "hipErrorLaunchTimeOut"),
    (704, "hipErrorPeerAccessAlreadyEnabled"),
    (705, "hipErrorPeerAccessNotEnabled"),
    (708, "hipErrorSetOnActiveProcess"),
    (709, "hipErrorContextIsDestroyed"),
    (710, "hipErrorAssert"),
    (712, "hipErrorHostMemoryAlreadyRegistered"),
    (713, "hipErrorHostMemoryNotRegistered"),
    (719, "hipErrorLaunchFailure"),
    (720, "hipErrorCooperativeLaunchTooLarge"),
    (801, "hipErrorNotSupported"),
    (900, "hipErrorStreamCaptureUnsupported"),
    (901, "hipErrorStreamCaptureInvalidated"),
    (902, "hipErrorStreamCaptureMerge"),
    (903, "hipErrorStreamCaptureUnmatched"),
    (904, "hipErrorStreamCaptureUnjoined"),
    (905, "hipErrorStreamCaptureIsolation"),
    (906, "hipErrorStreamCaptureImplicit"),
    (907, "hipErrorCapturedEvent"),
    (908, "hipErrorStreamCaptureWrongThread"),
    (910, "hipErrorGraphExecUpdateFailure"),
    (911, "hipErrorInvalidChannelDescriptor"),
    (912, "hipErrorInvalidTexture"),
    (999, "hipErrorUnknown"),
    (1052, "hipErrorRuntimeMemory"),
    (1053, "hipErrorRuntimeOther"),
];

/// `rocblas_status`, by number. 9 and 10 are answers to a size query (see `is_query`).
#[rustfmt::skip]
const ROCBLAS: &[(i32, &str)] = &[
    (1, "rocblas_status_invalid_handle"),
    (2, "rocblas_status_not_implemented"),
    (3, "rocblas_status_invalid_pointer"),
    (4, "rocblas_status_invalid_size"),
    (5, "rocblas_status_memory_error"),
    (6, "rocblas_status_internal_error"),
    (7, "rocblas_status_perf_degraded"),
    (8, "rocblas_status_size_query_mismatch"),
    (9, "rocblas_status_size_increased"),
    (10, "rocblas_status_size_unchanged"),
    (11, "rocblas_status_invalid_value"),
    (12, "rocblas_status_continue"),
    (13, "rocblas_status_check_numerics_fail"),
    (14, "rocblas_status_excluded_from_build"),
    (15, "rocblas_status_arch_mismatch"),
];

/// `hipblasStatus_t` (hipBLAS and hipBLASLt), by number.
#[rustfmt::skip]
const HIPBLAS: &[(i32, &str)] = &[
    (1, "HIPBLAS_STATUS_NOT_INITIALIZED"),
    (2, "HIPBLAS_STATUS_ALLOC_FAILED"),
    (3, "HIPBLAS_STATUS_INVALID_VALUE"),
    (4, "HIPBLAS_STATUS_MAPPING_ERROR"),
    (5, "HIPBLAS_STATUS_EXECUTION_FAILED"),
    (6, "HIPBLAS_STATUS_INTERNAL_ERROR"),
    (7, "HIPBLAS_STATUS_NOT_SUPPORTED"),
    (8, "HIPBLAS_STATUS_ARCH_MISMATCH"),
    (9, "HIPBLAS_STATUS_HANDLE_IS_NULLPTR"),
    (10, "HIPBLAS_STATUS_INVALID_ENUM"),
    (11, "HIPBLAS_STATUS_UNKNOWN"),
];

/// `miopenStatus_t`, by number.
#[rustfmt::skip]
const MIOPEN: &[(i32, &str)] = &[
    (1, "miopenStatusNotInitialized"),
    (2, "miopenStatusInvalidValue"),
    (3, "miopenStatusBadParm"),
    (4, "miopenStatusAllocFailed"),
    (5, "miopenStatusInternalError"),
    (6, "miopenStatusNotImplemented"),
    (7, "miopenStatusUnknownError"),
    (8, "miopenStatusUnsupportedOp"),
    (9, "miopenStatusGpuOperationsSkipped"),
    (10, "miopenStatusVersionMismatch"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order_without_doubles_or_success() {
        for table in [HIP, ROCBLAS, HIPBLAS, MIOPEN].iter().chain(TABLES.iter().map(|(_, table)| table)) {
            assert!(table[0].0 > 0);
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }

    #[test]
    fn a_status_is_named_by_the_library_that_returned_it() {
        assert_eq!(status_name("libamdhip64.so", 209), Some("hipErrorNoBinaryForGpu"));
        assert_eq!(status_name("librocblas.so", 9), Some("rocblas_status_size_increased"));
        assert_eq!(status_name("libhipblaslt.so", 7), Some("HIPBLAS_STATUS_NOT_SUPPORTED"));
        assert_eq!(status_name("libMIOpen.so", 7), Some("miopenStatusUnknownError"));
        assert_eq!(status_name("libamdhip64.so", 12345), None);
        assert_eq!(status_name("librccl.so", 5), Some("ncclInvalidUsage"));
        assert_eq!(status_name("libother.so", 1), None);
    }

    #[test]
    fn what_goes_on_has_not_failed() {
        let call = |status| Call { status, ..Call::default() };
        assert!(!is_failure("librccl.so", &call(7)) && is_failure("librccl.so", &call(6)));
        assert!(is_failure("libMIOpen.so", &call(7)) && !is_failure("libMIOpen.so", &call(0)));
        assert!(is_failure("librccl.so", &Call { unwound: true, ..Call::default() }));
    }

    #[test]
    fn a_query_of_workspace_is_no_failure() {
        let call = |status| Call { status, ..Call::default() };
        let found = |library| [8, 9, 10, 11].map(|status| is_failure(library, &call(status)));
        assert_eq!(found("librocblas.so"), [true, false, false, true]);
        assert_eq!(found("librocsolver.so"), [true, false, false, true]);
        assert_eq!(found("libhipblas.so"), [true; 4], "HIPBLAS_STATUS_HANDLE_IS_NULLPTR and others");
    }
}
