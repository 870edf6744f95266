/* Iterations run where their elements are, and nowhere else: with several loops, weights, keys and
 * a reduction, whose parts are put together over ranks. 0 on each rank where that is so. */
#include <evener/shared.h>
#include <stdio.h>
#include <stdlib.h>

enum { I = 9, J = 11, INSTANCES = 4 };

static int missed(const evn_shared *a, const int *ran, int times) {
    int wrong = 0;
    for (int i = 0; i < I * J; i++) wrong += ran[i] != (evn_shared_is_here(a, i) == 1 ? times : 0);
    return wrong;
}

int main(void) {
    evn_cluster *cluster = NULL;
    evn_shared *a = NULL;
    static int both[I * J], down[I * J];
    double sum = 0, expected = 0;
    evn_status status = evn_cluster_open(&cluster, getenv("RANKS"));
    if (!status)
        status = evn_shared_open(&a, cluster, &(evn_shared_shape){.array = {I * J, 7, 16}});
    if (status) return fprintf(stderr, "%s\n", evn_message()), 1;
    for (int instance = 0; instance < INSTANCES; instance++) {
#pragma omp teams distribute collapse(2) num_teams(auto) affinity(a, (long)J *i + j) weight(1 + j)  \
    reduction(+ : sum)
        for (int i = 0; i < I; i++)
            for (unsigned char j = 0; j < J; j++) {
                both[i * J + j]++;
                sum += i * j;
            }
#pragma omp teams distribute num_teams(auto) affinity(a, k) key(1000 - k) dist_schedule(map)
        for (int k = I * J - 1; k >= 0; k -= 1) down[k]++;
    }
    for (int i = 0; i < I * J; i++) expected += INSTANCES * (i / J) * (i % J);
    status = evn_shared_reduce(a, EVN_SUM, &sum, 1);
    const int wrong = missed(a, both, INSTANCES) + missed(a, down, INSTANCES);
    if (wrong || sum != expected)
        fprintf(stderr, "rank %d: %d iterations are wrong, and the sum is %g for %g\n",
                evn_cluster_rank(cluster), wrong, sum, expected);
    if (getenv("BEYOND")) {
#pragma omp teams distribute num_teams(auto) affinity(a, k)
        for (int k = 0; k <= I * J; k++) down[k % (I * J)]++;
    }
    evn_shared_close(a);
    status = evn_cluster_agree(cluster, status || wrong || sum != expected ? EVN_BODY : EVN_OK);
    evn_cluster_close(cluster, status);
    return status != EVN_OK;
}
