/* Checks of an exchange's faces: tasks and regions that do not exist, blocks beyond their region,
 * and values that two faces copy at the same time. */
#include "exchange/areas.h"
#include "exchange/plan.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- one face ------------------------------------------------------------------------------ */

int exchange_reach(long long at, const long long stride[3], const int n[3], long long *lo,
                   long long *hi) {
    *lo = *hi = at;
    for (int d = 0; d < 3; d++) {
        long long length;
        if (__builtin_mul_overflow(stride[d], (long long)n[d] - 1, &length)) return -1;
        long long *end = length < 0 ? lo : hi;
        if (__builtin_add_overflow(*end, length, end)) return -1;
    }
    return 0;
}

static evn_status too_large(const char *noun, int number, const evn_face *f, size_t element) {
    return evn_fail(EVN_USAGE,
                    "%s: face %d of %d x %d x %d values of %zu bytes reaches further than "
                    "bytes can be counted",
                    noun, number, f->n[0], f->n[1], f->n[2], element);
}

/* One side of a face; `host`: the tasks' memory, NULL: they have regions. */
static evn_status check_side(const evn_loop *loop, size_t element, int number, const evn_face *f,
                             void *const *host, int to) {
    const int task = to ? f->to : f->from, slot = to ? f->to_region : f->from_region;
    const int slots = loop->place ? loop->regions : 1;
    if (slot < 0 || slot >= slots)
        return evn_fail(EVN_USAGE, "exchange: face %d %s region %d of task %d, which has %s%d",
                        number, to ? "writes" : "reads", slot, task,
                        slots > 1 ? "regions 0 to " : "region ", slots - 1);
    const long long base = host && evn_loop_has(loop, task) ? (long long)(uintptr_t)host[task] : 0;
    long long lo, hi, bytes, address;
    int n[3];
    exchange_extents(f, to, n);
    if (exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, n, &lo,
                       &hi) ||
        __builtin_mul_overflow(lo, (long long)element, &bytes) ||
        __builtin_add_overflow(base, bytes, &address) || hi == LLONG_MAX ||
        __builtin_mul_overflow(hi + 1, (long long)element, &bytes) ||
        __builtin_add_overflow(base, bytes, &address))
        return too_large("exchange", number, f, element);
    if (!loop->place) return EVN_OK;
    if (loop->region[task * slots + slot] < 0)
        return evn_fail(EVN_USAGE,
                        "exchange: face %d %s region %d of task %d, which has none there", number,
                        to ? "writes" : "reads", slot, task);
    const size_t have = evn_place_bytes(loop->place, loop->region[task * slots + slot]);
    if (lo >= 0 && bytes <= (long long)have) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "exchange: face %d %s values %lld to %lld of region %d of task %d, which has "
                    "%zu (%zu bytes)",
                    number, to ? "writes" : "reads", lo, hi, slot, task, have / element, have);
}

static const char *const along[] = {"first", "second", "third"};

evn_status exchange_check_resolution(const char *noun, int number, const evn_face *f,
                                     size_t element) {
    int means = 0;
    for (int d = 0; d < 3; d++) {
        if (f->resolution[d] != EVN_SAME && f->resolution[d] != EVN_MEAN &&
            f->resolution[d] != EVN_REPEAT)
            return evn_fail(EVN_USAGE,
                            "%s: face %d has resolution %d along its %s index, expected "
                            "EVN_SAME, EVN_MEAN or EVN_REPEAT",
                            noun, number, (int)f->resolution[d], along[d]);
        if (f->resolution[d] != EVN_MEAN) continue;
        means = 1;
        if (f->n[d] > INT_MAX / 2) return too_large(noun, number, f, element);
    }
    if (!means) return EVN_OK;
    if (f->numbers != EVN_DOUBLES && f->numbers != EVN_FLOATS)
        return evn_fail(EVN_USAGE,
                        "%s: face %d takes means of numbers %d, expected EVN_DOUBLES or "
                        "EVN_FLOATS",
                        noun, number, f->numbers);
    if (element % (size_t)f->numbers)
        return evn_fail(EVN_USAGE,
                        "%s: face %d takes means of values of %zu bytes, which are no whole "
                        "number of %s of %d bytes",
                        noun, number, element, f->numbers == EVN_DOUBLES ? "doubles" : "floats",
                        f->numbers);
    return EVN_OK;
}

