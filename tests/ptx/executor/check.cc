/* Checks of a lane's access: inside of a buffer, aligned, written before it is read, and in an
 * order with the accesses of other items. */
#include "clock.h"
#include "defects.h"
#include "launch.h"
#include "settings.h"
#include <cstring>
#include <iterator>

typedef unsigned long long ull;
bool has_raced;

static bool tell_outside(const warp *w, int lane, u64 at, bool is_write, const site *s) {
    auto i = allocations.upper_bound(at);
    const bool is_behind_one = i != allocations.begin();
    if (is_behind_one) --i;
    const bool is_freed = is_behind_one && i->second.is_freed && at < i->first + i->second.bytes;
    tell(is_freed ? "use after free" : "out of bounds", place_of(s),
         "%s byte %lld of a buffer of %llu, group %u item %u", is_write ? "writes" : "reads",
         is_behind_one ? (long long)(at - i->first) : -1, is_behind_one ? (ull)i->second.bytes : 0,
         w->group->number, w->item[lane]);
    return false;
}

/* A sector counts once a launch and once a group. */
static void count_sector(const warp *w, u64 at, bool is_write) {
    sector *c = sector_at(at);
    kernel_counters *k = now_launched->counters;
    u32 &operation = is_write ? c->write_operation : c->read_operation,
        &group = is_write ? c->write_group : c->read_group;
    if (operation != now_running.number) (is_write ? k->written_once : k->read_once)++;
    if (group != w->group->stamp) (is_write ? k->written_by_group : k->read_by_group)++;
    operation = now_running.number;
    group = w->group->stamp;
}

/* Two items that an access and an earlier one belong to */
struct pair {
    warp *w;
    int lane;
    u64 at;
    const site *s;
    u32 item; /* of the launch */
};

static std::string items_of(const pair &p, const access &other) {
    char text[160];
    snprintf(text, sizeof text,
             "group %u item %u and group %u item %u (line %u), byte %llu of its buffer",
             p.w->group->number, p.item % MOST_ITEMS, other.item / MOST_ITEMS,
             other.item % MOST_ITEMS, other.line, (ull)offset_in_buffer(p.at));
    return text;
}

static bool same_warp(const pair &p, u32 item) { return item / LANES == p.item / LANES; }
static const char *warp_note(const pair &p, u32 item) {
    return same_warp(p, item) ? ", one warp" : "";
}

/* An earlier write of this launch, by another item, is before this access. */
static bool is_write_before(const pair &p, const access &write) {
    const group *g = p.w->group;
    const u32 other = write.item / MOST_ITEMS;
    if (other != g->number) return g->known.size() > other && g->known[other] > write.era;
    return write.epoch != g->epoch || (same_warp(p, write.item) && write.syncs != p.w->syncs);
}

static void check_after_write(const pair &p, const granule *g, bool is_write, const u64 *value,
                              int bytes) {
    if (g->write.operation != now_running.number || g->write.item == p.item) return;
    if ((p.s->flags & IS_ATOMIC && g->is_atomic) || is_write_before(p, g->write)) return;
    has_raced = true;
    const char *kind =
        !is_write ? "race: reads what another item writes"
        : value && !(p.s->flags & IS_ATOMIC) && !memcmp(bytes_at(p.at), value, (size_t)bytes)
            ? "note: two items write the same value"
            : "race: two writers";
    tell(kind, place_of(p.s), "%s%s", items_of(p, g->write).c_str(), warp_note(p, g->write.item));
}

static void check_after_read(const pair &p, const granule *g) {
    const access &read = g->read;
    if (read.operation != now_running.number) return;
    const group *here = p.w->group;
    const bool is_resident = now_launched->shape->is_resident;
    if (!is_resident && (g->readers & READ_BY_GROUPS || read.item / MOST_ITEMS != here->number)) {
        tell("race: writes what another group reads", place_of(p.s), "%s",
             items_of(p, read).c_str());
        return;
    }
    if (read.item / MOST_ITEMS != here->number || read.epoch != here->epoch) return;
    if (!(g->readers & READ_BY_ITEMS) && read.item == p.item) return;
    if (!(g->readers & READ_BY_WARPS) && same_warp(p, read.item) && read.syncs != p.w->syncs)
        return;
    tell("race: writes what another item reads", place_of(p.s), "%s%s", items_of(p, read).c_str(),
         g->readers & READ_BY_WARPS ? "" : warp_note(p, read.item));
}

