/* Comparing clocks: rank 0 asks each rank of another host for the time. */
#include "trace/compare.h"
#include "cluster/cluster.h"
#include <evener/clock.h>

static double (*pretended)(int rank, double time);

void compare_pretend(double (*clock)(int rank, double time)) { pretended = clock; }

double compare_shown(const evn_cluster *c, double time) {
    return pretended ? pretended(evn_cluster_rank(c), time) : time;
}

static int is_other(const evn_cluster *c, int rank) {
    return rank && (pretended || !cluster_same_host(c, 0, rank));
}

int compare_is_needed(const evn_cluster *c) {
    int others = 0;
    for (int r = 0; r < evn_cluster_size(c); r++) others |= is_other(c, r);
    return others;
}

static evn_status ask(evn_cluster *c, int rank, struct clock_point *point) {
    struct clock_reading reading[CLOCK_READINGS];
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < CLOCK_READINGS; i++) {
        struct clock_reading *r = &reading[i];
        char word = 0;
        r->before = evn_now();
        status = evn_cluster_carry(c, 0, rank, &word, sizeof word);
        if (!status) status = evn_cluster_carry(c, rank, 0, &r->there, sizeof r->there);
        r->after = evn_now();
    }
    if (!status) *point = clock_point(CLOCK_READINGS, reading);
    return status;
}

static evn_status answer(evn_cluster *c) {
    const int me = evn_cluster_rank(c);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < CLOCK_READINGS; i++) {
        char word;
        status = evn_cluster_carry(c, 0, me, &word, sizeof word);
        double there = compare_shown(c, evn_now());
        if (!status) status = evn_cluster_carry(c, me, 0, &there, sizeof there);
    }
    return status;
}

evn_status compare_clocks(evn_cluster *c, struct clock_point *point) {
    const int me = evn_cluster_rank(c);
    if (me) return is_other(c, me) ? answer(c) : EVN_OK;
    evn_status status = EVN_OK;
    for (int r = 1; !status && r < evn_cluster_size(c); r++)
        if (is_other(c, r)) status = ask(c, r, &point[r]);
    return status;
}
