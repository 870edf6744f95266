/* Cores, their kinds (fastest first) and parts, each of one kind, NUMA node and L3 cache or
 * package. The order of cores keeps each part contiguous. */
#include "machine/inside.h"
#include "base/argument.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "machine: not enough memory for its description");
}

/* ---- kinds ---- */

/* Ratio of speeds above which kinds are one: makers let some cores of a processor clock a little
 * higher than others, and the firmware reports that. */
#define NEARLY 0.9

#if HWLOC_API_VERSION >= 0x00020400

/* A kind of cores, as hwloc describes it. */
struct seen {
    hwloc_bitmap_t set;
    int rank; /* the least efficient is 0; -1: not known */
    const char *name;
    double capacity, top, base; /* 0: not known */
    double speed;
};

static double number_of(const char *text) {
    const double value = text ? (double)strtoul(text, NULL, 10) : 0;
    return value > 0 ? value : 0;
}

static int see(struct seen *k, hwloc_topology_t topology, int index) {
    struct hwloc_info_s *info;
    unsigned infos;
    *k = (struct seen){.set = hwloc_bitmap_alloc(), .name = ""};
    if (!k->set ||
        hwloc_cpukinds_get_info(topology, (unsigned)index, k->set, &k->rank, &infos, &info, 0))
        return -1;
    for (unsigned i = 0; i < infos; i++) {
        if (!strcmp(info[i].name, "CoreType")) k->name = info[i].value;
        if (!strcmp(info[i].name, "LinuxCapacity")) k->capacity = number_of(info[i].value);
        if (!strcmp(info[i].name, "FrequencyMaxMHz")) k->top = number_of(info[i].value);
        if (!strcmp(info[i].name, "FrequencyBaseMHz")) k->base = number_of(info[i].value);
    }
    return 0;
}

/* Speeds of the kinds by a figure known for all: the kernel's capacity, which counts work a cycle,
 * before clocks. */
static void rate(struct seen *k, int n) {
    int capacities = 0, tops = 0, bases = 0;
    for (int i = 0; i < n; i++) {
        capacities += k[i].capacity > 0;
        tops += k[i].top > 0;
        bases += k[i].base > 0;
    }
    for (int i = 0; i < n; i++)
        k[i].speed = capacities == n ? k[i].capacity
                     : tops == n     ? k[i].top
                     : bases == n    ? k[i].base
                                     : 1;
}

static int faster(const void *a, const void *b) {
    const struct seen *x = a, *y = b;
    if (x->speed != y->speed) return x->speed < y->speed ? 1 : -1;
    if (x->rank != y->rank) return x->rank < y->rank ? 1 : -1;
    const int first = hwloc_bitmap_first(x->set), other = hwloc_bitmap_first(y->set);
    return (first > other) - (first < other);
}

/* Adds a kind, or merges it with the last if they are nearly equal. */
static void add_kind(evn_machine *m, struct seen *k, double fastest) {
    evn_core_kind *last = m->about.kinds ? &m->kind[m->about.kinds - 1] : NULL;
    const double speed = k->speed / fastest, clock = 1e6 * (k->top > 0 ? k->top : k->base);
    if (last && !strcmp(last->name, k->name) && speed >= NEARLY * last->speed) {
        hwloc_bitmap_or(m->kind_set[m->about.kinds - 1], m->kind_set[m->about.kinds - 1], k->set);
        last->frequency = fmax(last->frequency, clock);
        return;
    }
    m->kind_set[m->about.kinds] = k->set;
    k->set = NULL;
    m->kind[m->about.kinds++] =
        (evn_core_kind){.name = k->name, .frequency = clock, .speed = speed};
}

static evn_status read_kinds(evn_machine *m, int n) {
    struct seen *k = calloc((size_t)n, sizeof *k);
    int seen = 0, failed = !k;
    while (!failed && seen < n) {
        failed = see(&k[seen], m->topology, seen);
        seen++;
    }
    if (!failed) {
        rate(k, n);
        qsort(k, (size_t)n, sizeof *k, faster);
        const double fastest = k[0].speed;
        for (int i = 0; i < n; i++) add_kind(m, &k[i], fastest);
    }
    for (int i = 0; i < seen; i++) hwloc_bitmap_free(k[i].set);
    free(k);
    return failed ? no_memory() : EVN_OK;
}

#else /* earlier ones know of no kinds */
static evn_status read_kinds(evn_machine *m, int n) {
    (void)m, (void)n;
    return EVN_OK;
}
#endif

/* hwloc's names end with the topology. */
static evn_status copy_names(evn_machine *m) {
    int failed = 0;
    for (int i = 0; i < m->about.kinds; i++) failed |= !(m->kind[i].name = strdup(m->kind[i].name));
    return failed ? no_memory() : EVN_OK;
}

