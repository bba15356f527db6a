// One profiler's wrapper per table entry and instance: it counts the call, then forwards it
// unchanged. Wrapper i is at register_wrappers + 32 * i.

        .text
        .globl register_wrappers
        .hidden register_wrappers
        .balign 32
register_wrappers:
        .set i, 0
        .rept REGISTER_WRAPPERS
        .balign 32
        endbr64
        lock incq register_calls + 8 * i(%rip)
        jmp *register_wrapped + 8 * i(%rip)
        .set i, i + 1
        .endr
        .balign 32

        .section .note.GNU-stack, "", @progbits
