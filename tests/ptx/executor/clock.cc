/* Order of operations by vector clocks. */
#include "clock.h"
#include <algorithm>

struct operation_place {
    int stream;
    u32 sequence;
    std::string name;
};
static std::vector<operation_place> operations(1);
running now_running;

void join(vector_clock &clock, const vector_clock &other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (size_t i = 0; i < other.size(); i++) clock[i] = std::max(clock[i], other[i]);
}

u32 operation_add(int stream, u32 sequence, const char *name) {
    operations.push_back({stream, sequence, name});
    return (u32)operations.size() - 1;
}

void operation_rename(u32 operation, const std::string &name) { operations[operation].name = name; }

std::string operation_name(u32 operation) {
    const operation_place &o = operations[operation];
    return o.name + " (operation " + std::to_string(operation) + ", stream " +
           std::to_string(o.stream) + ")";
}

bool is_ordered(u32 operation) {
    if (operation == now_running.number) return true;
    const operation_place &o = operations[operation];
    return o.stream < (int)now_running.clock->size() &&
           (*now_running.clock)[(size_t)o.stream] >= o.sequence;
}
