/* The late field: what is left when the pulse is long past must decay.
 *
 * The largest |a| of each half transit, the time that a wave takes along the body, is known for the
 * last four of them. */
#include "tdbem/march/march.h"
#include <math.h>

/* The first step of the late field, and the steps of half a transit. */
static int late(const struct march *m, int *half) {
    const tdbem_shape *s = &m->p->shape;
    const struct incident *in = m->incident;
    const double past = in->pulse.t0 + in->last + pulse_tail(&in->pulse);
    *half = (int)fmin(fmax(ceil(0.5 * m->p->mesh->longest / s->delta), 1), 1e9);
    return (int)fmin(fmax(ceil(past / in->dt), 0), 1e9) + 1;
}

void decay_see(struct march *m, int n, double max) {
    int half;
    const int first = late(m, &half);
    double *latest = m->seen.latest;
    if (n < first) return;
    if ((n - first) % half == 0) {
        for (int i = LATEST - 1; i > 0; i--) latest[i] = latest[i - 1];
        latest[0] = 0;
    }
    latest[0] = fmax(latest[0], max);
}

double decay_latest(const struct march *m) {
    int half;
    const int first = late(m, &half);
    if (m->steps < first + (LATEST - 1) * (double)half) return NAN;
    return fmax(m->seen.latest[0], m->seen.latest[1]);
}

evn_status decay_check(const struct march *m) {
    const char *name = columns_name(m), *colon = *name ? ": " : "";
    const double most = m->seen.max, last = decay_latest(m);
    const double before = fmax(m->seen.latest[2], m->seen.latest[3]);
    if (isnan(last)) return EVN_OK;
    if (last > most)
        return evn_fail(EVN_BODY,
                        "td-bem: %s%sthe solution grows: %.3g while the pulse was there, %.3g long "
                        "after it and %.3g at the end; the march is unstable, expected another "
                        "step than --delta %.4g, or a finer mesh where walls are thin",
                        name, colon, most, before, last, m->p->shape.delta);
    if (last > 1.01 * before && last > 1e-5 * most)
        tdbem_warn(m->p,
                   "late field: %s%sit grows from %.2g to %.2g of the largest |a| in the last two "
                   "transits of the body, though the pulse is past: the march may be unstable",
                   name, colon, before / most, last / most);
    else if (last > 1e-2 * most)
        tdbem_warn(
            m->p,
            "late field: %s%sit has not decayed, %.2g of the largest |a| is left in the last "
            "transit of the body: spectra lack what follows, which more than %d steps show",
            name, colon, last / most, m->steps);
    return EVN_OK;
}