evn_status machine_find_kinds(evn_machine *m) {
    int n = 0;
#if HWLOC_API_VERSION >= 0x00020400
    n = hwloc_cpukinds_get_nr(m->topology, 0);
    if (n < 0) n = 0;
#endif
    m->kind = calloc((size_t)n + 1, sizeof *m->kind);
    m->kind_set = calloc((size_t)n + 1, sizeof *m->kind_set);
    if (!m->kind || !m->kind_set) return no_memory();
    evn_status status = n ? read_kinds(m, n) : EVN_OK;
    if (!status && !m->about.kinds)
        m->kind[m->about.kinds++] = (evn_core_kind){.name = "", .speed = 1};
    return status ? status : copy_names(m);
}

/* Kind of a core; 0 for a core without one. */
static int kind_of(const evn_machine *m, hwloc_obj_t core) {
    for (int k = 1; k < m->about.kinds; k++)
        if (m->kind_set[k] && hwloc_bitmap_intersects(m->kind_set[k], core->cpuset)) return k;
    return 0;
}

/* ---- cores ---- */

/* A core, with the properties that decide its place in the order. */
struct placed {
    hwloc_obj_t core;
    int kind, package;
    int node, cache; /* indices of its NUMA node and L3 cache, or -1 */
    int sibling;     /* number among the core's hardware threads */
    int number, threads;
};

static int index_above(const evn_machine *m, hwloc_obj_t o, hwloc_obj_type_t type) {
    hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(m->topology, type, o);
    return above ? (int)above->logical_index : -1;
}

/* The NUMA node in which a core's memory is by default. Systems number nodes with cores before
 * those that are memory alone (HBM, CXL), which may be as near. */
static int node_above(hwloc_obj_t o) {
    hwloc_obj_t least = NULL;
    for (; o; o = o->parent)
        for (hwloc_obj_t m = o->memory_first_child; m; m = m->next_sibling) {
            hwloc_obj_t node = m; /* below its memory-side caches */
            while (node && node->type != HWLOC_OBJ_NUMANODE) node = node->memory_first_child;
            if (node && (!least || node->os_index < least->os_index)) least = node;
        }
    return least ? (int)least->logical_index : -1;
}

static int compare(int a, int b) { return (a > b) - (a < b); }

static int in_order(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    int order = compare(x->kind, y->kind);
    if (!order) order = compare(x->package, y->package);
    if (!order) order = compare(x->node, y->node);
    if (!order) order = compare(x->cache, y->cache);
    if (!order) order = compare(x->sibling, y->sibling);
    if (!order) order = compare((int)x->core->logical_index, (int)y->core->logical_index);
    return order;
}

evn_status machine_read_siblings(int *all) {
    const char *text = secure_getenv("EVENER_SMT");
    *all = 0;
    if (!text || !*text || !strcmp(text, "0")) return EVN_OK;
    if (strcmp(text, "1") != 0)
        return evn_fail(EVN_USAGE, "machine: EVENER_SMT: \"%.40s\", expected 1 or 0", text);
    *all = 1;
    return EVN_OK;
}

static struct placed place(const evn_machine *m, hwloc_obj_t o, hwloc_const_cpuset_t usable) {
    struct placed p = {.core = o, .kind = kind_of(m, o)};
    p.package = index_above(m, o, HWLOC_OBJ_PACKAGE);
    p.node = node_above(o);
    p.cache = index_above(m, o, HWLOC_OBJ_L3CACHE);
    hwloc_obj_t core = o->type == HWLOC_OBJ_PU
                           ? hwloc_get_ancestor_obj_by_type(m->topology, HWLOC_OBJ_CORE, o)
                           : NULL;
    p.sibling = core ? (int)o->sibling_rank : 0;
    p.number = hwloc_bitmap_first(usable);
    p.threads = hwloc_bitmap_weight(usable);
    return p;
}

/* Objects of the type that are allowed, in our order; how many, or -1 without memory. */
static int place_all(const evn_machine *m, hwloc_obj_type_t type, struct placed **out) {
    const int n = hwloc_get_nbobjs_by_type(m->topology, type);
    struct placed *p = calloc((size_t)(n > 0 ? n : 1), sizeof *p);
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    int count = p && usable ? 0 : -1;
    for (int i = 0; count >= 0 && i < n; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(m->topology, type, (unsigned)i);
        if (!o) break;
        hwloc_bitmap_and(usable, o->cpuset, m->allowed);
        if (!hwloc_bitmap_iszero(usable)) p[count++] = place(m, o, usable);
    }
    hwloc_bitmap_free(usable);
    if (count > 0) qsort(p, (size_t)count, sizeof *p, in_order);
    *out = p;
    return count;
}

/* The first of all cores, allowed or not, in our order. */
static hwloc_obj_t find_first(const evn_machine *m, hwloc_obj_type_t type) {
    struct placed first = {0};
    const int n = hwloc_get_nbobjs_by_type(m->topology, type);
    for (int i = 0; i < n; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(m->topology, type, (unsigned)i);
        const struct placed p = place(m, o, o->cpuset);
        if (!first.core || in_order(&p, &first) < 0) first = p;
    }
    return first.core;
}

/* At most as many cores as the quota keeps busy: else a team would wait for a thread that is
 * stopped for a part of each period. */
