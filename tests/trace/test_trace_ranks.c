/* Traces over ranks: each unit's tasks, and both ends of each message that was sent, by rank 0's
 * clock also where the others have clocks of their own; what happens where not all could be kept.
 * Files of such traces are command-traces'. Run: ctest -R trace-ranks */
#include "check.h"
#include "loop/grid.h"
#include "trace/clocks.h"
#include "trace/compare.h"
#include "trace/gathered.h"
#include "cluster/cluster.h"
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BURSTS = 4096, MESSAGES = 4096, STEPS = 7, RANKS = 3, UNITS = 6, OFFSET = 1000 };
static const char *const LISTS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1"};

/* ---- clocks -------------------------------------------------------------------------------- */

/* The best of several readings, whose middle is taken. */
TEST(point) {
    static const struct clock_reading reading[] = {
        {10, 107, 14}, {20, 118, 20.5}, {30, 128.2, 30.25}, {40, 138.5, 41}};
    const struct clock_point p = clock_point(4, reading);
    assert_true(p.there == 128.2);
    assert_true(fabs(p.behind - (30.125 - 128.2)) < 1e-12);
    assert_true(p.uncertainty == 0.125);
}

/* A clock that runs too fast: right at both points and between, and beyond them. */
TEST(drift) {
    struct clock_line line = {{100, -60, 0.25}, {200, -70, 0.5}};
    assert_true(clock_here(&line, 100) == 40);
    assert_true(clock_here(&line, 200) == 130);
    assert_true(clock_here(&line, 150) == 85);
    assert_true(clock_here(&line, 210) == 139);
    assert_true(clock_uncertainty(&line) == 0.5);
    line.end = line.begin; /* nothing has passed between */
    assert_true(clock_here(&line, 150) == 90);
    assert_true(clock_uncertainty(&line) == 0.25);
    assert_true(clock_here(&(struct clock_line){0}, 150) == 150);
}

/* ---- ends of messages ---------------------------------------------------------------------- */

static struct message_end end_of(int rank, int out, int peer, long long number, double begin) {
    return (struct message_end){{.begin = begin,
                                 .end = begin + 1,
                                 .bytes = 10,
                                 .number = number,
                                 .peer = peer,
                                 .kind = LOG_FACES,
                                 .out = (short)out},
                                rank};
}

/* Those of one pair, kind and number belong together, several alike by time; others stay alone. */
TEST(match) {
    evn_rank_message m[5];
    struct message_end end[] = {end_of(1, 0, 0, 7, 20), end_of(0, 1, 1, 7, 12),
                                end_of(0, 1, 1, 7, 3),  end_of(1, 0, 0, 7, 8), /* twice the same */
                                end_of(1, 1, 0, 7, 5),  end_of(0, 0, 1, 7, 4), /* the other way */
                                end_of(2, 1, 0, 9, 6), /* nobody has received it */
                                end_of(2, 0, 1, 9, 6), /* nobody has sent it */
                                end_of(2, 1, 1, 8, 1),  end_of(1, 0, 2, 9, 1)}; /* another number */
    assert_int_equal(trace_match(10, end, m), 3);
    assert_true(m[0].from == 0 && m[0].to == 1 && m[0].send_begin == 3 && m[0].receive_begin == 8);
    assert_true(m[1].from == 1 && m[1].to == 0 && m[1].send_begin == 5 && m[1].receive_begin == 4);
    assert_true(m[2].from == 0 && m[2].to == 1 && m[2].send_begin == 12 && m[2].receive_end == 21);
    assert_int_equal(m[0].task, -1);
    assert_int_equal(trace_match(0, end, m), 0);
    struct message_end moved[] = {end_of(0, 1, 1, 5LL << 32 | 17, 1),
                                  end_of(1, 0, 0, 5LL << 32 | 17, 2)};
    moved[0].is.kind = moved[1].is.kind = LOG_TASK;
    assert_int_equal(trace_match(2, moved, m), 1);
    assert_true(m[0].kind == EVN_MESSAGE_TASK && m[0].task == 17);
}

/* ---- a trace of three ranks ---------------------------------------------------------------- */

