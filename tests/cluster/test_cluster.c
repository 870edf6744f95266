/* Clusters: alone and over wires; units, agree, gather, tell; failures on one rank. Run: ctest -R
 * '^cluster$' */
#include "check.h"
#include "cluster/agree.h"
#include "cluster/cluster.h"
#include "wire/ranks.h"
#include <unistd.h>

static const int RANKS[] = {1, 2, 3, 5, 8};

static void everywhere(void (*rank_main)(evn_cluster *cluster)) {
    for (size_t i = 0; i < sizeof RANKS / sizeof *RANKS; i++) {
        assert_int_equal(ranks_of_cluster(1, RANKS[i], rank_main), 0);
        if (!THREAD_SANITIZER) assert_int_equal(ranks_of_cluster(0, RANKS[i], rank_main), 0);
    }
}

/* ---- who is where ---- */

static void places(evn_cluster *c) {
    char host[64] = "";
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    gethostname(host, sizeof host - 1);
    must(rank >= 0 && rank < size);
    for (int r = 0; r < size; r++) {
        must(!strcmp(evn_cluster_host(c, r), host));
        must(cluster_same_host(c, rank, r));
    }
    must(!*evn_cluster_host(c, size) && !*evn_cluster_host(c, -1));
    must(cluster_tag(c, CLUSTER_EXCHANGES) != cluster_tag(c, CLUSTER_EXCHANGES));
    for (int i = 0; i < 100000; i++) {
        must(cluster_tag(c, CLUSTER_MOVES) < 1024);
        must(cluster_tag(c, CLUSTER_EXCHANGES) >= 1024);
        must(cluster_tag(c, CLUSTER_PROGRAM) <= EVN_WIRE_TAG_MAX);
    }
    for (int i = 0; i < 100; i++) cluster_poll(c);
}

TEST(places) { everywhere(places); }

/* ---- gather and tell ---- */

static void gathers(evn_cluster *c) {
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    int mine[3] = {rank, 10 * rank, -rank}, all[3 * 8];
    must_ok(evn_cluster_gather(c, mine, sizeof mine, rank ? NULL : all));
    for (int r = 0; !rank && r < size; r++)
        must(all[3 * r] == r && all[3 * r + 1] == 10 * r && all[3 * r + 2] == -r);
    must_ok(evn_cluster_gather(c, NULL, 0, NULL));
    double told[1000];
    for (int i = 0; i < 1000; i++) told[i] = rank ? 0 : i;
    must_ok(evn_cluster_tell(c, told, sizeof told));
    for (int i = 0; i < 1000; i++) must(told[i] == i);
    must_ok(evn_cluster_tell(c, NULL, 0));
}

TEST(gathers) { everywhere(gathers); }

/* ---- everybody's data to everybody ---- */

static unsigned char byte_of(int from, int to, size_t i) {
    return (unsigned char)(31 * from + 7 * to + (int)(i % 251));
}

/* Sizes depend on both ends; some pairs have nothing for each other. */
static size_t bytes_of(int from, int to, int call) {
    return from == to || (from + to + call) % 4 == 3 ? 0 : (size_t)(1 + from) * 3001 * (size_t)call;
}

static void exchange(evn_cluster *c, int call, evn_status mine, evn_status expected) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    evn_parcel out[8] = {{0}}, in[8] = {{0}};
    for (int r = 0; r < size; r++) {
        out[r] = (evn_parcel){malloc(bytes_of(me, r, call) + 1), bytes_of(me, r, call)};
        in[r] = (evn_parcel){calloc(bytes_of(r, me, call) + 1, 1), bytes_of(r, me, call)};
        for (size_t i = 0; i < out[r].bytes; i++)
            ((unsigned char *)out[r].data)[i] = byte_of(me, r, i);
    }
    must_give(evn_cluster_exchange(c, mine, out, in), expected);
    for (int r = 0; r < size; r++) {
        for (size_t i = 0; !expected && i < in[r].bytes; i++)
            must(((unsigned char *)in[r].data)[i] == byte_of(r, me, i));
        free(out[r].data);
        free(in[r].data);
    }
}

