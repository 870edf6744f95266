/* Code that the three solvers share on a device: kernels by name, the tables of a batch, launches.
 *
 * Tables are made anew only when the batch or the places of its zones change, so a step of a
 * settled schedule copies nothing. A batch that needs more work space than there may be is done in
 * parts, each with tables of its own. */
#include "npbmz/device/gpu.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/npbmz.h"
#include "npbmz/device/norms_gpu.h"
#include "npbmz/device/start_gpu.h"
#include "common/run/free_all.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 32, SOURCES = 4 };

struct named_kernel {
    char name[48];
    evn_kernel *kernel;
};

/* A table: as the host has it, and as the device does. */
struct table {
    void *host;
    size_t room; /* bytes of both */
    evn_buffer *buffer;
    int entries;
};

/* Consecutive zones of the batch that are done together. */
struct part {
    int first, count;
    int nx, ny, nz;                           /* largest extents of these zones */
    struct table zones, pieces[GPU_CUTS + 1]; /* the last way of cutting: planes */
};

struct gpu {
    const struct problem *p;
    const struct gpu_solver *solver;
    evn_device *device;
    evn_queue *queue;
    size_t max_work;
    const evn_kernel_source *source[SOURCES]; /* set-up, norms, then the solver's */
    int sources;
    struct named_kernel kernel[KERNELS];
    int kernels;
    evn_buffer *field;        /* arena of the batch, which owns it */
    evn_buffer *work, *flags; /* NULL: the solver has none */
    evn_long number;          /* what gpu_number() was last */
    size_t *kept;             /* where each zone's work space is; NULL: as the batch has it */
    size_t kept_doubles;
    int count;
    int *zone;
    size_t *at;
    struct part *part;
    int parts, room_parts;
    const struct part *now; /* that launches are for */
};

evn_status gpu_open(struct gpu **out, const struct problem *p, const struct gpu_solver *solver,
                    evn_device *device, evn_queue *queue, size_t max_work) {
    *out = NULL;
    struct gpu *g = calloc(1, sizeof *g);
    const size_t zones = (size_t)p->zones;
    if (g) {
        g->zone = malloc(zones * sizeof *g->zone);
        g->at = malloc(zones * sizeof *g->at);
    }
    if (!g || !g->zone || !g->at) {
        gpu_close(g);
        return evn_fail(EVN_MEMORY, "%s: no memory for the tables of a device", p->solver->name);
    }
    if (solver->otherwise && !evn_device_traits(device)->resident) solver = solver->otherwise;
    g->p = p;
    g->solver = solver;
    g->device = device;
    g->queue = queue;
    g->max_work = max_work;
    g->count = -1;
    evn_status status = EVN_OK;
    const evn_kernel_source *const common[] = {&start_kernels, &norms_kernels};
    for (int i = 0; !status && (i < 2 || solver->sources[i - 2]); i++) {
        g->source[i] = i < 2 ? common[i] : solver->sources[i - 2];
        evn_kernel *first;
        status = evn_kernel_get(device, g->source[i], g->source[i]->entry->name, &first);
        g->sources += !status;
    }
    if (status) {
        gpu_close(g);
        return status;
    }
    *out = g;
    return EVN_OK;
}

static void table_free(struct table *t) {
    free(t->host);
    evn_buffer_close(t->buffer);
}

void gpu_close(struct gpu *g) {
    if (!g) return;
    for (int i = 0; i < g->room_parts; i++) {
        table_free(&g->part[i].zones);
        for (int c = 0; c <= GPU_CUTS; c++) table_free(&g->part[i].pieces[c]);
    }
    evn_buffer_close(g->work);
    evn_buffer_close(g->flags);
    free_all(g->part, g->kept, g->zone, g->at, g);
}

/* ---- the batch ----------------------------------------------------------------------------- */