/* What ranks find: sent by all of them; tasks and messages in their traces. */
static struct found {
    long long sent, moved, parcels;
    double sent_bytes, bytes, uncertainty, began, ended; /* bytes: of the messages traced */
    int messages, lost;
} found;
static int keeps; /* messages */

static void sum(evn_cluster *cluster, const evn_loop *loop) {
    const evn_loop_totals t = evn_loop_sum(loop);
    double mine[] = {(double)t.rank_messages, (double)t.moved, t.rank_bytes, t.moved_bytes};
    double all[RANKS][4];
    must_ok(evn_cluster_gather(cluster, mine, sizeof mine, all));
    for (int r = 0; r < RANKS && !evn_cluster_rank(cluster); r++) {
        found.sent += (long long)all[r][0];
        found.moved += (long long)all[r][1];
        found.sent_bytes += all[r][2] + all[r][3];
    }
}

/* Everybody to everybody, of some bytes that differ. */
static void send_parcels(evn_cluster *cluster) {
    static char data[RANKS][RANKS][64];
    evn_parcel out[RANKS], in[RANKS];
    const int me = evn_cluster_rank(cluster);
    for (int r = 0; r < RANKS; r++) {
        out[r] = (evn_parcel){data[me][r], (size_t)(8 + 8 * me)};
        in[r] = (evn_parcel){data[r][me], (size_t)(8 + 8 * r)};
    }
    in[me] = out[me];
    must_ok(evn_cluster_exchange(cluster, EVN_OK, out, in));
}

/* The tasks that each unit had, and when: all were between the two moments that rank 0 has seen. */
static void check_bursts(const evn_trace *t, double origin) {
    int tasks = 0;
    must(evn_trace_about(t).units == UNITS);
    for (int u = 0; u < UNITS; u++)
        for (int i = 0; i < evn_trace_bursts(t, u); i++) {
            const evn_burst b = evn_trace_burst(t, u, i);
            const double slack = 1e-6 + 2 * evn_trace_about(t).uncertainty;
            must(b.begin <= b.end);
            must(origin + b.begin > found.began - slack && origin + b.end < found.ended + slack);
            if (b.kind == EVN_BURST_COMPUTE) tasks += b.count;
        }
    must(tasks == STEPS * TASKS);
}

/* Sent and received between these moments, in the order in which they were sent. */
static void check_messages(const evn_trace *t) {
    double last = -INFINITY;
    for (int i = 0; i < evn_trace_about(t).messages; i++) {
        const evn_rank_message m = evn_trace_about(t).message[i];
        const double slack = 2 * evn_trace_about(t).uncertainty;
        must(m.from != m.to && m.from >= 0 && m.to >= 0 && m.from < RANKS && m.to < RANKS);
        must(m.send_begin >= last && m.send_end >= m.send_begin);
        must(m.receive_end >= m.receive_begin && m.receive_end > m.send_begin - slack);
        must((m.task >= 0) == (m.kind == EVN_MESSAGE_TASK) && m.task < TASKS);
        last = m.send_begin;
        found.bytes += (double)m.bytes;
        if (m.kind == EVN_MESSAGE_PARCEL) found.parcels++;
    }
}

static void traced(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    evn_trace *t, *other;
    const int me = evn_cluster_rank(cluster);
    const double early = evn_now();
    grid_open(&g, cluster);
    const double late = evn_now(); /* the loop was opened between the two */
    must_ok(grid_step(&g));
    evn_loop_reset_stats(g.loop);
    must_ok(evn_trace_open(&t, g.loop, BURSTS, keeps));
    must_give(evn_trace_open(&other, g.loop, BURSTS, 1), keeps ? EVN_USAGE : EVN_OK);
    evn_trace_close(other);
    must_give(evn_trace_put(t, "zone", stdout), EVN_USAGE);
    must(evn_trace_about(t).units == 0 && evn_trace_about(t).messages == 0);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    if (!me) found.began = evn_now();
    must_ok(evn_cluster_agree(cluster, EVN_OK)); /* no rank begins before rank 0 has looked */
    for (int i = 0; i < STEPS; i++) must_ok(grid_step(&g));
    send_parcels(cluster);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    if (!me) found.ended = evn_now();
    must_ok(evn_trace_gather(t));
    must_give(evn_trace_gather(t), EVN_USAGE);
    must((evn_trace_about(t).units > 0) == !me);
    sum(cluster, g.loop);
    if (!me) {
        found.messages = evn_trace_about(t).messages;
        found.lost = (int)t->lost;
        found.uncertainty = evn_trace_about(t).uncertainty;
        found.began -= late - early;
        found.ended += late - early;
        check_bursts(t, early);
        check_messages(t);
    }
    evn_trace_close(t);
}

