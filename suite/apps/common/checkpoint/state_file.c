/* The format of a checkpoint file, and its parts in and out of memory. */
#include "common/checkpoint/state_file.h"
#include "common/run/hash.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/free_all.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

/* The numbers that a header begins with; the texts follow, each filled up to 8 bytes, then three
 * numbers a part. The header's last 8 bytes are its checksum. */
enum { MAGIC, HEADER, BYTES, IDENTITY, SCHEDULE, SPEEDS, PARTS, STEP, HEAD };

static uint64_t fill_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

/* Numbers of this machine from, and to, those with the least byte first. */
static void turn(void *words, size_t count) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    uint64_t *w = words;
    for (size_t i = 0; i < count; i++) w[i] = __builtin_bswap64(w[i]);
#else
    (void)words;
    (void)count;
#endif
}

/* Where the table of parts begins. */
static uint64_t table_at(uint64_t identity, uint64_t schedule) {
    return 8 * HEAD + fill_up(identity, 8) + fill_up(schedule, 8);
}

void state_lay_out(struct state_file *f, const struct states *s, uint64_t header) {
    uint64_t at = f->header = header;
    for (int i = 0; i < f->parts; i++) {
        const uint64_t bytes = 8 * (uint64_t)s->kind->doubles(s->arg, i, f->step);
        f->part[i].at = at;
        f->part[i].bytes = bytes;
        at += fill_up(bytes, PAGE);
    }
    f->bytes = at;
}

evn_status state_plan(struct state_file *f, const struct states *s, int step,
                      const char *schedule) {
    *f = (struct state_file){.parts = s->parts, .step = step};
    f->identity = strdup(s->identity);
    f->schedule = strdup(schedule);
    f->part = calloc((size_t)s->parts, sizeof *f->part);
    if (!f->identity || !f->schedule || !f->part) {
        state_close(f);
        return evn_fail(EVN_MEMORY, "checkpoint: no memory for the list of %d %ss", s->parts,
                        s->kind->part);
    }
    const uint64_t table = table_at(strlen(f->identity), strlen(schedule));
    state_lay_out(f, s, fill_up(table + sizeof *f->part * (uint64_t)f->parts + 8, PAGE));
    return EVN_OK;
}

void state_close(struct state_file *f) {
    free_all(f->identity, f->schedule, f->part);
    *f = (struct state_file){0};
}

unsigned char *state_header(const struct state_file *f, const struct state_kind *kind) {
    unsigned char *header = calloc(1, f->header);
    if (!header) return NULL;
    const uint64_t identity = strlen(f->identity), schedule = strlen(f->schedule);
    uint64_t head[HEAD] = {0,        f->header, f->bytes,           identity,
                           schedule, f->speeds, (uint64_t)f->parts, (uint64_t)f->step};
    const size_t table = sizeof *f->part * (size_t)f->parts;
    turn(head, HEAD);
    memcpy(head, kind->magic, sizeof kind->magic);
    memcpy(header, head, sizeof head);
    memcpy(header + sizeof head, f->identity, identity);
    memcpy(header + sizeof head + fill_up(identity, 8), f->schedule, schedule);
    unsigned char *to = header + table_at(identity, schedule);
    memcpy(to, f->part, table);
    turn(to, table / 8);
    uint64_t sum = kept_sum(HASH_SEED, header, f->header - 8);
    turn(&sum, 1);
    memcpy(header + f->header - 8, &sum, sizeof sum);
    return header;
}

static evn_status refuse(const char *path, const char *what) {
    return evn_fail(EVN_USAGE, "%s: %s", path, what);
}

static const char cut[] = "this checkpoint is cut off or damaged",
                  wrong[] = "this checkpoint is damaged: its checksum is wrong";

evn_status state_read_header(const struct state_kind *kind, int fd, const char *path,
                             unsigned char **header, size_t *bytes) {
    uint64_t head[HEAD];
    struct stat is;
    *header = NULL;
    if (fstat(fd, &is) || !S_ISREG(is.st_mode)) return refuse(path, "this is no regular file");
    if (kept_read(fd, head, sizeof head, 0) || memcmp(head, kind->magic, sizeof kind->magic) != 0)
        return evn_fail(EVN_USAGE, "%s: this is no checkpoint of %s of this version", path,
                        kind->name);
    turn(head, HEAD);
    if (head[BYTES] != (uint64_t)is.st_size || head[HEADER] > head[BYTES] || head[HEADER] % PAGE ||
        head[HEADER] < sizeof head + 8)
        return refuse(path, cut);
    *bytes = head[HEADER];
    *header = malloc(*bytes);
    if (!*header)
        return evn_fail(EVN_MEMORY, "%s: no memory for a header of %zu bytes", path, *bytes);
    if (!kept_read(fd, *header, *bytes, 0)) return EVN_OK;
    free(*header);
    *header = NULL;
    return refuse(path, cut);
}

