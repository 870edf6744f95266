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

const char *unit_family_name(enum unit_family family) {
    static const char *const name[] = {"CPU", "GPU", "FPGA"};
    return name[family];
}

int unit_group_cores(const struct unit_group *g) {
    return g->family == UNIT_CPU ? g->count * g->size : g->count;
}

int unit_list_core(const struct unit_list *list, const struct unit_group *g, int i) {
    const struct core_range *r = &list->range[g->first_range];
    for (; i > r->last - r->first; r++) i -= r->last - r->first + 1;
    return r->first + i;
}

/* The core that two ranges share; -1: none. */
static int shared_core(struct core_range a, struct core_range b) {
    const int first = a.first > b.first ? a.first : b.first;
    return first <= (a.last < b.last ? a.last : b.last) ? first : -1;
}

/* One @A-B or @A at *at. */
static evn_status parse_range(struct unit_list *list, const char *text, const char **at) {
    const char *p = *at + 1;
    long first, last;
    char what[128];
    if (list->ranges == CORE_RANGES_MAX) return wrong(text, *at, "more than 128 ranges of cores");
    if (!evn_text_number(&p, CORE_NUMBERS_MAX - 1, &first))
        return wrong(text, *at + 1, "expected the numbers of cores, as in 2:CPU:4@0-7");
    last = first;
    const char *end = p;
    if (*p == '-' && (p++, !evn_text_number(&p, CORE_NUMBERS_MAX - 1, &last) || last < first))
        return wrong(text, end, "expected the last of these cores, as in 2:CPU:4@0-7");
    const struct core_range r = {(int)first, (int)last};
    for (int i = 0; i < list->ranges; i++) {
        const int both = shared_core(list->range[i], r);
        if (both < 0) continue;
        snprintf(what, sizeof what, "core %d is named twice", both);
        return wrong(text, *at + 1, what);
    }
    list->range[list->ranges++] = r;
    *at = p;
    return EVN_OK;
}

