/* Stack of the command's own variables, and of the threads that runtimes create. */
#pragma once

/* Returns command(argc, argv), run with a stack of 8 MiB, or less down to 1 MiB; threads created
 * without a size get the same. */
int stack_run(int (*command)(int, char **), int argc, char **argv);
