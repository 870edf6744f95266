/* evener run td-bem: scattering by a body, in the time domain. */
#ifndef TOOL_RUN_TDBEM_H
#define TOOL_RUN_TDBEM_H

/* The arguments of `evener run`, where APP is td-bem (argv[0] is "run"). Returns the exit status.
 */
int run_tdbem(int argc, char **argv);

#endif