/* Makes room for `entries` of `size` bytes each, on both sides. */
static evn_status table_room(struct gpu *g, struct table *t, int entries, size_t size) {
    t->entries = entries;
    size_t bytes = (size_t)(entries ? entries : 1) * size;
    if (bytes <= t->room) return EVN_OK;
    evn_buffer_close(t->buffer);
    t->buffer = NULL;
    t->room = 0;
    free(t->host);
    t->host = malloc(bytes);
    if (!t->host)
        return evn_fail(EVN_MEMORY, "%s: no memory for a table of %d entries", g->p->solver->name,
                        entries);
    evn_status status = evn_buffer_open(&t->buffer, g->device, bytes);
    if (!status) t->room = bytes;
    return status;
}

static evn_status table_send(struct gpu *g, const struct table *t, size_t size) {
    if (!t->entries) return EVN_OK;
    return evn_copy_to_device(g->queue, t->buffer, 0, t->host, (size_t)t->entries * size);
}

/* Work space of a zone in doubles, rounded so that the next one's begins on 256 bytes. */
static size_t zone_work(const struct gpu *g, int zone) {
    const struct zone *z = &g->p->zone[zone];
    const size_t step = g->solver->work(g->p, z), norms = norms_work(g->p, z);
    return ((step > norms ? step : norms) + 31) / 32 * 32;
}

/* Cuts the batch into parts whose work space fits; the largest one's doubles in *max. */
static evn_status cut_batch(struct gpu *g, size_t *max) {
    const size_t limit = g->kept || !g->max_work ? SIZE_MAX : g->max_work / sizeof(double);
    *max = 0;
    g->parts = 0;
    for (int i = 0; i < g->count;) {
        if (g->parts == g->room_parts) {
            int room = g->room_parts ? 2 * g->room_parts : 1;
            struct part *more = realloc(g->part, (size_t)room * sizeof *more);
            if (!more)
                return evn_fail(EVN_MEMORY, "%s: no memory for %d parts of a batch",
                                g->p->solver->name, room);
            memset(more + g->room_parts, 0, (size_t)(room - g->room_parts) * sizeof *more);
            g->part = more;
            g->room_parts = room;
        }
        struct part *part = &g->part[g->parts++];
        part->first = i;
        size_t sum = 0;
        for (; i < g->count; i++) {
            size_t one = zone_work(g, g->zone[i]);
            if (one > limit)
                return evn_fail(EVN_MEMORY,
                                "%s: zone %d alone needs %.1f MB of work space on %s, and there "
                                "are %.1f MB; give the device more memory, or the zone to a CPU",
                                g->p->solver->name, g->zone[i], (double)one * sizeof(double) * 1e-6,
                                evn_device_traits(g->device)->name, (double)g->max_work * 1e-6);
            if (sum + one > limit) break;
            sum += one;
        }
        part->count = i - part->first;
        if (sum > *max) *max = sum;
    }
    if (g->kept) *max = g->kept_doubles;
    return EVN_OK;
}

static int larger(int a, int b) { return a > b ? a : b; }

static int pieces_of(const struct gpu *g, int zone, int cut) {
    const struct zone *z = &g->p->zone[zone];
    return cut == GPU_CUTS ? norms_pieces(g->p, z) : g->solver->pieces(g->p, z, cut);
}

static int length_of(const struct gpu *g, int zone, int cut) {
    if (cut == GPU_CUTS || !g->solver->length) return 0;
    return g->solver->length(&g->p->zone[zone], cut);
}

static int turn_of(const struct gpu *g, int zone, int cut, int piece) {
    if (cut == GPU_CUTS || !g->solver->turn) return 0;
    return g->solver->turn(&g->p->zone[zone], cut, piece);
}

/* The pieces of zones of this length, by their turns. Returns where the next ones go. */
static struct gpu_piece *fill_length(const struct gpu *g, const struct part *part, int c,
                                     int length, struct gpu_piece *piece) {
    const int *zone = g->zone + part->first;
    for (int turn = 0, more = 1; more; turn++) {
        more = 0;
        for (int i = 0; i < part->count; i++) {
            const int n = length_of(g, zone[i], c) == length ? pieces_of(g, zone[i], c) : 0;
            for (int k = 0; k < n; k++) {
                const int its = turn_of(g, zone[i], c, k);
                if (its == turn) *piece++ = (struct gpu_piece){i, k};
                more |= its > turn;
            }
        }
    }
    return piece;
}

