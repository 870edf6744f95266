/* A block of the mesh: the Euler equations of a gas in two dimensions, by finite volumes of second
 * order in space (piecewise linear primitive values, van Leer's limiter, HLL fluxes) and in time
 * (Heun's method: two stages), with two layers of ghost cells. Toro, Riemann Solvers and Numerical
 * Methods for Fluid Dynamics, sections 10.3 and 14.4; the exact solution is an isentropic vortex
 * that the mean flow carries (Shu, NASA/CR-97-206253, section 5.1). */
#pragma once

enum {
    CELLS = 16, /* cells of a side */
    GHOSTS = 2,
    PITCH = CELLS + 2 * GHOSTS,
    FIELDS = 4, /* density, momentum x and y, energy */
    AREA = PITCH * PITCH
};

/* Field, then y, then x. Fluxes through the four sides are sums over the stages of a step. */
struct block {
    double u[FIELDS][PITCH][PITCH];
    double old[FIELDS][CELLS][CELLS];
    double flux[4][FIELDS][CELLS];
    double finer[4][FIELDS][CELLS]; /* means of the fluxes of finer blocks beyond each side */
};

/* Where a block lies: the side of the square, the block's corner, and the side of a cell. */
struct frame {
    double square, x, y, h;
};

/* The exact solution at a time, in a cell. */
void block_exact(const struct frame *f, double time, int i, int j, double u[FIELDS]);
void adaptive_block_start(struct block *b, const struct frame *f);

/* Stage 0 or 1 of a step. coarser[side] 1: ghosts there repeat coarser values, and become linear
 * first. */
void block_stage(struct block *b, int stage, double dt, double h, const char coarser[4]);

/* Where blocks beyond are finer, their fluxes are those of this block, too: what leaves the one
 * arrives in the other. finer[side]: 1. */
void block_correct(struct block *b, double dt, double h, const char finer[4]);

/* Largest difference of the density between neighbouring cells. */
double block_steepness(const struct block *b);

/* A quarter of a parent: linear within it. And a parent's quarter, of means. */
void block_refine(struct block *child, const struct block *parent, int quarter);
void block_merge(struct block *parent, const struct block *child, int quarter);

/* Sums over the cells: |density - exact|, mass and energy, each times the cell's area. */
struct sums {
    double error, mass, energy;
};
struct sums block_sums(const struct block *b, const struct frame *f, double time);