static void exchanges(evn_cluster *c) {
    const int me = evn_cluster_rank(c), size = evn_cluster_size(c);
    long long wanted = 0;
    double sum = 0;
    for (int call = 0; call < 40; call += 1 + call / 5) {
        exchange(c, call, EVN_OK, EVN_OK);
        for (int r = 0; r < size; r++) {
            wanted += bytes_of(me, r, call) > 0;
            sum += (double)bytes_of(me, r, call);
        }
    }
    must(evn_cluster_about(c).messages == wanted && evn_cluster_about(c).message_bytes == sum);
    /* one fails: those who expect something of it know at once, all at the next agreement */
    const int told = me && bytes_of(0, me, 2);
    exchange(c, 2, me ? EVN_OK : evn_fail(EVN_SYSTEM, "no"),
             !me    ? EVN_SYSTEM
             : told ? EVN_BODY
                    : EVN_OK);
    must_give(evn_cluster_agree(c, me ? EVN_OK : evn_fail(EVN_SYSTEM, "no")), EVN_SYSTEM);
    exchange(c, 1, EVN_OK, EVN_OK); /* and it goes on */
    /* what is a rank's own */
    int one = 1 + me, other = 0;
    evn_parcel out[8] = {{0}}, in[8] = {{0}};
    out[me] = (evn_parcel){&one, sizeof one};
    in[me] = (evn_parcel){&other, sizeof other};
    must_ok(evn_cluster_exchange(c, EVN_OK, out, in));
    must(other == 1 + me);
}

TEST(exchanges) { everywhere(exchanges); }

/* More than one message has room for: a rank's parcels come in three pieces, another's in one. */
static void large(evn_cluster *c) {
    const size_t many = (size_t)40 << 20, few = 5;
    const int me = evn_cluster_rank(c);
    evn_parcel out[2] = {{0}}, in[2] = {{0}};
    out[!me] = (evn_parcel){malloc(me ? few : many), me ? few : many};
    in[!me] = (evn_parcel){calloc(1, me ? many : few), me ? many : few};
    for (size_t i = 0; i < out[!me].bytes; i++)
        ((unsigned char *)out[!me].data)[i] = byte_of(me, !me, i);
    must_ok(evn_cluster_exchange(c, EVN_OK, out, in));
    for (size_t i = 0; i < in[!me].bytes; i++)
        must(((unsigned char *)in[!me].data)[i] == byte_of(!me, me, i));
    must(evn_cluster_about(c).messages == (me ? 1 : 3));
    must(evn_cluster_about(c).message_bytes == (double)out[!me].bytes);
    free(out[!me].data);
    free(in[!me].data);
}

TEST(large) {
    if (THREAD_SANITIZER) skip(); /* which has a thread of its own, and threads' arena is small */
    assert_int_equal(ranks_of_cluster(0, 2, large), 0);
}

/* ---- from one to another ---- */

static unsigned char carried(size_t i, int from, int to) {
    return (unsigned char)(i * 7 + (size_t)(31 * from + to));
}

/* Of all sizes about a piece, from everybody to everybody, who all walk the same list. */
static void carries(evn_cluster *c) {
    static const size_t BYTES[] = {0, 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 5};
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    HEAP unsigned char *data = malloc(BYTES[4]);
    must(data != NULL);
    for (size_t b = 0; b < sizeof BYTES / sizeof *BYTES; b++)
        for (int from = 0; from < size; from++)
            for (int to = 0; to < size; to++) {
                if (from == to || (rank != from && rank != to)) continue;
                if (b > 1 && to != (from + 1) % size) continue;
                for (size_t i = 0; i < BYTES[b]; i++)
                    data[i] = rank == from ? carried(i, from, to) : 0;
                must_ok(evn_cluster_carry(c, from, to, data, BYTES[b]));
                for (size_t i = 0; i < BYTES[b]; i++) must(data[i] == carried(i, from, to));
            }
    must_ok(evn_cluster_agree(c, EVN_OK));
}

TEST(carries) { everywhere(carries); }

/* ---- agreeing ---- */

static void agrees(evn_cluster *c) {
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    for (int bad = 0; bad < size; bad++) {
        must_ok(evn_cluster_agree(c, EVN_OK));
        evn_status mine = rank == bad ? evn_fail(EVN_DEVICE, "device: gone") : EVN_OK;
        must_give(evn_cluster_agree(c, mine), EVN_DEVICE);
        char begin[80];
        snprintf(begin, sizeof begin, "rank %d on %s: device: gone", bad, evn_cluster_host(c, bad));
        must(!strcmp(evn_message(), size == 1 ? "device: gone" : begin));
    }
    if (size < 5) return;
    /* alike is said once */
    evn_status mine = rank >= 2 && rank <= 4 ? evn_fail(EVN_USAGE, "units: no") : EVN_OK;
    must_give(evn_cluster_agree(c, mine), EVN_USAGE);
    must(strstr(evn_message(), "ranks 2 to 4 on ") == evn_message());
    mine = rank % 2 == 0 ? evn_fail(EVN_USAGE, "units: no") : EVN_OK;
    must_give(evn_cluster_agree(c, mine), EVN_USAGE);
    must(strstr(evn_message(), size == 5 ? "ranks 0, 2 and 4 on" : "ranks 0, 2, 4 and 6 on"));
    /* all alike need no numbers */
    must_give(evn_cluster_agree(c, evn_fail(EVN_USAGE, "class: Q")), EVN_USAGE);
    must(!strcmp(evn_message(), "class: Q"));
    /* the lowest rank's message; an interrupt gives way to a failure */
    mine = rank == 0   ? EVN_OK
           : rank == 1 ? evn_fail(EVN_STOPPED, "stop")
                       : evn_fail(rank == 3 ? EVN_BODY : EVN_MEMORY, "body %d", rank);
    must_give(evn_cluster_agree(c, mine), EVN_MEMORY);
    must(strstr(evn_message(), "rank 2 on") && strstr(evn_message(), "body 2 ("));
    must(strstr(evn_message(), size == 5 ? "(3 other ranks failed" : "(6 other ranks failed"));
    must_give(evn_cluster_agree(c, rank == 4 ? EVN_STOPPED : EVN_OK), EVN_STOPPED);
}

