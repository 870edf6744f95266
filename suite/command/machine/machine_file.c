/* Reading described machines. Everything is checked when the file is opened, so that what is asked
 * later can only be missing, not wrong. */
#include "machine/machine_file.h"
#include "common/cli/message.h"
#include "common/cli/json_file.h"
#include "machine/nodes.h"
#include <evener/number.h>
#include <evener/unit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MAX = 1000000 }; /* cores of a unit */

struct machine_file {
    const char *path;
    cJSON *root;
    char units[512];
    int has[2]; /* entries of each family */
};

/* ---- kinds of units ---- */

int unit_kinds(const evn_units *units, struct unit_kind *kinds, int *kind) {
    int n = 0, u = 0;
    for (const char *p = evn_units_text(units); *p;) {
        int count, size, length;
        char family[5];
        if (sscanf(p, "%d:%4[A-Z]:%d%n", &count, family, &size, &length) != 3) break;
        const struct unit_kind found = {family[0] != 'C', size, 0};
        int k = 0;
        while (k < n && (kinds[k].gpu != found.gpu || kinds[k].size != size)) k++;
        if (k == n) kinds[n++] = found;
        kinds[k].count += count;
        while (count--) kind[u++] = k;
        p += length + (int)strcspn(p + length, ","); /* behind the cores that it names, too */
        p += *p == ',';
    }
    return n;
}

const char *unit_kind_text(struct unit_kind kind, char text[24]) {
    snprintf(text, 24, "%s:%d", kind.gpu ? "GPU" : "CPU", kind.size);
    return text;
}

/* ---- checks ---- */

static int wrong(const struct machine_file *m, const char *where, const char *what) {
    complain("%s: %s: %s", m->path, where, what);
    return EXIT_USAGE;
}

/* Whether all keys of an object are among `known`, which ends with NULL. */
static int check_keys(const struct machine_file *m, const cJSON *o, const char *where,
                      const char *const *known) {
    if (!cJSON_IsObject(o)) return wrong(m, where, "expected an object, { .. }");
    for (const cJSON *i = o->child; i; i = i->next) {
        int k = 0;
        while (known[k] && strcmp(known[k], i->string) != 0) k++;
        if (known[k]) continue;
        char all[256] = "";
        for (k = 0; known[k]; k++) {
            size_t at = strlen(all);
            snprintf(all + at, sizeof all - at, "%s%s", k ? ", " : "", known[k]);
        }
        complain("%s: %s: there is no \"%.40s\", expected %s", m->path, where, i->string, all);
        return EXIT_USAGE;
    }
    return 0;
}

static int is_positive(const cJSON *v) {
    return cJSON_IsNumber(v) && v->valuedouble > 0 && isfinite(v->valuedouble);
}

static int check_way(const struct machine_file *m, const cJSON *o, const char *where) {
    const cJSON *latency = cJSON_GetObjectItemCaseSensitive(o, "latency");
    if (latency &&
        !(cJSON_IsNumber(latency) && latency->valuedouble >= 0 && isfinite(latency->valuedouble)))
        return wrong(m, where, "\"latency\" is not a number of seconds from 0");
    if (!is_positive(cJSON_GetObjectItemCaseSensitive(o, "bandwidth")))
        return wrong(m, where, "\"bandwidth\" is not a number of bytes a second above 0");
    return 0;
}

static int check_table(const struct machine_file *m, const cJSON *table, const char *where) {
    double before = -1;
    for (const cJSON *p = table->child; p; p = p->next) {
        const cJSON *points = cJSON_GetArrayItem(p, 0), *s = cJSON_GetArrayItem(p, 1);
        if (cJSON_GetArraySize(p) != 2 || !cJSON_IsNumber(points) || !is_positive(s) ||
            !(points->valuedouble > before) || !(points->valuedouble >= 0) ||
            isinf(points->valuedouble))
            return wrong(m, where, "expected pairs [points, seconds], the points ascending");
        before = points->valuedouble;
    }
    if (!(before > 0)) return wrong(m, where, "expected a pair [points, seconds] of some points");
    return 0;
}

