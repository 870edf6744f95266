/* A problem in seconds. */
#include "policy/known.h"
#include <stdlib.h>
#include <string.h>

int known_open(struct known *k, const evn_problem *problem, const struct learn *l) {
    const double unit = learn_time_unit(l);
    const size_t n = problem->kinds ? (size_t)problem->kinds * (size_t)problem->kinds : 1;
    *k = (struct known){.p = *problem};
    k->p.bandwidth /= unit;
    if (!k->p.route && !k->p.far) return 0;
    k->routes = malloc(2 * n * sizeof *k->routes);
    if (!k->routes) return 1;
    if (k->p.route) k->p.route = memcpy(k->routes, k->p.route, n * sizeof *k->routes);
    if (k->p.far) k->p.far = memcpy(k->routes + n, k->p.far, n * sizeof *k->routes);
    for (size_t i = k->p.route ? 0 : n; i < (k->p.far ? 2 * n : n); i++)
        for (int h = 0; h < 2; h++) {
            k->routes[i].latency[h] *= unit;
            k->routes[i].per_byte[h] *= unit;
        }
    return 0;
}

void known_close(struct known *k) { free(k->routes); }