TEST(agrees) { everywhere(agrees); }

static const char *two_hosts(const void *unused, int rank) {
    (void)unused;
    return rank < 3 ? "node1" : "node2";
}

/* As ranks of several hosts would, of which there is one here. */
TEST(messages) {
    struct record all = {0}, one = {0};
    char text[200];
    static const int failed[] = {1, 2, 4, 5, 6, 8, 9, 11, 20, 30};
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        assert_ok(agree_record(&one, failed[i], EVN_SYSTEM, "file: full"));
        assert_ok(agree_join(&all, one.data, one.bytes));
    }
    assert_int_equal(agree_read(&all, 64, text, sizeof text, two_hosts, NULL), EVN_SYSTEM);
    assert_string_equal(text, "ranks 1, 2, 4 to 6, 8 and 4 more: file: full");
    all.bytes = 0;
    assert_ok(agree_record(&all, 3, EVN_SYSTEM, "file: full"));
    assert_ok(agree_record(&one, 4, EVN_SYSTEM, "file: full"));
    assert_ok(agree_join(&all, one.data, one.bytes));
    agree_read(&all, 64, text, sizeof text, two_hosts, NULL);
    assert_string_equal(text, "ranks 3 and 4 on node2: file: full");
    record_free(&all);
    record_free(&one);
}

/* ---- units ---- */

static void units(evn_cluster *c) {
    const int rank = evn_cluster_rank(c), size = evn_cluster_size(c);
    OWN(machine) *machine;
    OWN(units) *mine;
    char list[40];
    must(evn_cluster_about(c).units == 0 && evn_cluster_rank_of(c, 0) == -1);
    must_ok(evn_machine_open_synthetic(&machine, "package:1 core:16 pu:1"));
    snprintf(list, sizeof list, "%d:CPU:%d", 1 + rank % 3, 1 + rank % 2);
    must_ok(evn_units_open(&mine, machine, list, NULL, EVN_DESCRIBE_ONLY));
    must_ok(evn_cluster_units(c, mine, NULL));
    int unit = 0;
    for (int r = 0; r < size; r++) {
        must(evn_cluster_about(c).first[r] == unit);
        for (int i = 0; i < 1 + r % 3; i++, unit++) {
            must(evn_cluster_rank_of(c, unit) == r);
            must(evn_cluster_about(c).speed[unit] == 1 + r % 2);
        }
    }
    must(evn_cluster_about(c).units == unit && evn_cluster_rank_of(c, unit) == -1);
    /* again, with other speeds; and one that is none */
    double speed[3] = {0.5, 1e-3 + rank, 7};
    must_ok(evn_cluster_units(c, mine, speed));
    must(evn_cluster_about(c).speed[evn_cluster_about(c).first[rank]] == 0.5);
    if (rank == size - 1) speed[0] = -1;
    must_give(evn_cluster_units(c, mine, speed), EVN_USAGE);
    must(strstr(evn_message(), "the speed of unit 0 is -1"));
    must(evn_cluster_about(c).speed[0] == 0.5); /* as it was */
}

TEST(units) { everywhere(units); }

/* ---- alone ---- */

TEST(alone) {
    evn_cluster *c;
    assert_ok(evn_cluster_open(&c, "alone"));
    assert_string_equal(evn_cluster_about(c).wire, "alone");
    assert_int_equal(evn_cluster_size(c), 1);
    assert_null(evn_cluster_about(c).kind);
    places(c);
    gathers(c);
    carries(c);
    agrees(c);
    units(c);
    evn_cluster_close(c, EVN_OK);
    assert_ok(evn_cluster_open(&c, NULL));
    assert_int_equal(evn_cluster_size(c), 1);
    evn_cluster_close(c, EVN_OK);
    evn_cluster_close(NULL, EVN_OK);
    assert_fails(evn_cluster_open(&c, "threads"), EVN_USAGE, "no rank");
}

RUN_TESTS(NULL, NULL)
