/* Which chunks a rank has, which it needs, and the exchange of both. */
#include "tdbem/solve/solve_ranks.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = SOLVE_CHUNK };

static int first_chunk(const struct solve_ranks *r, int rank) {
    return evn_crew_begin(r->chunks, rank, r->count);
}

static int rank_of(const struct solve_ranks *r, int chunk) {
    int rank = evn_crew_begin(r->count, chunk, r->chunks);
    while (first_chunk(r, rank + 1) <= chunk) rank++;
    return rank;
}

/* Chunks that a chunk meets are marked, and the ranks that have them. */
static void see(const struct solve_ranks *r, const struct solve_matrix *m, int chunk, char *met,
                char *by) {
    const size_t *begin = m->begin + (size_t)chunk * (CHUNK / SOLVE_STRIP);
    for (size_t e = *begin * SOLVE_STRIP; e < begin[CHUNK / SOLVE_STRIP] * SOLVE_STRIP; e++) {
        const int other = m->column[e] / CHUNK;
        if (other >= r->begin && other < r->end) continue;
        met[other] = 1;
        by[rank_of(r, other)] = 1;
    }
}

/* The halo; and since M_0 is symmetric, a chunk is in the halos of the ranks whose chunks it meets.
 * `met`: [chunks], `by`: [own chunks * ranks]; zeros. */
static void find_halos(struct solve_ranks *r, const struct solve_matrix *m, char *met, char *by) {
    int goes = 0;
    for (int c = r->begin; c < r->end; c++) see(r, m, c, met, by + (c - r->begin) * r->count);
    for (int rank = 0; rank < r->count; rank++) {
        r->halo_of[rank] = r->halos;
        r->goes_of[rank] = goes;
        for (int c = first_chunk(r, rank); c < first_chunk(r, rank + 1); c++)
            if (met[c]) r->halo[r->halos++] = c;
        for (int c = r->begin; c < r->end; c++)
            if (by[(c - r->begin) * r->count + rank]) r->goes[goes++] = c;
    }
    r->halo_of[r->count] = r->halos;
    r->goes_of[r->count] = goes;
}

/* Doubles of a message: sums of `chunks` chunks, and `halo` whole ones. */
static size_t message(int chunks, int halo) { return (size_t)(2 * chunks + halo * CHUNK); }

static void lay_out(struct solve_ranks *r) {
    double *out = r->sent, *in = r->come;
    for (int i = 0; i < r->count; i++) {
        const int theirs = first_chunk(r, i + 1) - first_chunk(r, i);
        const size_t goes = message(r->end - r->begin, r->goes_of[i + 1] - r->goes_of[i]);
        const size_t comes = message(theirs, r->halo_of[i + 1] - r->halo_of[i]);
        if (i == r->me) continue;
        r->out[i] = (evn_parcel){out, goes * sizeof *out};
        r->in[i] = (evn_parcel){in, comes * sizeof *in};
        out += goes;
        in += comes;
    }
}

/* Room for lists, which are of `chunks` at most, and messages. */
static int make_room(struct solve_ranks *r, const struct solve_matrix *m) {
    const size_t ranks = (size_t)r->count, own = (size_t)(r->end - r->begin);
    const size_t chunks = (size_t)m->chunks;
    char *met = calloc(chunks, 1), *by = calloc(own * ranks, 1);
    r->halo = calloc(chunks, sizeof *r->halo);
    r->goes = calloc(own * ranks, sizeof *r->goes);
    r->halo_of = calloc(ranks + 1, sizeof *r->halo_of);
    r->goes_of = calloc(ranks + 1, sizeof *r->goes_of);
    r->out = calloc(ranks, sizeof *r->out);
    r->in = calloc(ranks, sizeof *r->in);
    r->whole = calloc(ranks, sizeof *r->whole);
    r->part = calloc(ranks, sizeof *r->part);
    int ok = met && by && r->halo && r->goes && r->halo_of && r->goes_of && r->out && r->in &&
             r->whole && r->part;
    if (ok) {
        find_halos(r, m, met, by);
        r->sent = calloc(ranks * message((int)own, 0) + message(0, r->goes_of[r->count]),
                         sizeof *r->sent);
        r->come = calloc(message(m->chunks, r->halos), sizeof *r->come);
        ok = r->sent && r->come;
    }
    free(met);
    free(by);
    return ok;
}

evn_status solve_ranks_open(struct solve_ranks **out, const struct solve_matrix *m,
                            evn_cluster *cluster) {
    struct solve_ranks *r = *out = calloc(1, sizeof *r);
    if (r) {
        r->cluster = cluster;
        r->me = evn_cluster_rank(cluster);
        r->count = evn_cluster_size(cluster);
        r->n = m->n;
        r->chunks = m->chunks;
        r->begin = first_chunk(r, r->me);
        r->end = first_chunk(r, r->me + 1);
    }
    if (r && make_room(r, m)) {
        lay_out(r);
        return EVN_OK;
    }
    solve_ranks_close(r);
    *out = NULL;
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for M_0");
}

void solve_ranks_close(struct solve_ranks *r) {
    if (!r) return;
    void *all[] = {r->halo, r->goes, r->halo_of, r->goes_of, r->sent,
                   r->come, r->out,  r->in,      r->whole,   r->part};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(r);
}

/* Copies `count` numbers to a message, or from one, and returns what is behind them there. */
static double *put(double *message, const double *from, int count) {
    memcpy(message, from, sizeof *from * (size_t)count);
    return message + count;
}
static const double *take(const double *message, double *to, int count) {
    memcpy(to, message, sizeof *to * (size_t)count);
    return message + count;
}

evn_status solve_ranks_meet(struct solve_ranks *r, double *x, double *one, double *two) {
    const int own = r->end - r->begin;
    for (int i = 0; i < r->count; i++) {
        if (i == r->me) continue;
        double *to = put(put(r->out[i].data, one + r->begin, own), two + r->begin, own);
        for (int k = r->goes_of[i]; k < r->goes_of[i + 1]; k++)
            to = put(to, x + (size_t)r->goes[k] * CHUNK, CHUNK);
    }
    const evn_status status = evn_cluster_exchange(r->cluster, EVN_OK, r->out, r->in);
    for (int i = 0; !status && i < r->count; i++) {
        const int first = first_chunk(r, i), count = first_chunk(r, i + 1) - first;
        if (i == r->me) continue;
        const double *from = take(take(r->in[i].data, one + first, count), two + first, count);
        for (int k = r->halo_of[i]; k < r->halo_of[i + 1]; k++)
            from = take(from, x + (size_t)r->halo[k] * CHUNK, CHUNK);
    }
    return status;
}

evn_status solve_ranks_spread(struct solve_ranks *r, double *a) {
    for (int i = 0; i < r->count; i++) {
        const int from = first_chunk(r, i) * CHUNK;
        const int to = first_chunk(r, i + 1) * CHUNK;
        r->part[i] = (evn_parcel){a + from, sizeof *a * (size_t)((to < r->n ? to : r->n) - from)};
    }
    for (int i = 0; i < r->count; i++) r->whole[i] = r->part[r->me];
    return evn_cluster_exchange(r->cluster, EVN_OK, r->whole, r->part);
}
