/* Room for the command's own variables, and those of the threads that runtimes make. */
#ifndef TOOL_STACK_H
#define TOOL_STACK_H

/* Returns command(argc, argv), which has a stack of 8 MiB or what there is, if that is 1 MiB or
 * more; threads that are made without a size get the same. */
int stack_run(int (*command)(int, char **), int argc, char **argv);

#endif