static void record_read(const pair &p, granule *g, const access &now) {
    const access &last = g->read;
    if (last.operation != now.operation)
        g->readers = 0;
    else if (last.item / MOST_ITEMS != now.item / MOST_ITEMS)
        g->readers = READ_BY_GROUPS;
    else if (last.epoch != now.epoch ||
             (same_warp(p, last.item) && !(g->readers & READ_BY_WARPS) && last.syncs != now.syncs))
        g->readers &= READ_BY_GROUPS;
    else if (last.item != now.item)
        g->readers |= READ_BY_ITEMS | (same_warp(p, last.item) ? 0u : (u32)READ_BY_WARPS);
    g->read = now;
}

/* Operations of other streams, or earlier ones of this, that nothing puts in order */
static void check_streams(const pair &p, const granule *g, bool is_write) {
    if (g->write.operation && !is_ordered(g->write.operation))
        tell("race between streams", place_of(p.s),
             "%s what %s wrote, with nothing that orders them", is_write ? "writes" : "reads",
             operation_name(g->write.operation).c_str());
    if (is_write && g->read.operation && !is_ordered(g->read.operation))
        tell("race between streams", place_of(p.s),
             "writes what %s read, with nothing that orders them",
             operation_name(g->read.operation).c_str());
}

/* Reads of whole granules: a narrow one has neighbours that may be written. */
static void check_constant(const pair &p, const granule *g, bool is_write, int bytes) {
    const bool is_whole_read = !is_write && p.s->flags & IS_NC && bytes >= 4;
    const char *kind = is_write && g->constant == now_running.number
                           ? "written although read as constant (ld.global.nc)"
                       : is_whole_read && g->write.operation == now_running.number
                           ? "ld.global.nc of what this launch wrote"
                           : nullptr;
    if (kind)
        tell(kind, place_of(p.s), "group %u item %u, byte %llu of its buffer", p.w->group->number,
             p.item % MOST_ITEMS, (ull)offset_in_buffer(p.at));
}

bool check_global(warp *w, int lane, u64 at, int bytes, bool is_write, const site *s,
                  const u64 *value) {
    has_raced = false;
    if (at % (u64)bytes) {
        tell("misaligned", place_of(s), "address %llx, %d bytes, group %u item %u", (ull)at, bytes,
             w->group->number, w->item[lane]);
        return false;
    }
    if (!is_device_memory(at)) {
        tell("out of bounds", place_of(s), "address %llx is no device memory, group %u item %u",
             (ull)at, w->group->number, w->item[lane]);
        return false;
    }
    count_sector(w, at, is_write);
    u8 *state = states_at(at);
    bool is_inside = true, is_written = true;
    for (int i = 0; i < bytes; i++) {
        is_inside &= state[i] != BYTE_OUTSIDE;
        is_written &= state[i] == BYTE_WRITTEN;
    }
    if (!is_inside) return tell_outside(w, lane, at, is_write, s);
    if ((!is_write || s->flags & IS_ATOMIC) && !is_written && setting.is_checking)
        tell("unwritten memory read", place_of(s), "byte %llu of its buffer, group %u item %u",
             (ull)offset_in_buffer(at), w->group->number, w->item[lane]);
    if (is_write && !is_written) memset(state, BYTE_WRITTEN, (size_t)bytes);
    if (!setting.is_checking) return true;
    if (!(s->flags & IS_ATOMIC) && s->flags & (IS_ACQUIRE | IS_RELEASE | IS_VOLATILE)) return true;
    const pair p = {w, lane, at, s, w->group->number * MOST_ITEMS + w->item[lane]};
    const access now = {now_running.number, p.item,        w->group->epoch,
                        w->syncs,           w->group->era, (u32)s->line};
    granule *g = granule_at(at);
    for (int n = bytes < 4 ? 1 : bytes / 4; n; n--, g++) {
        check_streams(p, g, is_write);
        if (bytes >= 4) { /* a granule has room for several narrow ones */
            check_after_write(p, g, is_write, value, bytes);
            if (is_write) check_after_read(p, g);
        }
        check_constant(p, g, is_write, bytes);
        if (is_write) {
            g->write = now;
            g->is_atomic = s->flags & IS_ATOMIC;
        } else {
            record_read(p, g, now);
            if (s->flags & IS_NC && bytes >= 4) g->constant = now_running.number;
        }
    }
    return true;
}

