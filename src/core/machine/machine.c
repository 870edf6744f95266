/* The machine as hwloc and the kernel describe it, reduced to the part that this process may
 * use. */
#include <evener/status.h>
#include <evener/machine.h>
#include "machine/cores.h"
#include "base/argument.h"
#include "base/bind.h"
#include "base/claim.h"
#include "base/cpus.h"
#include "base/ticks.h"
#include "machine/inside.h"
#include "machine/memory.h"
#include "machine/quota.h"
#include "machine/topology.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The processors this process may run on. OMP_PROC_BIND binds the initial thread to one place
 * before main() begins, so where places exist their union is the answer, not the thread's own mask.
 */
static hwloc_cpuset_t allowed_here(void) {
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    if (!set) return NULL;
    int places = omp_get_num_places();
    for (int p = 0; p < places; p++) {
        int n = omp_get_place_num_procs(p);
        int *id = malloc(sizeof *id * (size_t)(n > 0 ? n : 1));
        if (!id) break;
        omp_get_place_proc_ids(p, id);
        for (int i = 0; i < n; i++) hwloc_bitmap_set(set, (unsigned)id[i]);
        free(id);
    }
    if (hwloc_bitmap_iszero(set)) {
        struct cpus mask;
        if (cpus_get(&mask)) hwloc_bitmap_fill(set); /* mask not known: hwloc decides */
        for (unsigned i = 0; i < CPUS_MAX / CPUS_WORD; i++)
            if (mask.word[i]) hwloc_bitmap_set_ith_ulong(set, i, mask.word[i]);
    }
    return set;
}

/* Reads one number from a small file; 0 if there is no file or no number in it ("max"). */
static uint64_t read_number(const char *path, const char *key) {
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    char line[256];
    uint64_t value = 0;
    while (fgets(line, sizeof line, f)) {
        if (key && strncmp(line, key, strlen(key)) != 0) continue;
        value = strtoull(line + (key ? strlen(key) : 0), NULL, 10);
        break;
    }
    fclose(f);
    return value;
}

/* Makes a set of the numbers in `cores`. */
static evn_status set_of(hwloc_cpuset_t *out, hwloc_topology_t topology, const int *cores,
                         int count) {
    hwloc_const_cpuset_t here = hwloc_topology_get_topology_cpuset(topology);
    if (count < 1)
        return evn_fail(EVN_USAGE, "machine: a share of %d cores, expected 1 or more", count);
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    for (int i = 0; set && i < count; i++) {
        if (cores[i] < 0 || !hwloc_bitmap_isset(here, (unsigned)cores[i])) {
            char list[200];
            hwloc_bitmap_list_snprintf(list, sizeof list, here);
            hwloc_bitmap_free(set);
            return evn_fail(EVN_USAGE, "machine: there is no core %d on this node, expected %s",
                            cores[i], list);
        }
        hwloc_bitmap_set(set, (unsigned)cores[i]);
    }
    *out = set;
    return EVN_OK;
}

/* Sources of this process's cores. */
enum which { OURS, WITHIN, WHOLE };

static evn_status choose_cores(evn_machine *m, enum which which, const int *cores, int count) {
    evn_status status = EVN_OK;
    if (which == OURS)
        m->allowed = allowed_here();
    else if (which == WITHIN)
        status = set_of(&m->allowed, m->topology, cores, count);
    else
        m->allowed = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(m->topology));
    if (status) return status;
    if (!m->allowed) return evn_fail(EVN_MEMORY, "machine: not enough memory for its description");
    status = machine_find_kinds(m);
    if (!status) status = machine_find_cores(m);
    if (status) return status;
    if (which == OURS) machine_find_reason(m);
    if (m->cores == 0)
        return evn_fail(EVN_SYSTEM, "machine: no core of it may be used by this process; look at "
                                    "taskset, OMP_PLACES and the batch system's cpuset");
    return EVN_OK;
}

static int at_least_one(int n) { return n > 0 ? n : 1; }

/* Memory, processor and numbers of what the node has. */
static void describe(evn_machine *m) {
    hwloc_obj_t root = hwloc_get_root_obj(m->topology);
    /* hwloc adds up NUMA nodes as the firmware describes them, which virtual machines do wrongly */
    uint64_t kernel = !m->about.here ? 0 : read_number("/proc/meminfo", "MemTotal:") * 1024;
    m->about.memory = kernel ? kernel : root->total_memory;
    m->about.packages = at_least_one(hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_PACKAGE));
    m->about.numa_nodes = at_least_one(hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_NUMANODE));
    hwloc_obj_t package = hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    snprintf(m->processor, sizeof m->processor, "%s",
             name ? name : (m->about.here ? "unknown processor" : "synthetic processor"));
    m->about.processor = m->processor;
}

