/* The control tree: records of any size up and down for 1 to 9 ranks, in the order of ranks, joined
 * on the way; how many messages that takes. Run: ctest -R '^tree$' */
#include "check.h"
#include "wire/ranks.h"
#include "cluster/tree.h"

enum { TAG = 5 };

/* A rank's own bytes: so many of them, and what they are. */
static size_t own_bytes(int rank, int round) {
    static const size_t size[] = {0, 1, 100, 16376, 16377, 16384, 50000, 300000};
    return size[(rank * 3 + round) % 8];
}

static unsigned char own_byte(int rank, int round, size_t i) {
    return (unsigned char)(rank * 37 + round * 11 + (int)(i % 251));
}

static void add_own(struct record *r, int rank, int round) {
    for (size_t i = 0; i < own_bytes(rank, round); i++) {
        unsigned char byte = own_byte(rank, round, i);
        must_ok(record_add(r, &byte, 1));
    }
}

static void must_be_all(const struct record *r, int size, int round) {
    size_t at = 0;
    for (int rank = 0; rank < size; rank++)
        for (size_t i = 0; i < own_bytes(rank, round); i++, at++)
            must(at < r->bytes && r->data[at] == own_byte(rank, round, i));
    must(at == r->bytes);
}

static void up_and_down(struct member *m) {
    struct tree *tree;
    must_ok(tree_open(&tree, m->kind, m->wire, TAG));
    for (int round = 0; round < 12; round++) {
        struct record r = {0};
        add_own(&r, m->me, round);
        must_ok(tree_up(tree, &r, NULL, NULL));
        if (!m->me) must_be_all(&r, m->size, round);
        must_ok(tree_down(tree, &r));
        must_be_all(&r, m->size, round);
        record_free(&r);
    }
    tree_close(tree);
}

TEST(up_and_down) {
    for (int n = 1; n <= 9; n++) {
        assert_int_equal(ranks_of_wire(1, n, NULL, 1, up_and_down), 0);
        if (!THREAD_SANITIZER) assert_int_equal(ranks_of_wire(0, n, NULL, 1, up_and_down), 0);
    }
}

/* ---- joined: the sum, and a failure that says so ---- */

static evn_status add(struct record *mine, const void *theirs, size_t bytes, void *arg) {
    long a, b;
    must(bytes == sizeof b && mine->bytes == sizeof a);
    memcpy(&a, mine->data, sizeof a);
    memcpy(&b, theirs, sizeof b);
    a += b;
    memcpy(mine->data, &a, sizeof a);
    (*(int *)arg)++;
    return EVN_OK;
}

static void summed(struct member *m) {
    struct tree *tree;
    struct record r = {0};
    long value = 1 + m->me, sum;
    int children = 0;
    must_ok(tree_open(&tree, m->kind, m->wire, TAG));
    must_ok(record_add(&r, &value, sizeof value));
    must_ok(tree_up(tree, &r, add, &children));
    must_ok(tree_down(tree, &r));
    memcpy(&sum, r.data, sizeof sum);
    must(sum == (long)m->size * (m->size + 1) / 2);
    /* a message up for each but rank 0, and one down for each child */
    must(tree_sent(tree).messages == (m->me != 0) + children);
    must(children <= 4 && (m->me % 2 == 0 || children == 0));
    record_free(&r);
    tree_close(tree);
}

TEST(summed) {
    for (int n = 1; n <= 9; n++) assert_int_equal(ranks_of_wire(1, n, NULL, 1, summed), 0);
}

/* ---- a record ---- */

TEST(record) {
    struct record r = {0};
    for (int i = 0; i < 10000; i++) assert_ok(record_add(&r, &i, sizeof i));
    assert_ok(record_add(&r, NULL, 0));
    assert_int_equal(r.bytes, 10000 * sizeof(int));
    assert_int_equal(((int *)(void *)r.data)[9999], 9999);
    record_free(&r);
}

RUN_TESTS(NULL, NULL)
