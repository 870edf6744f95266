/* Wrong calls over ranks, which are three processes: of loops, exchanges, changes, births, regions
 * of sessions and distributed tasks. Each is made wrongly by one rank, and by each in turn, where
 * that is possible. All ranks get the same status with a message that names the rank and the
 * mistake, none waits for ever, and then all go on with the values of plain arrays.
 *
 * The rows are in the files beside this one. Run: ctest -R misuse-ranks; test-misuse-ranks LIST
 * makes one list's rows. */
#include "check.h"
#include "misuse/over_ranks.h"
#include <sys/mman.h>

enum { LEAST_ROWS = 850 };

/* clang-format off */
#define LISTS(X) \
    X(cluster) X(loop) X(within) X(exchange) X(halves) X(change) X(session) X(regions) X(births) \
    X(distribution) X(distributed)
/* clang-format on */

static const struct list {
    const char *name;
    rows *make;
} lists[] = {
#define LIST(name) {#name, ranks_##name},
    LISTS(LIST)
#undef LIST
};
enum { COUNT = sizeof lists / sizeof *lists };

static const struct list *now;

static void of_rank(evn_cluster *cluster) {
    static struct world w;
    signal(SIGSEGV, SIG_DFL); /* cmocka would go on with its next test */
    ranks_open(&w, cluster);
    now->make(&w);
    ranks_close(&w);
}

static void test_list(void **state) {
    now = *state;
    memset(progress->row, 0, sizeof progress->row);
    const int before = progress->rows, status = ranks_of_cluster(0, RANKS, of_rank);
    for (int r = 0; status && r < RANKS; r++) printf("rank %d ends with %s\n", r, progress->row[r]);
    if (status) fail_msg("%s: the run ends with %d", now->name, status);
    assert_true(progress->rows > before);
}

/* None was lost on the way. */
static void test_count(void **state) {
    (void)state;
    printf("%d calls\n", progress->rows);
    assert_true(progress->rows >= LEAST_ROWS);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[COUNT + 1];
    int n = 0;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 1;
    for (int i = 0; i < COUNT; i++)
        if (argc < 2 || !strcmp(argv[1], lists[i].name))
            tests[n++] =
                (struct CMUnitTest){lists[i].name, test_list, NULL, NULL, (void *)&lists[i]};
    if (argc < 2) tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_count);
    return _cmocka_run_group_tests("misuse over ranks", tests, (size_t)n, NULL, NULL);
}
