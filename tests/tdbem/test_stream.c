/* Blocks that are on disk: the same bytes come back in whatever order and by however many threads
 * they are wanted, no more of them are in memory than there is room for, and what a disk can do
 * wrong ends with a line. Run: ctest -R tdbem-stream */
#include "body.h"
#include "tdbem/layout/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PER_BLOCK = 9 };

static struct slices *slices;
static char folder[] = "/var/tmp/test_stream_XXXXXX";

static int make(void **state) {
    (void)state;
    struct mesh *mesh = body("sphere:2");
    const struct slices_options o = {
        .problem = TDBEM_RIGID, .eta = 0.5, .delta = 0.5 * mesh->h_mean};
    assert_ok(slices_generate(&slices, mesh, &o, 2));
    mesh_close(mesh);
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int drop(void **state) {
    (void)state;
    slices_close(slices);
    assert_int_equal(rmdir(folder), 0); /* nothing was left there */
    return 0;
}

static struct layout_options options(int kind) {
    return (struct layout_options){.kind = (enum layout_kind)kind,
                                   .br = 12,
                                   .bc = 32,
                                   .single = kind == 1,
                                   .group = 4,
                                   .tile = 60,
                                   .per_block = PER_BLOCK};
}

/* The layout, all of whose blocks have been put. */
static struct stream *open_stream(struct layout **layout, int kind) {
    const struct layout_options o = options(kind);
    struct stream *s;
    assert_ok(layout_plan(layout, slices, &o));
    stream_align(*layout);
    assert_ok(stream_open(&s, *layout, folder));
    for (int b = 0; b < (*layout)->blocks; b++) {
        assert_ok(layout_fill(*layout, slices, (*layout)->slice[b], (*layout)->slice[b + 1]));
        assert_ok(stream_put(s, b));
    }
    return s;
}

/* Bytes of the range that are in memory. */
static size_t resident(const void *from, size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page;
    HEAP unsigned char *here = malloc(pages + 1);
    size_t count = 0;
    assert_non_null(here);
    if (mincore((void *)from, pages * page, here)) fail_msg("mincore");
    for (size_t p = 0; p < pages; p++) count += here[p] & 1;
    return count * page;
}

/* Whether it is more than that; looked at again, since blocks come and go while they are counted.
 */
static int more_resident(const void *from, size_t bytes, size_t than) {
    int more = 1;
    for (int look = 0; more && look < 10; look++) more = resident(from, bytes) > than;
    return more;
}

/* The file, which has no name any more; read and write. */
static int scratch_file(void) {
    DIR *all = opendir("/proc/self/fd");
    int fd = -1;
    assert_non_null(all);
    for (struct dirent *e; fd < 0 && (e = readdir(all));) {
        char link[300], path[600];
        snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        const ssize_t n = readlink(link, path, sizeof path - 1);
        if (n <= 0) continue;
        path[n] = 0;
        if (strstr(path, folder) && strstr(path, "(deleted)")) fd = open(link, O_RDWR | O_CLOEXEC);
    }
    closedir(all);
    assert_true(fd >= 0);
    return fd;
}

static size_t block_bytes(const struct layout *a, int b) { return a->begin[b + 1] - a->begin[b]; }

static int same_block(const struct layout *a, const struct layout *b, int block) {
    return !memcmp(a->memory + a->begin[block], b->memory + b->begin[block], block_bytes(a, block));
}

/* ---- */

TEST(some_blocks_stay) {
    for (int n = 1; n < 60; n++)
        for (int r = 0; r <= n; r++) {
            int all = 0;
            for (int b = 0; b < n; b++) {
                all += stream_resident(b, n, r);
                /* of the first b + 1 as many as their share */
                assert_true(all * n <= (b + 1) * r && (all + 1) * n > (b + 1) * r);
            }
            assert_int_equal(all, r);
        }
}

/* Passes in an order that was announced and in one that was not, by one thread and by three. */
TEST(the_same_bytes) {
    for (int kind = 0; kind < 3; kind++) {
        const struct layout_options o = options(kind);
        struct layout *whole;
        assert_ok(layout_open(&whole, slices, &o));
        const int n = whole->blocks;
        assert_int_equal(n, 18);
        const size_t largest = layout_largest(whole);
        int owner[18], reversed[18];
        for (int b = 0; b < n; b++) owner[b] = b * 3 / n;
        for (int b = 0; b < n; b++) reversed[b] = b % 2 ? -1 : 2 - b * 3 / n;
        for (int kept = 0; kept < n; kept += 5)
            for (size_t ahead = 0; ahead <= 4 * largest; ahead += 2 * largest) {
                struct layout *a;
                struct stream *s = open_stream(&a, kind);
                assert_int_equal(resident(a->memory, a->begin[n]), 0);
                assert_ok(stream_begin(s, kept, ahead));
                const size_t room = (ahead ? ahead : largest) + (size_t)kept * largest;
                for (int pass = 0; pass < 4; pass++) {
                    int wrong = 0;
                    stream_order(s, pass == 0 ? owner : pass == 1 ? NULL : reversed);
#pragma omp parallel for num_threads(pass == 3 ? 3 : 1) schedule(static) reduction(| : wrong)
                    for (int i = 0; i < n; i++) {
                        const int b = pass == 2 ? n - 1 - i : i;
                        for (int t = 0; t < a->tiles; t++) {
                            wrong |= stream_hold(s, b) != EVN_OK ? 4 : 0;
                            wrong |= !same_block(whole, a, b) ? 2 : 0;
                            wrong |= more_resident(a->memory, a->begin[n], room);
                            stream_drop(s, b, 1);
                        }
                    }
                    assert_int_equal(wrong, 0);
                }
                const struct stream_stats stats = stream_stats(s);
                assert_int_equal(stats.blocks, n);
                assert_int_equal(stats.resident, kept);
                assert_true(stats.max <= (double)room);
                stream_close(s);
                layout_close(a);
            }
        layout_close(whole);
    }
}

/* Without a reader: as far as there is room, and no block twice. */
TEST(reads_ahead) {
    OWN(layout) *a;
    struct stream *s = open_stream(&a, 0);
    assert_ok(stream_begin(s, 6, 3 * layout_largest(a)));
    double bytes = 0;
    for (int pass = 0; pass < 3; pass++) {
        int owner[18];
        for (int b = 0; b < 18; b++) owner[b] = b / 9;
        stream_order(s, owner);
        for (int wait = 0; wait < 2000 && stream_stats(s).bytes < bytes + 2.2 * layout_largest(a);
             wait++)
            usleep(1000);
        assert_true(stream_stats(s).bytes >= bytes + 2.2 * layout_largest(a));
        for (int i = 0; i < 18; i++) { /* two units side by side */
            const int b = i % 2 * 9 + i / 2;
            assert_ok(stream_hold(s, b));
            stream_drop(s, b, a->tiles);
        }
        bytes = stream_stats(s).bytes;
    }
    double once = 0;
    for (int b = 0; b < 18; b++)
        if (!stream_resident(b, 18, 6)) once += (double)block_bytes(a, b);
    assert_true(bytes == 3 * once);
    assert_true(resident(a->memory, a->begin[18]) <= 6 * layout_largest(a));
    stream_close(s);
}

/* The system's cache is not filled with what has passed. */
TEST(leaves_the_cache_alone) {
    OWN(layout) *a;
    struct stream *s = open_stream(&a, 2);
    assert_ok(stream_begin(s, 3, 2 * layout_largest(a)));
    stream_order(s, NULL);
    for (int b = 0; b < a->blocks; b++) {
        assert_ok(stream_hold(s, b));
        stream_drop(s, b, a->tiles);
    }
    const int fd = scratch_file();
    const size_t bytes = a->begin[a->blocks];
    void *file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(file != MAP_FAILED);
    if (stream_in_memory(s))
        print_message("%s is in memory\n", folder);
    else
        assert_true(resident(file, bytes) <= bytes / 8);
    munmap(file, bytes);
    close(fd);
    stream_close(s);
}

TEST(alignment_moves_blocks) {
    for (int kind = 0; kind < 3; kind++) {
        const struct layout_options o = options(kind);
        OWN(layout) *plain, *a;
        assert_ok(layout_open(&plain, slices, &o));
        assert_ok(layout_plan(&a, slices, &o));
        layout_align(a, 2 << 20);
        assert_ok(layout_reserve(a, 1));
        assert_ok(layout_fill(a, slices, 0, a->columns));
        assert_true(a->bytes == (double)a->begin[a->blocks]);
        for (int b = 0; b < a->blocks; b++) {
            assert_int_equal(a->begin[b] % (2 << 20), 0);
            assert_memory_equal(a->memory + a->begin[b], plain->memory + plain->begin[b],
                                block_bytes(plain, b));
        }
    }
}

/* A file that has become shorter: an error for whoever wants a block of it, at once and later. */
TEST(a_disk_that_fails) {
    OWN(layout) *a;
    struct stream *s = open_stream(&a, 0);
    assert_ok(stream_begin(s, 0, 2 * layout_largest(a)));
    const int fd = scratch_file();
    assert_int_equal(ftruncate(fd, (off_t)a->begin[10]), 0);
    close(fd);
    stream_order(s, NULL);
    evn_status status = EVN_OK;
    int b = 0;
    for (; b < a->blocks && !status; b++) {
        status = stream_hold(s, b);
        if (!status) stream_drop(s, b, a->tiles);
    }
    assert_int_equal(status, EVN_SYSTEM);
    assert_in_range(b, 7, 11); /* it is met when it is read ahead, or when it is wanted */
    assert_true(strstr(evn_message(), "block 10 of the matrices cannot be read back") ||
                strstr(evn_message(), "block 11 of")); /* two are read at a time */
    assert_says(folder);
    assert_true(stream_failed(s));
    assert_int_equal(stream_hold(s, 17), EVN_SYSTEM);
    stream_close(s);
    layout_close(a);

    s = open_stream(&a, 0); /* and for what stays */
    const int again = scratch_file();
    assert_int_equal(ftruncate(again, 0), 0);
    close(again);
    assert_int_equal(stream_begin(s, 3, layout_largest(a)), EVN_SYSTEM);
    stream_close(s);
}

TEST(bad_folders) {
    const struct layout_options o = options(0);
    OWN(layout) *a;
    struct stream *s;
    assert_ok(layout_plan(&a, slices, &o));
    assert_int_equal(stream_open(&s, a, "/nowhere/at/all"), EVN_USAGE);
    assert_null(s);
    assert_says("/nowhere/at/all");
    assert_int_equal(stream_open(&s, a, "/proc/self/status"), EVN_USAGE);
    struct rlimit before, small = {100000, 100000};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_fails(stream_open(&s, a, folder), EVN_USAGE, "no room for");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

RUN_TESTS(make, drop)