/* A way, or ways by workload. */
static int check_within(const struct machine_file *m, const cJSON *within, const char *where) {
    if (!within || cJSON_HasObjectItem(within, "bandwidth"))
        return within ? check_way(m, within, where) : 0;
    if (!cJSON_IsObject(within) || !within->child)
        return wrong(m, where, "\"within\" is neither a way nor ways by workload, {\"*\": {..}}");
    int code = 0;
    for (const cJSON *w = within->child; w && !code; w = w->next) code = check_way(m, w, where);
    return code;
}

static int check_crowd(const struct machine_file *m, const cJSON *crowd, const char *where) {
    if (crowd && !cJSON_IsObject(crowd))
        return wrong(m, where, "\"crowd\" is not {\"bt-mz\": [[units, factor], ..], ..}");
    int code = 0;
    for (const cJSON *t = crowd ? crowd->child : NULL; t && !code; t = t->next)
        code = check_table(m, t, where);
    return code;
}

static int check_beside(const struct machine_file *m, const cJSON *beside, const char *where) {
    int sound = !beside || cJSON_IsObject(beside);
    for (const cJSON *f = beside ? beside->child : NULL; f; f = f->next) sound &= is_positive(f);
    return sound ? 0 : wrong(m, where, "\"beside\" is not {\"bt-mz\": a factor above 0, ..}");
}

static int read_unit_kind(const char *text, struct unit_kind *kind) {
    long size = 0;
    kind->gpu = !strncmp(text, "GPU:", 4);
    const int sound =
        (kind->gpu || !strncmp(text, "CPU:", 4)) && !evn_read_whole(text + 4, 1, CORES_MAX, &size);
    kind->size = (int)size;
    kind->count = 0;
    return sound;
}

static int check_unit(struct machine_file *m, const cJSON *o, const char *where) {
    static const char *const keys[] = {"unit",    "count", "name",   "space",  "speed",
                                       "seconds", "crowd", "beside", "within", NULL};
    int code = check_keys(m, o, where, keys);
    if (code) return code;
    struct unit_kind kind;
    const char *unit = json_text(o, "unit");
    if (!unit || !read_unit_kind(unit, &kind))
        return wrong(m, where, "\"unit\" is not a family and a size, as \"CPU:4\" or \"GPU:1\"");
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(o, "count");
    if (!is_positive(count) || count->valuedouble != floor(count->valuedouble) ||
        count->valuedouble > 4096)
        return wrong(m, where, "\"count\" is not a whole number from 1 to 4096");
    const cJSON *speed = cJSON_GetObjectItemCaseSensitive(o, "speed"),
                *seconds = cJSON_GetObjectItemCaseSensitive(o, "seconds"),
                *within = cJSON_GetObjectItemCaseSensitive(o, "within"),
                *space = cJSON_GetObjectItemCaseSensitive(o, "space");
    if (space && !cJSON_IsString(space)) return wrong(m, where, "\"space\" is not a name");
    if ((speed && !cJSON_IsObject(speed)) || (seconds && !cJSON_IsObject(seconds)) ||
        (!speed && !seconds))
        return wrong(m, where,
                     "expected \"speed\": {\"bt-mz\": points a second, ..} or \"seconds\": "
                     "{\"bt-mz\": [[points, seconds], ..], ..}");
    for (const cJSON *s = speed ? speed->child : NULL; s; s = s->next)
        if (!is_positive(s)) return wrong(m, where, "a speed is not a number above 0");
    for (const cJSON *s = seconds ? seconds->child : NULL; s; s = s->next)
        if ((code = check_table(m, s, where))) return code;
    code = check_within(m, within, where);
    if (!code) code = check_crowd(m, cJSON_GetObjectItemCaseSensitive(o, "crowd"), where);
    if (!code) code = check_beside(m, cJSON_GetObjectItemCaseSensitive(o, "beside"), where);
    if (code) return code;
    /* entries of several sizes describe the same cores or devices: the first one is the machine */
    if (m->has[kind.gpu]++) return 0;
    size_t at = strlen(m->units);
    int length = snprintf(m->units + at, sizeof m->units - at, "%s%d:%s", at ? "," : "",
                          count->valueint, unit);
    if ((size_t)length >= sizeof m->units - at)
        return wrong(m, where, "too many kinds of units for one list");
    return 0;
}

