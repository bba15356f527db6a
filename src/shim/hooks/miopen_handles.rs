//! Rows of libMIOpen: problems, solutions and fusion plans, which are handles. Signatures as in
//! miopen.h (Find 2.0 since ROCm 5.4).
//!
//! Order: problems, solutions, fusion plans; each: construction, search or compilation, run.
#![allow(non_snake_case)] // the vendor's names
#![allow(unsafe_code)] // exports under the vendor's names

use crate::abi::Pointer;
use crate::abi::miopen::*;
use crate::calls::problem::{
    Destroy, Fuse, conv_problem, other_problem, plan, plan_convolution, plan_operation, problem_tensor,
};
use crate::calls::solution::{
    CompilePlan, FindSolutions, LoadSolution, SolverQuery, execute_plan, run_solution,
};
use rocshim_ring::conv::Operation::{Activation, BatchNorm, Bias, Mha, Softmax};

hooks! { "libMIOpen.so", from super::first::miopen_handles;
    fn miopenCreateConvProblem(problem: *mut miopenProblem_t, operatorDesc: miopenConvolutionDescriptor_t, direction: miopenProblemDirection_t) -> miopenStatus_t
        => conv_problem(problem, operatorDesc, direction);
    fn miopenCreateActivationProblem(problem: *mut miopenProblem_t, operatorDesc: Pointer, direction: miopenProblemDirection_t) -> miopenStatus_t
        => other_problem(problem, Activation);
    fn miopenCreateBatchnormProblem(problem: *mut miopenProblem_t, mode: u32, runningMeanVariance: bool, direction: miopenProblemDirection_t) -> miopenStatus_t
        => other_problem(problem, BatchNorm);
    fn miopenCreateBiasProblem(problem: *mut miopenProblem_t, direction: miopenProblemDirection_t) -> miopenStatus_t
        => other_problem(problem, Bias);
    fn miopenCreateMhaProblem(problem: *mut miopenProblem_t, operatorDesc: Pointer, direction: miopenProblemDirection_t) -> miopenStatus_t
        => other_problem(problem, Mha);
    fn miopenCreateSoftmaxProblem(problem: *mut miopenProblem_t, operatorDesc: Pointer, direction: miopenProblemDirection_t) -> miopenStatus_t
        => other_problem(problem, Softmax);
    fn miopenSetProblemTensorDescriptor(problem: miopenProblem_t, id: miopenTensorArgumentId_t, descriptor: miopenTensorDescriptor_t) -> miopenStatus_t
        => problem_tensor(problem, id, descriptor);
    fn miopenFuseProblems(problem1: miopenProblem_t, problem2: miopenProblem_t) -> miopenStatus_t
        => Fuse { first: problem1, second: problem2 };
    fn miopenDestroyProblem(problem: miopenProblem_t) -> miopenStatus_t
        => Destroy::before_call(problem);

    fn miopenFindSolutions(handle: miopenHandle_t, problem: miopenProblem_t, options: Pointer, solutions: *mut miopenSolution_t, numSolutions: *mut usize, maxSolutions: usize) -> miopenStatus_t
        => FindSolutions { handle, problem, solutions, count: numSolutions, room: maxSolutions };
    fn miopenLoadSolution(solution: *mut miopenSolution_t, data: Pointer, size: usize) -> miopenStatus_t
        => LoadSolution(solution);
    fn miopenGetSolutionSolverId(solution: miopenSolution_t, solverId: *mut u64) -> miopenStatus_t
        => SolverQuery { solution, id: solverId };
    fn miopenRunSolution(handle: miopenHandle_t, solution: miopenSolution_t, nInputs: usize, tensors: *const miopenTensorArgument_t, workspace: Pointer, workspaceSize: usize) -> miopenStatus_t
        => run_solution(handle, solution, tensors, nInputs, workspaceSize);
    fn miopenDestroySolution(solution: miopenSolution_t) -> miopenStatus_t
        => Destroy::before_call(solution);

    fn miopenCreateFusionPlan(fusePlanDesc: *mut miopenFusionPlanDescriptor_t, fuseDirection: u32, inputDesc: miopenTensorDescriptor_t) -> miopenStatus_t
        => plan(fusePlanDesc, inputDesc);
    fn miopenCreateOpConvForward(fusePlanDesc: miopenFusionPlanDescriptor_t, convOp: Pointer, convDesc: miopenConvolutionDescriptor_t, wDesc: miopenTensorDescriptor_t) -> miopenStatus_t
        => plan_convolution(fusePlanDesc, convDesc, wDesc);
    fn miopenCreateOpActivationForward(fusePlanDesc: miopenFusionPlanDescriptor_t, activFwdOp: Pointer, mode: u32) -> miopenStatus_t
        => plan_operation(fusePlanDesc, Activation);
    fn miopenCreateOpActivationBackward(fusePlanDesc: miopenFusionPlanDescriptor_t, activBwdOp: Pointer, mode: u32) -> miopenStatus_t
        => plan_operation(fusePlanDesc, Activation);
    fn miopenCreateOpBiasForward(fusePlanDesc: miopenFusionPlanDescriptor_t, biasOp: Pointer, bDesc: miopenTensorDescriptor_t) -> miopenStatus_t
        => plan_operation(fusePlanDesc, Bias);
    fn miopenCreateOpBatchNormInference(fusePlanDesc: miopenFusionPlanDescriptor_t, bnOp: Pointer, bn_mode: u32, bnScaleBiasMeanVarDesc: miopenTensorDescriptor_t) -> miopenStatus_t
        => plan_operation(fusePlanDesc, BatchNorm);
    fn miopenCreateOpBatchNormForward(fusePlanDesc: miopenFusionPlanDescriptor_t, bnFwdOp: Pointer, bn_mode: u32, runningMeanVariance: bool) -> miopenStatus_t
        => plan_operation(fusePlanDesc, BatchNorm);
    fn miopenCreateOpBatchNormBackward(fusePlanDesc: miopenFusionPlanDescriptor_t, bnBwdOp: Pointer, bn_mode: u32) -> miopenStatus_t
        => plan_operation(fusePlanDesc, BatchNorm);
    fn miopenCompileFusionPlan(handle: miopenHandle_t, fusePlanDesc: miopenFusionPlanDescriptor_t) -> miopenStatus_t
        => CompilePlan { handle, plan: fusePlanDesc };
    fn miopenExecuteFusionPlan(handle: miopenHandle_t, fusePlanDesc: miopenFusionPlanDescriptor_t, inputDesc: miopenTensorDescriptor_t, input: Pointer, outputDesc: miopenTensorDescriptor_t, output: Pointer, args: Pointer) -> miopenStatus_t
        => execute_plan(handle, fusePlanDesc, [inputDesc, outputDesc]);
    fn miopenDestroyFusionPlan(fusePlanDesc: miopenFusionPlanDescriptor_t) -> miopenStatus_t
        => Destroy::before_call(fusePlanDesc);
}
