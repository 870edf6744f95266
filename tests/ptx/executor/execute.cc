/* What translated kernels call: loads and stores, atomic operations, shuffles, barriers. */
#include "defects.h"
#include "launch.h"
#include "settings.h"
#include <algorithm>
#include <cstring>

static u64 extended(u64 v, int bytes) {
    const int shift = 64 - 8 * bytes;
    return (u64)((s64)(v << shift) >> shift);
}

static void put(void *registers, int l, int register_bytes, u64 v) {
    memcpy((u8 *)registers + l * register_bytes, &v, (size_t)register_bytes);
}

static u64 get(const void *registers, int l, int register_bytes) {
    u64 v = 0;
    memcpy(&v, (const u8 *)registers + l * register_bytes, (size_t)register_bytes);
    return v;
}

static bool is_aligned(const site *s, u64 at) {
    if (at % (u64)(s->bytes * s->count) == 0) return true;
    tell("misaligned", place_of(s), "address %llx, %d values of %d bytes", (unsigned long long)at,
         s->count, s->bytes);
    return false;
}

void acquire(group *g, u64 at) {
    auto i = now_launched->flags.find(at);
    if (i == now_launched->flags.end()) return;
    g->known.resize(now_launched->shape->group_count());
    for (size_t x = 0; x < i->second.size(); x++) g->known[x] = std::max(g->known[x], i->second[x]);
}

void release(group *g, u64 at) {
    g->known.resize(now_launched->shape->group_count());
    g->known[g->number] = ++g->era;
    eras &flag = now_launched->flags[at];
    flag.resize(g->known.size());
    for (size_t x = 0; x < flag.size(); x++) flag[x] = std::max(flag[x], g->known[x]);
}

static void load_lane(warp *w, int l, u64 from, bool is_shared, const site *s, void *const *to) {
    for (int j = 0; j < s->count; j++) {
        const u64 at = from + (u64)(j * s->bytes);
        u64 v = 0;
        if (!to[j]) continue;
        if (is_shared ? check_shared(w, l, at, s->bytes, false, s, nullptr)
                      : check_global(w, l, at, s->bytes, false, s, nullptr))
            memcpy(&v, is_shared ? w->group->shared + at : bytes_at(at), (size_t)s->bytes);
        if (!is_shared && has_raced && setting.is_poisoning) memset(&v, 0xff, (size_t)s->bytes);
        if (s->flags & IS_SIGNED) v = extended(v, s->bytes);
        put(to[j], l, s->register_bytes, v);
    }
}

static void store_lane(warp *w, int l, u64 to, bool is_shared, const site *s, void *const *from) {
    for (int j = 0; j < s->count; j++) {
        const u64 at = to + (u64)(j * s->bytes), v = get(from[j], l, s->register_bytes);
        if (is_shared ? check_shared(w, l, at, s->bytes, true, s, &v)
                      : check_global(w, l, at, s->bytes, true, s, &v))
            memcpy(is_shared ? w->group->shared + at : bytes_at(at), &v, (size_t)s->bytes);
    }
}

static void load(warp *w, u32 m, const u64 *at, const site *s, void *const *to) {
    if (!m) return;
    count_global(now_launched->counters, m, at, s);
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && is_aligned(s, at[l])) {
            load_lane(w, l, at[l], false, s, to);
            if (s->flags & IS_ACQUIRE) acquire(w->group, at[l]);
        }
}

static void store(warp *w, u32 m, const u64 *at, const site *s, void *const *from) {
    if (!m) return;
    count_global(now_launched->counters, m, at, s);
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && is_aligned(s, at[l])) {
            if (s->flags & IS_RELEASE) release(w->group, at[l]);
            store_lane(w, l, at[l], false, s, from);
        }
}

static void load_shared(warp *w, u32 m, const u64 *at, const site *s, void *const *to) {
    if (!m) return;
    count_shared(now_launched->counters, m, at, s);
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && is_aligned(s, at[l])) load_lane(w, l, at[l], true, s, to);
}