static const cJSON *node_at(const struct machine_file *m, int i) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(m->root, "nodes"), i);
}

static const cJSON *network_of(const struct machine_file *m, const cJSON *node) {
    const char *name = json_text(node, "network");
    return name ? cJSON_GetObjectItemCaseSensitive(
                      cJSON_GetObjectItemCaseSensitive(m->root, "networks"), name)
                : NULL;
}

static int check_node(struct machine_file *m, const cJSON *o, const char *where) {
    static const char *const keys[] = {"count", "name", "units", "network", NULL};
    int code = check_keys(m, o, where, keys);
    if (code) return code;
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(o, "count"),
                *units = cJSON_GetObjectItemCaseSensitive(o, "units"), *u;
    if (!is_positive(count) || count->valuedouble != floor(count->valuedouble) ||
        count->valuedouble > 4096)
        return wrong(m, where, "\"count\" is not a whole number from 1 to 4096");
    if (!json_text(o, "name") || strpbrk(json_text(o, "name"), ":*+,"))
        return wrong(m, where, "\"name\" is not a name without : * + and commas");
    if (!cJSON_IsArray(units) || !units->child)
        return wrong(m, where, "\"units\" is not a list, as [\"1:CPU:32\"]");
    cJSON_ArrayForEach(u, units) {
        if (!cJSON_IsString(u) || strchr(u->valuestring, ',') || strchr(u->valuestring, '*') ||
            !strchr(u->valuestring, ':'))
            return wrong(m, where, "\"units\" are not as [\"2:GPU:1\", \"1:CPU:30\"]");
    }
    if (!network_of(m, o)) return wrong(m, where, "\"network\" is none of \"networks\"");
    return 0;
}

/* Units of a node as one text, which belongs to the file. */
static int join_units(struct machine_file *m, cJSON *node) {
    char text[512] = "";
    const cJSON *u;
    cJSON_ArrayForEach(u, cJSON_GetObjectItemCaseSensitive(node, "units")) {
        const size_t at = strlen(text);
        if ((size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? "," : "", u->valuestring) >=
            sizeof text - at)
            return wrong(m, "\"nodes\"", "a list of units is too long");
    }
    cJSON_AddStringToObject(node, "list", text);
    return 0;
}

static int check_nodes(struct machine_file *m) {
    static const char *const way_keys[] = {"latency", "bandwidth", NULL};
    const cJSON *networks = cJSON_GetObjectItemCaseSensitive(m->root, "networks");
    char where[64], all[sizeof m->units] = "";
    int code = 0;
    for (const cJSON *o = networks ? networks->child : NULL; !code && o; o = o->next) {
        snprintf(where, sizeof where, "network \"%.40s\"", o->string ? o->string : "");
        code = check_keys(m, o, where, way_keys);
        if (!code) code = check_way(m, o, where);
    }
    cJSON *o;
    int i = 0;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "nodes")) {
        snprintf(where, sizeof where, "nodes[%d]", i++);
        if (!code) code = check_node(m, o, where);
        if (!code) code = join_units(m, o);
        if (code) return code;
        const size_t at = strlen(all);
        if ((size_t)snprintf(all + at, sizeof all - at, "%s%d*%s", at ? "+" : "",
                             cJSON_GetObjectItemCaseSensitive(o, "count")->valueint,
                             json_text(o, "name")) >= sizeof all - at)
            return wrong(m, where, "too many kinds of nodes for one list");
    }
    if (*all) memcpy(m->units, all, sizeof all);
    return code;
}

int machine_file_nodes(const struct machine_file *m) {
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(m->root, "nodes"));
}

const char *machine_file_node_units(const struct machine_file *m, int node) {
    return json_text(node_at(m, node), "list");
}

int machine_file_node_count(const struct machine_file *m, int node) {
    return cJSON_GetObjectItemCaseSensitive(node_at(m, node), "count")->valueint;
}

