/* Calls that suite/bench/ports/miniamr_change.py puts into a copy of miniAMR. */
#pragma once
void port_open(void);                /* before MPI_Init() */
void port_begin(void);               /* the first blocks have their values */
void port_split(int n, int m);       /* block n has the child m */
void port_join(int n, int o, int m); /* block n is made of m, its child o; o ascends from 0 */
void port_change(void);              /* the mesh is another one */
void port_comm(void);                /* ghost values of all blocks */
void port_stencil(int var);
double port_check_sum(int var);
void port_close(void);
