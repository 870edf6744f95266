/* Operations and bytes of each phase at a grid point, counted in the source: the yardstick of
 * `evener bench npbmz`.
 *
 * Operations are those that take a place in a port of fused multiply-adds: a multiply-add, an
 * addition or a multiplication is one, a division or a root counts none (it has a unit of its own).
 * The counts are those of the first comments of residual_rows.h, bt/row.h, sp/penta.h and lu/lu.c.
 * Bytes are the fields and work arrays of the zone that a phase reads and writes, each once, 8 a
 * value.
 */
#include "npbmz/npbmz.h"

npbmz_cost npbmz_phase_cost(enum npbmz_benchmark benchmark, enum npbmz_phase phase) {
    static const npbmz_cost cost[3][NPBMZ_PHASES] = {
        [NPBMZ_BT] = {[NPBMZ_RHS] = {150, 8 * 21},
                      [NPBMZ_X] = {311, 8 * 16},
                      [NPBMZ_Y] = {311, 8 * 16},
                      [NPBMZ_Z] = {316, 8 * 21}},
        [NPBMZ_SP] = {[NPBMZ_RHS] = {168, 8 * 17},
                      [NPBMZ_X] = {60, 8 * 13},
                      [NPBMZ_Y] = {60, 8 * 13},
                      [NPBMZ_Z] = {85, 8 * 17}},
        [NPBMZ_LU] = {[NPBMZ_RHS] = {142, 8 * 15},
                      [NPBMZ_LOWER] = {114, 8 * 15},
                      [NPBMZ_UPPER] = {135, 8 * 15}},
    };
    return cost[benchmark][phase];
}

/* Operations as the first comments of bt.kernel.c, sp.kernel.c and lu.kernel.c count them, of these
 * the fused multiply-adds and no divisions. What BT's lines do twice, since that is cheaper
 * than keeping it, is counted twice as operations; bytes are those of the fields, once. */
npbmz_cost npbmz_kernel_cost(enum npbmz_benchmark benchmark, enum npbmz_phase phase) {
    static const npbmz_cost cost[3][NPBMZ_PHASES] = {
        [NPBMZ_BT] = {[NPBMZ_RHS] = {270, 120},
                      [NPBMZ_X] = {600, 120},
                      [NPBMZ_Y] = {600, 120},
                      [NPBMZ_Z] = {600, 120}},
        [NPBMZ_SP] = {[NPBMZ_RHS] = {315, 136},
                      [NPBMZ_X] = {83, 104},
                      [NPBMZ_Y] = {83, 104},
                      [NPBMZ_Z] = {83, 136}},
        [NPBMZ_LU] =
            {[NPBMZ_RHS] = {270, 120}, [NPBMZ_LOWER] = {114, 120}, [NPBMZ_UPPER] = {135, 120}},
    };
    return cost[benchmark][phase];
}