static evn_status open_with(evn_machine **out, const char *synthetic, enum which which,
                            const int *cores, int count) {
    *out = NULL;
    ticks_begin();
    evn_machine *m = calloc(1, sizeof *m);
    if (!m) return evn_fail(EVN_MEMORY, "machine: not enough memory for its description");
    m->holders = 1;
    evn_status status = topology_read(m, synthetic, which != OURS);
    if (!m->about.here && which == OURS) which = WHOLE;
    if (which == OURS) m->about.quota = quota_processors("");
    if (!status) status = choose_cores(m, which, cores, count);
    if (status) {
        evn_machine_close(m);
        return status;
    }
    describe(m);
    hwloc_topology_destroy(m->topology);
    m->topology = NULL;
    *out = m;
    return EVN_OK;
}

/* This node as it was read last, held for openings that would read the same. */
static _Atomic(evn_machine *) read_last;

/* 1: the node, read anew, would be the same. Where the process has fewer cores than the node the
 * reason may have changed. */
static int is_still(const evn_machine *m) {
    int siblings;
    if (*m->reason || !topology_is_usual() || machine_read_siblings(&siblings)) return 0;
    hwloc_cpuset_t allowed = allowed_here();
    const int same = allowed && hwloc_bitmap_isequal(allowed, m->allowed) &&
                     siblings == m->siblings && quota_processors("") == m->about.quota;
    hwloc_bitmap_free(allowed);
    return same;
}

evn_status evn_machine_open(evn_machine **out) {
    NEED_OUT(out);
    evn_machine *m = atomic_exchange(&read_last, NULL); /* no other thread closes it meanwhile */
    evn_status status = EVN_OK;
    *out = m;
    if (!m || !is_still(m)) {
        evn_machine_close(m);
        status = open_with(out, NULL, OURS, NULL, 0);
    }
    if (*out && topology_is_usual()) {
        atomic_fetch_add(&(*out)->holders, 1);
        evn_machine_close(atomic_exchange(&read_last, *out));
    }
    return status;
}

evn_status evn_machine_open_within(evn_machine **out, const int *cores, int count) {
    NEED_OUT(out);
    return open_with(out, NULL, cores ? WITHIN : WHOLE, cores, count);
}

evn_status evn_machine_open_synthetic(evn_machine **out, const char *description) {
    NEED_OUT(out);
    NEED(description, "a description, as \"package:2 core:8 pu:1\"");
    return open_with(out, description, WHOLE, NULL, 0);
}

void evn_machine_close(evn_machine *m) {
    if (!m || atomic_fetch_sub(&m->holders, 1) > 1) return;
    machine_free_parts(m);
    hwloc_bitmap_free(m->allowed);
    if (m->topology) hwloc_topology_destroy(m->topology);
    free(m);
}

int evn_machine_cores(const evn_machine *m) {
    NEED_OR(0, m, "a machine");
    return m->cores;
}
int evn_machine_core_number(const evn_machine *m, int core) {
    NEED_OR(-1, m, "a machine");
    return core >= 0 && core < m->cores ? m->number[core] : -1;
}
int machine_core_of(const evn_machine *m, int number) {
    for (int i = 0; number >= 0 && i < m->cores; i++)
        if (hwloc_bitmap_isset(m->threads[i], (unsigned)number)) return i;
    return -1;
}
int evn_machine_core_claimed(const evn_machine *m, int core) {
    NEED_OR(0, m, "a machine");
    if (!m->about.here || core < 0 || core >= m->cores) return 0;
    int claimed = 0, thread;
    hwloc_bitmap_foreach_begin(thread, m->threads[core]) { claimed |= claim_is_taken(thread); }
    hwloc_bitmap_foreach_end();
    return claimed;
}
evn_machine_info evn_machine_about(const evn_machine *m) {
    NEED_OR((evn_machine_info){0}, m, "a machine");
    return m->about;
}
const char *machine_reason(const evn_machine *m) { return m->reason; }

evn_status evn_machine_keep_to(const evn_machine *m) {
    NEED(m, "a machine");
    if (!m->about.here) return evn_fail(EVN_USAGE, "machine: %s", m->reason);
    if (bind_never()) return EVN_OK;
    struct cpus set = {0};
    for (int i = 0; i < m->cores; i++) cpus_add(&set, m->number[i]);
    const int error = cpus_set(0, &set);
    if (!error) return EVN_OK;
    return evn_fail(EVN_SYSTEM, "machine: a thread cannot be bound to %d cores: %s", m->cores,
                    strerror(error));
}

uint64_t evn_machine_memory_available(const evn_machine *m) {
    return !m || m->about.here ? memory_available("") : m->about.memory;
}

uint64_t evn_machine_cache(const evn_machine *m, int level, int *sharing) {
    if (sharing) *sharing = 0;
    NEED_OR(0, m, "a machine");
    if (level < 1 || level > CACHE_LEVELS) return 0;
    if (sharing) *sharing = m->cache[level - 1].sharing;
    return m->cache[level - 1].size;
}
