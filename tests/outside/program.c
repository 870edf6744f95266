/* A hybrid program as somebody else would write it, in what C11 and C++17 have in common: two loops
 * over uneven blocks on the same units, each with two fields and an exchange for each field, all
 * four on their way while the loops begin; blocks of doubles in memory of the program, and blocks
 * of structs of three in memory that the place makes where they are first written. Halfway some
 * blocks are given other regions. All is compared with plain loops. */
#include "program.h"
#include <evener.h>
#include <stdlib.h>
#include <string.h>

enum { SHEETS = 2, BLOCKS = 64, P = 0, V = 1 };

struct vector {
    double x, y, z;
};

#ifdef __cplusplus
extern "C" {
#endif
extern const evn_kernel_source program_kernels; /* made from program.kernel.c */
#ifdef __cplusplus
}
#endif

struct sheet {
    int blocks, row, scale; /* row: doubles */
    size_t element;         /* what the exchange moves: a double, or a struct that is a row */
    int made;               /* by the place */
    evn_loop *loop;
    evn_exchange *exchange[2];
    int region[2 * BLOCKS], rows;
    double *mine[2 * BLOCKS]; /* the blocks' p and v; NULL where the place has made them */
    double *whole[2];
};

struct sheets {
    struct sheet sheet[SHEETS];
    evn_session *session;
    evn_place *place;
    int halves;
};

#define TRY(call)                                                                                  \
    if (call) return evn_message()

static int rows_of(const struct sheet *s, int t) { return s->scale * ROWS(t); }
static size_t bytes_of(const struct sheet *s, int t) {
    return (size_t)(rows_of(s, t) + 2) * (size_t)s->row * sizeof(double);
}

/* ---- bodies -------------------------------------------------------------------------------- */

static void step(double *p, double *v, int rows, int row) {
    for (int i = 0; i < (rows + 1) * row; i++) v[i] = PUSHED(v, p, i, row);
    for (int i = row; i < (rows + 1) * row; i++) p[i] = DRAWN(p, v, i, row);
}

static evn_status launch(const struct sheet *s, evn_batch *batch, const char *kernel) {
    evn_argument argument[4];
    int count;
    memset(argument, 0, sizeof argument);
    argument[0].buffer = evn_batch_buffer(batch);
    argument[1].buffer = evn_batch_table(batch);
    argument[2].value = &s->row;
    argument[3].value = &s->scale;
    argument[2].bytes = argument[3].bytes = sizeof(int);
    evn_batch_tasks(batch, &count);
    return evn_batch_launch(batch, &program_kernels, kernel, count, argument, 4);
}

static evn_status begin_body(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct sheet *s = (const struct sheet *)arg;
    if (evn_unit_is_gpu(unit)) return launch(s, batch, "sheet_begin");
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        double *p = (double *)evn_batch_host(batch, t, P);
        double *v = (double *)evn_batch_host(batch, t, V);
        for (int i = 0; i < (rows_of(s, t) + 2) * s->row; i++) p[i] = v[i] = FIRST(t, i);
    }
    return EVN_OK;
}

static evn_status step_body(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct sheet *s = (const struct sheet *)arg;
    for (int f = P; f <= V; f++) {
        evn_status status = evn_exchange_finish(s->exchange[f], unit, evn_batch_device(batch));
        if (status) return status;
    }
    if (evn_unit_is_gpu(unit)) return launch(s, batch, "sheet_step");
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        step((double *)evn_batch_host(batch, t, P), (double *)evn_batch_host(batch, t, V),
             rows_of(s, t), s->row);
    return EVN_OK;
}

/* ---- regions and exchanges ----------------------------------------------------------------- */

/* Field i % 2 of block i / 2. */
static evn_status add(sheets *all, struct sheet *s, int i) {
    const size_t bytes = bytes_of(s, i / 2);
    if (s->made) return evn_place_make(all->place, bytes, &s->region[i]);
    s->mine[i] = (double *)malloc(bytes);
    if (!s->mine[i]) return evn_fail(EVN_MEMORY, "no memory for block %d", i / 2);
    return evn_place_add(all->place, s->mine[i], bytes, &s->region[i]);
}

static evn_status follow(sheets *all, struct sheet *s, evn_access access) {
    const evn_access both[2] = {access, access};
    return evn_loop_place(s->loop, all->place, 2, s->region, both);
}

