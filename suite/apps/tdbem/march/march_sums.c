/* The summation of a group: blocks as tasks of the loop, on cores and devices, from disk where they
 * do not fit the memory; the sums of all units added up.
 *
 * On devices blocks are regions. They are acquired in the body and not by the loop: the time of
 * streaming what a device has no room for is time of the summation, from which the schedule must
 * learn, and what is summed goes on meanwhile. */
#include "tdbem/march/march_ranks.h"
#include "tdbem/layout/stream.h"
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_gpu.h"
#include "common/run/free_all.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static void sum_node(const struct march *m, int block, int tile, char *scratch) {
    summation_part(m->p->layout, block, m->node[block].span, tile, m->past,
                   m->sums + (size_t)block * m->sums_bytes, scratch);
}

/* The group is given up, march.c. */
static evn_status stopped(void) { return evn_fail(EVN_STOPPED, "summation: stopped on request"); }

static evn_status sum_blocks(evn_unit *unit, evn_batch *batch, void *arg) {
    struct march *m = arg;
    const struct layout *l = m->p->layout;
    const int device = evn_batch_device(batch);
    if (device >= 0) {
        int blocks;
        const int *block = evn_batch_tasks(batch, &blocks);
        struct summation_gpu *gpu = m->gpu[evn_place_space(m->place, unit, device)];
        return summation_gpu_batch(gpu, blocks, block, m->past, m->node);
    }
    int count;
    const int *block = evn_batch_tasks(batch, &count);
    const int me = evn_unit_number(unit), cores = evn_unit_cores(unit);
    char **scratch = m->scratch + m->first_core[me];
    int *first = m->first[me],
        max = stream_reads(l->stream) ? 1 : NODE_MAX; /* a block on disk comes by itself */
    /* a core takes a node and a tile at a time, and there ought to be some for each */
    while (max > 1 && cores > 1 && (long)max * 4 * cores > (long)count * l->tiles) max /= 2;
    summation_nodes(count, block, max, m->node);
    int nodes = 0;
    for (int i = 0; i < count; i++)
        if (m->node[block[i]].span) {
            m->node[block[i]].sums = m->sums + (size_t)block[i] * m->sums_bytes;
            first[nodes++] = block[i];
        }
    evn_status status = EVN_OK;
    if (cores == 1) {
        for (int i = 0; !status && i < nodes; i++) {
            status = state_stop(m) ? stopped() : stream_hold(l->stream, first[i]);
            if (status) break;
            for (int t = 0; t < l->tiles; t++) sum_node(m, first[i], t, scratch[0]);
            stream_drop(l->stream, first[i], l->tiles);
            evn_batch_done(batch, m->node[first[i]].span);
        }
        return status;
    }
    int failed = -1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cores) reduction(max : failed)
    for (int i = 0; i < nodes * l->tiles; i++) {
        const int b = first[i / l->tiles];
        if (state_stop(m)) continue;
        if (stream_hold(l->stream, b)) {
            failed = b;
            continue;
        }
        sum_node(m, b, i % l->tiles, scratch[omp_get_thread_num()]);
        stream_drop(l->stream, b, 1);
    }
    if (state_stop(m)) return stopped();
    return failed < 0 ? EVN_OK : stream_hold(l->stream, failed); /* for this thread's message */
}

/* The share of core `me` of the sum over all blocks. */
static void add_up(evn_crew *crew, int me, int cores, void *arg) {
    const struct march *m = arg;
    const struct layout *l = m->p->layout;
    const size_t wide = (size_t)l->wide;
    (void)crew;
    summation_total(l, m->node, (size_t)evn_crew_begin(l->rows, me, cores) * wide,
                    (size_t)evn_crew_begin(l->rows, me + 1, cores) * wide, m->total);
}

/* Fetches what a unit's devices will need. */
static void fetch(evn_unit *unit, void *arg) {
    struct march *m = arg;
    const int devices = evn_unit_devices(unit);
    const int me = evn_loop_about(m->loop).first_unit + evn_unit_number(unit);
    for (int d = 0; d < devices; d++) {
        int *block = m->fetched[evn_place_space(m->place, unit, d)], count = 0;
        for (int b = 0; b < m->p->layout->blocks; b++)
            if (m->owner[b] == me && m->device[b] == d) block[count++] = b;
        summation_gpu_fetch(m->gpu[evn_place_space(m->place, unit, d)], count, block);
    }
}