int machine_file_node(const struct machine_file *m, const char *text) {
    const int nodes = machine_file_nodes(m);
    for (int i = 0; i < nodes; i++)
        if (!strcmp(json_text(node_at(m, i), "name"), text) ||
            !strcmp(machine_file_node_units(m, i), text))
            return i;
    return nodes && strchr(text, ':') ? 0 : -1;
}

evn_route machine_file_network(const struct machine_file *m, int a, int b) {
    evn_route worst = {.hops = 1};
    const int end[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const cJSON *way = network_of(m, node_at(m, end[i]));
        const double latency = json_number(way, "latency");
        if (latency > worst.latency[0]) worst.latency[0] = latency;
        worst.per_byte[0] = fmax(worst.per_byte[0], 1 / json_number(way, "bandwidth"));
    }
    return worst;
}

/* Links, and copies, which have their number of units. */
static int check_links(struct machine_file *m, const char *list) {
    static const char *const keys[] = {"between", "latency", "bandwidth", "units", NULL};
    const int copies = !strcmp(list, "copies");
    const cJSON *o;
    char where[64];
    int i = 0, code;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, list)) {
        snprintf(where, sizeof where, "%s[%d]", list, i++);
        if ((code = check_keys(m, o, where, keys))) return code;
        const cJSON *b = cJSON_GetObjectItemCaseSensitive(o, "between");
        if (cJSON_GetArraySize(b) != 2 || !cJSON_IsString(b->child) ||
            !cJSON_IsString(b->child->next))
            return wrong(m, where,
                         "\"between\" is not two names of spaces, [\"host\", \"device\"]");
        const cJSON *units = cJSON_GetObjectItemCaseSensitive(o, "units");
        if (copies ? !is_positive(units) : units != NULL)
            return wrong(m, where,
                         copies ? "\"units\" is not a number of units above 0"
                                : "\"units\" is of copies");
        if ((code = check_way(m, o, where))) return code;
    }
    return 0;
}

static int check(struct machine_file *m) {
    static const char *const keys[] = {"machine", "about",     "units",    "links", "sets",
                                       "copies",  "published", "networks", "nodes", NULL},
                             *const published_keys[] = {"app",      "class",   "units",
                                                        "schedule", "speedup", NULL};
    int code = check_keys(m, m->root, "the file", keys);
    if (code) return code;
    if (!json_text(m->root, "machine")) return wrong(m, "\"machine\"", "expected a name");
    char where[64];
    int i = 0;
    const cJSON *units = cJSON_GetObjectItemCaseSensitive(m->root, "units"), *o;
    if (!cJSON_IsArray(units) || !units->child)
        return wrong(m, "\"units\"", "expected a list of kinds of units, [{..}, ..]");
    cJSON_ArrayForEach(o, units) {
        snprintf(where, sizeof where, "units[%d]", i++);
        if ((code = check_unit(m, o, where))) return code;
    }
    if ((code = check_links(m, "links")) || (code = check_links(m, "copies"))) return code;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "sets")) {
        if (!cJSON_IsString(o))
            return wrong(m, "\"sets\"", "expected lists of units, [\"2:GPU:1\", ..]");
    }
    i = 0;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "published")) {
        snprintf(where, sizeof where, "published[%d]", i++);
        if ((code = check_keys(m, o, where, published_keys))) return code;
        if (!json_text(o, "app") || !json_text(o, "class") || !json_text(o, "units") ||
            !json_text(o, "schedule") ||
            !is_positive(cJSON_GetObjectItemCaseSensitive(o, "speedup")))
            return wrong(m, where, "expected app, class, units, schedule and a speedup above 0");
    }
    return check_nodes(m);
}

int machine_file_open(struct machine_file **out, const char *path) {
    *out = NULL;
    struct machine_file *m = calloc(1, sizeof *m);
    if (!m) {
        complain("%s: not enough memory", path);
        return EXIT_USAGE;
    }
    m->path = path;
    int code = json_file_read(&m->root, path);
    if (!code) code = check(m);
    if (code) {
        machine_file_close(m);
        return code;
    }
    *out = m;
    return 0;
}

