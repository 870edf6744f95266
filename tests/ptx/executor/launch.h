/* A launch: groups of warps that run a kernel, and what accesses to memory look up in it. */
#pragma once

#include "counters.h"
#include "memory.h"
#include <map>
#include <vector>

typedef std::vector<u32> eras; /* of each group: its releases that are known */

struct group {
    u32 number, stamp; /* of the launch; of all launches */
    u32 epoch;         /* barriers passed */
    u32 era;           /* releases */
    eras known;        /* what it has acquired */
    std::vector<warp *> warps;
    u8 *shared, *shared_written;
    granule *shared_granules;
};

struct launch_shape {
    kernel_counters *counters;
    u32 groups[3], items[3];
    bool is_resident;
    std::vector<u8> parameters;
    u32 group_count() const { return groups[0] * groups[1] * groups[2]; }
    u32 item_count() const { return items[0] * items[1] * items[2]; }
};

struct launch {
    const launch_shape *shape;
    kernel_counters *counters;
    const kernel_info *info;
    std::map<u64, eras> flags; /* what was released to an address */
};
extern launch *now_launched; /* NULL: none */

enum { MOST_ITEMS = 1024 };

void launch_run(const launch_shape &);
std::string place_of(const site *); /* KERNEL: line N: INSTRUCTION */

/* Whether a lane's access may be done; defects are told. `value`: of a store, else NULL. */
bool check_global(warp *, int lane, u64 at, int bytes, bool is_write, const site *,
                  const u64 *value);
bool check_shared(warp *, int lane, u64 at, int bytes, bool is_write, const site *,
                  const u64 *value);
extern bool has_raced; /* the last check found a race */

extern const executor execution; /* what kernels call */

/* A kernel's order between groups: acquire and release by an address */
void acquire(group *, u64 at);
void release(group *, u64 at);

unsigned dice(unsigned sides);
template <class list> void shuffle(list &x) {
    for (size_t i = x.size(); i > 1; i--) std::swap(x[i - 1], x[dice((unsigned)i)]);
}
