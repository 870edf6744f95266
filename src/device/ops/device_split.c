/* A GPU unit's tasks among its devices: consecutive ones, by weight. */
#include "loop/birth.h"
#include "loop/internal.h"
#include "base/argument.h"

/* The devices of a unit, and the weights of its tasks: all, and of those that have been given out.
 * Where no task has a weight they count. */
struct split {
    int devices, device, tasks;
    double sum, before;
};

static void split_add(struct split *s, double weight) {
    s->sum += weight;
    s->tasks++;
}

/* The device of the next task, when all have been added. */
static int split_next(struct split *s, double weight) {
    const double sum = s->sum > 0 ? s->sum : s->tasks, mine = s->sum > 0 ? weight : 1;
    while (s->device < s->devices - 1 &&
           s->before + 0.5 * mine >= sum * (s->device + 1) / s->devices)
        s->device++;
    s->before += mine;
    return s->device;
}

/* The device of a birth: that of its heaviest origin's first region that is on one of the unit's.
 */
static int device_of_birth(const evn_loop *loop, const struct worker *w, const evn_unit *unit,
                           int task) {
    const struct birth *b = loop->bearing;
    const int index = birth_index(b, task), heaviest = b->heaviest[index];
    const int *region = b->region + (size_t)(b->first[index] + heaviest) * (size_t)b->regions;
    for (int i = 0; heaviest >= 0 && i < b->regions; i++)
        for (int d = 0; region[i] >= 0 && d < w->devices; d++)
            if (evn_place_valid(loop->place, region[i], evn_place_space(loop->place, unit, d)))
                return d;
    return 0;
}

/* Births by their devices, in ascending order on each; w->mine is the room. */
static void split_births(const evn_loop *loop, struct worker *w, int count) {
    const evn_unit *unit = evn_units_get(loop->units, (int)(w - loop->worker));
    const int *own = w->base;
    int at = 0;
    for (int d = 0; d < w->devices; d++) {
        struct in_flight *f = &w->in_flight[d];
        f->task = w->mine + at;
        f->count = f->done = 0;
        for (int i = 0; i < count; i++)
            if (device_of_birth(loop, w, unit, own[i]) == d) w->mine[at++] = own[i], f->count++;
    }
    w->base = w->mine;
}

void devices_split(const evn_loop *loop, struct worker *w, int count) {
    if (loop->bearing && loop->place && w->devices > 1) {
        split_births(loop, w, count);
        return;
    }
    const double *weight = loop->problem->weight;
    struct split s = {.devices = w->devices};
    for (int i = 0; i < count; i++) split_add(&s, weight[w->base[i]]);
    for (int d = 0; d < w->devices; d++) w->in_flight[d].count = w->in_flight[d].done = 0;
    for (int i = 0; i < count; i++) {
        struct in_flight *f = &w->in_flight[split_next(&s, weight[w->base[i]])];
        if (!f->count++) f->task = w->base + i;
    }
}

static void devices_of(const evn_loop *loop, const int *owner, int *device) {
    const int n = loop->problem->tasks;
    for (int t = 0; t < n; t++) device[t] = -1;
    for (int u = 0; u < loop->count; u++) {
        struct split s = {.devices = loop->worker[u].devices};
        if (!s.devices) continue;
        for (int t = 0; t < n; t++)
            if (owner[t] == loop->first + u) split_add(&s, loop->problem->weight[t]);
        for (int t = 0; t < n; t++)
            if (owner[t] == loop->first + u) device[t] = split_next(&s, loop->problem->weight[t]);
    }
}

void evn_loop_devices(const evn_loop *loop, int now, int *device) {
    NEED_OR(, loop, "a loop");
    NEED_OR(, device, "where to put the tasks' devices");
    if (now)
        devices_of(loop, loop->owner, device);
    else if (!loop_chunk(loop))
        devices_of(loop, loop_next(loop), device);
    else
        for (int t = 0; t < loop->problem->tasks; t++) device[t] = -1;
}