static char *text(const unsigned char *from, uint64_t bytes) {
    char *copy = malloc(bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, from, bytes);
    copy[bytes] = 0;
    return copy;
}

/* Checks the table of parts: each begins where the one before ends, and has the doubles that the
 * problem gives it. */
static evn_status parse_table(struct state_file *f, const struct states *s, const uint64_t *head,
                              const unsigned char *table, const char *path) {
    const size_t bytes = sizeof *f->part * head[PARTS];
    f->parts = (int)head[PARTS];
    f->step = (int)head[STEP];
    f->speeds = head[SPEEDS];
    f->header = head[HEADER];
    f->bytes = head[BYTES];
    f->part = malloc(bytes + 1);
    if (!f->part)
        return evn_fail(EVN_MEMORY, "%s: no memory for the list of %d %ss", path, f->parts,
                        s->kind->part);
    memcpy(f->part, table, bytes);
    turn(f->part, bytes / 8);
    uint64_t at = f->header;
    for (int i = 0; i < f->parts; i++) {
        const struct state_part *part = &f->part[i];
        if (part->at != at || part->bytes > f->bytes - at) return refuse(path, cut);
        if (s->arg && part->bytes != 8 * (uint64_t)s->kind->doubles(s->arg, i, f->step))
            return refuse(path, cut);
        at += fill_up(part->bytes, PAGE);
        if (at > f->bytes) return refuse(path, cut);
    }
    return at == f->bytes ? EVN_OK : refuse(path, cut);
}

static evn_status parse(struct state_file *f, const struct states *s, const unsigned char *header,
                        size_t bytes, const char *path) {
    uint64_t head[HEAD], sum;
    memcpy(head, header, sizeof head);
    memcpy(&sum, header + bytes - 8, sizeof sum);
    turn(head, HEAD);
    turn(&sum, 1);
    if (sum != kept_sum(HASH_SEED, header, bytes - 8)) return refuse(path, wrong);
    if (head[IDENTITY] > bytes || head[SCHEDULE] > bytes || head[STEP] > INT_MAX ||
        head[PARTS] > bytes / sizeof *f->part ||
        table_at(head[IDENTITY], head[SCHEDULE]) + sizeof *f->part * head[PARTS] + 8 > bytes)
        return refuse(path, cut);
    f->identity = text(header + sizeof head, head[IDENTITY]);
    f->schedule = text(header + sizeof head + fill_up(head[IDENTITY], 8), head[SCHEDULE]);
    if (!f->identity || !f->schedule)
        return evn_fail(EVN_MEMORY, "%s: no memory for its words", path);
    evn_status status = s->arg ? kept_compare(path, f->identity, s->identity) : EVN_OK;
    if (status) return status;
    if ((s->arg && head[PARTS] != (uint64_t)s->parts) || strlen(f->identity) != head[IDENTITY] ||
        strlen(f->schedule) != head[SCHEDULE])
        return refuse(path, cut);
    return parse_table(f, s, head, header + table_at(head[IDENTITY], head[SCHEDULE]), path);
}

evn_status state_parse(struct state_file *f, const struct states *s, const unsigned char *header,
                       size_t bytes, const char *path) {
    *f = (struct state_file){0};
    evn_status status = parse(f, s, header, bytes, path);
    if (status) state_close(f);
    return status;
}

void state_pack(const struct states *s, int part, size_t from, size_t count, double *to) {
    s->kind->pack(s->arg, part, from, count, to);
    turn(to, count);
}

void state_unpack(const struct states *s, int part, size_t from, size_t count, double *data) {
    turn(data, count);
    s->kind->unpack(s->arg, part, from, count, data);
}

uint64_t state_sum(uint64_t sum, const double *piece, size_t doubles) {
    return kept_sum(sum, piece, doubles * sizeof *piece);
}

uint64_t state_sum_end(uint64_t sum, uint64_t bytes) {
    static const unsigned char zeros[PAGE];
    return kept_sum(sum, zeros, fill_up(bytes, PAGE) - bytes);
}
