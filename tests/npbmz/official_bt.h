/* BT-MZ's norms after all steps of classes S and W, NAS-03-010's figures. */
#ifndef TEST_OFFICIAL_BT_H
#define TEST_OFFICIAL_BT_H

#include "check.h"
#include "plain.h"

#include <math.h>

static const struct official_bt {
    char class_;
    int steps;
    double residual[NC], error[NC];
} official_bt[] = {
    {'S',
     60,
     {0.1047687395830e+04, 0.9419911314792e+02, 0.2124737403068e+03, 0.1422173591794e+03,
      0.1135441572375e+04},
     {0.1775416062982e+03, 0.1875540250835e+02, 0.3863334844506e+02, 0.2634713890362e+02,
      0.1965566269675e+03}},
    {'W',
     200,
     {0.5562611195402e+05, 0.5151404119932e+04, 0.1080453907954e+05, 0.6576058591929e+04,
      0.4528609293561e+05},
     {0.7185154786403e+04, 0.7040472738068e+03, 0.1437035074443e+04, 0.8570666307849e+03,
      0.5991235147368e+04}},
};

/* The mesh has these norms, by plain.c. */
static inline void assert_official_bt(const struct plain *q, const struct official_bt *o) {
    double r[NC], e[NC];
    plain_residual_norm(q, r);
    plain_error_norm(q, e);
    for (int c = 0; c < NC; c++)
        if (!(fabs(r[c] / o->residual[c] - 1) <= 1e-11 && fabs(e[c] / o->error[c] - 1) <= 1e-11))
            fail_msg("class %c, component %d: %.13e and %.13e, not %.13e and %.13e", o->class_,
                     c + 1, r[c], e[c], o->residual[c], o->error[c]);
}

#endif
