/* MG straight after its specification: every point by itself, all 27 neighbours by their weights,
 * nothing shared with suite/apps/mg. */
#pragma once

/* Twenty charges: x, y, z, then 1 or -1; the ten largest first. */
void plain_charges(int n, int charge[20][4]);

/* `steps` cycles on n points a side, from u = 0: u of the finest level, n^3 values with x fastest,
 * to be freed, and the norm of the last residual. b: the second smoother. */
double *plain_mg(int n, int steps, int b, double *norm);
