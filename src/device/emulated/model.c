/* The emulated machine's options and its virtual time. */
#include "device/emulated/model.h"
#include "base/text.h"
#include <evener/number.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

/* Fails for an option's wrong number. */
static evn_status wrong(const evn_option *o, const char *text) {
    char why[256];
    snprintf(why, sizeof why, "%s", evn_message());
    return evn_fail(EVN_USAGE, "device: \"%s\": %s=%s: %s", text, o->key, o->value ? o->value : "",
                    why);
}

/* `8GB/s`: a number from `least` to `max` and one of the units. */
static evn_status quantity(const evn_option *o, const char *text, const evn_scale *scale,
                           double least, double max, double *out) {
    return evn_spec_scaled(o, "device", text, scale, (evn_bounds){least, max, 0}, out);
}

/* Index of the option's value in a list of words. */
static evn_status choice(const evn_option *o, const char *text, const char *const *word, int *out) {
    char words[96] = "";
    for (int w = 0; word[w]; w++) {
        if (o->value && !strcmp(o->value, word[w])) {
            *out = w;
            return EVN_OK;
        }
        size_t end = strlen(words);
        snprintf(words + end, sizeof words - end, "%s%s", end ? " or " : "", word[w]);
    }
    return evn_fail(EVN_USAGE, "device: \"%s\": %s must be %s, not \"%s\"", text, o->key, words,
                    o->value ? o->value : "");
}

static evn_status speed(const evn_option *o, const char *text, double *out) {
    const evn_bounds bounds = {1e-6, 1e6, 0};
    return evn_read_real(o->value ? o->value : "", bounds, out) ? wrong(o, text) : EVN_OK;
}

static evn_status memory(const evn_option *o, const char *text, double *out) {
    const evn_bounds bounds = {1, 1e15, 0};
    return evn_read_size(o->value ? o->value : "", bounds, out) ? wrong(o, text) : EVN_OK;
}

/* KIND@N */
static evn_status failure(const evn_option *o, const char *text, struct emulated_options *out) {
    static const char *const kind[] = {"", "alloc", "copy", "kernel", "lost", NULL};
    size_t length = o->value ? strcspn(o->value, "@") : 0;
    for (int k = FAIL_ALLOC; k <= FAIL_LOST; k++) {
        if (!length || strlen(kind[k]) != length || strncmp(o->value, kind[k], length)) continue;
        out->fail = k;
        out->fail_at = 1;
        const char *at = o->value + length;
        if (!*at || (at++, evn_text_number(&at, LONG_MAX, &out->fail_at) && !*at && out->fail_at))
            return EVN_OK;
    }
    return evn_fail(EVN_USAGE,
                    "device: \"%s\": fail must be alloc, copy, kernel or lost, and @N for the N-th "
                    "from 1, not \"%s\"",
                    text, o->value ? o->value : "");
}

/* item.KERNEL=TIME */
static evn_status own_item(const evn_option *o, const char *text, struct emulated_options *out) {
    const char *kernel = o->key + strlen("item.");
    if (out->owns == OWN_ITEMS || !*kernel || strlen(kernel) >= sizeof out->own[0].kernel)
        return evn_fail(EVN_USAGE,
                        "device: \"%s\": %s: expected up to %d kernels by name, of %zu letters at "
                        "most",
                        text, o->key, OWN_ITEMS, sizeof out->own[0].kernel - 1);
    strcpy(out->own[out->owns].kernel, kernel);
    return quantity(o, text, evn_times, 0, 1, &out->own[out->owns++].item);
}

