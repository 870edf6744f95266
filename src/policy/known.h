/* A problem in seconds, as times have told how long its unit of time is. */
#pragma once

#include "policy/learn.h"

struct known {
    evn_problem p;
    evn_route *routes; /* near, then far */
};

/* The problem's bandwidth and routes in seconds; weights and speeds stay the problem's. 1: not
 * enough memory; close it in any case. */
int known_open(struct known *k, const evn_problem *problem, const struct learn *l);
void known_close(struct known *k);
