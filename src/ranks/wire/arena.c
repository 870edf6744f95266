/* The arena's memory: mapping, allocation, freeing; boxes and how they are found. */
#include "wire/arena_boxes.h"
#include "base/text.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* Bytes of the arena: as much as the machine has, since pages that nobody touches cost nothing;
 * less where files or address space are limited (ulimit -f, -v). A file beyond its limit would be a
 * signal, and address space is needed for other things, too. */
static size_t room_there_is(size_t page) {
    struct rlimit limit;
    long pages = sysconf(_SC_PHYS_PAGES);
    size_t bytes = pages > 0 ? (size_t)pages * page : (size_t)1 << 32;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes) bytes = (size_t)limit.rlim_cur;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur / 4 < bytes)
        bytes = (size_t)limit.rlim_cur / 4;
    return bytes / page * page;
}

/* Maps a file in memory without a name, so that nothing can be left behind. Unlike anonymous memory
 * it costs nothing before it is touched, even if the kernel counts promised memory
 * (overcommit_memory 2). */
static evn_status map(void **out, size_t *bytes, size_t page) {
    const size_t least = round_up(sizeof(struct wire_arena), page);
    int file = memfd_create("evener", MFD_CLOEXEC);
    if (file < 0)
        return evn_fail(EVN_SYSTEM, "arena: no memory to share: memfd_create: %s", strerror(errno));
    void *memory = MAP_FAILED;
    int error = ENOMEM;
    for (*bytes = room_there_is(page); *bytes > least && memory == MAP_FAILED;) {
        if (!ftruncate(file, (off_t)*bytes))
            memory =
                mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
        if (memory == MAP_FAILED) {
            error = errno;
            *bytes = *bytes / 2 / page * page;
        }
    }
    close(file);
    *out = memory;
#ifdef MADV_HUGEPAGE /* where shmem_enabled is advise; made before the ranks, for all of them */
    if (memory != MAP_FAILED) madvise(memory, *bytes, MADV_HUGEPAGE);
#endif
    if (memory != MAP_FAILED) return EVN_OK;
    return evn_fail(EVN_MEMORY, "arena: no memory to share: %s; see ulimit -v and ulimit -f",
                    strerror(error));
}

evn_status wire_arena_open(struct wire_arena **out, int ranks, int supervised) {
    void *memory;
    size_t bytes = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    *out = NULL;
    evn_status status = map(&memory, &bytes, page);
    if (status) return status;
    struct wire_arena *a = memory;
    a->bytes = bytes;
    a->page = page;
    a->ranks = ranks;
    a->supervised = supervised;
    a->end = round_up(sizeof *a, page);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&a->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    *out = a;
    return EVN_OK;
}

void wire_arena_close(struct wire_arena *a) {
    if (a) munmap(a, a->bytes);
}

/* ---- dealing out, under the lock ---- */

/* The size class for `pages`, and in *rounded its number of pages. */
static int class_of(size_t pages, size_t *rounded) {
    int log = 0;
    while (pages >> log > 7) log++; /* pages are 4 to 7 times 2^log, or fewer than 4 */
    *rounded = round_up(pages, (size_t)1 << log);
    return 4 * log + (int)(*rounded >> log);
}

void *wire_arena_deal(struct wire_arena *a, size_t bytes, int *is_clean) {
    size_t pages;
    const int class = class_of(round_up(bytes, a->page) / a->page, &pages);
    bytes = pages * a->page;
    void *memory = a->free[class];
    *is_clean = !memory;
    if (memory) {
        a->free[class] = a->free[class]->next;
    } else if (bytes <= a->bytes - a->end) {
        memory = (unsigned char *)a + a->end;
        a->end += bytes;
    } else {
        return NULL;
    }
    a->used += bytes;
    return memory;
}

void wire_arena_give_back(struct wire_arena *a, void *memory, size_t bytes) {
    size_t pages;
    const int class = class_of(round_up(bytes, a->page) / a->page, &pages);
    struct wire_arena_free *f = memory;
    f->next = a->free[class];
    a->free[class] = f;
    a->used -= pages * a->page;
}

/* Size of a box: a page, and two buffers, which messages of 0 bytes have, too. */
static size_t box_bytes(const struct wire_arena *a, size_t max) {
    return round_up(sizeof(struct wire_arena_box), a->page) + 2 * round_up(max ? max : 1, a->page);
}

/* ---- boxes ---- */

static struct wire_arena_box **list_of(struct wire_arena *a, int from, int to, int tag) {
    return &a->list[(unsigned)(from * 31 + to * 17 + tag) % ARENA_LISTS];
}

static int is_way(const struct wire_arena_box *b, int from, int to, int tag) {
    return b->from == from && b->to == to && b->tag == tag;
}

