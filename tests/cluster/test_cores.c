/* Which cores each rank of a host takes: a table of masks and lists, and the facts as they are read
 * here. Run: ctest -R '^cores$' */
#include "check.h"
#include "cluster/cores.h"
#include <sched.h>

enum { RANKS = 4, NODE = 8 };

/* A node whose order of cores is not that of their numbers: 0 2 4 6 1 3 5 7. */
static const struct cores_host node = {NODE, {0, 2, 4, 6, 1, 3, 5, 7}};

/* "0-3,7", places in the node's order. */
static struct cores_set set_of(const char *text) {
    struct cores_set s = {{0}};
    while (*text) {
        char *end;
        long from = strtol(text, &end, 10), to = from;
        if (*end == '-') to = strtol(end + 1, &end, 10);
        for (long i = from; i <= to; i++) s.word[i / 64] |= (uint64_t)1 << (i % 64);
        text = *end ? end + 1 : end;
    }
    return s;
}

/* The system's numbers, in the order in which they are dealt out. */
static const char *text_of(const struct cores_share *s) {
    static char text[256];
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < s->count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", i ? " " : "", s->core[i]);
    return text;
}

enum { LAUNCHER = 1, USER = 2, OVER = 4 }; /* bound, chosen, oversubscribed */

static const struct {
    const char *what;
    int ranks, flags;
    const char *given;
    const char *mask[RANKS];
    int wanted[RANKS];
    const char *share[RANKS]; /* or, in the first, what the refusal says */
    int refused, widened;
    /* clang-format off */
} table[] = {
    {"one rank has its mask", 1, 0, "0-7", {"2-4"}, {2}, {"4 6 1"}, 0, 0},
    {"disjoint: its own", 2, 0, "0-7", {"0-3", "4-7"}, {4, 2}, {"0 2 4 6", "1 3 5 7"}, 0, 0},
    {"same: as many as asked for, in order", 3, 0, "0-7", {"0-7", "0-7", "0-7"}, {1, 3, 2},
     {"0", "2 4 6", "1 3"}, 0, 0},
    {"same: auto takes all evenly", 3, 0, "0-7", {"0-7", "0-7", "0-7"}, {0, 0, 0}, {"0 2 4", "6 1 3", "5 7"},
     0, 0},
    {"same: auto shares what numbers leave", 3, 0, "0-7", {"0-7", "0-7", "0-7"}, {0, 5, 0},
     {"0 2", "4 6 1 3 5", "7"}, 0, 0},
    {"two packages, two ranks each", 4, 0, "0-7", {"0-3", "4-7", "0-3", "4-7"}, {2, 1, 0, 0},
     {"0 2", "1", "4 6", "3 5 7"}, 0, 0},
    {"overlapping", 2, 0, "0-7", {"0-4", "4-7"}, {1, 1},
     {"ranks 10 and 11 on node7 may use cores 0-2,4,6 and cores 1,3,5,7"}, 1, 0},
    {"overlapping, one within the other", 2, 0, "0-7", {"0-7", "0-3"}, {1, 1}, {"ranks 10 and 11"}, 1, 0},
    {"Open MPI's one core, and more is asked for", 1, LAUNCHER, "0-7", {"0"}, {2}, {"0 2 4 6 1 3 5 7"}, 0, 1},
    {"Open MPI's one core is enough", 2, LAUNCHER, "0-7", {"0", "1"}, {1, 1}, {"0", "2"}, 0, 0},
    {"Open MPI's one core each, and more is asked for", 2, LAUNCHER, "0-7", {"0", "1"}, {2, 3},
     {"0 2", "4 6 1"}, 0, 1},
    {"Open MPI's one core each, one asks for more", 2, LAUNCHER, "0-7", {"0", "1"}, {1, 3}, {"0", "2 4 6"},
     0, 1},
    {"Open MPI's one core each, auto", 2, LAUNCHER, "0-7", {"0", "1"}, {0, 0}, {"0 2 4 6", "1 3 5 7"}, 0, 1},
    {"Open MPI's packages, auto: no core is idle", 4, LAUNCHER, "0-7", {"0-3", "4-7", "0-3", "4-7"},
     {0, 0, 0, 0}, {"0 2", "1 3", "4 6", "5 7"}, 0, 0},
    {"Open MPI's package is too small for its ranks", 2, LAUNCHER, "0-7", {"0-3", "0-3"}, {3, 3},
     {"0 2 4", "6 1 3"}, 0, 1},
    {"the kernel gives some only", 1, LAUNCHER, "0-3", {"0"}, {4}, {"0 2 4 6"}, 0, 1},
    {"the kernel gives too few", 1, LAUNCHER, "0-1", {"0"}, {4},
     {"rank 10 on node7 needs 4 cores, and it may use cores 0,2; ask"}, 1, 0},
    {"a binding that was chosen", 2, LAUNCHER | USER, "0-7", {"0", "1"}, {2, 1},
     {"rank 10 on node7 needs 2 cores, and it was bound to core 0"}, 1, 0},
    {"a binding that was chosen is enough", 2, LAUNCHER | USER, "0-7", {"0-1", "2-5"}, {2, 0},
     {"0 2", "4 6 1 3"}, 0, 0},
    {"somebody's taskset is respected", 1, 0, "0-7", {"3"}, {2},
     {"rank 10 on node7 needs 2 cores, and it may use core 6; ask"}, 1, 0},
    {"more is asked for than there is", 3, 0, "0-7", {"0-7", "0-7", "0-7"}, {3, 3, 3},
     {"ranks 10 to 12 on node7 need 9 cores together, and they may use cores 0-7; ask"}, 1, 0},
    {"more ranks than cores", 3, 0, "0-1", {"0-1", "0-1", "0-1"}, {0, 0, 0},
     {"ranks 10 to 12 on node7 need 3 cores together"}, 1, 0},
    {"more ranks than cores, on purpose", 3, OVER, "0-1", {"0-1", "0-1", "0-1"}, {0, 0, 0}, {"0", "2", "0"},
     0, 0},
    {"more cores than there are, on purpose", 2, OVER, "0-2", {"0-2", "0-2"}, {2, 4}, {"0 2", "4 0 2"}, 0, 0},
    {"a hole in the mask", 2, 0, "0-7", {"0,3,5-6", "0,3,5-6"}, {3, 0}, {"0 6 3", "5"}, 0, 0},
    {"no core", 1, OVER, "", {""}, {1}, {"may use no core"}, 1, 0},
};
/* clang-format on */