/* The table of cut c: the longest pieces first, zones of the same length in their order. Lengths
 * are few, so each is looked for among all zones. */
static void fill_pieces(const struct gpu *g, const struct part *part, int c) {
    const int *zone = g->zone + part->first;
    struct gpu_piece *piece = part->pieces[c].host;
    for (int below = INT_MAX, next; below >= 0; below = next) {
        next = -1; /* the longest below those done */
        for (int i = 0; i < part->count; i++) {
            const int length = length_of(g, zone[i], c);
            if (length < below && length > next) next = length;
        }
        if (next >= 0) piece = fill_length(g, part, c, next, piece);
    }
}

static evn_status fill_part(struct gpu *g, struct part *part) {
    evn_status status = table_room(g, &part->zones, part->count, sizeof(struct gpu_zone));
    if (status) return status;
    struct gpu_zone *table = part->zones.host;
    size_t work = 0;
    part->nx = part->ny = part->nz = 0;
    for (int i = 0; i < part->count; i++) {
        const int number = g->zone[part->first + i];
        const struct zone *z = &g->p->zone[number];
        const evn_long block = (evn_long)(g->at[part->first + i] / sizeof(double));
        struct gpu_zone *e = &table[i];
        memset(e, 0, sizeof *e);
        e->u = block + ZONE_SLACK;
        e->f = e->u + (z->f - z->u);
        if (z->r) e->r = e->u + (z->r - z->u);
        e->work = (evn_long)(g->kept ? g->kept[number] : work);
        e->sj = z->sj, e->sk = z->sk, e->sc = z->sc;
        e->nx = z->nx, e->ny = z->ny, e->nz = z->nz;
        e->number = number;
        work += zone_work(g, number);
        part->nx = larger(part->nx, z->nx);
        part->ny = larger(part->ny, z->ny);
        part->nz = larger(part->nz, z->nz);
    }
    status = table_send(g, &part->zones, sizeof *table);
    for (int c = 0; !status && c <= GPU_CUTS; c++) {
        if (c >= g->solver->cuts && c < GPU_CUTS) continue;
        struct table *t = &part->pieces[c];
        int sum = 0;
        for (int i = 0; i < part->count; i++) sum += pieces_of(g, table[i].number, c);
        status = table_room(g, t, sum, sizeof(struct gpu_piece));
        if (status) break;
        fill_pieces(g, part, c);
        status = table_send(g, t, sizeof(struct gpu_piece));
    }
    return status;
}

/* Flags for so many doubles of work space, where there are fewer: all 0. */
static evn_status make_flags(struct gpu *g, size_t doubles) {
    const size_t every = (size_t)g->solver->doubles_of_flag;
    const size_t bytes = every ? (doubles / every + 1) * sizeof(evn_long) : 0;
    if (!bytes || (g->flags && evn_buffer_bytes(g->flags) >= bytes)) return EVN_OK;
    evn_buffer_close(g->flags);
    g->flags = NULL;
    void *zeros = calloc(1, bytes);
    if (!zeros)
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu bytes of flags", g->p->solver->name,
                        bytes);
    evn_status status = evn_buffer_open(&g->flags, g->device, bytes);
    if (!status) status = evn_copy_to_device(g->queue, g->flags, 0, zeros, bytes);
    const evn_status finished = evn_queue_finish(g->queue);
    free(zeros);
    return status ? status : finished;
}

