/* <evener/tdbem.h> in the library evener-tdbem: the first problem chooses the level of instructions
 * for all, as the evener command does when it starts. */
#include "common/simd/isa.h"
#include "tdbem/library/levels.h"
#include <pthread.h>

static const struct tdbem_functions *chosen;
static char why[512];

static void choose(void) {
    const int level = isa_choose(tdbem_isas, why, sizeof why);
    if (level >= 0) chosen = tdbem_levels[level];
}

/* EVN_USAGE: EVENER_ISA is wrong, or this processor has none of the levels. */
static evn_status level(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen ? EVN_OK : evn_fail(EVN_USAGE, "td-bem: %s", why);
}

tdbem_options tdbem_defaults(void) { return tdbem_levels[0]->defaults(); }

evn_status tdbem_open(tdbem **out, const tdbem_options *options) {
    if (out) *out = NULL;
    evn_status status = level();
    return status ? status : chosen->open(out, options);
}

evn_status tdbem_expect(tdbem_needs *out, const tdbem_options *options) {
    evn_status status = level();
    return status ? status : chosen->expect(out, options);
}

/* Where there is a problem a level has been chosen. */

void tdbem_close(tdbem *p) {
    if (p) chosen->close(p);
}

tdbem_mesh tdbem_surface(const tdbem *p) { return p ? chosen->surface(p) : (tdbem_mesh){0}; }

double tdbem_incident(const tdbem *p, int column, const double x[3], double t) {
    return p ? chosen->incident(p, column, x, t) : NAN;
}

const char *tdbem_warning(const tdbem *p, int i) { return p ? chosen->warning(p, i) : NULL; }

tdbem_shape tdbem_describe(const tdbem *p) { return p ? chosen->describe(p) : (tdbem_shape){0}; }

evn_status tdbem_march(tdbem *p, const tdbem_run_options *options, tdbem_outcome *outcome) {
    evn_status status = level();
    return status ? status : chosen->march(p, options, outcome);
}

void tdbem_outcome_free(tdbem_outcome *outcome) {
    if (chosen && outcome) chosen->outcome_free(outcome);
}
