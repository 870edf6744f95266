/* Data that ranks exchange for a workload. */
#include "common/run/ranks.h"
#include <stdlib.h>
#include <string.h>

/* Each rank's part of `wide` bytes, on all ranks; *all is to be freed. */
static evn_status share_padded(evn_cluster *cluster, const void *mine, size_t bytes, size_t wide,
                               char **all) {
    const size_t ranks = (size_t)evn_cluster_size(cluster);
    char *padded = calloc(1, wide ? wide : 1);
    *all = malloc(wide * ranks + 1);
    evn_status status = EVN_OK;
    if (!padded || !*all) status = evn_fail(EVN_MEMORY, "no memory for what %zu ranks tell", ranks);
    status = evn_cluster_agree(cluster, status);
    if (!status && bytes) memcpy(padded, mine, bytes);
    if (!status) status = evn_cluster_gather(cluster, padded, wide, *all);
    if (!status) status = evn_cluster_tell(cluster, *all, wide * ranks);
    free(padded);
    return status;
}

/* Takes the padding out of ranks' parts. */
static int compact(char *all, const int *counts, int ranks, size_t wide, size_t size) {
    size_t at = 0;
    for (int r = 0; r < ranks; r++) {
        const size_t bytes = (size_t)counts[r] * size;
        memmove(all + at, all + (size_t)r * wide, bytes);
        at += bytes;
    }
    return (int)(at / size);
}

static evn_status share(evn_cluster *cluster, const void *mine, int count, size_t size, char **all,
                        int *of_all) {
    const int ranks = evn_cluster_size(cluster);
    char *counts = NULL;
    evn_status status = share_padded(cluster, &count, sizeof count, sizeof count, &counts);
    size_t wide = 0;
    for (int r = 0; !status && r < ranks; r++) {
        const size_t bytes = (size_t)((int *)(void *)counts)[r] * size;
        if (bytes > wide) wide = bytes;
    }
    if (!status) status = share_padded(cluster, mine, (size_t)count * size, wide, all);
    if (!status) *of_all = compact(*all, (int *)(void *)counts, ranks, wide, size);
    free(counts);
    return status;
}

evn_status ranks_agreed(evn_cluster *cluster, evn_status mine) {
    return cluster ? evn_cluster_agree(cluster, mine) : mine;
}

int ranks_master(const evn_cluster *cluster, int per_node, int rank) {
    const int first = per_node ? rank / per_node * per_node : 0;
    const char *host = evn_cluster_host(cluster, rank);
    for (int r = first; r < rank; r++)
        if (!strcmp(evn_cluster_host(cluster, r), host)) return r;
    return rank;
}

evn_status ranks_share(evn_cluster *cluster, const void *mine, int count, size_t size, void **all,
                       int *of_all) {
    const size_t bytes = (size_t)count * size;
    char *memory = NULL;
    evn_status status = EVN_OK;
    *of_all = count;
    if (cluster)
        status = share(cluster, mine, count, size, &memory, of_all);
    else if (!(memory = malloc(bytes ? bytes : 1)))
        status = evn_fail(EVN_MEMORY, "no memory for %d results", count);
    else
        memcpy(memory, mine, bytes);
    if (status) {
        free(memory);
        memory = NULL;
    }
    *all = memory;
    return status;
}

evn_status ranks_on_host(evn_cluster *cluster, double mine, double *sum) {
    double *all = NULL;
    int ranks;
    *sum = mine;
    if (!cluster) return EVN_OK;
    evn_status status = ranks_share(cluster, &mine, 1, sizeof mine, (void **)&all, &ranks);
    const int me = evn_cluster_rank(cluster);
    const char *host = evn_cluster_host(cluster, me);
    for (int r = 0; !status && r < ranks; r++)
        if (r != me && !strcmp(evn_cluster_host(cluster, r), host)) *sum += all[r];
    free(all);
    return status;
}

evn_status ranks_complete(evn_cluster *cluster, void *element, int count, size_t size,
                          int (*has)(void *arg, int task), void *arg) {
    if (!cluster) return EVN_OK;
    /* each rank sends its own with their numbers before them */
    const size_t wide = sizeof(long long) + size;
    char *mine = malloc((size_t)count * wide + 1), *all = NULL;
    int own = 0, of_all = 0;
    for (int t = 0; mine && t < count; t++) {
        const long long number = t;
        if (!has(arg, t)) continue;
        char *to = mine + (size_t)own++ * wide;
        memcpy(to, &number, sizeof number);
        memcpy(to + sizeof number, (char *)element + (size_t)t * size, size);
    }
    evn_status status = mine ? EVN_OK : evn_fail(EVN_MEMORY, "no memory for %d tasks", count);
    status = evn_cluster_agree(cluster, status);
    if (!status) status = ranks_share(cluster, mine, own, wide, (void **)&all, &of_all);
    for (int i = 0; !status && i < of_all; i++) {
        long long number;
        const char *from = all + (size_t)i * wide;
        memcpy(&number, from, sizeof number);
        memcpy((char *)element + (size_t)number * size, from + sizeof number, size);
    }
    free(mine);
    free(all);
    return status;
}

evn_status ranks_room(evn_cluster *cluster, const evn_units *units, double needed, const char *who,
                      const char *what, const char *instead) {
    evn_status status = ranks_on_host(cluster, needed, &needed);
    if (status) return status;
    const double there = (double)evn_machine_memory_available(evn_units_about(units).machine);
    if (there <= 0 || needed <= there) return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "%s needs %.4g GB of memory%s and %.4g GB are available; choose a smaller %s",
                    who, needed * 1e-9, what, there * 1e-9, instead);
}