evn_status gpu_batch(struct gpu *g, evn_buffer *field, int count, const int *zone,
                     const size_t *at) {
    const size_t n = (size_t)count;
    g->field = field;
    if (count == g->count && !memcmp(zone, g->zone, n * sizeof *zone) &&
        !memcmp(at, g->at, n * sizeof *at))
        return EVN_OK;
    /* the tables may still be in use */
    evn_status status = evn_queue_finish(g->queue);
    if (status) return status;
    memcpy(g->zone, zone, n * sizeof *zone);
    memcpy(g->at, at, n * sizeof *at);
    g->count = count;
    size_t doubles;
    status = cut_batch(g, &doubles);
    if (!doubles) doubles = 32; /* kernels are always given some */
    if (!status && (!g->work || evn_buffer_bytes(g->work) < doubles * sizeof(double))) {
        evn_buffer_close(g->work);
        g->work = NULL;
        status = evn_buffer_open(&g->work, g->device, doubles * sizeof(double));
    }
    if (!status) status = make_flags(g, doubles);
    for (int i = 0; !status && i < g->parts; i++) status = fill_part(g, &g->part[i]);
    if (status) g->count = -1;
    return status;
}

void gpu_extents(const struct gpu *g, int *nx, int *ny, int *nz) {
    *nx = g->now->nx;
    *ny = g->now->ny;
    *nz = g->now->nz;
}

int gpu_pieces(const struct gpu *g, int cut) { return g->now->pieces[cut].entries; }

evn_long gpu_number(struct gpu *g) { return ++g->number; }

/* ---- launches ------------------------------------------------------------------------------ */

static evn_status find_kernel(struct gpu *g, const char *name, evn_kernel **out) {
    for (int i = 0; i < g->kernels; i++)
        if (!strcmp(g->kernel[i].name, name)) {
            *out = g->kernel[i].kernel;
            return EVN_OK;
        }
    if (g->kernels == KERNELS)
        return evn_fail(EVN_USAGE, "%s: more than %d kernels", g->p->solver->name, KERNELS);
    for (int i = 0; i < g->sources; i++) {
        const evn_kernel_entry *e = g->source[i]->entry;
        while (e->name && strcmp(e->name, name)) e++;
        if (!e->name) continue;
        struct named_kernel *k = &g->kernel[g->kernels];
        evn_status status = evn_kernel_get(g->device, g->source[i], name, &k->kernel);
        if (status) return status;
        snprintf(k->name, sizeof k->name, "%s", name);
        g->kernels++;
        *out = k->kernel;
        return EVN_OK;
    }
    return evn_fail(EVN_USAGE, "%s: there is no kernel \"%s\"", g->p->solver->name, name);
}

static evn_status launch(struct gpu *g, const char *name, enum npbmz_phase phase, int cut,
                         const void *value, size_t bytes, int is_resident) {
    evn_kernel *kernel = NULL;
    evn_status status = find_kernel(g, name, &kernel);
    if (status) return status;
    const struct table *pieces = &g->now->pieces[cut];
    evn_argument argument[6];
    int n = 0, groups = pieces->entries;
    argument[n++] = (evn_argument){.buffer = g->field};
    argument[n++] = (evn_argument){.buffer = g->work};
    if (is_resident) argument[n++] = (evn_argument){.buffer = g->flags};
    argument[n++] = (evn_argument){.buffer = g->now->zones.buffer};
    argument[n++] = (evn_argument){.buffer = pieces->buffer};
    argument[n++] = (evn_argument){.value = value, .bytes = bytes};
    const int most = is_resident ? evn_kernel_resident(kernel) : 0; /* 0: refused, with words */
    if (most > 0 && most < groups) groups = most;
    evn_queue_phase(g->queue, phase == NPBMZ_PHASES ? NULL : npbmz_phase_name(phase));
    status = evn_launch(g->queue, kernel, groups, is_resident ? EVN_ALL_RESIDENT : 0, argument, n);
    evn_queue_phase(g->queue, NULL);
    return status;
}

evn_status gpu_launch(struct gpu *g, const char *name, enum npbmz_phase phase, int cut,
                      const void *value, size_t bytes) {
    return launch(g, name, phase, cut, value, bytes, 0);
}

evn_status gpu_launch_resident(struct gpu *g, const char *name, enum npbmz_phase phase, int cut,
                               const void *value, size_t bytes) {
    return launch(g, name, phase, cut, value, bytes, 1);
}

