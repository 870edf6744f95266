/* Settings of the executor: environment variables PTXRUN_*, read once (docs/testing.md). */
#pragma once

#include <string>

struct settings {
    long devices, memory_mib, processors, capability, has_peers;
    long seed; /* 0: work is done at once; 1: as late as possible, in random order; more: also now
                  and then between */
    long is_checking;  /* 0: bounds alone */
    long is_poisoning; /* what is read in a race is NaN, which shows whether it matters */
    std::string log, report, cache, ptxas, compiler, python;
};
extern settings setting;
void settings_read();
