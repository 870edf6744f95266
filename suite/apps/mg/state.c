/* The planes of a task, in and out. */
#include "mg/state.h"
#include <string.h>

static size_t doubles(const void *arg, int task, int step) {
    const size_t n = (size_t)((const struct mg_state *)arg)->n;
    (void)task;
    (void)step;
    return MG_PLANES * n * n;
}

/* Row number `row` of a task. */
static double *row_at(const struct mg_state *s, int task, size_t row) {
    const struct level *level = &s->grid->level[s->grid->finest];
    const size_t n = (size_t)s->n;
    return level_plane(level, level->u, MG_PLANES * task + (int)(row / n)) +
           (ptrdiff_t)(row % n) * level->row;
}

static void pack(const void *arg, int task, size_t from, size_t count, double *to) {
    const struct mg_state *s = arg;
    for (const size_t n = (size_t)s->n; count;) {
        const size_t x = from % n, some = n - x < count ? n - x : count;
        memcpy(to, row_at(s, task, from / n) + x, some * sizeof *to);
        to += some;
        from += some;
        count -= some;
    }
}

static void unpack(void *arg, int task, size_t from, size_t count, const double *data) {
    const struct mg_state *s = arg;
    for (const size_t n = (size_t)s->n; count;) {
        const size_t x = from % n, some = n - x < count ? n - x : count;
        memcpy(row_at(s, task, from / n) + x, data, some * sizeof *data);
        data += some;
        from += some;
        count -= some;
    }
}

static evn_status hold(void *arg, int task, evn_access access) {
    struct mg_state *s = arg;
    if (access == EVN_BOTH) return EVN_OK; /* to be written */
    pthread_mutex_lock(&s->lock);
    const evn_status status = split_fetch(s->split, task);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static const struct state_kind planes = {.name = "MG",
                                         .magic = "EVNMG\0\0\1",
                                         .part = "slab",
                                         .doubles = doubles,
                                         .pack = pack,
                                         .unpack = unpack,
                                         .hold = hold};

evn_status mg_state_bring(struct mg_state *s) {
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < s->states.parts; t++) status = split_bring(s->split, t);
    return status;
}

void mg_state_close(struct mg_state *s) {
    states_close(&s->states);
    if (s->grid) pthread_mutex_destroy(&s->lock);
}

evn_status mg_state_open(struct mg_state *s, const mg *problem, const struct grid *grid,
                         struct split *split) {
    const mg_shape shape = mg_describe(problem);
    s->grid = grid;
    s->split = split;
    pthread_mutex_init(&s->lock, NULL);
    s->n = shape.n;
    s->states.kind = &planes;
    s->states.arg = s;
    s->states.parts = mg_tasks(problem).tasks;
    if (shape.class_)
        states_identify(&s->states, "app=mg class=%c", shape.class_);
    else
        states_identify(&s->states, "app=mg size=%d smoother=%c", shape.n, shape.smoother);
    return states_open(&s->states);
}