evn_status emulated_options(struct emulated_options *out, const char *text) {
    static const char *const clocks[] = {"real", "virtual", NULL};
    static const char *const no_yes[] = {"no", "yes", NULL};
    evn_spec spec;
    evn_status status = evn_spec_parse(&spec, "device", text);
    if (status) return status;
    /* costs not given are -1 until the clock is known */
    *out = (struct emulated_options){.count = 1,
                                     .speed = 1,
                                     .link = -1,
                                     .latency = -1,
                                     .launch = -1,
                                     .item = -1,
                                     .memory = (size_t)4 << 30,
                                     .peer = 1,
                                     .cores = 1,
                                     .bad = -1};
    for (int i = 0; !status && i < spec.options; i++) {
        const evn_option *o = &spec.option[i];
        long number = 0;
        double bytes = 0;
        if (i == 0 && isdigit((unsigned char)*o->key)) {
            const char *p = o->key;
            if (o->value || !evn_text_number(&p, EMULATED_MAX, &number) || *p || number < 1)
                return evn_fail(EVN_USAGE,
                                "device: \"%s\": \"%s\" is no number of devices from 1 to %d", text,
                                o->key, EMULATED_MAX);
            out->count = (int)number;
        } else if (!strcmp(o->key, "speed")) {
            status = speed(o, text, &out->speed);
        } else if (!strcmp(o->key, "link")) {
            status = quantity(o, text, evn_rates, 1, 1e15, &out->link);
        } else if (!strcmp(o->key, "pageable")) {
            status = quantity(o, text, evn_rates, 1, 1e15, &out->pageable);
        } else if (!strcmp(o->key, "shared")) {
            status = quantity(o, text, evn_rates, 1, 1e15, &out->shared);
        } else if (!strcmp(o->key, "latency")) {
            status = quantity(o, text, evn_times, 0, 10, &out->latency);
        } else if (!strcmp(o->key, "launch")) {
            status = quantity(o, text, evn_times, 0, 10, &out->launch);
        } else if (!strcmp(o->key, "item")) {
            status = quantity(o, text, evn_times, 0, 1, &out->item);
        } else if (!strncmp(o->key, "item.", 5)) {
            status = own_item(o, text, out);
        } else if (!strcmp(o->key, "memory")) {
            status = memory(o, text, &bytes);
            if (!status) out->memory = (size_t)bytes;
        } else if (!strcmp(o->key, "peer")) {
            status = choice(o, text, no_yes, &out->peer);
        } else if (!strcmp(o->key, "check")) {
            status = choice(o, text, no_yes, &out->check);
        } else if (!strcmp(o->key, "clock")) {
            status = choice(o, text, clocks, &out->is_virtual);
        } else if (!strcmp(o->key, "cores")) {
            status = evn_spec_number(o, "device", text, 1, EMULATED_CORES, &number);
            out->cores = (int)number;
        } else if (!strcmp(o->key, "fail")) {
            status = failure(o, text, out);
        } else if (!strcmp(o->key, "bad")) {
            status = evn_spec_number(o, "device", text, 0, 63, &number);
            out->bad = (int)number;
        } else {
            return evn_fail(
                EVN_USAGE,
                "device: \"%s\": unknown option \"%s\", expected a number of devices "
                "first, speed, link, pageable, shared, latency, launch, item, memory, peer, clock, "
                "cores, check, fail or bad",
                text, o->key);
        }
    }
    if (status) return status;
    if (!out->is_virtual && out->speed > 1)
        return evn_fail(EVN_USAGE,
                        "device: \"%s\": nothing is faster than this machine in real time; speed "
                        "above 1 needs clock=virtual",
                        text);
    if (!out->is_virtual && (out->item >= 0 || out->owns))
        return evn_fail(EVN_USAGE, "device: \"%s\": item is a cost of the virtual clock", text);
    if (out->bad >= out->count)
        return evn_fail(EVN_USAGE, "device: \"%s\": there is no device %d to fail; it gives %d",
                        text, out->bad, out->count);
    /* default: no limit in real time; in virtual time a card on a PCI Express 3 slot */
    if (out->link < 0) out->link = out->is_virtual ? 8e9 : 0;
    if (out->latency < 0) out->latency = out->is_virtual ? 5e-6 : 0;
    if (out->launch < 0) out->launch = out->is_virtual ? 4e-6 : 0;
    if (out->item < 0) out->item = out->is_virtual ? 1e-9 : 0;
    if (out->bad < 0) out->bad = out->count - 1; /* the last: others remain to go on */
    return EVN_OK;
}

/* ---- virtual time ---- */

static _Thread_local picoseconds host_now;

picoseconds host_time(void) { return host_now; }
void host_time_reach(picoseconds time) {
    if (time > host_now) host_now = time;
}

/* Largest virtual time, 46 days, so that no sum overflows; and the largest cost. */
static const picoseconds doomsday = 4000000000000000000;

static picoseconds after(picoseconds begin, picoseconds duration) {
    return begin < doomsday - duration ? begin + duration : doomsday;
}

static picoseconds cost(double seconds) { return llround(fmin(seconds, 86400) * 1e12); }