/* The row `from_row` of block `from` goes to `to`. */
static evn_face face_of(const struct sheet *s, int from, int from_row, int to, int to_row, int f) {
    const int values = s->row * (int)sizeof(double) / (int)s->element;
    evn_face face;
    memset(&face, 0, sizeof face);
    face.from = from;
    face.to = to;
    face.from_at = (long long)from_row * values;
    face.to_at = (long long)to_row * values;
    for (int d = 0; d < 3; d++) face.from_stride[d] = face.to_stride[d] = face.n[d] = 1;
    face.n[2] = values;
    face.from_region = face.to_region = f;
    return face;
}

/* p goes both ways, v to the block behind. */
static evn_status open_exchanges(struct sheet *s) {
    evn_status status = EVN_OK;
    for (int f = P; !status && f <= V; f++) {
        evn_face face[2 * BLOCKS];
        int n = 0;
        for (int t = 0; t + 1 < s->blocks; t++) {
            face[n++] = face_of(s, t, rows_of(s, t), t + 1, 0, f);
            if (f == P) face[n++] = face_of(s, t + 1, 1, t, rows_of(s, t) + 1, f);
        }
        status = evn_exchange_open(&s->exchange[f], s->loop, s->element, n, face, NULL);
    }
    return status;
}

static void close_exchanges(struct sheet *s) {
    for (int f = P; f <= V; f++) evn_exchange_close(s->exchange[f]);
    s->exchange[P] = s->exchange[V] = NULL;
}

/* What is in a field of a block, which then has no region any more. */
static evn_status take(sheets *all, struct sheet *s, int i, double *copy) {
    const size_t bytes = bytes_of(s, i / 2);
    evn_status status = EVN_OK;
    if (s->made) {
        status = evn_place_acquire(all->place, 1, &s->region[i], EVN_HOST, EVN_READ);
        if (status) return status;
        memcpy(copy, evn_place_host(all->place, s->region[i]), bytes);
        status = evn_place_release(all->place, 1, &s->region[i], EVN_HOST);
    }
    if (!status) status = evn_place_remove(all->place, s->region[i]);
    if (!status && !s->made) memcpy(copy, s->mine[i], bytes); /* it has come home */
    free(s->mine[i]);
    s->mine[i] = NULL;
    return status;
}

static evn_status give(sheets *all, struct sheet *s, int i, const double *copy) {
    evn_status status = add(all, s, i);
    if (!status) status = evn_place_acquire(all->place, 1, &s->region[i], EVN_HOST, EVN_WRITE);
    if (status) return status;
    memcpy(evn_place_host(all->place, s->region[i]), copy, bytes_of(s, i / 2));
    return evn_place_release(all->place, 1, &s->region[i], EVN_HOST);
}

/* Every third field gets another region, numbered in another order. */
static evn_status change_regions(sheets *all, struct sheet *s) {
    double *copy[2 * BLOCKS];
    evn_status status = EVN_OK;
    int last = -1;
    close_exchanges(s);
    for (int i = 0; !status && i < 2 * s->blocks; i += 3) {
        copy[i] = (double *)malloc(bytes_of(s, i / 2));
        status = copy[i] ? take(all, s, i, copy[i]) : evn_fail(EVN_MEMORY, "no memory");
        last = i;
    }
    for (int i = last; i >= 0; i -= 3) {
        if (!status) status = give(all, s, i, copy[i]);
        free(copy[i]);
    }
    if (!status) status = follow(all, s, EVN_BOTH);
    return status ? status : open_exchanges(s);
}

/* ---- sheets -------------------------------------------------------------------------------- */

static evn_status open_whole(struct sheet *s) {
    int top = 0;
    for (int t = 0; t < s->blocks; t++) s->rows += rows_of(s, t);
    for (int f = P; f <= V; f++) {
        s->whole[f] = (double *)malloc((size_t)(s->rows + 2) * (size_t)s->row * sizeof(double));
        if (!s->whole[f]) return evn_fail(EVN_MEMORY, "no memory for %d rows", s->rows);
    }
    for (int t = 0; t < s->blocks; t++) {
        const int end = rows_of(s, t) + (t == s->blocks - 1 ? 2 : 1);
        for (int i = t ? s->row : 0; i < end * s->row; i++)
            s->whole[P][top * s->row + i] = s->whole[V][top * s->row + i] = FIRST(t, i);
        top += rows_of(s, t);
    }
    return EVN_OK;
}

