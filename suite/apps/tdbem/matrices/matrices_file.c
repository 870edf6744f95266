/* Values go by blocks, in pieces, between rank 0 and those that do not see its file, one rank after
 * another; all know which blocks are whose, so nothing is asked for. */
#include "tdbem/matrices/matrices_file.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/ranks.h"
#include "common/run/free_all.h"
#include <errno.h>
#include <evener/output.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

/* Rank 0's report of its file, for all ranks. */
struct told {
    struct kept_place place; /* where it is written */
    uint64_t sum, bytes;     /* where it is read */
    int32_t reads;
};

struct matrices_file {
    struct told told;
    const char *path;
    int fd;      /* that this rank writes to or has a copy in; -1: it is a reader's */
    int *blind;  /* by rank, 1: it has a copy of its own */
    char *piece; /* on its way */
};

void matrices_file_close(struct matrices_file *f) {
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    free_all(f->blind, f->piece, f);
}

static evn_status failed_with(const struct matrices_file *f, const char *what, int error) {
    return error ? evn_fail(EVN_SYSTEM, "matrices: %s could not be %s: %s", f->path, what,
                            strerror(error))
                 : EVN_OK;
}

/* A part of the file from one rank to another, of which this one is one and has it open as `fd`.
 * After a failure, which *failed has, it goes on, since the other waits. */
static evn_status carry(struct matrices_file *f, tdbem *p, int from, int to, int fd, size_t begin,
                        size_t end, evn_status *failed) {
    evn_status status = EVN_OK;
    for (size_t at = begin; !status && at < end; at += PIECE) {
        const size_t bytes = end - at < PIECE ? end - at : PIECE;
        if (p->me == from && !*failed)
            *failed = failed_with(f, "read", kept_read(fd, f->piece, bytes, at));
        status = evn_cluster_carry(p->cluster, from, to, f->piece, bytes);
        if (!status && p->me == to && !*failed)
            *failed = failed_with(f, "written", kept_write(fd, f->piece, bytes, at));
    }
    return status;
}

/* The values of `rank`'s blocks, from it to rank 0 or the other way. */
static evn_status carry_values(struct matrices_file *f, tdbem *p, const struct slices *s, int rank,
                               int comes, int fd, evn_status *failed) {
    const struct layout *l = p->layout;
    evn_status status = EVN_OK;
    for (int b = 0; !status && b < l->blocks; b++)
        if (p->rank[b] == rank)
            status = carry(f, p, comes ? rank : 0, comes ? 0 : rank, fd,
                           slices_file_begin(s, l->slice[b]), slices_file_begin(s, l->slice[b + 1]),
                           failed);
    return status;
}

static int shares_host(const tdbem *p) {
    return !strcmp(evn_cluster_host(p->cluster, p->me), evn_cluster_host(p->cluster, 0));
}

static evn_status open_copy(struct matrices_file *f, const char *folder, size_t bytes) {
    if (evn_output_scratch(&f->fd, folder))
        return evn_fail(EVN_USAGE, "scratch: %s", evn_message());
    return failed_with(f, "copied", ftruncate(f->fd, (off_t)bytes) ? errno : 0);
}

/* Fills in rank 0's report. */
static evn_status describe(struct matrices_file *f, const struct matrices_ends *ends) {
    struct told *t = &f->told;
    t->reads = ends->reader != NULL;
    t->bytes = slices_file_size(ends->s);
    if (t->reads) return tdbem_as_input(slices_reader_sum(ends->reader, &t->sum));
    /* where checksums will be */
    const int fd = slices_writer_descriptor(ends->writer);
    return failed_with(f, "written", kept_mark(&t->place, fd, t->bytes - sizeof t->place.word));
}

/* Finds the file on another rank: the same one, or a copy. */
static evn_status find(struct matrices_file *f, tdbem *p, struct matrices_ends *ends, int *blind) {
    const struct told *t = &f->told;
    uint64_t sum;
    if (slices_file_size(ends->s) != t->bytes)
        return evn_fail(EVN_USAGE, "matrices: %s has other ranges than are found here", f->path);
    if (t->reads && ends->reader) {
        evn_status status = tdbem_as_input(slices_reader_sum(ends->reader, &sum));
        if (status || sum == t->sum) return status;
    }
    if (!t->reads && shares_host(p)) f->fd = kept_look(&t->place);
    *blind = f->fd < 0;
    evn_status status = *blind ? open_copy(f, ends->scratch, t->bytes) : EVN_OK;
    if (status || t->reads) return status;
    return slices_writer_into(&ends->writer, p->layout->columns, f->path, f->fd);
}

