/* The benchmark's name, and the phases of its step: words common to the application and its users.
 */
#pragma once

enum npbmz_benchmark { NPBMZ_BT, NPBMZ_SP, NPBMZ_LU };

/* The parts of a step that are timed apart: the residual, the line solves of BT and SP, the sweeps
 * of LU. */
enum npbmz_phase { NPBMZ_RHS, NPBMZ_X, NPBMZ_Y, NPBMZ_Z, NPBMZ_LOWER, NPBMZ_UPPER, NPBMZ_PHASES };
