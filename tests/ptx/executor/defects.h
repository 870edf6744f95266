/* Defects of the program under test: each kind at each place is told once, and all are counted. A
 * kind that begins with "note" is none. */
#pragma once

#include <cstdio>
#include <string>

void defects_open(); /* the log: PTXRUN_LOG, or standard error */
FILE *defects_log();
void tell(const char *kind, const std::string &where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void defects_summary();
