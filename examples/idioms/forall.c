/* A loop over an array that lies in blocks on all ranks goes where its elements are, as UPC's
 * upc_forall does: RANKS=processes:3 ./forall, or mpirun -n 3 ./forall. */
#include <stdio.h>
#include <stdlib.h>
#ifndef BEFORE
#    include <evener/shared.h>
#endif

enum { N = 500, BLOCK = 60, STEPS = 20 };

static double smooth(double left, double here, double right) {
    return 0.25 * left + 0.5 * here + 0.25 * right;
}

#ifdef BEFORE
int main(void) {
    static double even[N], odd[N], *u = even, *v = odd;
    double largest = 0;
    for (int i = 0; i < N; i++) u[i] = i % 17;
    for (int step = 0; step < STEPS; step++) {
#    pragma omp parallel for
        for (int i = 0; i < N; i++) v[i] = smooth(u[i ? i - 1 : N - 1], u[i], u[(i + 1) % N]);
        double *other = u;
        u = v;
        v = other;
    }
#    pragma omp parallel for reduction(max : largest)
    for (int i = 0; i < N; i++) largest = u[i] > largest ? u[i] : largest;
    printf("%.15g\n", largest);
}
#else
static double *mine(evn_shared *a, int i) {
    size_t at;
    evn_shared_owner(a, i, &at);
    return (double *)((char *)evn_shared_memory(a) + at);
}

/* An element of any rank's, as of the last barrier. */
static double read(evn_shared *a, int i) {
    double value = 0;
    size_t at;
    const int owner = evn_shared_owner(a, i, &at);
    evn_shared_get(a, owner, at, &value, sizeof value);
    evn_shared_flush(a, owner);
    return value;
}

int main(void) {
    const char *wanted = getenv("RANKS");
    const evn_shared_shape shape = {.array = {.count = N, .block = BLOCK, .bytes = sizeof(double)}};
    evn_cluster *cluster = NULL;
    evn_shared *u = NULL, *v = NULL;
    double largest = 0;
    evn_status status = evn_cluster_open(&cluster, wanted ? wanted : "auto");
    if (!status) status = evn_shared_open(&u, cluster, &shape);
    if (!status) status = evn_shared_open(&v, cluster, &shape);
    if (status) return fprintf(stderr, "%s\n", evn_message()), 1;
    const int own = (int)(evn_shared_bytes(u, evn_cluster_rank(cluster)) / sizeof(double));
    for (int k = 0; k < own; k++)
        ((double *)evn_shared_memory(u))[k] = (double)(evn_shared_element(u, k) % 17);
    for (int step = 0; !status && step < STEPS; step++) {
        status = evn_shared_barrier(u);
#    pragma omp teams distribute num_teams(auto) affinity(v, i)
        for (int i = 0; i < N; i++)
            *mine(v, i) = smooth(read(u, i ? i - 1 : N - 1), *mine(u, i), read(u, (i + 1) % N));
        evn_shared *other = u;
        u = v;
        v = other;
    }
#    pragma omp teams distribute num_teams(auto) affinity(u, i) reduction(max : largest)
    for (int i = 0; i < N; i++) largest = *mine(u, i) > largest ? *mine(u, i) : largest;
    if (!status) status = evn_shared_reduce(u, EVN_MAX, &largest, 1);
    if (status) fprintf(stderr, "%s\n", evn_message());
    if (!status && !evn_cluster_rank(cluster)) printf("%.15g\n", largest);
    evn_shared_close(u);
    evn_shared_close(v);
    evn_cluster_close(cluster, status);
    return status != EVN_OK;
}
#endif
