/* Order of operations: each has a number and a vector clock, which says for each stream how many of
 * its operations come before. The host waits, events and the order of a stream put operations in
 * order; nothing else does. */
#pragma once

#include "kernel.h"
#include <string>
#include <vector>

typedef std::vector<u32> vector_clock; /* by stream */
void join(vector_clock &clock, const vector_clock &other);

u32 operation_add(int stream, u32 sequence, const char *name); /* its number, from 1 on */
void operation_rename(u32 operation, const std::string &name);
std::string operation_name(u32 operation);

/* The operation that runs */
struct running {
    u32 number;
    const vector_clock *clock;
};
extern running now_running;
bool is_ordered(u32 operation); /* it comes before the one that runs, or is that */