static void store_shared(warp *w, u32 m, const u64 *at, const site *s, void *const *from) {
    if (!m) return;
    count_shared(now_launched->counters, m, at, s);
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && is_aligned(s, at[l])) store_lane(w, l, at[l], true, s, from);
}

/* ---- generic addresses: lanes by window ---- */

struct windows {
    u32 global, shared, local;
    u64 in_shared[LANES];
};

static windows by_window(u32 m, const u64 *at) {
    windows x{};
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1) {
            const bool is_shared = at[l] - SHARED_WINDOW < WINDOW_BYTES,
                       is_local = at[l] - LOCAL_WINDOW < WINDOW_BYTES;
            (is_shared ? x.shared : is_local ? x.local : x.global) |= 1u << l;
            x.in_shared[l] = at[l] - SHARED_WINDOW;
        }
    return x;
}

static u8 *local_at(warp *w, int l, u64 at, const site *s) {
    const u64 offset = at - LOCAL_WINDOW;
    if (offset + (u64)(s->bytes * s->count) <= (u64)w->local_bytes)
        return w->local + (u64)l * (u64)w->local_bytes + offset;
    tell("out of bounds of an item's own memory", place_of(s), "byte %llu of %d",
         (unsigned long long)offset, w->local_bytes);
    return nullptr;
}

static void load_generic(warp *w, u32 m, const u64 *at, const site *s, void *const *to) {
    const windows x = by_window(m, at);
    load(w, x.global, at, s, to);
    load_shared(w, x.shared, x.in_shared, s, to);
    for (int l = 0; l < LANES; l++)
        if (x.local >> l & 1)
            for (int j = 0; j < s->count; j++) {
                const u8 *from = local_at(w, l, at[l], s);
                u64 v = 0;
                if (from) memcpy(&v, from + j * s->bytes, (size_t)s->bytes);
                if (to[j])
                    put(to[j], l, s->register_bytes,
                        s->flags & IS_SIGNED ? extended(v, s->bytes) : v);
            }
}

static void store_generic(warp *w, u32 m, const u64 *at, const site *s, void *const *from) {
    const windows x = by_window(m, at);
    store(w, x.global, at, s, from);
    store_shared(w, x.shared, x.in_shared, s, from);
    for (int l = 0; l < LANES; l++)
        if (x.local >> l & 1)
            for (int j = 0; j < s->count; j++) {
                const u64 v = get(from[j], l, s->register_bytes);
                if (u8 *to = local_at(w, l, at[l], s))
                    memcpy(to + j * s->bytes, &v, (size_t)s->bytes);
            }
}

/* ---- atomic operations ---- */

template <class number>
static number changed(atomic_operation how, number old, number a, number b) {
    switch (how) {
    case ATOMIC_ADD: return (number)(old + a);
    case ATOMIC_MIN: return std::min(old, a);
    case ATOMIC_MAX: return std::max(old, a);
    case ATOMIC_EXCH: return a;
    case ATOMIC_CAS: return old == a ? b : old;
    case ATOMIC_INC: return old >= a ? 0 : (number)(old + 1);
    case ATOMIC_DEC: return old == 0 || old > a ? a : (number)(old - 1);
    default: return old; /* the bitwise ones are not for numbers */
    }
}

template <class number> static u64 changed_bits(atomic_operation how, u64 old, u64 a, u64 b) {
    if (how == ATOMIC_AND) return old & a;
    if (how == ATOMIC_OR) return old | a;
    if (how == ATOMIC_XOR) return old ^ a;
    number x, y, z;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &a, sizeof y);
    memcpy(&z, &b, sizeof z);
    x = changed<number>(how, x, y, z);
    u64 out = 0;
    memcpy(&out, &x, sizeof x);
    return out;
}

static u64 changed_typed(atomic_operation how, value_type type, u64 old, u64 a, u64 b) {
    switch (type) {
    case TYPE_U32: return changed_bits<u32>(how, old, a, b);
    case TYPE_S32: return changed_bits<s32>(how, old, a, b);
    case TYPE_F32: return changed_bits<float>(how, old, a, b);
    case TYPE_U64: return changed_bits<u64>(how, old, a, b);
    case TYPE_S64: return changed_bits<s64>(how, old, a, b);
    default: return changed_bits<double>(how, old, a, b);
    }
}