static struct wire_arena_box *box_make(struct wire_arena *a, int from, int to, int tag,
                                       size_t max) {
    int is_clean;
    struct wire_arena_box *b = wire_arena_deal(a, box_bytes(a, max), &is_clean);
    if (!b) return NULL;
    memset(b, 0, sizeof *b);
    b->from = from;
    b->to = to;
    b->tag = tag;
    b->max = max;
    b->room[0] = (unsigned char *)b + round_up(sizeof *b, a->page);
    b->room[1] = b->room[0] + round_up(max ? max : 1, a->page);
    struct wire_arena_box **last = list_of(a, from, to, tag);
    while (*last) last = &(*last)->next;
    *last = b;
    return b;
}

/* The box of a channel for one end. An end may open the channel again before the other end has
 * closed or even opened it: then several boxes exist, in order, and an end takes the first that it
 * has not had. */
static evn_status box_open(struct wire_arena_box **out, struct wire_arena *a, const char *name,
                           int from, int to, int tag, int end, size_t max) {
    struct wire_arena_box *b = *list_of(a, from, to, tag);
    for (; b; b = b->next)
        if (is_way(b, from, to, tag)) {
            if (!b->opened[end]) break;
            if (!b->closed[end])
                return evn_fail(EVN_USAGE, "%s: channel %d from rank %d to %d is open already",
                                name, tag, from, to);
        }
    if (b && b->max != max)
        return evn_fail(
            EVN_USAGE,
            "%s: channel %d from rank %d to %d is opened for %zu bytes, and at the other "
            "end for %zu",
            name, tag, from, to, max, b->max);
    if (!b) b = box_make(a, from, to, tag, max);
    if (!b)
        return evn_fail(EVN_MEMORY,
                        "%s: channel %d from rank %d to %d: no room for two messages of %zu bytes; "
                        "of %zu MiB in the arena %zu are in use",
                        name, tag, from, to, max, a->bytes >> 20, a->used >> 20);
    b->opened[end] = 1;
    *out = b;
    return EVN_OK;
}

evn_status wire_arena_box_open(struct wire_arena_box **out, struct wire_arena *a, const char *name,
                               int from, int to, int tag, int end, size_t max) {
    pthread_mutex_lock(&a->lock);
    evn_status status = box_open(out, a, name, from, to, tag, end, max);
    pthread_mutex_unlock(&a->lock);
    return status;
}

void wire_arena_box_close(struct wire_arena_box *b, struct wire_arena *a, int end) {
    pthread_mutex_lock(&a->lock);
    b->closed[end] = 1;
    if (b->closed[!end]) {
        struct wire_arena_box **at = list_of(a, b->from, b->to, b->tag);
        while (*at != b) at = &(*at)->next;
        *at = b->next;
        wire_arena_give_back(a, b, box_bytes(a, b->max));
    }
    pthread_mutex_unlock(&a->lock);
}

void wire_arena_use(struct wire_arena *a, size_t *now, size_t *ever) {
    pthread_mutex_lock(&a->lock);
    *now = a->used;
    *ever = a->end - round_up(sizeof *a, a->page);
    pthread_mutex_unlock(&a->lock);
}

/* ---- ranks ---- */

void wire_arena_lose(struct wire_arena *a, int rank) {
    int none = 0;
    atomic_compare_exchange_strong(&a->lost, &none, 1 + rank);
}

enum wire_arena_rank_state wire_arena_rank_state(const struct wire_arena *a, int rank) {
    return (enum wire_arena_rank_state)atomic_load(&a->state[rank]);
}

evn_status wire_arena_speed_read(struct wire_arena_speed *out, const char *what,
                                 const char *options) {
    evn_spec spec;
    char text[sizeof spec.copy];
    *out = (struct wire_arena_speed){0};
    if (!options || !*options) return EVN_OK;
    if (strlen(options) + strlen(what) + 2 > sizeof text)
        return evn_fail(EVN_USAGE, "%s: \"%.20s..\": longer than %zu characters", what, options,
                        sizeof text - strlen(what) - 2);
    strcat(strcat(strcpy(text, what), ":"), options);
    evn_status status = evn_spec_parse(&spec, what, text);
    for (int i = 0; !status && i < spec.options; i++) {
        const evn_option *o = &spec.option[i];
        if (!strcmp(o->key, "latency"))
            status =
                evn_spec_scaled(o, what, options, evn_times, (evn_bounds){0, 10, 0}, &out->latency);
        else if (!strcmp(o->key, "bandwidth"))
            status = evn_spec_scaled(o, what, options, evn_rates, (evn_bounds){1, 1e15, 0},
                                     &out->bandwidth);
        else
            status = evn_fail(EVN_USAGE,
                              "%s: \"%s\": unknown option \"%s\", expected latency or bandwidth",
                              what, options, o->key);
    }
    return status;
}