/* Ranks 10 .. on node7, between others on node6 that have the same masks. */
TEST(table) {
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        static struct cores_facts all[RANKS + 2];
        const int ranks = table[t].ranks + 2;
        memset(all, 0, sizeof all);
        for (int r = 0; r < ranks; r++) {
            struct cores_facts *f = &all[r];
            const int i = r == 0 || r == ranks - 1 ? 0 : r - 1;
            strcpy(f->host, r == 0 ? "node6" : "node7");
            strcpy(f->boot, r == ranks - 1 ? "b2" : "b1"); /* another one by the same name */
            f->rank = 9 + r;
            f->wanted = table[t].wanted[i];
            f->bound = (table[t].flags & LAUNCHER) != 0;
            f->chosen = (table[t].flags & USER) != 0;
            f->oversubscribe = (table[t].flags & OVER) != 0;
            f->mask = set_of(table[t].mask[i]);
            f->given = set_of(table[t].given);
        }
        for (int r = 1; r < ranks - 1; r++) {
            struct cores_share share;
            evn_status status = cores_share(&share, all, ranks, r, &node);
            if (table[t].refused) {
                assert_int_equal(status, EVN_USAGE);
                if (!strstr(evn_message(), table[t].share[0]))
                    fail_msg("%s: \"%s\" is not in: %s", table[t].what, table[t].share[0],
                             evn_message());
                continue;
            }
            if (status) fail_msg("%s: %s", table[t].what, evn_message());
            if (strcmp(text_of(&share), table[t].share[r - 1]) != 0)
                fail_msg("%s: rank %d has %s, expected %s", table[t].what, r - 1, text_of(&share),
                         table[t].share[r - 1]);
            assert_int_equal(share.widened, table[t].widened);
            assert_int_equal(share.crowded, (table[t].flags & OVER) != 0);
            assert_true(strlen(share.how) > 0);
        }
    }
}