/* Clocks that show other times, and do not run alike. */
static double shown(int rank, double time) {
    return rank ? OFFSET * rank + (1 + 1e-3 * rank) * time : time;
}

static void trace(int messages, int pretend) {
    static const struct trial trial = {.ranks = RANKS,
                                       .columns = 4,
                                       .schedule = "static",
                                       .list = LISTS,
                                       .steps = STEPS,
                                       .owners = AT_RANDOM};
    found = (struct found){0};
    keeps = messages;
    grid_trial = &trial;
    for (int t = 0; t < TASKS; t++) atomic_store(&grid_ran[t], 0);
    compare_pretend(pretend ? shown : NULL);
    alarm(120);
    assert_int_equal(ranks_of_cluster(1, RANKS, traced), 0);
    alarm(0);
    compare_pretend(NULL);
}

/* Every message that was counted is an arrow. */
TEST(traced) {
    trace(MESSAGES, 0);
    assert_true(found.sent > 0 && found.moved > 0);
    assert_int_equal(found.parcels, RANKS * (RANKS - 1));
    assert_int_equal(found.messages, found.sent + found.moved + found.parcels);
    assert_true(found.bytes == found.sent_bytes + (RANKS - 1) * (8 + 16 + 24));
    assert_int_equal(found.lost, 0);
    assert_true(found.uncertainty == 0);
}

/* The same on rank 0's clock where the others are a thousand seconds away and drift. */
TEST(other_clocks) {
    trace(MESSAGES, 1);
    assert_int_equal(found.messages, found.sent + found.moved + found.parcels);
    assert_true(found.uncertainty > 0 && found.uncertainty < 10);
}

/* Of few that are kept all that are whole are there, and the others are counted. */
TEST(few) {
    trace(7, 0);
    assert_true(found.messages <= RANKS * 7 / 2);
    assert_int_equal(2 * found.messages + found.lost,
                     2 * (found.sent + found.moved + found.parcels));
    trace(0, 0);
    assert_int_equal(found.messages + found.lost, 0);
}

/* ---- what cannot be kept ------------------------------------------------------------------- */

/* One rank has no memory: all are told, and can go on without. */
static void without_memory(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    evn_trace *t;
    grid_open(&g, cluster);
    must_ok(grid_step(&g));
    struct rlimit limit = {(size_t)1 << 31, (size_t)1 << 31};
    struct rlimit before;
    must(!getrlimit(RLIMIT_AS, &before));
    limit.rlim_max = before.rlim_max;
    if (evn_cluster_rank(cluster) == 1) must(!setrlimit(RLIMIT_AS, &limit));
    must_give(evn_trace_open(&t, g.loop, 1 << 26, MESSAGES), EVN_MEMORY);
    must(t == NULL);
    if (!g.rank) must(strstr(evn_message(), "rank 1") != NULL);
    must(!setrlimit(RLIMIT_AS, &before));
    must_ok(grid_step(&g));
    must_give(evn_trace_open(&t, g.loop, 0, MESSAGES), EVN_USAGE);
    must_give(evn_trace_open(&t, g.loop, 1, -1), EVN_USAGE);
    must_ok(evn_trace_open(&t, g.loop, 1, 1));
    must_ok(evn_trace_gather(t));
    evn_trace_close(t);
}

TEST(without_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need the addresses that are taken away here */
#endif
    static const struct trial trial = {
        .ranks = RANKS, .columns = 4, .schedule = "static", .list = LISTS, .steps = STEPS};
    grid_trial = &trial;
    assert_int_equal(ranks_of_cluster(0, RANKS, without_memory), 0);
}

RUN_TESTS(NULL, NULL)