static evn_status check_face(const evn_loop *loop, size_t element, int number, const evn_face *f,
                             void *const *host) {
    const int tasks = loop->problem->tasks;
    if (f->from < 0 || f->from >= tasks || f->to < 0 || f->to >= tasks)
        return evn_fail(EVN_USAGE,
                        "exchange: face %d goes from task %d to task %d; there are tasks 0 to %d",
                        number, f->from, f->to, tasks - 1);
    if (f->n[0] < 0 || f->n[1] < 0 || f->n[2] < 0)
        return evn_fail(EVN_USAGE, "exchange: face %d has %d x %d x %d values; none may be below 0",
                        number, f->n[0], f->n[1], f->n[2]);
    evn_status status = exchange_check_resolution("exchange", number, f, element);
    if (status || !f->n[0] || !f->n[1] || !f->n[2]) return status;
    if (!loop->place && ((evn_loop_has(loop, f->from) && !host[f->from]) ||
                         (evn_loop_has(loop, f->to) && !host[f->to])))
        return evn_fail(EVN_USAGE,
                        "exchange: face %d goes from task %d to task %d, and task %d "
                        "has no memory",
                        number, f->from, f->to, host[f->from] ? f->to : f->from);
    long long bytes = (long long)element;
    for (int d = 0; d < 3; d++)
        if (__builtin_mul_overflow(bytes, (long long)f->n[d], &bytes))
            return too_large("exchange", number, f, element);
    if (loop->place) host = NULL;
    status = check_side(loop, element, number, f, host, 0);
    return status ? status : check_side(loop, element, number, f, host, 1);
}

evn_status exchange_check_faces(const evn_loop *loop, size_t element, int number, int count,
                                const evn_face *face, void *const *host) {
    if (!element || element > LLONG_MAX)
        return evn_fail(EVN_USAGE, "exchange: values of %zu bytes, expected 1 or more", element);
    if (count < 0 || (count && !face))
        return evn_fail(EVN_USAGE, "exchange: %d faces%s", count,
                        count < 0 ? ", expected 0 or more" : ", and none are given");
    if (!loop->place && !host)
        return evn_fail(EVN_USAGE, "exchange: neither regions nor the tasks' memory are given");
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++)
        status = check_face(loop, element, number + i, &face[i], host);
    return status;
}

/* ---- faces among each other ---------------------------------------------------------------- */

/* Without a place all memory is one region; that of a task of another rank is one of its own. */
static struct area area_of(const evn_exchange *x, const struct face *f, int to) {
    const struct part *p = &x->part[to ? f->to : f->from];
    const int region = x->place ? p->region : p->host ? 0 : 1 + p->task;
    struct area a = {.face = f->number,
                     .rank = -1,
                     .task = p->task,
                     .slot = p->slot,
                     .written = to,
                     .region = (size_t)region,
                     .base = x->place ? 0 : (long long)(uintptr_t)p->host};
    area_fill(&a, &f->of, x->element);
    return a;
}

/* Marks the parts of which faces from `before` on are, and all others of their regions. Without a
 * place a region is a task's. */
static char *touch(const evn_exchange *x, int before) {
    const int regions = x->place && x->first_room > 0;
    char *part = calloc((size_t)x->parts + 1, 1);
    char *region = regions ? calloc(x->first_room, 1) : NULL;
    if (!part || (regions && !region)) {
        free(part);
        free(region);
        return NULL;
    }
    for (int i = before; i < x->faces; i++)
        for (int to = 0; to < 2; to++) {
            const int of = to ? x->face[i].to : x->face[i].from;
            part[of] = 1;
            if (region) region[x->part[of].region] = 1;
        }
    for (int i = 0; region && i < x->parts; i++) part[i] = region[x->part[i].region];
    free(region);
    return part;
}

/* The areas in touched parts; `area` NULL: their number alone. */
static int find_areas(const evn_exchange *x, const char *touched, struct area *area) {
    int count = 0;
    for (int i = 0; i < x->parts; i++) {
        if (!touched[i]) continue;
        for (int at = x->part[i].first; at >= 0; at = x->entry[at / 2].next[at % 2]) {
            if (area) area[count] = area_of(x, &x->face[at / 2], at % 2);
            count++;
        }
    }
    return count;
}

evn_status exchange_check_overlaps(const evn_exchange *x, int before) {
    if (x->faces == before) return EVN_OK;
    char *touched = touch(x, before);
    struct area *area =
        touched ? malloc((size_t)find_areas(x, touched, NULL) * sizeof *area) : NULL;
    evn_status status =
        area ? EVN_OK
             : evn_fail(EVN_MEMORY, "exchange: no memory to check %d faces for overlaps", x->faces);
    if (area) {
        const int areas = find_areas(x, touched, area);
        status = areas_check("exchange", x->element, area, areas);
    }
    free(area);
    free(touched);
    return status;
}