static void meet(evn_unit *unit, void *arg) {
    const struct march *m = arg;
    (void)unit;
    for (int s = 1; s < evn_place_spaces(m->place); s++) summation_gpu_fetched(m->gpu[s]);
}

/* Moves blocks to new owners before the clock starts: a move happens once, and the schedule has to
 * learn times that come again. */
static void follow_schedule(struct march *m) {
    const size_t bytes = sizeof *m->owner * (size_t)m->p->layout->blocks;
    int draws;
    const int *next = evn_loop_next(m->loop, &draws);
    if (!m->place || draws || !memcmp(m->owner, next, bytes)) return;
    memcpy(m->owner, next, bytes);
    evn_loop_devices(m->loop, 0, m->device);
    evn_units_run(m->units, fetch, m);
    evn_units_run(m->units, meet, m);
}

/* Blocks that are on disk are read in the order in which the units will come to them; not those
 * that a device has. */
void sums_read_ahead(struct march *m) {
    const struct layout *l = m->p->layout;
    int draws;
    const int *next = evn_loop_next(m->loop, &draws);
    if (!l->stream) return;
    for (int b = 0; b < l->blocks; b++) {
        const int u = draws == 1 ? 0 : next[b] - evn_loop_about(m->loop).first_unit;
        const evn_unit *unit = evn_units_get(m->units, u);
        m->reader[b] = layout_has(l, b) ? u : -1;
        for (int d = 0; draws != 1 && layout_has(l, b) && d < evn_unit_devices(unit); d++)
            if (evn_place_valid(m->place, m->region[b], evn_place_space(m->place, unit, d)))
                m->reader[b] = -1;
    }
    stream_order(l->stream, m->reader);
}

/* Notes the work of each unit of this rank for group number `group` of this run: the gain of its
 * counters. */
static void note_group(struct march *m, int group, double *before) {
    tdbem_result *r = m->r;
    const int units = evn_units_count(m->units), first = evn_loop_about(m->loop).first_unit;
    double *seconds = r->group_s + (size_t)group * (size_t)units;
    int *blocks = r->group_blocks + (size_t)group * (size_t)units;
    for (int u = 0; u < units; u++) {
        const double now_s = evn_loop_stats(m->loop, u).compute_s;
        seconds[u] = now_s - before[u];
        before[u] = now_s;
        blocks[u] = 0;
    }
    for (int b = 0; b < m->p->layout->blocks; b++) {
        const int u = (m->ranks ? ranks_owner(m, b) : evn_loop_owner(m->loop)[b]) - first;
        if (u >= 0 && u < units) blocks[u]++;
    }
    r->groups = group + 1;
}

/* A copy from memory that is not registered is one of the host's too, at half the link's speed.
 * What cannot be registered stays as it is, and so does what another device of the same back end
 * has. */
static void make_fast(struct march *m, void *memory, size_t bytes) {
    for (int s = 1; s < evn_place_spaces(m->place); s++) {
        evn_device *device = evn_place_device(m->place, s);
        if (!evn_host_memory_register(device, memory, bytes))
            m->fast[m->fasts++] = (struct march_fast){device, memory};
    }
}

/* Pins the memory that devices are sent in each group of steps: the past, and where a device has no
 * room for all matrices these, unless they come from disk or other ranks. */
static evn_status make_all_fast(struct march *m, int streams) {
    const struct layout *l = m->p->layout;
    const struct history *past = m->past;
    const size_t real = past->single ? sizeof(float) : sizeof(double);
    m->fast = malloc(sizeof *m->fast * 2 * (size_t)evn_place_spaces(m->place));
    if (!m->fast) return evn_fail(EVN_MEMORY, "td-bem: no memory for a list of devices");
    make_fast(m, past->value, past->stride * (size_t)past->columns * real);
    if (streams && !l->stream && !m->ranks) make_fast(m, l->memory, l->begin[l->blocks]);
    return EVN_OK;
}