/* Lanes in random order: the order is nobody's promise. A fence of the device in the kernel makes
 * its atomic operations acquire and release, which says a little more than PTX does. */
static void atomic(warp *w, u32 m, const u64 *at, const site *s, int is_shared,
                   atomic_operation how, value_type type, const u64 *a, const u64 *b, u64 *to) {
    if (!m) return;
    (is_shared ? count_shared : count_global)(now_launched->counters, m, at, s);
    std::vector<int> lanes;
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && is_aligned(s, at[l])) lanes.push_back(l);
    if (setting.seed) shuffle(lanes);
    for (int l : lanes) {
        to[l] = 0;
        const bool may = is_shared ? check_shared(w, l, at[l], s->bytes, true, s, nullptr)
                                   : check_global(w, l, at[l], s->bytes, true, s, nullptr);
        if (!may) continue;
        u8 *place = is_shared ? w->group->shared + at[l] : bytes_at(at[l]);
        memcpy(&to[l], place, (size_t)s->bytes);
        const u64 v = changed_typed(how, type, to[l], a[l], b[l]);
        memcpy(place, &v, (size_t)s->bytes);
        const bool has_fence = now_launched->info->has_fence;
        if (!is_shared && (has_fence || s->flags & IS_ACQUIRE)) acquire(w->group, at[l]);
        if (!is_shared && (has_fence || s->flags & IS_RELEASE)) release(w->group, at[l]);
    }
}

/* ---- lanes together ---- */

static std::string line_of(int line) {
    return now_launched->counters->name + ": line " + std::to_string(line);
}

static void meet(warp *w, u32 m, int line, const char *instruction, const u32 *members) {
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1 && (members[l] & w->live) != m) {
            tell(members[l] >> l & 1 ? "lanes that others wait for are elsewhere"
                                     : "lane that its mask does not name",
                 line_of(line), "%s: group %u, lanes %08x, the mask names %08x of %08x",
                 instruction, w->group->number, m, members[l], w->live);
            return;
        }
}

/* As the PTX manual defines shfl.sync: c has the last lane of a segment, and from bit 8 on which
 * bits of a lane's number say its segment. */
static u32 shuffle_lanes(warp *w, u32 m, int line, shuffle_mode mode, const u32 *from, const u32 *b,
                         const u32 *c, const u32 *members, u32 *to) {
    u32 in_range = 0;
    meet(w, m, line, "shfl.sync", members);
    for (u32 l = 0; l < LANES; l++)
        if (m >> l & 1) {
            const u32 by = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
            const u32 most = (l & segment) | (clamp & ~segment), least = l & segment;
            u32 source = mode == SHUFFLE_UP     ? l - by
                         : mode == SHUFFLE_DOWN ? l + by
                         : mode == SHUFFLE_BFLY ? (l ^ by)
                                                : least | (by & ~segment);
            const bool is_in = mode == SHUFFLE_UP ? (s32)source >= (s32)most : source <= most;
            if (is_in)
                in_range |= 1u << l;
            else
                source = l;
            if (!(m >> source & 1))
                tell("shuffle from a lane that does not take part", line_of(line),
                     "group %u, lane %u from lane %u", w->group->number, l, source);
            to[l] = m >> source & 1 ? from[source] : ~0u;
        }
    return in_range;
}

static void prefetch(warp *, u32, const u64 *, const site *) {}

static void barrier(warp *w, u32 m, int line) {
    if (m == w->live) return;
    tell("barrier where a warp has diverged", line_of(line), "group %u, lanes %08x of %08x",
         w->group->number, m, w->live);
}

const executor execution = {load,         store,         load_shared, store_shared,
                            load_generic, store_generic, atomic,      prefetch,
                            barrier,      shuffle_lanes, meet};