static int within_quota(const evn_machine *m, int cores) {
    if (!(m->about.quota > 0) || m->about.quota >= cores) return cores;
    return m->about.quota < 1 ? 1 : (int)(m->about.quota + 1e-6);
}

static uint64_t cache_size(const evn_machine *m, hwloc_obj_t core) {
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(m->topology, HWLOC_OBJ_L3CACHE, core);
    return cache ? cache->attr->cache.size : 0;
}

/* Cores in one piece that have kind, package, NUMA node and cache in common. */
static void find_parts(evn_machine *m, const struct placed *p) {
    for (int i = 0; i < m->cores; i++) {
        const int begins = !i || p[i].kind != p[i - 1].kind || p[i].package != p[i - 1].package ||
                           p[i].node != p[i - 1].node || p[i].cache != p[i - 1].cache;
        if (begins)
            m->part[m->about.parts++] = (evn_part){.first = i,
                                                   .kind = p[i].kind,
                                                   .package = p[i].package < 0 ? 0 : p[i].package,
                                                   .threads = p[i].threads,
                                                   .cache = cache_size(m, p[i].core)};
        evn_part *part = &m->part[m->about.parts - 1];
        part->cores++;
        if (p[i].threads < part->threads) part->threads = p[i].threads;
        m->part_of[i] = m->about.parts - 1;
        m->kind[p[i].kind].cores++;
    }
}

/* The data cache of that level above a core; NULL: there is none. */
static hwloc_obj_t cache_above(hwloc_obj_t core, int level) {
    for (hwloc_obj_t o = core; o; o = o->parent)
        if (hwloc_obj_type_is_dcache(o->type) && (int)o->attr->cache.depth == level) return o;
    return NULL;
}

static void find_caches(evn_machine *m, const struct placed *p, hwloc_obj_t first) {
    for (int level = 1; level <= CACHE_LEVELS; level++) {
        hwloc_obj_t ours = m->cores ? cache_above(p->core, level) : NULL;
        hwloc_obj_t its = cache_above(first, level);
        m->cache[level - 1].size = its ? its->attr->cache.size : 0;
        for (int i = 0; ours && i < m->cores; i++)
            m->cache[level - 1].sharing += hwloc_bitmap_intersects(ours->cpuset, m->threads[i]);
    }
}

/* Takes over the first `m->cores` of the cores found. 1: there is not enough memory. */
static int take_cores(evn_machine *m, const struct placed *p) {
    for (int i = 0; i < m->cores; i++) {
        m->number[i] = p[i].number;
        if (!(m->threads[i] = hwloc_bitmap_dup(p[i].core->cpuset))) return 1;
    }
    return 0;
}

evn_status machine_find_cores(evn_machine *m) {
    hwloc_obj_type_t type = HWLOC_OBJ_CORE;
    struct placed *p = NULL;
    evn_status status = machine_read_siblings(&m->siblings);
    if (status) return status;
    /* virtual machines and odd processors may show no cores, only threads */
    if (m->siblings || hwloc_get_nbobjs_by_type(m->topology, type) <= 0) type = HWLOC_OBJ_PU;
    const int found = place_all(m, type, &p);
    const size_t room = (size_t)(found > 0 ? found : 1);
    m->threads = calloc(room, sizeof(hwloc_bitmap_t));
    m->number = calloc(room, sizeof *m->number);
    m->part_of = calloc(room, sizeof *m->part_of);
    m->part = calloc(room, sizeof *m->part);
    int failed = found < 0 || !m->threads || !m->number || !m->part_of || !m->part;
    m->cores = failed ? 0 : within_quota(m, found);
    m->about.node = hwloc_get_nbobjs_by_type(m->topology, type);
    m->about.allowed = failed ? 0 : found;
    if (!failed) failed = take_cores(m, p);
    if (!failed) find_caches(m, p, find_first(m, type));
    if (!failed) find_parts(m, p);
    free(p);
    return failed ? no_memory() : EVN_OK;
}

void machine_free_parts(evn_machine *m) {
    for (int k = 0; m->kind_set && k < m->about.kinds; k++) hwloc_bitmap_free(m->kind_set[k]);
    for (int k = 0; k < m->about.kinds; k++) free((char *)m->kind[k].name);
    for (int i = 0; m->threads && i < m->cores; i++) hwloc_bitmap_free(m->threads[i]);
    free(m->kind_set);
    free(m->kind);
    free(m->threads);
    free(m->number);
    free(m->part_of);
    free(m->part);
}

/* ---- questions ---- */

const evn_core_kind *evn_machine_kind(const evn_machine *m, int kind) {
    NEED_OR(NULL, m, "a machine");
    return kind >= 0 && kind < m->about.kinds ? &m->kind[kind] : NULL;
}
const evn_part *evn_machine_part(const evn_machine *m, int part) {
    NEED_OR(NULL, m, "a machine");
    return part >= 0 && part < m->about.parts ? &m->part[part] : NULL;
}
int evn_machine_part_of(const evn_machine *m, int core) {
    NEED_OR(-1, m, "a machine");
    return core >= 0 && core < m->cores ? m->part_of[core] : -1;
}