void machine_file_close(struct machine_file *m) {
    if (!m) return;
    cJSON_Delete(m->root);
    free(m);
}

const char *machine_file_name(const struct machine_file *m) {
    return json_text(m->root, "machine");
}
const char *machine_file_units(const struct machine_file *m) { return m->units; }

const char *machine_file_set(const struct machine_file *m, int i) {
    return cJSON_GetStringValue(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(m->root, "sets"), i));
}

double machine_file_published(const struct machine_file *m, const char *app, const char *class_,
                              const char *units, const char *schedule) {
    const cJSON *o;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "published")) {
        if (!strcmp(json_text(o, "app"), app) && !strcmp(json_text(o, "class"), class_) &&
            !strcmp(json_text(o, "units"), units) && !strcmp(json_text(o, "schedule"), schedule))
            return cJSON_GetObjectItemCaseSensitive(o, "speedup")->valuedouble;
    }
    return 0;
}

/* ---- units ---- */

/* The entry for units of a kind, and how many times as fast as it they are. */
static const cJSON *entry(const struct machine_file *m, struct unit_kind kind, double *times) {
    const cJSON *o, *best = NULL;
    int size = 0;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "units")) {
        struct unit_kind k;
        read_unit_kind(json_text(o, "unit"), &k);
        if (k.gpu != kind.gpu) continue;
        /* the nearest from below; if there is none, the smallest */
        int better = !best || (k.size <= kind.size && (size > kind.size || k.size > size)) ||
                     (size > kind.size && k.size < size);
        if (!better) continue;
        best = o;
        size = k.size;
    }
    *times = best ? (double)kind.size / size : 0;
    return best;
}

static int no_entry(const struct machine_file *m, struct unit_kind kind) {
    char text[24];
    complain("%s: there is no unit like %s on this machine, it has %s", m->path,
             unit_kind_text(kind, text), m->units);
    return EXIT_USAGE;
}

double machine_table_seconds(const cJSON *table, double points) {
    const cJSON *low = NULL, *high = table->child;
#define POINTS(p)  ((p)->child->valuedouble)
#define SECONDS(p) ((p)->child->next->valuedouble)
    while (high && POINTS(high) < points) {
        low = high;
        high = high->next;
    }
    if (!high) return SECONDS(low) * points / POINTS(low);
    if (!low) return POINTS(high) > 0 ? SECONDS(high) * points / POINTS(high) : SECONDS(high);
    const double part = (points - POINTS(low)) / (POINTS(high) - POINTS(low));
    return SECONDS(low) + part * (SECONDS(high) - SECONDS(low));
#undef POINTS
#undef SECONDS
}

int machine_file_seconds(const struct machine_file *m, const char *app, struct unit_kind kind,
                         int n, const double *points, double *seconds) {
    double times;
    const cJSON *o = entry(m, kind, &times);
    if (!o) return no_entry(m, kind);
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(o, "seconds"),
                *speeds = cJSON_GetObjectItemCaseSensitive(o, "speed");
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(tables, app),
                *speed = cJSON_GetObjectItemCaseSensitive(speeds, app);
    if (!table && !speed) {
        table = cJSON_GetObjectItemCaseSensitive(tables, "*");
        speed = cJSON_GetObjectItemCaseSensitive(speeds, "*");
    }
    if (!table && !speed) {
        complain("%s: %s has neither \"speed\" nor \"seconds\" for %s, nor for \"*\"", m->path,
                 json_text(o, "unit"), app);
        return EXIT_USAGE;
    }
    for (int t = 0; t < n; t++)
        seconds[t] =
            (table ? machine_table_seconds(table, points[t]) : points[t] / speed->valuedouble) /
            times;
    return 0;
}