/* ---- memory of a group: its granules know epochs alone, counted from 1 ---- */

static void check_shared_granule(warp *w, u32 item, u64 at, int bytes, bool is_write, const site *s,
                                 const u64 *value, granule *g) {
    const u32 epoch = w->group->epoch + 1;
    const bool is_atomic = s->flags & IS_ATOMIC;
    const access now = {epoch, item, epoch, w->syncs, 0, (u32)s->line};
    auto is_near = [&](const access &a) { return a.item / LANES == item / LANES; };
    auto is_before = [&](const access &a) {
        return a.epoch != epoch || a.item == item || (is_near(a) && a.syncs != w->syncs);
    };
    if (!is_before(g->write) && !(is_atomic && g->is_atomic))
        tell(!is_write ? "race in group memory: reads what another item writes"
             : value && !is_atomic && !memcmp(w->group->shared + at, value, (size_t)bytes)
                 ? "note: two items write the same value to group memory"
                 : "race in group memory: two writers",
             place_of(s), "byte %llu, group %u items %u and %u (line %u)%s", (ull)at,
             w->group->number, item, g->write.item, g->write.line,
             is_near(g->write) ? ", one warp" : "");
    const access &read = g->read;
    const bool is_read_by_others = read.epoch == epoch && (g->readers || read.item != item);
    if (is_write && is_read_by_others &&
        (g->readers & READ_BY_WARPS || !is_near(read) || read.syncs == w->syncs))
        tell("race in group memory: writes what another item reads", place_of(s),
             "byte %llu, group %u items %u and %u (line %u)%s", (ull)at, w->group->number, item,
             read.item, read.line,
             is_near(read) && !(g->readers & READ_BY_WARPS) ? ", one warp" : "");
    if (is_write) {
        g->write = now;
        g->is_atomic = is_atomic;
        return;
    }
    if (read.epoch != epoch ||
        (is_near(read) && !(g->readers & READ_BY_WARPS) && read.syncs != w->syncs))
        g->readers = 0;
    else if (read.item != item)
        g->readers |= READ_BY_ITEMS | (is_near(read) ? 0u : (u32)READ_BY_WARPS);
    g->read = now;
}

bool check_shared(warp *w, int lane, u64 at, int bytes, bool is_write, const site *s,
                  const u64 *value) {
    const group *g = w->group;
    const u64 size = (u64)now_launched->info->shared_bytes;
    if (at % (u64)bytes) {
        tell("misaligned group memory", place_of(s), "byte %llu", (ull)at);
        return false;
    }
    if (at + (u64)bytes > size || at > size) {
        tell("out of bounds of group memory", place_of(s), "byte %lld of %llu, item %u",
             (long long)at, (ull)size, w->item[lane]);
        return false;
    }
    if (!setting.is_checking) return true;
    u8 *written = g->shared_written + at;
    bool is_written = true;
    for (int i = 0; i < bytes; i++) is_written &= written[i];
    if ((!is_write || s->flags & IS_ATOMIC) && !is_written)
        tell("unwritten group memory read", place_of(s), "byte %llu, group %u item %u", (ull)at,
             g->number, w->item[lane]);
    if (is_write) for (int i = 0; i < bytes; i++) written[i] = 1;
    if (bytes < 4 || (!(s->flags & IS_ATOMIC) && s->flags & IS_VOLATILE)) return true;
    for (int n = 0; n < bytes / 4; n++)
        check_shared_granule(w, w->item[lane], at, bytes, is_write, s, value,
                             g->shared_granules + (at >> 2) + n);
    return true;
}
