/* The functions of <evener/tdbem.h> as each level of instructions has them (cmake/levels.cmake). */
#pragma once

#include <evener/tdbem.h>

struct tdbem_functions {
    tdbem_options (*defaults)(void);
    evn_status (*open)(tdbem **out, const tdbem_options *options);
    void (*close)(tdbem *problem);
    tdbem_mesh (*surface)(const tdbem *problem);
    double (*incident)(const tdbem *problem, int column, const double x[3], double t);
    const char *(*warning)(const tdbem *problem, int i);
    tdbem_shape (*describe)(const tdbem *problem);
    evn_status (*expect)(tdbem_needs *out, const tdbem_options *options);
    evn_status (*march)(tdbem *problem, const tdbem_run_options *options, tdbem_outcome *outcome);
    void (*outcome_free)(tdbem_outcome *outcome);
};