/* Cores or devices of one node of that kind. */
static double of_a_node(const struct machine_file *m, int node, int gpu) {
    double sum = 0;
    const cJSON *u;
    cJSON_ArrayForEach(u, cJSON_GetObjectItemCaseSensitive(node_at(m, node), "units")) {
        long count = 0;
        struct unit_kind k = {0};
        const char *colon = strchr(u->valuestring, ':');
        char number[16];
        snprintf(number, sizeof number, "%.*s", (int)(colon - u->valuestring), u->valuestring);
        if (!evn_read_whole(number, 1, 4096, &count) && read_unit_kind(colon + 1, &k) &&
            k.gpu == gpu)
            sum += (double)count * k.size;
    }
    return sum;
}

static double of_all_nodes(const struct machine_file *m, int gpu) {
    double sum = 0;
    for (int i = 0; i < machine_file_nodes(m); i++)
        sum += machine_file_node_count(m, i) * of_a_node(m, i, gpu);
    return sum;
}

int machine_file_node_cores(const struct machine_file *m, int node) {
    return (int)of_a_node(m, node, 0);
}

int machine_file_check(const struct machine_file *m, const struct unit_kind *kinds, int n) {
    for (int gpu = 0; gpu < 2; gpu++) {
        double wanted = 0, there = 0; /* cores, or devices */
        for (int k = 0; k < n; k++)
            if (kinds[k].gpu == gpu) wanted += (double)kinds[k].count * kinds[k].size;
        const cJSON *o;
        cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, "units")) {
            struct unit_kind k;
            read_unit_kind(json_text(o, "unit"), &k);
            const double own = k.size * cJSON_GetObjectItemCaseSensitive(o, "count")->valuedouble;
            /* entries of several sizes describe the same cores */
            if (k.gpu == gpu) there = fmax(there, own);
        }
        if (machine_file_nodes(m)) there = of_all_nodes(m, gpu);
        if (wanted <= there) continue;
        complain("%s: %.0f %s are asked for and the machine has %.0f; its units are %s", m->path,
                 wanted, gpu ? "devices" : "cores", there, m->units);
        return EXIT_USAGE;
    }
    return 0;
}

/* ---- ways ---- */

static const char *space_of(const cJSON *unit, struct unit_kind kind) {
    const char *space = json_text(unit, "space");
    return space ? space : kind.gpu ? "device" : "host";
}

/* The link between two spaces; of copies, that for the number of units, or else for the most. */
static const cJSON *find_link(const struct machine_file *m, const char *list, const char *a,
                              const char *b, int units) {
    const cJSON *o, *best = NULL;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(m->root, list)) {
        const cJSON *ends = cJSON_GetObjectItemCaseSensitive(o, "between");
        const char *x = ends->child->valuestring, *y = ends->child->next->valuestring;
        if ((strcmp(x, a) != 0 || strcmp(y, b) != 0) && (strcmp(x, b) != 0 || strcmp(y, a) != 0))
            continue;
        const double has = json_number(o, "units"), of = best ? json_number(best, "units") : 0;
        if (!best || (of < units ? has > of : has >= units && has < of)) best = o;
    }
    return best;
}

static void hop(evn_route *route, const cJSON *way) {
    const cJSON *latency = cJSON_GetObjectItemCaseSensitive(way, "latency");
    route->latency[route->hops] = latency ? latency->valuedouble : 0;
    route->per_byte[route->hops++] =
        1 / cJSON_GetObjectItemCaseSensitive(way, "bandwidth")->valuedouble;
}

/* The entry of a workload, or of "*". */
static const cJSON *of_app(const cJSON *o, const char *key, const char *app) {
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(o, key),
                *own = cJSON_GetObjectItemCaseSensitive(all, app);
    return own ? own : cJSON_GetObjectItemCaseSensitive(all, "*");
}

static int link_route(const struct machine_file *m, const char *x, const char *y,
                      evn_route *route) {
    *route = (evn_route){.hops = 0};
    const cJSON *direct = find_link(m, "links", x, y, 0);
    const int host_x = !strcmp(x, "host"), host_y = !strcmp(y, "host");
    if (direct) {
        hop(route, direct);
        return 0;
    }
    if (host_x && host_y) return 0;
    const cJSON *up = host_x ? NULL : find_link(m, "links", x, "host", 0),
                *down = host_y ? NULL : find_link(m, "links", "host", y, 0);
    if (host_x || host_y || !up || !down) {
        complain("%s: there is no link between \"%s\" and \"%s\", nor one of each to \"host\"",
                 m->path, x, y);
        return EXIT_USAGE;
    }
    hop(route, up);
    hop(route, down);
    return 0;
}