/* Says which zones it was. */
static evn_status name_zones(const struct gpu *g, evn_status status) {
    if (!status) return status;
    const int *zone = g->zone + g->now->first;
    if (g->now->count == 1)
        return evn_fail(status, "%s zone %d: %s", g->p->solver->name, zone[0], evn_message());
    return evn_fail(status, "%s zones %d to %d (%d in all): %s", g->p->solver->name, zone[0],
                    zone[g->now->count - 1], g->now->count, evn_message());
}

typedef evn_status of_solver(struct gpu *g, const struct problem *p);

static evn_status each_part(struct gpu *g, of_solver *what) {
    evn_status status = EVN_OK;
    for (int i = 0; what && !status && i < g->parts; i++) {
        g->now = &g->part[i];
        status = name_zones(g, what(g, g->p));
    }
    return status;
}

/* Parts share work space: all phases of one before the next. */
static evn_status phases(struct gpu *g, int from, int to) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < g->parts; i++) {
        g->now = &g->part[i];
        for (int n = from; !status && n < to; n++) status = g->solver->phase(g, g->p, n);
        status = name_zones(g, status);
    }
    return status;
}

evn_status gpu_step(struct gpu *g) { return phases(g, 0, g->solver->phases - g->solver->late); }
evn_status gpu_finish(struct gpu *g) {
    return phases(g, g->solver->phases - g->solver->late, g->solver->phases);
}

evn_status gpu_phase(struct gpu *g, int phase) { return phases(g, phase, phase + 1); }

evn_status gpu_keep(struct gpu *g) {
    const struct problem *p = g->p;
    size_t doubles = 0;
    if (g->kept) return EVN_OK;
    size_t *kept = malloc((size_t)p->zones * sizeof *kept);
    for (int z = 0; kept && z < p->zones; z++) {
        kept[z] = doubles;
        doubles += zone_work(g, z);
    }
    if (!kept || (g->max_work && doubles > g->max_work / sizeof(double))) {
        free(kept);
        return evn_fail(EVN_MEMORY,
                        "%s: a loop for each phase needs %.1f MB of work space for all zones on "
                        "%s, and there are %.1f MB; expected a smaller class, or --loop step",
                        p->solver->name, (double)doubles * sizeof(double) * 1e-6,
                        evn_device_traits(g->device)->name, (double)g->max_work * 1e-6);
    }
    g->kept = kept;
    g->kept_doubles = doubles;
    g->count = -1; /* tables are made anew */
    return EVN_OK;
}

evn_status gpu_prepare(struct gpu *g) { return each_part(g, g->solver->prepare); }

static evn_status forcing(struct gpu *g, const struct problem *p) {
    return start_launch_forcing(g, p, GPU_CUTS);
}

static evn_status initial(struct gpu *g, const struct problem *p) {
    return start_launch_state(g, p, GPU_CUTS);
}

evn_status gpu_force(struct gpu *g) { return each_part(g, forcing); }

evn_status gpu_begin(struct gpu *g) {
    evn_status status = each_part(g, initial);
    return status ? status : gpu_prepare(g);
}

evn_status gpu_norms(struct gpu *g, struct norms *norms, uint64_t *hash) {
    double *result = malloc((size_t)(g->count > 0 ? g->count : 1) * NORMS_RESULT * sizeof *result);
    if (!result)
        return evn_fail(EVN_MEMORY, "%s: no memory for the norms of %d zones", g->p->solver->name,
                        g->count);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < g->parts; i++) {
        struct part *part = &g->part[i];
        g->now = part;
        status = norms_launch(g, g->p, part->count, GPU_CUTS, norms != NULL, hash != NULL);
        if (!status)
            status =
                evn_copy_to_host(g->queue, result + (size_t)part->first * NORMS_RESULT, g->work, 0,
                                 (size_t)part->count * NORMS_RESULT * sizeof *result);
        /* the next part uses the same work space, in order of the queue */
        if (status) status = name_zones(g, status);
    }
    evn_status finished = evn_queue_finish(g->queue);
    if (!status) status = finished;
    for (int i = 0; !status && i < g->count; i++)
        norms_of_result(result + (size_t)i * NORMS_RESULT, norms ? &norms[i] : NULL,
                        hash ? &hash[i] : NULL);
    free(result);
    return status;
}
