/* bench wire: times of messages between ranks by size: half a ping-pong, in place and copied in and
 * out, beside the two copies alone; a flood in one direction; a barrier by the number of ranks; an
 * agreement. */
#include "bench/bench.h"
#include "bench/pair.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include <evener/cluster.h>
#include <string.h>

enum { TAG = 32001 };

static evn_status copy(struct pair *p, int way, size_t bytes) {
    (void)way;
    for (int i = 0; !p->rank && i < pair_times(bytes); i++) {
        memcpy(p->there, p->here, bytes);
        __asm__ volatile("" : : "r"(p->there) : "memory");
        memcpy(p->here, p->there, bytes);
        __asm__ volatile("" : : "r"(p->here) : "memory");
    }
    return EVN_OK;
}

enum { IN_PLACE, COPIED, FLOOD, COPIES, TIMED };
static const struct pair_timed timed[TIMED] = {{"in_place_s", pair_ping_pong, 0, 2},
                                               {"copied_s", pair_ping_pong, 1, 2},
                                               {"flood_s", pair_flood, 0, 1},
                                               {"copies_s", copy, 0, 1}};

static void print_row(FILE *page, size_t bytes, const double *s) {
    fprintf(page, "  %10zu %12.2f %12.2f %12.2f %12.2f %12.3f\n", bytes, 1e6 * s[IN_PLACE],
            1e6 * s[COPIED], s[COPIED] / s[IN_PLACE], s[COPIED] / s[COPIES],
            1e-9 * (double)bytes / s[FLOOD]);
}

static evn_status two_ranks(struct pair *p, cJSON *sizes) {
    evn_status status = EVN_OK;
    if (p->page)
        fprintf(p->page, "\n  %10s %12s %12s %12s %12s %12s\n  %10s %12s %12s %12s %12s %12s\n",
                "bytes", "in place, us", "copied, us", "copied over", "copied over", "flood, GB/s",
                "", "", "", "in place", "two copies", "");
    for (size_t bytes = 8; !status && bytes <= p->max; bytes = pair_next_size(bytes, p->max)) {
        double seconds[TIMED];
        status = pair_measure(p, timed, TIMED, bytes, seconds);
        if (status || p->rank) continue;
        pair_record(sizes, timed, TIMED, bytes, seconds);
        if (p->page) print_row(p->page, bytes, seconds);
    }
    return status;
}

enum { HOPS = 10 };

/* Of the first `ranks`: in hop h each rank hears from the one 2^h before, directly or not from
 * twice as many as in the one before (Hensgen, Finkel and Manber, "Two algorithms for barrier
 * synchronization", 1988). */
static evn_status barrier(struct pair_ends *hop, int hops) {
    evn_status status = EVN_OK;
    for (int h = 0; !status && h < hops; h++) {
        status = pair_send(&hop[h], NULL, 0);
        if (!status) status = pair_receive(&hop[h], NULL);
    }
    return status;
}

static evn_status time_barrier(struct pair *p, int ranks, double *seconds) {
    struct pair_ends hop[HOPS] = {{0}};
    double sample[PAIR_SAMPLES_MAX];
    int hops = 0;
    evn_status status = EVN_OK;
    for (int step = 1; !status && step < ranks; step *= 2, hops++)
        status = pair_ends_open(&hop[hops], p->cluster, (p->rank + step) % ranks,
                                (p->rank + ranks - step) % ranks, TAG + hops, 0);
    for (int i = -1; !status && i < p->repeat; i++) {
        const double begin = evn_now();
        for (int k = 0; !status && k < 100; k++) status = barrier(hop, hops);
        if (i >= 0) sample[i] = (evn_now() - begin) / 100;
    }
    for (int h = 0; h < hops; h++) pair_ends_close(&hop[h]);
    if (!status) *seconds = median(sample, p->repeat);
    return status;
}

/* In factors of two, and all. */
static int next_ranks(int ranks, int size) {
    return ranks * 2 < size || ranks == size ? ranks * 2 : size;
}

static evn_status barriers(struct pair *p) {
    const int size = evn_cluster_size(p->cluster);
    double two = 0;
    evn_status agreed = EVN_OK;
    if (p->page) fprintf(p->page, "\n  %10s %12s %12s\n", "ranks", "barrier, us", "over two");
    for (int ranks = 2; !agreed && ranks <= size; ranks = next_ranks(ranks, size)) {
        double seconds = 0;
        evn_status status = p->rank < ranks ? time_barrier(p, ranks, &seconds) : EVN_OK;
        agreed = evn_cluster_agree(p->cluster, status);
        if (ranks == 2) two = seconds;
        if (!agreed && p->page)
            fprintf(p->page, "  %10d %12.2f %12.2f\n", ranks, 1e6 * seconds, seconds / two);
    }
    return agreed;
}

/* Least cost of a loop's end: all statuses become one, up and down the control tree. */
static evn_status agreement(struct pair *p) {
    double sample[PAIR_SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = -1; !status && i < p->repeat; i++) {
        const double begin = evn_now();
        for (int k = 0; !status && k < 100; k++) status = evn_cluster_agree(p->cluster, EVN_OK);
        if (i >= 0) sample[i] = (evn_now() - begin) / 100;
    }
    if (!status && p->page)
        fprintf(p->page, "\n  agreement of all %d: %.2f us\n", evn_cluster_size(p->cluster),
                1e6 * median(sample, p->repeat));
    return status;
}

static evn_status study(struct pair *p) {
    cJSON *sizes = cJSON_AddArrayToObject(p->record, "sizes");
    evn_status status = p->rank < 2 ? two_ranks(p, sizes) : EVN_OK;
    status = evn_cluster_agree(p->cluster, status);
    if (!status) status = barriers(p);
    return status ? status : agreement(p);
}

int bench_wire(int argc, char **argv) {
    const struct pair_study wire = {"bench wire",
                                    "usage: evener bench wire [options]\n"
                                    "\n"
                                    "Times of messages between ranks, and of barriers.",
                                    NULL, NULL, study};
    return pair_command(&wire, argc, argv);
}