int machine_file_routes(const struct machine_file *m, const char *app,
                        const struct unit_kind *kinds, int n, evn_route *route, evn_route *copy,
                        evn_route *within) {
    double times;
    int code = 0;
    for (int a = 0; a < n && !code; a++) {
        const cJSON *from = entry(m, kinds[a], &times);
        if (!from) return no_entry(m, kinds[a]);
        const cJSON *inside = cJSON_GetObjectItemCaseSensitive(from, "within");
        if (inside && !cJSON_HasObjectItem(inside, "bandwidth"))
            inside = of_app(from, "within", app);
        within[a] = (evn_route){.hops = 0};
        if (inside) hop(&within[a], inside);
        for (int b = 0; b < n && !code; b++) {
            const cJSON *to = entry(m, kinds[b], &times);
            if (!to) return no_entry(m, kinds[b]);
            const char *x = space_of(from, kinds[a]), *y = space_of(to, kinds[b]);
            code = link_route(m, x, y, &route[a * n + b]);
            const int units = kinds[a].count + (a == b ? 0 : kinds[b].count);
            const cJSON *whole = find_link(m, "copies", x, y, units);
            copy[a * n + b] = whole ? (evn_route){.hops = 0} : route[a * n + b];
            if (whole) hop(&copy[a * n + b], whole);
        }
    }
    return code;
}

double machine_file_crowd(const struct machine_file *m, const char *app, struct unit_kind kind,
                          int n) {
    double times;
    const cJSON *o = entry(m, kind, &times), *table = o ? of_app(o, "crowd", app) : NULL;
    if (!table) return 1;
    const double first = table->child->child->valuedouble;
    const cJSON *last = table->child;
    while (last->next) last = last->next;
    return machine_table_seconds(table, fmin(fmax(n, first), last->child->valuedouble));
}

double machine_file_beside(const struct machine_file *m, const char *app, struct unit_kind kind) {
    double times;
    const cJSON *o = entry(m, kind, &times), *factor = o ? of_app(o, "beside", app) : NULL;
    return factor ? factor->valuedouble : 1;
}

/* ---- both together ---- */

/* The kinds of units, each once for every kind of nodes it is on. Returns how many. */
static int split_kinds(struct machine_model *m, const evn_units *units, const struct nodes *nodes) {
    struct unit_kind found[KINDS_MAX];
    const int count = evn_units_count(units), kinds = unit_kinds(units, found, m->kind);
    int from[KINDS_MAX], n = 0;
    for (int u = 0; u < count; u++) {
        const int entry = nodes && nodes->count ? nodes->entry[u] : -1;
        int k = 0;
        while (k < n && (from[k] != m->kind[u] || m->entry[k] != entry)) k++;
        if (k == n && n == KINDS_MAX) return 0;
        if (k == n) {
            from[n] = m->kind[u];
            m->unit_kind[n] = found[from[n]];
            m->unit_kind[n].count = 0;
            m->entry[n++] = entry;
        }
        m->unit_kind[k].count++;
        m->kind[u] = k;
    }
    (void)kinds;
    return n;
}