/* All but the values of other ranks' blocks, to ranks that have none of it. */
static evn_status carry_copies(struct matrices_file *f, tdbem *p, const struct matrices_ends *ends,
                               evn_status *failed) {
    const struct slices *s = ends->s;
    const int fd = p->me ? f->fd : slices_reader_descriptor(ends->reader);
    evn_status status = EVN_OK;
    for (int r = 1; !status && r < p->ranks; r++) {
        if (!f->blind[r] || (p->me && p->me != r)) continue;
        status = carry(f, p, 0, r, fd, 0, slices_file_begin(s, 0), failed);
        if (!status)
            status = carry(f, p, 0, r, fd, slices_file_begin(s, s->columns), f->told.bytes, failed);
        if (!status) status = carry_values(f, p, s, r, 0, fd, failed);
    }
    return status;
}

/* The copy is read instead of what there was, which stays the caller's. */
static evn_status read_copy(struct matrices_file *f, tdbem *p, struct matrices_ends *ends,
                            const struct slices_options *options) {
    const int fd = f->fd;
    f->fd = -1; /* it is the reader's */
    return tdbem_as_input(slices_reader_prepare(&ends->reader, p->mesh, options, f->path, fd));
}

static evn_status open_it(struct matrices_file **out, const tdbem *p) {
    struct matrices_file *f = *out = calloc(1, sizeof *f);
    if (!f) return evn_fail(EVN_MEMORY, "matrices: no memory");
    f->fd = -1;
    f->path = p->options.matrices;
    f->piece = calloc(1, PIECE);
    return f->piece ? EVN_OK : evn_fail(EVN_MEMORY, "matrices: no memory");
}

evn_status matrices_file_begin(struct matrices_file **out, tdbem *p, struct matrices_ends *ends,
                               const struct slices_options *options, int *again) {
    int blind = 0, ranks;
    evn_status status = open_it(out, p), failed = EVN_OK;
    struct matrices_file *f = *out;
    if (!status && !p->me) status = describe(f, ends);
    status = evn_cluster_agree(p->cluster, status);
    if (!status) status = evn_cluster_tell(p->cluster, &f->told, sizeof f->told);
    if (status) return status;
    if (p->me) failed = find(f, p, ends, &blind);
    failed = evn_cluster_agree(p->cluster, failed);
    if (!failed)
        failed = ranks_share(p->cluster, &blind, 1, sizeof blind, (void **)&f->blind, &ranks);
    if (failed) return failed;
    *again = f->told.reads ? blind : ends->reader != NULL;
    if (!f->told.reads) {
        ends->reader = NULL;
        return EVN_OK;
    }
    status = carry_copies(f, p, ends, &failed);
    if (status) return status;
    if (!failed && blind) failed = read_copy(f, p, ends, options);
    return evn_cluster_agree(p->cluster, failed);
}

static int has_column(void *arg, int column) {
    const tdbem *p = arg;
    int b = 0;
    while (p->layout->slice[b + 1] <= column) b++;
    return p->rank[b] == p->me;
}

evn_status matrices_file_end(struct matrices_file *f, tdbem *p, struct matrices_ends *ends) {
    evn_status status = EVN_OK, failed = EVN_OK;
    if (f->told.reads) return EVN_OK;
    const int fd = p->me ? f->fd : slices_writer_descriptor(ends->writer);
    for (int r = 1; !status && r < p->ranks; r++)
        if (f->blind[r] && (!p->me || p->me == r))
            status = carry_values(f, p, ends->s, r, 1, fd, &failed);
    if (status) return status;
    status = evn_cluster_agree(p->cluster, failed);
    if (!status)
        status = ranks_complete(p->cluster, slices_writer_sums(ends->writer), p->layout->columns,
                                sizeof(uint64_t), has_column, p);
    if (status) return status;
    if (!p->me) failed = slices_writer_commit(ends->writer, ends->s);
    return evn_cluster_agree(p->cluster, failed);
}
