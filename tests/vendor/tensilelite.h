// Names of TensileLite's kernels and library files: hipBLASLt's, in its own grammar, for a GEMM of
// given types and layout.
#ifndef TENSILELITE_H
#define TENSILELITE_H

#include "code_object.h"

enum { LITE_TYPES = 4, LITE_LAYOUTS = 4, LITE_SOLUTIONS = 3 };

static const struct lite_type {
    int ab, cd; // hipDataType; all compute in f32
    const char *kernel, *file;
} LITE[LITE_TYPES] = {
    {0, 0, "S_B_Bias_HA_S_SAV", "Type_SS"},
    {2, 2, "HHS_BH_Bias_HA_S_SAV", "Type_HH_HPA"},
    {2, 0, "HSS_BH_Bias_S_SAV", "Type_HS_HPA"},
    {14, 14, "BBS_BH_Bias_B_SAV", "Type_BB_HPA"},
};
static const char *const LITE_LAYOUT[LITE_LAYOUTS] = {"Ailk_Bljk", "Alik_Bljk", "Ailk_Bjlk", "Alik_Bjlk"}; // NN TN NT TT

// The tile of a solution, in rows and columns of the result.
static inline void lite_tile(int solution, int *rows, int *columns) { *rows = 64 << (solution > 0), *columns = 64 << (solution > 1); }

static inline void lite_kernel(char *out, size_t room, int type, int layout, int solution, const char *gfx)
{
    int rows, columns;
    lite_tile(solution, &rows, &columns);
    snprintf(out, room, "Cijk_%s_%s_UserArgs_MT%dx%dx32_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_EPS0_GSU1_GSUAMB_ISA%.*s_IU1_K1_LBSPPA128_LRVW8_MIAV0_MIWT4_4_MO40_NTn1_NEPBS0_PGR2_PLR1_SS1_SVW4_TLDS1_ULSGRO0_USL1_VWA4_WSGRA0_WG32_4_1",
             LITE_LAYOUT[layout], LITE[type].kernel, rows, columns, (int)strcspn(gfx, ":") - 3, gfx + 3);
}

static inline void lite_file(char *out, size_t room, int type, int layout, const char *gfx)
{
    snprintf(out, room, "TensileLibrary_%s_Contraction_l_%s_Cijk_Dijk_%.*s.co", LITE[type].file, LITE_LAYOUT[layout], (int)strcspn(gfx, ":"), gfx);
}

// A malloc'ed code object: the kernels of one type and layout.
static inline unsigned char *lite_code(int type, int layout, const char *gfx, size_t *len)
{
    char names[LITE_SOLUTIONS][320];
    struct co_kernel kernels[LITE_SOLUTIONS];
    for (int i = 0; i < LITE_SOLUTIONS; i++) {
        lite_kernel(names[i], sizeof names[i], type, layout, i, gfx);
        kernels[i] = (struct co_kernel){names[i], "iiiiiiiippppiiiiiiiippppp:128:20480"};
    }
    *len = co_elf(NULL, gfx, kernels, LITE_SOLUTIONS);
    unsigned char *code = malloc(*len);
    co_elf(code, gfx, kernels, LITE_SOLUTIONS);
    return code;
}

#endif
