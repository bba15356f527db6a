//! Rows of libMIOpen: convolutions by find mode and immediate mode. Signatures as in miopen.h
//! (MIOpen 2.17 to 3.x, all `libMIOpen.so.1`).
//!
//! Order: search, run, then immediate mode; each forward, backward data, backward weights. A
//! problem's tensors are given in the order x, w, y (input, filter, output), whatever the order of
//! the arguments.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::calls::conv::Direction::{BackwardData, BackwardWeights, Forward};
use crate::calls::conv::{Problem, compile, find, get_solution, immediate, run, run_fused};

hooks! { "libMIOpen.so", from super::first::miopen;
    fn miopenFindConvolutionForwardAlgorithm(handle: miopenHandle_t, xDesc: miopenTensorDescriptor_t, x: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, yDesc: miopenTensorDescriptor_t, y: Pointer, requestAlgoCount: i32, returnedAlgoCount: *mut i32, perfResults: *mut miopenConvAlgoPerf_t, workSpace: Pointer, workSpaceSize: usize, exhaustiveSearch: bool) -> miopenStatus_t
        => find(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), returnedAlgoCount, perfResults, requestAlgoCount, workSpaceSize, exhaustiveSearch);
    fn miopenFindConvolutionBackwardDataAlgorithm(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, dy: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, dxDesc: miopenTensorDescriptor_t, dx: Pointer, requestAlgoCount: i32, returnedAlgoCount: *mut i32, perfResults: *mut miopenConvAlgoPerf_t, workSpace: Pointer, workSpaceSize: usize, exhaustiveSearch: bool) -> miopenStatus_t
        => find(handle, Problem(BackwardData, [dxDesc, wDesc, dyDesc], convDesc), returnedAlgoCount, perfResults, requestAlgoCount, workSpaceSize, exhaustiveSearch);
    fn miopenFindConvolutionBackwardWeightsAlgorithm(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, dy: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, convDesc: miopenConvolutionDescriptor_t, dwDesc: miopenTensorDescriptor_t, dw: Pointer, requestAlgoCount: i32, returnedAlgoCount: *mut i32, perfResults: *mut miopenConvAlgoPerf_t, workSpace: Pointer, workSpaceSize: usize, exhaustiveSearch: bool) -> miopenStatus_t
        => find(handle, Problem(BackwardWeights, [xDesc, dwDesc, dyDesc], convDesc), returnedAlgoCount, perfResults, requestAlgoCount, workSpaceSize, exhaustiveSearch);

    fn miopenConvolutionForward(handle: miopenHandle_t, alpha: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, algo: miopenConvAlgorithm_t, beta: Pointer, yDesc: miopenTensorDescriptor_t, y: Pointer, workSpace: Pointer, workSpaceSize: usize) -> miopenStatus_t
        => run(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), algo, workSpaceSize);
    fn miopenConvolutionBackwardData(handle: miopenHandle_t, alpha: Pointer, dyDesc: miopenTensorDescriptor_t, dy: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, algo: miopenConvAlgorithm_t, beta: Pointer, dxDesc: miopenTensorDescriptor_t, dx: Pointer, workSpace: Pointer, workSpaceSize: usize) -> miopenStatus_t
        => run(handle, Problem(BackwardData, [dxDesc, wDesc, dyDesc], convDesc), algo, workSpaceSize);
    fn miopenConvolutionBackwardWeights(handle: miopenHandle_t, alpha: Pointer, dyDesc: miopenTensorDescriptor_t, dy: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, convDesc: miopenConvolutionDescriptor_t, algo: miopenConvAlgorithm_t, beta: Pointer, dwDesc: miopenTensorDescriptor_t, dw: Pointer, workSpace: Pointer, workSpaceSize: usize) -> miopenStatus_t
        => run(handle, Problem(BackwardWeights, [xDesc, dwDesc, dyDesc], convDesc), algo, workSpaceSize);
    fn miopenConvolutionBiasActivationForward(handle: miopenHandle_t, alpha1: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, algo: miopenConvAlgorithm_t, workspace: Pointer, workspaceSizeInBytes: usize, alpha2: Pointer, zDesc: miopenTensorDescriptor_t, z: Pointer, biasDesc: miopenTensorDescriptor_t, bias: Pointer, activationDesc: Pointer, yDesc: miopenTensorDescriptor_t, y: Pointer) -> miopenStatus_t
        => run_fused(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), algo, workspaceSizeInBytes);

    fn miopenConvolutionForwardGetSolution(handle: miopenHandle_t, wDesc: miopenTensorDescriptor_t, xDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, yDesc: miopenTensorDescriptor_t, maxSolutionCount: usize, solutionCount: *mut usize, solutions: *mut miopenConvSolution_t) -> miopenStatus_t
        => get_solution(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), solutionCount, solutions, maxSolutionCount);
    fn miopenConvolutionBackwardDataGetSolution(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, wDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, dxDesc: miopenTensorDescriptor_t, maxSolutionCount: usize, solutionCount: *mut usize, solutions: *mut miopenConvSolution_t) -> miopenStatus_t
        => get_solution(handle, Problem(BackwardData, [dxDesc, wDesc, dyDesc], convDesc), solutionCount, solutions, maxSolutionCount);
    fn miopenConvolutionBackwardWeightsGetSolution(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, xDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, dwDesc: miopenTensorDescriptor_t, maxSolutionCount: usize, solutionCount: *mut usize, solutions: *mut miopenConvSolution_t) -> miopenStatus_t
        => get_solution(handle, Problem(BackwardWeights, [xDesc, dwDesc, dyDesc], convDesc), solutionCount, solutions, maxSolutionCount);

    fn miopenConvolutionForwardCompileSolution(handle: miopenHandle_t, wDesc: miopenTensorDescriptor_t, xDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, yDesc: miopenTensorDescriptor_t, solution_id: u64) -> miopenStatus_t
        => compile(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), solution_id);
    fn miopenConvolutionBackwardDataCompileSolution(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, wDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, dxDesc: miopenTensorDescriptor_t, solution_id: u64) -> miopenStatus_t
        => compile(handle, Problem(BackwardData, [dxDesc, wDesc, dyDesc], convDesc), solution_id);
    fn miopenConvolutionBackwardWeightsCompileSolution(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, xDesc: miopenTensorDescriptor_t, convDesc: miopenConvolutionDescriptor_t, dwDesc: miopenTensorDescriptor_t, solution_id: u64) -> miopenStatus_t
        => compile(handle, Problem(BackwardWeights, [xDesc, dwDesc, dyDesc], convDesc), solution_id);

    fn miopenConvolutionForwardImmediate(handle: miopenHandle_t, wDesc: miopenTensorDescriptor_t, w: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, convDesc: miopenConvolutionDescriptor_t, yDesc: miopenTensorDescriptor_t, y: Pointer, workSpace: Pointer, workSpaceSize: usize, solution_id: u64) -> miopenStatus_t
        => immediate(handle, Problem(Forward, [xDesc, wDesc, yDesc], convDesc), solution_id, workSpaceSize);
    fn miopenConvolutionBackwardDataImmediate(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, dy: Pointer, wDesc: miopenTensorDescriptor_t, w: Pointer, convDesc: miopenConvolutionDescriptor_t, dxDesc: miopenTensorDescriptor_t, dx: Pointer, workSpace: Pointer, workSpaceSize: usize, solution_id: u64) -> miopenStatus_t
        => immediate(handle, Problem(BackwardData, [dxDesc, wDesc, dyDesc], convDesc), solution_id, workSpaceSize);
    fn miopenConvolutionBackwardWeightsImmediate(handle: miopenHandle_t, dyDesc: miopenTensorDescriptor_t, dy: Pointer, xDesc: miopenTensorDescriptor_t, x: Pointer, convDesc: miopenConvolutionDescriptor_t, dwDesc: miopenTensorDescriptor_t, dw: Pointer, workSpace: Pointer, workSpaceSize: usize, solution_id: u64) -> miopenStatus_t
        => immediate(handle, Problem(BackwardWeights, [xDesc, dwDesc, dyDesc], convDesc), solution_id, workSpaceSize);
}
