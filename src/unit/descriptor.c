/* Reading and writing unit descriptors. */
#include "unit/descriptor.h"
#include <evener/status.h>
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static evn_status wrong(const char *text, const char *at, const char *what) {
    return evn_fail(EVN_USAGE, "units: \"%s\" at column %d: %s", text, (int)(at - text) + 1, what);
}

static int same_word(const char *a, size_t n, const char *b) {
    if (strlen(b) != n) return 0;
    for (size_t i = 0; i < n; i++)
        if (toupper((unsigned char)a[i]) != b[i]) return 0;
    return 1;
}

/* one N:FAMILY:M at *at */
static evn_status parse_group(struct unit_group *g, const char *text, const char **at) {
    const char *p = *at;
    long n;
    if (!evn_text_number(&p, UNITS_MAX, &n))
        return wrong(text, p, "expected a number of units up to 4096, as in 2:CPU:4, or auto");
    if (n == 0) return wrong(text, *at, "zero units, expected at least 1");
    g->count = (int)n;
    if (*p++ != ':') return wrong(text, p - 1, "expected \":\" and a family, as in 2:CPU:4");
    size_t length = strcspn(p, ":,");
    if (same_word(p, length, "CPU")) {
        g->family = UNIT_CPU;
    } else if (same_word(p, length, "GPU")) {
        g->family = UNIT_GPU;
    } else {
        char what[128];
        snprintf(what, sizeof what, "unknown family \"%.*s\", expected CPU or GPU",
                 (int)(length < 40 ? length : 40), p);
        return wrong(text, p, what);
    }
    p += length;
    const char *size = g->family == UNIT_CPU ? "cores" : "devices";
    char what[128];
    if (*p++ != ':') {
        snprintf(what, sizeof what, "expected \":\" and the %s of each unit, as in 2:%s:1", size,
                 g->family == UNIT_CPU ? "CPU" : "GPU");
        return wrong(text, p - 1, what);
    }
    const char *number = p;
    if (!evn_text_number(&p, UNITS_MAX, &n) || n == 0) {
        snprintf(what, sizeof what, "expected how many %s each unit has, from 1 to %d", size,
                 UNITS_MAX);
        return wrong(text, number, what);
    }
    g->size = (int)n;
    *at = p;
    return EVN_OK;
}

int unit_list_is_auto(const char *text) { return same_word(text, strlen(text), "AUTO"); }

/* Sums over the groups. 0: too many units. */
static int add_up(struct unit_list *out) {
    out->units = out->cpus = out->gpus = out->cores = out->devices = 0;
    for (int i = 0; i < out->groups; i++) {
        const struct unit_group *g = &out->group[i];
        out->units += g->count;
        if (g->family == UNIT_CPU) {
            out->cpus += g->count;
            out->cores += g->count * g->size;
        } else {
            out->gpus += g->count;
            out->cores += g->count;
            out->devices += g->count * g->size;
        }
        if (out->units > UNITS_MAX) return 0;
    }
    return 1;
}

/* One unit more of `size` cores; 0: there is no room for another group. */
static int add_cpu(struct unit_list *out, int size, int room) {
    struct unit_group *last = out->groups ? &out->group[out->groups - 1] : NULL;
    if (last && last->size == size) {
        last->count++;
        return 1;
    }
    if (out->groups == room) return 0;
    out->group[out->groups++] = (struct unit_group){1, UNIT_CPU, size};
    return 1;
}

void unit_list_auto(struct unit_list *out, const int *size, int parts, int devices) {
    const int room = UNIT_GROUPS_MAX - (devices > 0);
    int cores = 0, fits = 1;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < parts; i++) cores += size[i];
    const int left = cores > devices ? cores - devices : 1;
    for (int i = 0, at = 0; fits && at < left; at += size[i++])
        fits = add_cpu(out, size[i] < left - at ? size[i] : left - at, room);
    if (!fits) {
        memset(out, 0, sizeof *out);
        add_cpu(out, left, room);
    }
    if (devices) out->group[out->groups++] = (struct unit_group){devices, UNIT_GPU, 1};
    add_up(out);
}

void unit_list_split(struct unit_list *list) {
    int cores = 0, groups = 0;
    struct unit_group gpus = {0};
    for (int i = 0; i < list->groups; i++) {
        const struct unit_group *g = &list->group[i];
        if (g->family == UNIT_CPU)
            cores += g->count * g->size;
        else
            gpus = *g;
    }
    list->group[groups++] = (struct unit_group){cores, UNIT_CPU, 1};
    if (gpus.count) list->group[groups++] = gpus;
    list->groups = groups;
    add_up(list);
}

evn_status unit_list_parse(struct unit_list *out, const char *text, int cores, int devices) {
    memset(out, 0, sizeof *out);
    if (unit_list_is_auto(text)) {
        unit_list_auto(out, &cores, 1, devices);
        return EVN_OK;
    }
    const char *p = text;
    for (;;) {
        if (out->groups == UNIT_GROUPS_MAX) return wrong(text, p, "more than 64 groups of units");
        evn_status status = parse_group(&out->group[out->groups++], text, &p);
        if (status) return status;
        if (!*p) break;
        if (*p != ',') return wrong(text, p, "expected \",\" and more units, or the end");
        p++;
    }
    if (!add_up(out)) return wrong(text, text, "more than 4096 units in all");
    return EVN_OK;
}

void unit_list_print(const struct unit_list *list, char *text, int size) {
    int at = 0;
    text[0] = 0;
    for (int i = 0; i < list->groups && at < size; i++)
        at += snprintf(text + at, (size_t)(size - at), "%s%d:%s:%d", i ? "," : "",
                       list->group[i].count, list->group[i].family == UNIT_CPU ? "CPU" : "GPU",
                       list->group[i].size);
}
