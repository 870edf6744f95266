/* Statuses of ranks made one. */
#include "cluster/agree.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Head of a record; the message and the ranks that failed with it, ascending, follow. Of ranks that
 * failed otherwise only the number is kept. */
struct failure {
    int32_t status, others, ranks;
    char text[1024];
};

enum { RANGES = 4 }; /* most ranges of ranks that a message lists */

static int rank_at(const void *record, int i) {
    int32_t rank;
    memcpy(&rank, (const char *)record + sizeof(struct failure) + sizeof rank * (size_t)i,
           sizeof rank);
    return rank;
}

size_t agree_most(int ranks) { return sizeof(struct failure) + (size_t)ranks * sizeof(int32_t); }

evn_status agree_record(struct record *out, int rank, evn_status own, const char *text) {
    const int32_t number = rank;
    out->bytes = 0;
    if (!own) return EVN_OK;
    struct failure f = {.status = own, .ranks = 1};
    snprintf(f.text, sizeof f.text, "%s", text);
    evn_status status = record_add(out, &f, sizeof f);
    return status ? status : record_add(out, &number, sizeof number);
}

evn_status agree_join(struct record *mine, const void *theirs, size_t bytes) {
    struct failure a, b;
    if (!bytes) return EVN_OK;
    if (!mine->bytes) return record_add(mine, theirs, bytes);
    memcpy(&a, mine->data, sizeof a);
    memcpy(&b, theirs, sizeof b);
    evn_status status = EVN_OK;
    if (a.status == EVN_STOPPED && b.status != EVN_STOPPED) {
        mine->bytes = 0;
        status = record_add(mine, theirs, bytes);
        b.others += a.ranks + a.others;
        a = b;
    } else if (a.status == b.status && !strcmp(a.text, b.text)) {
        status = record_add(mine, (const char *)theirs + sizeof b, bytes - sizeof b);
        a.ranks += b.ranks;
        a.others += b.others;
    } else {
        a.others += b.ranks + b.others;
    }
    if (!status) memcpy(mine->data, &a, sizeof a);
    return status;
}

/* "rank 3", "ranks 3 to 7 and 9", "ranks 1, 3, 5, 7 and 12 more" */
static void print_ranks(const void *record, int ranks, char *text, size_t room) {
    size_t at = (size_t)snprintf(text, room, ranks == 1 ? "rank " : "ranks ");
    for (int i = 0, ranges = 0; i < ranks && at < room; ranges++) {
        int end = i + 1;
        while (end < ranks && rank_at(record, end) == rank_at(record, end - 1) + 1) end++;
        if (end < i + 3) end = i + 1; /* a range has at least three ranks */
        const char *and = !ranges ? "" : end == ranks ? " and " : ", ";
        if (ranges == RANGES) {
            snprintf(text + at, room - at, " and %d more", ranks - i);
            return;
        }
        if (end == i + 1)
            at += (size_t)snprintf(text + at, room - at, "%s%d", and, rank_at(record, i));
        else
            at += (size_t)snprintf(text + at, room - at, "%s%d to %d", and, rank_at(record, i),
                                   rank_at(record, end - 1));
        i = end;
    }
}

evn_status agree_read(const struct record *record, int size, char *text, size_t room,
                      const char *(*host)(const void *arg, int rank), const void *arg) {
    struct failure f;
    *text = 0;
    if (record->bytes < sizeof f) return EVN_OK;
    memcpy(&f, record->data, sizeof f);
    if (f.ranks == size) { /* all failed: ranks are not named */
        snprintf(text, room, "%s", f.text);
        return (evn_status)f.status;
    }
    char ranks[160], more[48] = "";
    const char *on = host(arg, rank_at(record->data, 0));
    for (int i = 1; on && i < f.ranks; i++)
        if (strcmp(on, host(arg, rank_at(record->data, i)))) on = NULL;
    print_ranks(record->data, f.ranks, ranks, sizeof ranks);
    if (f.others)
        snprintf(more, sizeof more, " (%d other rank%s failed, too)", f.others,
                 f.others == 1 ? "" : "s");
    snprintf(text, room, "%s%s%s: %s%s", ranks, on ? " on " : "", on ? on : "", f.text, more);
    return (evn_status)f.status;
}
