/* One zone after another, neighbours copied whole. Units take turns: each has the lock for a zone,
 * since nothing goes side by side in that algorithm. */
#include "npbmz/run/whole_zones.h"
#include "npbmz/device/border.kernel.h"
#include "npbmz/mesh/faces.h"
#include "npbmz/mesh/mesh.h"
#include "common/run/free_all.h"
#include <evener/exchange.h>
#include <pthread.h>
#include <stdlib.h>

extern const evn_kernel_source border_kernels;

struct whole_zones {
    struct run *run;
    evn_face *face;    /* four to each zone */
    int *none;         /* -1 for each zone: visits take no regions */
    evn_queue **queue; /* of each space, when it is first used; NULL */
    int spaces;
    pthread_mutex_t turn;
    struct whole_zones_counts counts;
};

evn_status whole_zones_open(struct whole_zones **out, struct run *run) {
    const size_t zones = (size_t)run->p->zones;
    struct whole_zones *w = calloc(1, sizeof *w);
    *out = w;
    if (!w) return evn_fail(EVN_MEMORY, "%s: no memory for the exchange of zones", run->name);
    pthread_mutex_init(&w->turn, NULL);
    w->run = run;
    w->spaces = run->place ? evn_place_spaces(run->place) : 0;
    w->face = malloc(4 * zones * sizeof *w->face);
    w->none = malloc(zones * sizeof *w->none);
    w->queue = calloc((size_t)w->spaces + 1, sizeof(evn_queue *));
    if (!w->face || !w->none || !w->queue)
        return evn_fail(EVN_MEMORY, "%s: no memory for the list of faces", run->name);
    for (int z = 0; z < run->p->zones; z++) {
        zone_faces(run->p, z, w->face + 4 * z);
        w->none[z] = -1;
    }
    return EVN_OK;
}

void whole_zones_close(struct whole_zones *w) {
    if (!w) return;
    for (int s = 0; w->queue && s < w->spaces; s++) evn_queue_close(w->queue[s]);
    pthread_mutex_destroy(&w->turn);
    free_all(w->queue, w->none, w->face, w);
}

void whole_zones_lose(struct whole_zones *w, int space) {
    if (!w) return;
    evn_queue_close(w->queue[space]);
    w->queue[space] = NULL;
}

struct whole_zones_counts whole_zones_counts(const struct whole_zones *w) {
    return w ? w->counts : (struct whole_zones_counts){0};
}

void whole_zones_reset(struct whole_zones *w) {
    if (w) w->counts = (struct whole_zones_counts){0};
}

static double *host_block(const struct run *run, int z) {
    size_t bytes;
    return zone_block(run->p, &run->p->zone[z], &bytes);
}

static void copy_on_host(const struct run *run, const evn_face *f) {
    const double *from = host_block(run, f->from) + f->from_at;
    double *to = host_block(run, f->to) + f->to_at;
    for (int a = 0; a < f->n[0]; a++)
        for (int b = 0; b < f->n[1]; b++)
            for (int c = 0; c < f->n[2]; c++)
                to[a * f->to_stride[0] + b * f->to_stride[1] + c * f->to_stride[2]] =
                    from[a * f->from_stride[0] + b * f->from_stride[1] + c * f->from_stride[2]];
}

static evn_long block_at(const struct run *run, int z, int space) {
    return (evn_long)(evn_place_at(run->place, run->region[z], space) / sizeof(double));
}

static evn_status copy_on_device(struct whole_zones *w, const evn_face *f, int space) {
    struct run *run = w->run;
    evn_kernel *kernel = NULL;
    evn_device *device = evn_place_device(run->place, space);
    evn_status status = evn_kernel_get(device, &border_kernels, "border_copy", &kernel);
    if (!status && !w->queue[space]) status = evn_queue_open(&w->queue[space], device);
    if (status) return status;
    struct border_value c = {.from_at = block_at(run, f->from, space) + (evn_long)f->from_at,
                             .to_at = block_at(run, f->to, space) + (evn_long)f->to_at};
    for (int i = 0; i < 3; i++) {
        c.from_stride[i] = f->from_stride[i];
        c.to_stride[i] = f->to_stride[i];
        c.n[i] = f->n[i];
    }
    const evn_argument argument[] = {{.buffer = evn_place_buffer(run->place, space)},
                                     {.value = &c, .bytes = sizeof c}};
    return evn_launch(w->queue[space], kernel, c.n[0] * c.n[1], 0, argument, 2);
}

