/* The archivers beside the compiler. */
#pragma once

/* As evener-gcc-ar, evener-llvm-ranlib and the like runs that tool of the compiler behind
 * evener-cc, under whose names CMake and others look for it; returns where there is none: its exit
 * status, or -1: `name`, this command's, is no tool's. */
int run_tool(const char *name, char **argv);