static double device_memory(const evn_unit *unit, int d) {
    return (double)evn_device_traits(evn_unit_device(unit, d))->memory;
}

/* Blocks become regions, and each device gets its kernels. */
evn_status sums_open_devices(struct march *m) {
    const struct layout *l = m->p->layout;
    const int devices = evn_units_about(m->units).devices;
    if (!devices) return EVN_OK;
    evn_status status = evn_place_open(&m->place, m->units, 1);
    if (status) return status;
    const int spaces = evn_place_spaces(m->place);
    m->region = malloc(sizeof *m->region * (size_t)l->blocks);
    m->gpu = calloc((size_t)spaces, sizeof *m->gpu);
    m->owner = malloc(sizeof *m->owner * (size_t)l->blocks);
    m->device = malloc(sizeof *m->device * (size_t)l->blocks);
    m->fetched = calloc((size_t)spaces, sizeof *m->fetched);
    int ok = m->region && m->gpu && m->owner && m->device && m->fetched;
    for (int s = 1; ok && s < spaces; s++)
        ok = (m->fetched[s] = malloc(sizeof **m->fetched * (size_t)l->blocks)) != NULL;
    for (int b = 0; ok && b < l->blocks; b++) m->owner[b] = -1;
    if (!ok) return evn_fail(EVN_MEMORY, "td-bem: no memory for %d devices", devices);
    status = summation_gpu_regions(l, m->place, m->region);
    int streams = 0;
    for (int u = 0; u < evn_units_count(m->units); u++) {
        evn_unit *unit = evn_units_get(m->units, u);
        for (int d = 0; !status && d < evn_unit_devices(unit); d++) {
            const int space = evn_place_space(m->place, unit, d);
            double share;
            status = summation_gpu_share(&share, l, m->past, evn_unit_device(unit, d));
            if (!status) evn_place_limit(m->place, space, share);
            if (!status) streams |= share * device_memory(unit, d) < l->bytes;
            if (!status)
                status = summation_gpu_open(&m->gpu[space], l, m->past, m->place, m->region, space,
                                            evn_unit_queue(unit, d));
        }
    }
    return status ? status : make_all_fast(m, streams);
}

void sums_close_devices(struct march *m) {
    for (int u = 0; m->gpu && u < evn_units_count(m->units); u++) {
        evn_unit *unit = evn_units_get(m->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++) {
            evn_queue_finish(evn_unit_queue(unit, d)); /* after a failure something may be left */
            summation_gpu_close(m->gpu[evn_place_space(m->place, unit, d)]);
        }
    }
    for (int i = 0; i < m->fasts; i++)
        evn_host_memory_unregister(m->fast[i].memory, m->fast[i].device);
    free(m->fast);
    for (int s = 0; m->fetched && s < evn_place_spaces(m->place); s++) free(m->fetched[s]);
    evn_place_close(m->place);
    free_all(m->fetched, m->owner, m->device, m->gpu, m->region);
}

evn_status sums_make(struct march *m, int again) {
    const double begin = evn_now();
    follow_schedule(m);
    if (m->ranks) ranks_note_owners(m);
    for (int s = 1; m->place && s < evn_place_spaces(m->place); s++) summation_gpu_begin(m->gpu[s]);
    evn_status status = evn_loop_run(m->loop, sum_blocks, m);
    if (status)
        return stream_failed(m->p->layout->stream) ? evn_fail(EVN_SYSTEM, "%s", evn_message())
                                                   : status;
    if (again) sums_read_ahead(m); /* while this group is solved */
    note_group(m, m->r->groups, m->busy);
    m->r->summation_s += evn_now() - begin;
    return EVN_OK;
}

evn_status sums_add(struct march *m) {
    const double begin = evn_now();
    const double elements = (double)m->p->layout->rows * m->p->layout->wide;
    evn_status status = EVN_OK;
    if (m->ranks)
        status = ranks_sum(m);
    else
        evn_crew_run(m->crew, NULL, evn_crew_cores(m->crew, elements, 8192), add_up, m);
    m->r->reduction_s += evn_now() - begin;
    return status;
}