int machine_model_open(struct machine_model *m, const evn_units *units, const struct nodes *nodes,
                       const evn_problem *tasks, double state_bytes, double copied_bytes) {
    *m = (struct machine_model){.kinds = 0};
    const size_t n = (size_t)tasks->tasks, count = (size_t)evn_units_count(units);
    m->kind = malloc(count * sizeof *m->kind);
    m->entry = malloc(KINDS_MAX * sizeof *m->entry);
    m->state = malloc(2 * n * sizeof *m->state);
    m->copied = m->state ? m->state + n : NULL;
    if (m->kind && m->entry) m->kinds = split_kinds(m, units, nodes);
    const size_t kinds = (size_t)m->kinds;
    m->seconds = calloc(kinds * n + 1, sizeof *m->seconds);
    m->crowd = calloc(kinds * (count + 1) + 1, sizeof *m->crowd);
    m->beside = m->crowd ? m->crowd + kinds * count : NULL;
    m->route = calloc(4 * kinds * kinds + 1, sizeof *m->route);
    m->copy = m->route ? m->route + 3 * kinds * kinds : NULL;
    m->within = m->route ? m->route + kinds * kinds : NULL;
    m->far = m->route ? m->route + 2 * kinds * kinds : NULL;
    if (!m->kinds || !m->state || !m->seconds || !m->crowd || !m->route) {
        complain("not enough memory for %zu tasks on %zu units", n, count);
        return EXIT_USAGE;
    }
    for (size_t t = 0; t < n; t++) {
        m->state[t] =
            tasks->state ? tasks->state[t] : state_bytes * (tasks->weight ? tasks->weight[t] : 1);
        m->copied[t] = copied_bytes * (tasks->weight ? tasks->weight[t] : 1);
    }
    m->model = (evn_model){
        .tasks = tasks->tasks,
        .seconds = m->seconds,
        .state = m->state,
        .copied = m->copied,
        .links = tasks->links,
        .link = tasks->link,
        .units = (int)count,
        .kinds = m->kinds,
        .kind = m->kind,
        .route = m->route,
        .within = m->within,
    };
    if (nodes && nodes->count) m->model.rank = nodes->node;
    return 0;
}

void machine_model_close(struct machine_model *m) {
    free(m->kind);
    free(m->entry);
    free(m->seconds);
    free(m->state);
    free(m->crowd);
    free(m->route);
    *m = (struct machine_model){.kinds = 0};
}

/* Ways between nodes; a hop of the tree is the longest of them. */
static void fill_far(struct machine_model *m, const struct machine_file *file) {
    if (!m->model.rank || !machine_file_nodes(file)) return;
    for (int a = 0; a < m->kinds; a++)
        for (int b = 0; b < m->kinds; b++) {
            evn_route *r = &m->far[a * m->kinds + b];
            *r = machine_file_network(file, m->entry[a], m->entry[b]);
            m->model.tree = fmax(m->model.tree, r->latency[0]);
        }
    m->model.far = m->far;
}

/* Factors of kinds that have a table, or one of beside; where none has, the model has none. */
static void fill_crowd(struct machine_model *m, const struct machine_file *file, const char *app) {
    m->model.copy = m->copy;
    m->model.crowd = m->model.beside = NULL;
    for (int k = 0; k < m->kinds; k++) {
        m->beside[k] = machine_file_beside(file, app, m->unit_kind[k]);
        if (m->beside[k] != 1) m->model.beside = m->beside;
        for (int n = 1; n <= m->model.units; n++) {
            double *factor = &m->crowd[(size_t)k * (size_t)m->model.units + (size_t)n - 1];
            *factor = machine_file_crowd(file, app, m->unit_kind[k], n);
            if (*factor != 1) m->model.crowd = m->crowd;
        }
    }
}

int machine_model_fill(struct machine_model *m, const struct machine_file *file, const char *app,
                       const evn_problem *tasks) {
    int code = machine_file_check(file, m->unit_kind, m->kinds);
    for (int k = 0; !code && k < m->kinds; k++)
        code = machine_file_seconds(file, app, m->unit_kind[k], tasks->tasks, tasks->weight,
                                    m->seconds + (size_t)k * (size_t)tasks->tasks);
    if (!code)
        code = machine_file_routes(file, app, m->unit_kind, m->kinds, m->route, m->copy, m->within);
    if (!code) fill_far(m, file);
    if (!code) fill_crowd(m, file, app);
    return code;
}

const char *const exchange_name[] = {"parallel", "sequential", "zones", NULL};

int exchange_read(int *order, const char *text) {
    *order = 0;
    while (text && exchange_name[*order] && strcmp(text, exchange_name[*order]) != 0) ++*order;
    if (exchange_name[*order]) return 0;
    complain("--exchange %s: expected parallel, sequential or zones", text);
    return EXIT_USAGE;
}
