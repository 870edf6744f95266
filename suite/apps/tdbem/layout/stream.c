/* Two threads read, so that one block's memory is made while another one's bytes come. One lock
 * guards all that is known of blocks; it is not held while reading. */
#include "tdbem/layout/stream.h"
#include "common/run/free_all.h"
#include <errno.h>
#include <evener/clock.h>
#include <evener/text.h>
#include <evener/output.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { READERS = 2, LARGE_PAGE = 2 << 20 };

enum state { ON_DISK, IN_TRANSFER, HERE };

struct block {
    enum state state;
    int resident;
    int holders, waiters;
    int done; /* parts of this pass */
    int rank; /* in the order of this pass */
    int lent; /* held while it goes to another rank, or until it is put away here */
};

struct stream {
    struct layout *layout;
    char *folder;
    int fd, direct; /* direct: the file again, past the system's cache; -1: there is no such way */
    struct block *block;
    int *order; /* blocks in the order in which they will be used; `count` of them, next is `at` */
    int count, at;
    size_t room, used, resident_bytes, max; /* bytes; `used` without the resident ones */
    size_t stay; /* that resident ones may have, where blocks come from other ranks */
    double bytes, waited_s;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t reader[READERS];
    int readers, closing;
    int failed, failed_block; /* errno, or -1 for a file that is too short */
};

/* ---- the file ---- */

static evn_status open_nameless(int *fd, const char *folder) {
    if (!evn_output_scratch(fd, folder)) return EVN_OK;
    return evn_fail(EVN_USAGE, "scratch: %s", evn_message());
}

evn_status stream_folder(const char *folder) {
    int fd;
    evn_status status = open_nameless(&fd, folder);
    if (!status) close(fd);
    return status;
}

/* Past the cache if the file system takes part; a trial shows it. */
static int open_direct(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int direct = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
    void *page = direct < 0 ? NULL : aligned_alloc(BLOCK_ALIGN, BLOCK_ALIGN);
    const int works = page && pread(direct, page, BLOCK_ALIGN, 0) == BLOCK_ALIGN;
    free(page);
    if (works) return direct;
    if (direct >= 0) close(direct);
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* readers know better what comes next */
    return -1;
}

/* Room for a block. */
static evn_status allocate(struct stream *s, int block) {
    const size_t *begin = s->layout->begin;
    const size_t bytes = begin[block + 1] - begin[block];
    const int full = posix_fallocate(s->fd, (off_t)begin[block], (off_t)bytes);
    if (!full) return EVN_OK;
    return evn_fail(EVN_USAGE, "scratch: %s: no room for %.3g GB: %s", s->folder,
                    1e-9 * (double)begin[s->layout->blocks], strerror(full));
}

static evn_status open_file(struct stream *s, int whole) {
    evn_status status = open_nameless(&s->fd, s->folder);
    for (int b = 0; !status && !whole && b < s->layout->blocks; b++)
        if (layout_has(s->layout, b)) status = allocate(s, b);
    if (!status) s->direct = open_direct(s->fd);
    return status;
}

/* All bytes of a block, one way or the other; errno, -1 for the end of the file, or 0. */
static int transfer(const struct stream *s, int block, int write) {
    const struct layout *a = s->layout;
    const int fd = s->direct >= 0 ? s->direct : s->fd;
    for (size_t at = a->begin[block], end = a->begin[block + 1]; at < end;) {
        const size_t max = (size_t)1 << 30, bytes = end - at < max ? end - at : max;
        const ssize_t n = write ? pwrite(fd, a->memory + at, bytes, (off_t)at)
                                : pread(fd, a->memory + at, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return -1;
        at += (size_t)n;
    }
    if (s->direct >= 0) return 0;
    const off_t at = (off_t)a->begin[block], bytes = (off_t)(a->begin[block + 1]) - at;
    if (write && fdatasync(s->fd)) return errno;
    posix_fadvise(s->fd, at, bytes, POSIX_FADV_DONTNEED);
    return 0;
}

static const char *reason_text(int reason) {
    return reason < 0 ? "the file has become shorter" : strerror(reason);
}

static evn_status not_written(const struct stream *s, int block, int reason) {
    return evn_fail(EVN_SYSTEM, "scratch: %s: block %d of the matrices cannot be written: %s",
                    s->folder, block, reason_text(reason));
}

static int in_large_pages(const struct layout *a) {
    return a->begin[a->blocks] / (size_t)a->blocks >= 4 * (size_t)LARGE_PAGE;
}

void stream_align(struct layout *a) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE); /* on aarch64 up to 64 KiB */
    layout_align(a, in_large_pages(a) ? LARGE_PAGE : page > BLOCK_ALIGN ? page : BLOCK_ALIGN);
}