/* Begin of the lane's first gap, from `ready` on, that is long enough for `duration`. */
static picoseconds lane_fit(const struct lane *l, picoseconds ready, picoseconds duration) {
    if (!duration) return ready;
    for (int g = 0; g < l->gaps; g++) {
        picoseconds begin = ready > l->gap[g].begin ? ready : l->gap[g].begin;
        if (begin + duration <= l->gap[g].end) return begin;
    }
    return ready > l->end ? ready : l->end;
}

static void gap_insert(struct lane *l, int at, picoseconds begin, picoseconds end) {
    if (begin >= end) return;
    if (l->gaps == LANE_GAPS) { /* drop the earliest gap */
        if (at == 0) return;
        memmove(&l->gap[0], &l->gap[1], sizeof l->gap[0] * (LANE_GAPS - 1));
        l->gaps--;
        at--;
    }
    memmove(&l->gap[at + 1], &l->gap[at], sizeof l->gap[0] * (size_t)(l->gaps - at));
    l->gap[at].begin = begin;
    l->gap[at].end = end;
    l->gaps++;
}

/* Reserves begin .. begin+duration, which lane_fit() found. */
static void lane_take(struct lane *l, picoseconds begin, picoseconds duration) {
    if (!duration) return;
    picoseconds end = after(begin, duration);
    if (begin >= l->end) {
        picoseconds idle = l->end;
        l->end = end;
        gap_insert(l, l->gaps, idle, begin);
        return;
    }
    for (int g = 0; g < l->gaps; g++) {
        if (begin < l->gap[g].begin || end > l->gap[g].end) continue;
        picoseconds first = l->gap[g].begin, last = l->gap[g].end;
        memmove(&l->gap[g], &l->gap[g + 1], sizeof l->gap[0] * (size_t)(l->gaps - g - 1));
        l->gaps--;
        gap_insert(l, g, end, last);
        gap_insert(l, g, first, begin);
        return;
    }
}

static picoseconds compute(struct timeline *t, picoseconds ready, double seconds) {
    picoseconds duration = cost(seconds);
    pthread_mutex_lock(&t->lock);
    picoseconds begin = lane_fit(&t->compute, ready, duration);
    lane_take(&t->compute, begin, duration);
    pthread_mutex_unlock(&t->lock);
    return after(begin, duration);
}

picoseconds timeline_kernel(struct timeline *t, picoseconds ready, const char *kernel, int groups,
                            int items) {
    const struct emulated_options *o = t->options;
    double item = o->item;
    for (int i = 0; i < o->owns; i++)
        if (!strcmp(o->own[i].kernel, kernel)) item = o->own[i].item;
    return compute(t, ready, o->launch + (double)groups * items * item / o->speed);
}

/* Plans a copy within the device, which takes as long as a kernel with an item for each 8 bytes. */
picoseconds timeline_within(struct timeline *t, picoseconds ready, size_t bytes) {
    const struct emulated_options *o = t->options;
    return compute(t, ready, o->launch + ceil((double)bytes / 8) * o->item / o->speed);
}

/* The link is taken for as long as the bytes take to go through; they arrive a latency later. The
 * slower one's speed counts. */
picoseconds timeline_transfer(struct timeline *from, struct timeline *to, picoseconds ready,
                              size_t bytes, double host) {
    struct timeline *both[2] = {from < to ? from : to, from < to ? to : from};
    double seconds = host > 0 ? (double)bytes / host : 0, latency = 0;
    for (int i = 0; i < 2; i++) {
        if (!both[i]) continue;
        const struct emulated_options *o = both[i]->options;
        if (o->link > 0) seconds = fmax(seconds, (double)bytes / o->link);
        latency = fmax(latency, o->latency);
        pthread_mutex_lock(&both[i]->lock);
    }
    picoseconds duration = cost(seconds), begin = ready, before;
    do { /* until both links are free at once; each step can only move it later */
        before = begin;
        if (from) begin = lane_fit(&from->out, begin, duration);
        if (to) begin = lane_fit(&to->in, begin, duration);
    } while (begin != before);
    if (from) lane_take(&from->out, begin, duration);
    if (to) lane_take(&to->in, begin, duration);
    for (int i = 0; i < 2; i++)
        if (both[i]) pthread_mutex_unlock(&both[i]->lock);
    return after(after(begin, duration), cost(latency));
}
