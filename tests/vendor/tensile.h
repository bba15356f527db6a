// Names of Tensile's kernels and library files, in Tensile's grammar, for a GEMM of given types and
// layout.
#ifndef TENSILE_H
#define TENSILE_H

#include "code_object.h"

enum { TENSILE_TYPES = 8, TENSILE_LAYOUTS = 4, TENSILE_SOLUTIONS = 2 };

static const struct tensile_type {
    int ab, cd, compute; // rocblas_datatype
    const char *kernel, *file;
    int assembly;        // whether the library has assembly kernels for it, where the target has any
} TENSILE[TENSILE_TYPES] = {
    {151, 151, 151, "SB", "Type_SS", 0},        // f32
    {152, 152, 152, "DB", "Type_DD", 0},        // f64
    {150, 150, 151, "HHS_BH", "Type_HH_HPA", 1}, // f16, computed in f32
    {150, 151, 151, "HSS_BH", "Type_HS_HPA", 1}, // f16 in, f32 out
    {150, 150, 150, "HB", "Type_HH", 1},        // f16 throughout
    {154, 154, 154, "CB", "Type_CC", 0},        // complex f32
    {155, 155, 155, "ZB", "Type_ZZ", 0},        // complex f64
    {168, 168, 151, "BBS_BH", "Type_BB_HPA", 1}, // bf16, computed in f32
};
static const char *const TENSILE_LAYOUT[TENSILE_LAYOUTS] = {"Ailk_Bljk", "Alik_Bljk", "Ailk_Bjlk", "Alik_Bjlk"}; // NN TN NT TT

// Arguments of the main kernels: sizeC sizeA sizeB D C A B alpha beta, eight strides, sizes I J K
// L.
#define TENSILE_ARGS "lllppppiiiiiiiiiiiiii"
#define TENSILE_BETA_ARGS "ppiiiiiiii"

// gfx1201 has no assembly kernels here, as in ROCm 7.2: all come from the fallback library. gfx942
// has them for every type.
static inline int tensile_fallback(const struct tensile_type *t, const char *gfx)
{
    if (!strncmp(gfx, "gfx942", 6))
        return 0;
    return !t->assembly || !strncmp(gfx, "gfx12", 5);
}

// The tile of a solution, in rows and columns of the result.
static inline void tensile_tile(int solution, int *rows, int *columns) { *rows = solution ? 128 : 64, *columns = 64; }

static inline void tensile_kernel(char *out, size_t room, const struct tensile_type *t, int layout, int batched, int solution, const char *gfx)
{
    int rows, columns, bare = strcspn(gfx, ":");
    tensile_tile(solution, &rows, &columns);
    if (tensile_fallback(t, gfx))
        snprintf(out, room, "Cijk_%s_%s%s_MT%dx%dx16_SE_APM1_AF0EM1_AF1EM1_AMAS0_ASEM1_BL1_DTL0_EPS0_FL0_GRVW1_GSU1_ISA000_IU1_K1_KLS_LPA0_LPB0_LRVW1_PGR1_PLR0_SU32_SUS256_TT4_4_VW1_WG16_16_1_WGM8",
                 TENSILE_LAYOUT[layout], t->kernel, batched ? "_GB" : "", rows, columns);
    else
        snprintf(out, room, "Cijk_%s_%s%s_MT%dx%dx32_SE_1LDSB0_APM1_AF0EM2_AF1EM1_AMAS3_ASEM2_BL1_DTL0_EPS1_FL1_GRVW4_GSU1_ISA%.*s_IU1_K1_KLA_LPA0_LPB8_LRVW8_PGR1_PLR1_SU32_SUS256_TT4_4_VW4_WG16_16_1_WGM8",
                 TENSILE_LAYOUT[layout], t->kernel, batched ? "_GB" : "", rows, columns, bare - 3, gfx + 3);
}

static inline void tensile_file(char *out, size_t room, const struct tensile_type *t, int layout, const char *gfx)
{
    int bare = strcspn(gfx, ":"), fallback = tensile_fallback(t, gfx);
    snprintf(out, room, "TensileLibrary_%s_Contraction_l_%s_Cijk_Dijk_%s%.*s.%s", t->file, TENSILE_LAYOUT[layout], fallback ? "fallback_" : "", bare, gfx,
             fallback ? "hsaco" : "co");
}

static inline void tensile_beta_file(char *out, size_t room, const char *gfx) { snprintf(out, room, "Kernels.so-000-%.*s.hsaco", (int)strcspn(gfx, ":"), gfx); }

// A malloc'ed code object: the main kernels of one type and layout.
static inline unsigned char *tensile_code(const struct tensile_type *t, int layout, const char *gfx, size_t *len)
{
    char names[2 * TENSILE_SOLUTIONS][320];
    struct co_kernel kernels[2 * TENSILE_SOLUTIONS];
    for (int i = 0; i < 2 * TENSILE_SOLUTIONS; i++) {
        tensile_kernel(names[i], sizeof names[i], t, layout, i & 1, i >> 1, gfx);
        kernels[i] = (struct co_kernel){names[i], TENSILE_ARGS ":96:12544"};
    }
    *len = co_elf(NULL, gfx, kernels, 2 * TENSILE_SOLUTIONS);
    unsigned char *code = malloc(*len);
    co_elf(code, gfx, kernels, 2 * TENSILE_SOLUTIONS);
    return code;
}

// A malloc'ed code object: the helper kernels that scale C by beta before a split GEMM.
static inline unsigned char *tensile_beta_code(const char *gfx, size_t *len)
{
    static const struct co_kernel KERNELS[] = {{"Cijk_S", TENSILE_BETA_ARGS}, {"Cijk_D", TENSILE_BETA_ARGS}, {"Cijk_H", TENSILE_BETA_ARGS},
                                                {"Cijk_B", TENSILE_BETA_ARGS}, {"Cijk_C", TENSILE_BETA_ARGS}, {"Cijk_Z", TENSILE_BETA_ARGS}};
    *len = co_elf(NULL, gfx, KERNELS, 6);
    unsigned char *code = malloc(*len);
    co_elf(code, gfx, KERNELS, 6);
    return code;
}

#endif