static evn_status open_sheet(sheets *all, struct sheet *s, const char *schedule) {
    double size[BLOCKS];
    evn_problem problem;
    memset(&problem, 0, sizeof problem);
    for (int t = 0; t < s->blocks; t++) size[t] = rows_of(s, t);
    problem.tasks = s->blocks;
    problem.weight = size;
    evn_status status = evn_open_loop(&s->loop, all->session, schedule, &problem);
    for (int i = 0; !status && i < 2 * s->blocks; i++) status = add(all, s, i);
    if (!status) status = follow(all, s, EVN_WRITE);
    if (!status) status = evn_loop_visit(s->loop, begin_body, s);
    if (!status) status = follow(all, s, EVN_BOTH);
    if (!status) status = open_exchanges(s);
    for (int f = P; !status && f <= V; f++) status = evn_exchange_run(s->exchange[f]);
    return status ? status : open_whole(s);
}

const char *sheets_open(sheets **out, const char *units, const char *devices,
                        const char *schedule) {
    sheets *all = *out = (sheets *)calloc(1, sizeof *all);
    if (!all) return "no memory";
    struct sheet *doubles = &all->sheet[0], *vectors = &all->sheet[1];
    doubles->blocks = BLOCKS;
    doubles->row = 24;
    doubles->scale = 1;
    doubles->element = sizeof(double);
    vectors->blocks = 41;
    vectors->row = sizeof(struct vector) / sizeof(double);
    vectors->scale = 5;
    vectors->element = sizeof(struct vector);
    vectors->made = 1;
    TRY(evn_open(&all->session, units, devices, 0));
    TRY(evn_place_open(&all->place, evn_session_units(all->session), 0.5));
    for (int i = 0; i < SHEETS; i++) TRY(open_sheet(all, &all->sheet[i], schedule));
    return NULL;
}

/* All four exchanges begin, and those of a loop end in its body; but for the last step, after which
 * nobody comes. */
const char *sheets_march(sheets *all, int steps) {
    for (int n = 0; n < steps; n++) {
        for (int i = 0; i < SHEETS; i++) {
            struct sheet *s = &all->sheet[i];
            TRY(evn_loop_run(s->loop, step_body, s));
            step(s->whole[P], s->whole[V], s->rows, s->row);
        }
        for (int i = 0; n == steps / 2 && i < SHEETS; i++) TRY(change_regions(all, &all->sheet[i]));
        for (int f = P; f <= V; f++)
            for (int i = 0; i < SHEETS; i++) {
                evn_exchange *x = all->sheet[i].exchange[f];
                int open = 0;
                TRY(n < steps - 1 ? evn_exchange_start(x, &open) : evn_exchange_run(x));
                all->halves += open;
            }
    }
    return NULL;
}

/* *wrong: fields of blocks that differ from the plain loops' in a bit, among those rows that are
 * their own. *halves: exchanges that were in two halves. */
const char *sheets_compare(sheets *all, int *wrong, int *halves) {
    *wrong = 0;
    *halves = all->halves;
    for (int n = 0; n < SHEETS; n++) {
        struct sheet *s = &all->sheet[n];
        size_t at = (size_t)s->row;
        TRY(evn_place_acquire(all->place, 2 * s->blocks, s->region, EVN_HOST, EVN_READ));
        for (int i = 0; i < 2 * s->blocks; i++) {
            const double *block = (const double *)evn_place_host(all->place, s->region[i]);
            const size_t values = (size_t)(rows_of(s, i / 2) * s->row);
            *wrong += memcmp(block + s->row, s->whole[i % 2] + at, values * sizeof *block) != 0;
            if (i % 2 == V) at += values;
        }
        TRY(evn_place_release(all->place, 2 * s->blocks, s->region, EVN_HOST));
    }
    return NULL;
}

const char *sheets_close(sheets *all) {
    for (int n = 0; n < SHEETS; n++) close_exchanges(&all->sheet[n]);
    evn_place_close(all->place);
    const evn_status status = evn_close(all->session);
    for (int n = 0; n < SHEETS; n++) {
        struct sheet *s = &all->sheet[n];
        for (int i = 0; i < 2 * s->blocks; i++) free(s->mine[i]);
        for (int f = P; f <= V; f++) free(s->whole[f]);
    }
    free(all);
    return status ? evn_message() : NULL;
}