/* The faces between them, those of `to` that are from `from`. */
static evn_status copy_faces(struct whole_zones *w, int from, int to, int space) {
    evn_status status = EVN_OK;
    for (const evn_face *f = w->face + 4 * to; !status && f < w->face + 4 * to + 4; f++) {
        if (f->from != from) continue;
        if (space == EVN_HOST)
            copy_on_host(w->run, f);
        else
            status = copy_on_device(w, f, space);
    }
    return status;
}

static evn_status both_ways(struct whole_zones *w, int zone, int neighbour, int space) {
    evn_status status = copy_faces(w, neighbour, zone, space);
    if (!status && neighbour != zone) status = copy_faces(w, zone, neighbour, space);
    const evn_status done =
        space != EVN_HOST && w->queue[space] ? evn_queue_finish(w->queue[space]) : EVN_OK;
    return status ? status : done;
}

/* A region in a space and back to where it was, if it is not there. */
static evn_status fetch(struct whole_zones *w, int region, int space, evn_access access) {
    evn_place *place = w->run->place;
    if (!evn_place_valid(place, region, space)) {
        w->counts.copies++;
        w->counts.bytes += (double)evn_place_bytes(place, region);
    }
    return evn_place_acquire(place, 1, &region, space, access);
}

static evn_status exchange_pair(struct whole_zones *w, int zone, int neighbour) {
    evn_place *place = w->run->place;
    if (!place) return both_ways(w, zone, neighbour, EVN_HOST);
    const int mine = w->run->region[zone], other = w->run->region[neighbour];
    const int space = evn_place_where(place, mine), home = evn_place_where(place, other);
    evn_status status = fetch(w, mine, space, EVN_BOTH);
    if (status) return status;
    if (neighbour != zone) status = fetch(w, other, space, EVN_BOTH);
    if (!status) {
        status = both_ways(w, zone, neighbour, space);
        if (neighbour != zone) evn_place_release(place, 1, &other, space);
    }
    evn_place_release(place, 1, &mine, space);
    if (status || home == space) return status;
    status = fetch(w, other, home, EVN_BOTH);
    return status ? status : evn_place_release(place, 1, &other, home);
}

/* A zone with its neighbours of higher numbers, each once. */
static evn_status exchange_zone(struct whole_zones *w, int zone) {
    evn_status status = EVN_OK;
    const evn_face *f = w->face + 4 * zone;
    for (int i = 0; !status && i < 4; i++) {
        int seen = f[i].from < zone;
        for (int j = 0; j < i; j++) seen |= f[j].from == f[i].from;
        if (!seen) status = exchange_pair(w, zone, f[i].from);
    }
    return status;
}

static evn_status each_zone(evn_unit *unit, evn_batch *batch, void *arg) {
    struct whole_zones *w = arg;
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    evn_status status = EVN_OK;
    (void)unit;
    for (int i = 0; !status && i < count; i++) {
        pthread_mutex_lock(&w->turn);
        status = exchange_zone(w, zone[i]);
        pthread_mutex_unlock(&w->turn);
    }
    return status;
}

evn_status whole_zones_run(struct whole_zones *w) {
    struct run *run = w->run;
    if (!run->place) return evn_loop_visit(run->loop, each_zone, w);
    evn_status status = evn_loop_place(run->loop, run->place, 1, w->none, &(evn_access){EVN_BOTH});
    if (!status) status = evn_loop_visit(run->loop, each_zone, w);
    const evn_status after = setup_access(run, EVN_BOTH);
    return status ? status : after;
}