/* Reads the cores of a group, @A-B or several of these, as many as it needs. */
static evn_status parse_cores(struct unit_list *list, struct unit_group *g, const char *text,
                              const char **at) {
    const char *begin = *at;
    int cores = 0;
    g->first_range = list->ranges;
    while (**at == '@') {
        evn_status status = parse_range(list, text, at);
        if (status) return status;
        const struct core_range *r = &list->range[list->ranges - 1];
        cores += r->last - r->first + 1;
        g->ranges++;
    }
    if (!g->ranges || cores == unit_group_cores(g)) return EVN_OK;
    char what[128];
    snprintf(what, sizeof what, "%d core%s named, expected %d, %s", cores,
             cores == 1 ? " is" : "s are", unit_group_cores(g),
             g->family == UNIT_CPU ? "as many as the units have" : "one for each unit's leader");
    return wrong(text, begin, what);
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
    int family = UNIT_CPU;
    while (family <= UNIT_FPGA && !same_word(p, length, unit_family_name(family))) family++;
    if (family <= UNIT_FPGA) {
        g->family = (enum unit_family)family;
    } else {
        char what[128];
        snprintf(what, sizeof what, "unknown family \"%.*s\", expected CPU, GPU or FPGA",
                 (int)(length < 40 ? length : 40), p);
        return wrong(text, p, what);
    }
    p += length;
    const char *size = g->family == UNIT_CPU ? "cores" : "devices";
    char what[128];
    if (*p++ != ':') {
        snprintf(what, sizeof what, "expected \":\" and the %s of each unit, as in 2:%s:1", size,
                 unit_family_name(g->family));
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
    out->units = out->cpus = out->gpus = out->fpgas = out->cores = out->devices = 0;
    for (int i = 0; i < out->groups; i++) {
        const struct unit_group *g = &out->group[i];
        out->units += g->count;
        if (g->family == UNIT_CPU) {
            out->cpus += g->count;
        } else {
            out->gpus += g->count;
            out->fpgas += g->family == UNIT_FPGA ? g->count : 0;
            out->devices += g->count * g->size;
        }
        out->cores += unit_group_cores(g);
        if (out->units > UNITS_MAX) return 0;
    }
    return 1;
}

/* Names the cores of the list's last group. */
static int name_cores(struct unit_list *list, struct unit_group *g, const int *core) {
    g->first_range = list->ranges;
    for (int i = 0; i < unit_group_cores(g); i++) {
        struct core_range *last = g->ranges ? &list->range[list->ranges - 1] : NULL;
        if (last && core[i] == last->last + 1) {
            last->last++;
        } else if (list->ranges < CORE_RANGES_MAX) {
            list->range[list->ranges++] = (struct core_range){core[i], core[i]};
            g->ranges++;
        } else {
            return 0;
        }
    }
    return 1;
}

int unit_list_add(struct unit_list *list, int count, enum unit_family family, int size,
                  const int *core) {
    struct unit_group *last = list->groups ? &list->group[list->groups - 1] : NULL;
    if (last && last->family == family && last->size == size && !last->ranges && !core) {
        last->count += count;
        return 1;
    }
    if (list->groups == UNIT_GROUPS_MAX) return 0;
    struct unit_group *g = &list->group[list->groups++];
    *g = (struct unit_group){.count = count, .family = family, .size = size};
    return !core || name_cores(list, g, core);
}

void unit_list_auto(struct unit_list *out, const int *size, int parts, int devices) {
    int cores = 0, fits = 1;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < parts; i++) cores += size[i];
    const int left = cores > devices ? cores - devices : 1;
    for (int i = 0, at = 0; fits && at < left; at += size[i++])
        fits = unit_list_add(out, 1, UNIT_CPU, size[i] < left - at ? size[i] : left - at, NULL);
    if (!fits || (devices && out->groups == UNIT_GROUPS_MAX)) {
        memset(out, 0, sizeof *out);
        unit_list_add(out, 1, UNIT_CPU, left, NULL);
    }
    if (devices) unit_list_add(out, devices, UNIT_GPU, 1, NULL);
    add_up(out);
}

void unit_list_split(struct unit_list *list) {
    int cores = 0;
    struct unit_group gpus = {0};
    for (int i = 0; i < list->groups; i++) {
        const struct unit_group *g = &list->group[i];
        if (g->family == UNIT_CPU)
            cores += g->count * g->size;
        else
            gpus = *g;
    }
    list->groups = 0;
    unit_list_add(list, cores, UNIT_CPU, 1, NULL);
    if (gpus.count) unit_list_add(list, gpus.count, gpus.family, gpus.size, NULL);
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
        struct unit_group *g = &out->group[out->groups++];
        evn_status status = parse_group(g, text, &p);
        if (!status) status = parse_cores(out, g, text, &p);
        if (status) return status;
        if (!*p) break;
        if (*p != ',')
            return wrong(text, p, "expected \",\" and more units, \"@\" and cores, or the end");
        p++;
    }
    if (!add_up(out)) return wrong(text, text, "more than 4096 units in all");
    return EVN_OK;
}

void unit_list_print(const struct unit_list *list, char *text, int size) {
    int at = 0;
    text[0] = 0;
    for (int i = 0; i < list->groups && at < size; i++) {
        const struct unit_group *g = &list->group[i];
        at += snprintf(text + at, (size_t)(size - at), "%s%d:%s:%d", i ? "," : "", g->count,
                       unit_family_name(g->family), g->size);
        for (int k = 0; k < g->ranges && at < size; k++) {
            const struct core_range *r = &list->range[g->first_range + k];
            at += snprintf(text + at, (size_t)(size - at), "@%d", r->first);
            if (r->last > r->first && at < size)
                at += snprintf(text + at, (size_t)(size - at), "-%d", r->last);
        }
    }
}