static evn_status open_stream(struct stream **out, struct layout *layout, const char *folder,
                              int whole) {
    *out = NULL;
    struct stream *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "scratch: no memory");
    s->layout = layout;
    s->fd = s->direct = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    const size_t n = (size_t)layout->blocks;
    s->folder = strdup(folder);
    s->block = calloc(n, sizeof *s->block);
    s->order = malloc(n * sizeof *s->order);
    evn_status status = s->folder && s->block && s->order
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "scratch: no memory for %d blocks", (int)n);
    if (!status) status = open_file(s, whole);
    if (!status) status = layout_reserve(layout, whole || in_large_pages(layout));
    if (status) {
        stream_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

evn_status stream_open(struct stream **out, struct layout *layout, const char *folder) {
    return open_stream(out, layout, folder, 0);
}

evn_status stream_open_whole(struct stream **out, struct layout *layout, const char *folder) {
    return open_stream(out, layout, folder, 1);
}

evn_status stream_put(struct stream *s, int block) {
    const int reason = transfer(s, block, 1);
    layout_forget(s->layout, block);
    return reason ? not_written(s, block, reason) : EVN_OK;
}

int stream_in_memory(const struct stream *s) {
    struct statfs fs;
    if (fstatfs(s->fd, &fs)) return 0;
    return fs.f_type == 0x01021994 || (unsigned long)fs.f_type == 0x858458f6; /* tmpfs, ramfs */
}

/* ---- readers ---- */

static size_t size_of(const struct stream *s, int block) {
    return s->layout->begin[block + 1] - s->layout->begin[block];
}

/* The block to be read next: one that somebody waits for, else the next of the order; -1: none. */
static int next_block(struct stream *s, int *urgent) {
    for (int i = 0; i < s->layout->blocks; i++)
        if (s->block[i].waiters && s->block[i].state == ON_DISK) {
            *urgent = 1;
            return i;
        }
    *urgent = 0;
    for (; s->at < s->count; s->at++) {
        const struct block *b = &s->block[s->order[s->at]];
        if (b->state == ON_DISK && b->done < s->layout->tiles) return s->order[s->at];
    }
    return -1;
}

static void discard(struct stream *s, int block) {
    layout_forget(s->layout, block);
    s->block[block].state = ON_DISK;
    s->used -= size_of(s, block);
}

/* Makes room by taking back the block that was read too early: one that is neither held
 * nor waited for and is used last. */
static int take_back(struct stream *s) {
    int victim = -1;
    for (int i = 0; i < s->layout->blocks; i++) {
        const struct block *b = &s->block[i];
        if (b->resident || b->state != HERE || b->holders || b->waiters) continue;
        if (victim < 0 || b->rank > s->block[victim].rank) victim = i;
    }
    if (victim < 0) return 0;
    discard(s, victim);
    if (s->block[victim].rank < s->at) s->at = s->block[victim].rank;
    return 1;
}

/* A block to be read now, with room for it; -1: wait. */
static int choose(struct stream *s) {
    int urgent;
    const int block = s->failed ? -1 : next_block(s, &urgent);
    if (block < 0) return -1;
    while (s->used + size_of(s, block) > s->room)
        if (!urgent || !take_back(s)) return -1;
    return block;
}

static void *read_blocks(void *arg) {
    struct stream *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        const int block = choose(s);
        if (block < 0) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        s->block[block].state = IN_TRANSFER;
        s->used += size_of(s, block);
        if (s->used + s->resident_bytes > s->max) s->max = s->used + s->resident_bytes;
        pthread_mutex_unlock(&s->lock);
        const int reason = transfer(s, block, 0);
        pthread_mutex_lock(&s->lock);
        s->block[block].state = HERE;
        s->bytes += (double)size_of(s, block);
        if (reason && !s->failed) {
            s->failed = reason;
            s->failed_block = block;
        }
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int stream_resident(int b, int n, int resident) {
    return (long long)(b + 1) * resident / n > (long long)b * resident / n;
}

static evn_status not_read(const struct stream *s, int block, int reason) {
    return evn_fail(EVN_SYSTEM, "scratch: %s: block %d of the matrices cannot be read back: %s",
                    s->folder, block, reason_text(reason));
}

/* The two that read; `ahead` bytes are theirs. */
static evn_status start_readers(struct stream *s, size_t ahead) {
    s->room = ahead > layout_largest(s->layout) ? ahead : layout_largest(s->layout);
    for (; s->readers < READERS; s->readers++) {
        const int reason = pthread_create(&s->reader[s->readers], NULL, read_blocks, s);
        char why[700];
        if (reason)
            return evn_fail(EVN_SYSTEM, "scratch: no thread for reading: %s",
                            evn_limits_text(reason, why, sizeof why));
    }
    return EVN_OK;
}

/* Keeps a block in memory from now on. */
static void make_resident(struct stream *s, int block) {
    s->block[block].resident = 1;
    s->block[block].state = HERE;
    s->resident_bytes += size_of(s, block);
    if (s->used + s->resident_bytes > s->max) s->max = s->used + s->resident_bytes;
}

evn_status stream_begin(struct stream *s, int resident, size_t ahead) {
    int own = 0, at = 0;
    for (int b = 0; b < s->layout->blocks; b++) own += layout_has(s->layout, b);
    for (int b = 0; b < s->layout->blocks; b++) {
        if (!layout_has(s->layout, b) || !stream_resident(at++, own, resident)) continue;
        const int reason = transfer(s, b, 0);
        if (reason) return not_read(s, b, reason);
        make_resident(s, b);
    }
    s->stay = s->resident_bytes;
    return start_readers(s, ahead);
}

evn_status stream_begin_whole(struct stream *s, size_t stay, size_t ahead) {
    for (int b = 0; b < s->layout->blocks; b++)
        if (layout_has(s->layout, b)) make_resident(s, b);
    s->stay = stay;
    return start_readers(s, ahead);
}

void stream_close(struct stream *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->closing = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int r = 0; r < s->readers; r++) pthread_join(s->reader[r], NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    if (s->direct >= 0) close(s->direct);
    if (s->fd >= 0) close(s->fd);
    free_all(s->folder, s->block, s->order, s);
}

/* ---- use ---- */

struct ranked {
    double when; /* share of its unit's blocks that come before it */
    int block;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *p = a, *q = b;
    if (p->when != q->when) return p->when < q->when ? -1 : 1;
    return p->block - q->block;
}

/* Units walk through their blocks side by side and end together. */
static void put_in_order(struct stream *s, const int *owner) {
    const int n = s->layout->blocks;
    int units = 0;
    for (int b = 0; owner && b < n; b++)
        if (owner[b] >= units) units = owner[b] + 1;
    struct ranked *ranked = malloc((size_t)n * sizeof *ranked);
    int *all = calloc((size_t)units + 1, sizeof *all),
        *before = calloc((size_t)units + 1, sizeof *all);
    s->count = 0;
    for (int b = 0; owner && all && b < n; b++)
        if (owner[b] >= 0) all[owner[b]]++;
    for (int b = 0; ranked && all && before && b < n; b++) {
        double when = b;
        if (owner && owner[b] < 0) continue;
        if (owner) when = (before[owner[b]]++ + 0.5) / all[owner[b]];
        if (!s->block[b].resident) ranked[s->count++] = (struct ranked){when, b};
    }
    if (s->count) qsort(ranked, (size_t)s->count, sizeof *ranked, by_rank);
    for (int b = 0; b < n; b++) s->block[b].rank = n;
    for (int i = 0; i < s->count; i++) {
        s->order[i] = ranked[i].block;
        s->block[ranked[i].block].rank = i;
    }
    free_all(ranked, all, before);
}

void stream_order(struct stream *s, const int *owner) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    for (int b = 0; b < s->layout->blocks; b++) s->block[b].done = 0;
    put_in_order(s, owner);
    s->at = 0;
    for (int b = 0; b < s->layout->blocks; b++) { /* read too early, and not in the order now */
        const struct block *k = &s->block[b];
        if (!k->resident && k->state == HERE && !k->holders && k->rank == s->layout->blocks)
            discard(s, b);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

evn_status stream_hold(struct stream *s, int block) {
    if (!s || s->block[block].resident) return EVN_OK;
    struct block *b = &s->block[block];
    pthread_mutex_lock(&s->lock);
    if (b->state != HERE) {
        const double since = evn_now();
        b->waiters++;
        pthread_cond_broadcast(&s->changed);
        while (b->state != HERE && !s->failed) pthread_cond_wait(&s->changed, &s->lock);
        b->waiters--;
        s->waited_s += evn_now() - since;
    }
    const int failed = s->failed;
    if (!failed) b->holders++;
    pthread_mutex_unlock(&s->lock);
    return failed ? not_read(s, s->failed_block, failed) : EVN_OK;
}

void stream_drop(struct stream *s, int block, int parts) {
    if (!s || s->block[block].resident) return;
    struct block *b = &s->block[block];
    pthread_mutex_lock(&s->lock);
    b->holders--;
    b->done += parts;
    if (!b->holders && b->done >= s->layout->tiles) discard(s, block);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int stream_failed(struct stream *s) {
    if (!s) return 0;
    pthread_mutex_lock(&s->lock);
    const int failed = s->failed;
    pthread_mutex_unlock(&s->lock);
    return failed != 0;
}

struct stream_stats stream_stats(struct stream *s) {
    if (!s) return (struct stream_stats){0};
    pthread_mutex_lock(&s->lock);
    int resident = 0;
    for (int b = 0; b < s->layout->blocks; b++) resident += s->block[b].resident;
    const struct stream_stats stats = {.blocks = s->layout->blocks,
                                       .resident = resident,
                                       .bytes = s->bytes,
                                       .waited_s = s->waited_s,
                                       .max = (double)s->max};
    pthread_mutex_unlock(&s->lock);
    return stats;
}

int stream_reads(const struct stream *s) {
    for (int b = 0; s && b < s->layout->blocks; b++)
        if (layout_has(s->layout, b) && !s->block[b].resident) return 1;
    return 0;
}

/* ---- blocks that go to other ranks ---- */

evn_status stream_lend(struct stream *s, int block) {
    if (!s || s->block[block].lent) return EVN_OK;
    evn_status status = stream_hold(s, block);
    s->block[block].lent = !status;
    return status;
}

void stream_leave(struct stream *s, int block) {
    struct block *b = &s->block[block];
    pthread_mutex_lock(&s->lock);
    if (b->resident) {
        s->resident_bytes -= size_of(s, block);
        layout_forget(s->layout, block);
    } else if (b->state == HERE) {
        discard(s, block);
    }
    *b = (struct block){.state = ON_DISK, .rank = s->layout->blocks};
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

evn_status stream_arrive(struct stream *s, int block) {
    if (!s) return EVN_OK;
    struct block *b = &s->block[block];
    pthread_mutex_lock(&s->lock);
    const int stays = s->resident_bytes + size_of(s, block) <= s->stay;
    evn_status status = stays ? EVN_OK : allocate(s, block);
    if (stays) make_resident(s, block);
    if (!status) b->lent = 1;
    if (!status && !stays) {
        b->state = HERE;
        b->holders = 1;
        s->used += size_of(s, block);
        if (s->room < size_of(s, block)) s->room = size_of(s, block);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

evn_status stream_keep(struct stream *s, int block) {
    if (!s) return EVN_OK;
    struct block *b = &s->block[block];
    b->lent = 0;
    if (b->resident) return EVN_OK;
    const int reason = transfer(s, block, 1);
    pthread_mutex_lock(&s->lock);
    b->holders = 0;
    discard(s, block);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return reason ? not_written(s, block, reason) : EVN_OK;
}
