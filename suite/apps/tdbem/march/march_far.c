/* Who computes the far field. */
#include "tdbem/march/march_far.h"
#include "tdbem/fast/far_gpu.h"
#include <stdio.h>

static evn_status open_on(struct march *m, evn_device *device) {
    const evn_traits *t = evn_device_traits(device);
    const double bytes = far_gpu_bytes(m->p->far, m->p->columns);
    const double needs = bytes + (double)evn_device_counts(device, NULL).used;
    if (2 * needs > (double)t->memory)
        return evn_fail(EVN_MEMORY, "%.60s has %.3f MB of memory, and %.3f MB would do", t->name,
                        (double)t->memory * 1e-6, 2 * needs * 1e-6);
    return far_gpu_open(&m->far_gpu, m->p->far, device, m->p->columns);
}

evn_status march_far_open(struct march *m) {
    evn_device *device = solver_first_device(m->units);
    char *reason = m->r->far_reason;
    const size_t size = sizeof m->r->far_reason;
    if (!m->far) return EVN_OK;
    snprintf(reason, size, "cores: the units have no device");
    if (!device) return EVN_OK;
    const evn_status status = open_on(m, device);
    if (status == EVN_MEMORY)
        snprintf(reason, size, "cores: %.140s", evn_message());
    else
        snprintf(reason, size, "device: %.60s", evn_device_traits(device)->name);
    return status == EVN_MEMORY ? EVN_OK : status; /* the host can do it, too */
}

void march_far_close(struct march *m) {
    far_gpu_close(m->far_gpu);
    m->far_gpu = NULL;
}

evn_status march_far_take(struct march *m) {
    evn_status status = EVN_OK;
    for (int i = 0; m->far_gpu && !status && i < m->p->columns; i++)
        status = far_gpu_take(m->far_gpu, i, columns_of(m, i)->far);
    return status;
}

evn_status march_far_home(struct march *m) {
    evn_status status = EVN_OK;
    for (int i = 0; m->far_gpu && !status && i < m->p->columns; i++)
        status = far_gpu_home(m->far_gpu, i);
    if (!m->ranks || !m->far) return status;
    status = evn_cluster_agree(m->p->cluster, status);
    for (int i = 0; !status && i < m->p->columns; i++)
        status = far_gather(m->p->far, columns_of(m, i)->far, m->p->cluster);
    return status;
}

evn_status march_far_begin(struct march *m, int n) {
    if (m->far_gpu) return far_gpu_begin(m->far_gpu, m->column, n);
    if (m->far) far_begin(m->p->far, m->far, n, m->crew);
    return EVN_OK;
}

evn_status march_far_note(struct march *m, int n, const double *a) {
    if (m->far_gpu) return far_gpu_note(m->far_gpu, m->column, n, a);
    if (m->far) far_note(m->p->far, m->far, n, a, m->crew);
    return EVN_OK;
}
