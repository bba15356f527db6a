// The exports of the registering libamdhip64: each jumps through its entry of a dispatch table,
// arguments untouched.
//
// The first to come builds and registers the table (standin_register), then starts over. An entry
// beyond the table's size is hipErrorNotSupported.

        .macro STUB name, table, first
        .globl \name
        .type \name, @function
        .balign 16
\name:  endbr64
0:      mov \table(%rip), %rax
        test %rax, %rax
        jz 1f
        cmpq $offset, (%rax)
        jbe standin_missing
        jmp *offset(%rax)
1:      lea 0b(%rip), %rax
        jmp \first
        .size \name, . - \name
        .set offset, offset + 8
        .endm

        // standin_register(compiler) with all argument registers kept, then back to the stub, whose
        // address is in rax.
        .macro FIRST name, compiler
        .type \name, @function
\name:  push %rax
        push %rdi
        push %rsi
        push %rdx
        push %rcx
        push %r8
        push %r9
        mov $\compiler, %edi
        call standin_register
        pop %r9
        pop %r8
        pop %rcx
        pop %rdx
        pop %rsi
        pop %rdi
        pop %rax
        jmp *%rax
        .size \name, . - \name
        .endm

        .text
        FIRST first_hip, 0
        FIRST first_compiler, 1

        .globl standin_missing
        .hidden standin_missing
        .type standin_missing, @function
standin_missing:
        mov $801, %eax
        ret
        .size standin_missing, . - standin_missing

        .set offset, 8
#define X(name, node) STUB name, standin_hip_table, first_hip
#include "hip.def"

        .set offset, 8
#define X(name, node)
#define C(name, node) STUB name, standin_compiler_table, first_compiler
#include "hip.def"

        .macro ALIAS name, of
        .globl \name
        .type \name, @function
        .set \name, \of
        .endm
        ALIAS _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j, hipExtModuleLaunchKernel
        ALIAS _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_, hipHccModuleLaunchKernel

        .section .note.GNU-stack, "", @progbits