/* Cores that other programs have claimed come last; what a rank has claimed is no other program's,
 * and all ranks decide alike although claims come and go while they read them. */
TEST(claims) {
    static const struct {
        int wanted;
        const char *share[2];
    } cases[] = {{2, {"4 6", "1 3"}}, {4, {"4 6 1 3", "5 7 0 2"}}, {0, {"4 6 1 3", "5 7 0 2"}}};
    for (int t = 0; t < 3; t++) {
        static struct cores_facts all[2];
        memset(all, 0, sizeof all);
        for (int r = 0; r < 2; r++) {
            all[r].rank = r;
            all[r].wanted = cases[t].wanted;
            all[r].mask = all[r].given = set_of("0-7");
            all[r].taken = set_of(r ? "0-2" : "0");
        }
        all[0].held = set_of("2"); /* claimed by rank 0, which rank 1 sees */
        all[0].taken = set_of("0-1");
        for (int r = 0; r < 2; r++) {
            struct cores_share share;
            assert_ok(cores_share(&share, all, 2, r, &node));
            assert_string_equal(text_of(&share), cases[t].share[r]);
        }
    }
}

/* Hosts are told apart by both, and masks of others do not matter. */
TEST(hosts) {
    struct cores_facts a = {.host = "n", .boot = "1"}, b = a, c = a;
    strcpy(b.host, "m");
    strcpy(c.boot, "2");
    assert_true(cores_same_host(&a, &a));
    assert_false(cores_same_host(&a, &b));
    assert_false(cores_same_host(&a, &c));
}

static int count_of(const struct cores_set *s) {
    int n = 0;
    for (int i = 0; i < CORES_MAX; i++) n += (int)(s->word[i / 64] >> (i % 64) & 1);
    return n;
}

/* What is read here: the mask is ours, reading does not change it, and more cannot be had. */
TEST(facts) {
    static struct cores_facts f;
    static struct cores_host host;
    static struct cores_share share;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    unsetenv("OMPI_MCA_orte_bound_at_launch");
    assert_ok(cores_read(&f, &host));
    assert_true(host.count >= 1 && count_of(&f.mask) >= 1);
    assert_true(count_of(&f.given) >= count_of(&f.mask));
    assert_true(f.host[0] && f.boot[0]);
    assert_false(f.bound || f.chosen);
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
    assert_ok(cores_share(&share, &f, 1, 0, &host));
    for (int i = 0; i < share.count; i++) assert_true(CPU_ISSET(share.core[i], &before));

    /* bound to the last core, as Open MPI does it */
    share.core[0] = share.core[share.count - 1];
    share.count = 1;
    assert_ok(cores_keep_to(&share));
    setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "core", 1);
    assert_ok(cores_read(&f, &host));
    assert_true(f.bound && f.chosen);
    assert_int_equal(count_of(&f.mask), 1);
    sched_getaffinity(0, sizeof after, &after);
    assert_int_equal(CPU_COUNT(&after), 1);
    unsetenv("OMPI_MCA_hwloc_base_binding_policy");
    assert_ok(cores_read(&f, &host));
    assert_true(f.bound && !f.chosen);
    f.wanted = count_of(&f.given);
    assert_ok(cores_share(&share, &f, 1, 0, &host));
    assert_int_equal(share.count, f.wanted);
    assert_ok(cores_keep_to(&share));
    sched_getaffinity(0, sizeof after, &after);
    assert_int_equal(CPU_COUNT(&after), share.count);
    sched_setaffinity(0, sizeof before, &before);
}

RUN_TESTS(NULL, NULL)
