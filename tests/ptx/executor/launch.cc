/* Launches: groups of warps, their turns and their barriers. */
#include "launch.h"
#include "clock.h"
#include "defects.h"
#include "settings.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

launch *now_launched;

unsigned dice(unsigned sides) {
    static std::mt19937 numbers((unsigned)setting.seed);
    return (unsigned)(numbers() % sides);
}

std::string place_of(const site *s) {
    const launch *l = now_launched;
    return l->counters->name + ": line " + std::to_string(s->line) + ": " +
           l->info->site_text[s->number];
}

static warp *warp_open(group *g, int number) {
    const launch *l = now_launched;
    const launch_shape &shape = *l->shape;
    const kernel_info *i = l->info;
    warp *w = (warp *)calloc(1, sizeof *w);
    w->group = g;
    w->number = number;
    const u32 lanes = std::min<u32>(LANES, shape.item_count() - (u32)(LANES * number));
    w->live = lanes == LANES ? ~0u : (1u << lanes) - 1;
    w->stack[0] = {0, i->blocks, w->live};
    w->registers = malloc(i->register_bytes + 64);
    memset(w->registers, 0xff, i->register_bytes); /* NaN, and no address */
    w->local_bytes = i->local_bytes;
    w->local = (u8 *)malloc((size_t)i->local_bytes * LANES + 64);
    memset(w->local, 0xff, (size_t)i->local_bytes * LANES);
    for (u32 n = 0; n < LANES; n++) {
        const u32 item = (u32)(LANES * number) + n;
        w->item[n] = item;
        w->tid[0][n] = item % shape.items[0];
        w->tid[1][n] = item / shape.items[0] % shape.items[1];
        w->tid[2][n] = item / shape.items[0] / shape.items[1];
    }
    const u32 at[3] = {g->number % shape.groups[0], g->number / shape.groups[0] % shape.groups[1],
                       g->number / shape.groups[0] / shape.groups[1]};
    for (int axis = 0; axis < 3; axis++) {
        w->ctaid[axis] = at[axis];
        w->ntid[axis] = shape.items[axis];
        w->nctaid[axis] = shape.groups[axis];
    }
    w->parameters = shape.parameters.data();
    w->block_runs = l->counters->runs.data();
    w->block_lanes = l->counters->lanes.data();
    w->diverged = l->counters->diverged.data();
    return w;
}

static group *group_open(u32 number) {
    static u32 stamp;
    const size_t shared = (size_t)now_launched->info->shared_bytes;
    group *g = new group{};
    g->number = number;
    g->stamp = ++stamp;
    g->shared = (u8 *)malloc(shared + 64);
    memset(g->shared, 0xff, shared);
    g->shared_written = (u8 *)calloc(shared + 64, 1);
    g->shared_granules = (granule *)calloc(shared / 4 + 8, sizeof(granule));
    const int warps = ((int)now_launched->shape->item_count() + LANES - 1) / LANES;
    for (int x = 0; x < warps; x++) g->warps.push_back(warp_open(g, x));
    return g;
}

static void group_close(group *g) {
    for (warp *w : g->warps) {
        free(w->registers);
        free(w->local);
        free(w);
    }
    free(g->shared);
    free(g->shared_written);
    free(g->shared_granules);
    delete g;
}

enum warp_state { CAN_RUN, AT_BARRIER, HAS_ENDED };

/* Runs what can be run of a group. True: it is done. False: it has yielded, since it may wait for
 * another group. */
static bool group_run(group *g, std::vector<warp_state> &state, bool &has_moved) {
    const kernel_info *kernel = now_launched->info;
    std::vector<size_t> order(g->warps.size());
    state.resize(order.size(), CAN_RUN);
    for (;;) {
        std::iota(order.begin(), order.end(), 0);
        if (setting.seed) shuffle(order);
        bool has_yielded = false;
        for (size_t x : order)
            if (state[x] == CAN_RUN) {
                const int turn = kernel->run(g->warps[x]);
                has_yielded |= turn == TURN_YIELD;
                has_moved |= turn != TURN_YIELD;
                if (turn != TURN_YIELD) state[x] = turn == TURN_END ? HAS_ENDED : AT_BARRIER;
            }
        if (has_yielded) return false;
        const long ended = std::count(state.begin(), state.end(), HAS_ENDED);
        if (ended == (long)state.size()) return true;
        if (ended)
            tell("barrier that ended warps do not reach", now_launched->counters->name, "group %u",
                 g->number);
        g->epoch++;
        std::replace(state.begin(), state.end(), AT_BARRIER, CAN_RUN);
    }
}

static std::vector<u32> group_order(u32 groups, bool is_descending) {
    std::vector<u32> order(groups);
    std::iota(order.begin(), order.end(), 0);
    if (is_descending) std::reverse(order.begin(), order.end());
    if (setting.seed) shuffle(order);
    return order;
}

static void run_one_by_one(u32 groups) {
    for (u32 n : group_order(groups, false)) {
        group *g = group_open(n);
        std::vector<warp_state> state;
        bool has_moved = false;
        while (!group_run(g, state, has_moved)) {
        }
        group_close(g);
    }
}

/* All groups at a time, the last first where nothing is thrown: a flag raised too late shows. */
static void run_side_by_side(u32 groups) {
    std::vector<group *> all;
    std::vector<std::vector<warp_state>> state(groups);
    for (u32 n = 0; n < groups; n++) all.push_back(group_open(n));
    std::vector<bool> is_done(groups);
    u32 left = groups;
    for (long idle = 0; left && idle <= 100000;) {
        bool has_moved = false;
        for (u32 n : group_order(groups, true))
            if (!is_done[n] && group_run(all[n], state[n], has_moved)) {
                is_done[n] = true;
                left--;
            }
        idle = has_moved ? 0 : idle + 1;
    }
    if (left)
        tell("groups that all wait for each other", now_launched->counters->name,
             "%u of %u groups are left", left, groups);
    for (group *g : all) group_close(g);
}

void launch_run(const launch_shape &shape) {
    kernel_counters *k = shape.counters;
    launch now{&shape, k, k->info, {}};
    now_launched = &now;
    operation_rename(now_running.number, k->name);
    const u32 groups = shape.group_count(), items = shape.item_count();
    k->launches++;
    k->items = (int)items;
    (k->info->does_acquire ? run_side_by_side : run_one_by_one)(groups);
    now_launched = nullptr;
}
