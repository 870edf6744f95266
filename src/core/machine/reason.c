/* The reason why a process may use fewer cores than its node has. */
#include "machine/inside.h"
#include "base/launched.h"
#include <omp.h>
#include <unistd.h>

/* OpenMP's places are those that OMP_PLACES lists, or of the mask that the process began with. */
static const char *name_mask(void) {
    return omp_get_num_places() ? "OMP_PLACES, or its affinity mask," : "its affinity mask";
}

void machine_find_reason(evn_machine *m) {
    const evn_machine_info *l = &m->about;
    const char *launcher = launched_binding(), *and = *launcher ? ", and " : "";
    const int shown = hwloc_bitmap_weight(hwloc_topology_get_topology_cpuset(m->topology));
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (m->cores < l->allowed)
        snprintf(m->reason, sizeof m->reason, "a quota of %.4g processors leaves it %d of %d cores",
                 l->quota, m->cores, l->allowed);
    else if (l->allowed < l->node)
        snprintf(m->reason, sizeof m->reason, "%s leaves it %d of %d cores%s%s", name_mask(),
                 l->allowed, l->node, and, launcher);
    else if (shown < online)
        snprintf(m->reason, sizeof m->reason, "%s leaves it %d of %ld processors%s%s",
                 m->described ? m->described : "the cpuset of its control group", shown, online,
                 and, launcher);
}
