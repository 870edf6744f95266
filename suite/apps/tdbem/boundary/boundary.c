/* Admittances: what is asked for, and what it makes of each triangle. */
#include "tdbem/boundary/boundary.h"
#include "tdbem/boundary/filter.h"
#include "common/run/hash.h"
#include "common/run/free_all.h"
#include <evener/number.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void boundary_close(struct boundary *b) {
    if (!b) return;
    for (int f = 0; f < b->filters; f++) free(b->of[f].pole);
    free_all(b->of, b->beta, b->filter, b->text, b);
}

double complex boundary_value(const struct boundary *b, int triangle, double w) {
    const int f = b->filter[triangle];
    return f < 0 ? b->beta[triangle] : filter_value(&b->of[f], w);
}

/* The part's number; -2: the whole surface. */
static evn_status find_part(int *out, const char *name, const struct mesh *mesh) {
    *out = -2;
    if (!name || !mesh) return EVN_OK;
    for (*out = 0; *out < mesh->parts; ++*out)
        if (!strcmp(mesh->part_name[*out], name)) return EVN_OK;
    if (!mesh->parts)
        return evn_fail(EVN_USAGE,
                        "admittance: \"%s\" is no part: the mesh has no named parts (physical "
                        "groups of .msh, g or usemtl of .obj); expected one value for all of it",
                        name);
    return evn_fail(EVN_USAGE, "admittance: the mesh has no part \"%s\"; expected one of %d, as %s",
                    name, mesh->parts, mesh->part_name[0]);
}

/* The filter's number, and what it does at once. */
static evn_status add_filter(struct boundary *b, const char *name, int *filter, double *beta) {
    for (*filter = 0; *filter < b->filters; ++*filter)
        if (!strcmp(b->of[*filter].name, name)) break;
    if (*filter == b->filters) {
        struct filter *more = realloc(b->of, sizeof *more * (size_t)(b->filters + 1));
        if (!more) return evn_fail(EVN_MEMORY, "admittance: no memory for %s", name);
        b->of = more;
        memset(&b->of[b->filters], 0, sizeof *b->of);
        evn_status status = filter_read(&b->of[b->filters++], name);
        if (!status && b->dt > 0) status = filter_check_steps(&b->of[b->filters - 1], b->dt);
        if (status) return status;
    }
    const struct filter *f = &b->of[*filter];
    *beta = f->instant;
    for (int p = 0; p < f->poles; p++)
        *beta += pole_weight(&f->pole[p]) * creal(pole_step(&f->pole[p], b->dt).instant);
    return EVN_OK;
}

static evn_status add_item(struct boundary *b, char *item, const struct mesh *mesh) {
    char *equals = strrchr(item, '='), *value = equals ? equals + 1 : item;
    int part, filter = -1;
    double beta;
    if (equals) *equals = 0;
    if (!*value || (equals && equals == item))
        return evn_fail(EVN_USAGE,
                        "admittance: \"%s\" is none, expected BETA or PART=BETA, as 0.2 "
                        "or curtain=0.2, BETA a number from 0 on or a filter's file",
                        item);
    evn_status status = find_part(&part, equals ? item : NULL, mesh);
    if (status) return status;
    if (evn_read_real(value, (evn_bounds){-INFINITY, INFINITY, 0}, &beta))
        status = add_filter(b, value, &filter, &beta);
    else if (beta < 0)
        status = evn_fail(EVN_USAGE, "admittance: %s would give energy; expected 0 or more", value);
    for (int t = 0; !status && t < b->triangles; t++)
        if (part == -2 || mesh->part[t] == part) {
            b->beta[t] = beta;
            b->filter[t] = filter;
        }
    return status;
}

static evn_status read_items(struct boundary *b, const char *text, const struct mesh *mesh) {
    evn_status status = EVN_OK;
    b->text = strdup(text);
    if (!b->text || !b->beta || !b->filter)
        return evn_fail(EVN_MEMORY, "admittance: no memory for %d triangles", b->triangles);
    for (char *item = b->text, *next; item && !status; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = 0;
        status = add_item(b, item, mesh);
    }
    return status;
}

static void make_hash(struct boundary *b) {
    b->hash = hash_bytes(HASH_SEED, b->beta, sizeof *b->beta * (size_t)b->triangles);
    b->hash = hash_bytes(b->hash, b->filter, sizeof *b->filter * (size_t)b->triangles);
    for (int f = 0; f < b->filters; f++) {
        const struct filter *is = &b->of[f];
        b->hash = hash_bytes(b->hash, &is->instant, sizeof is->instant);
        b->hash = hash_bytes(b->hash, is->pole, sizeof *is->pole * (size_t)is->poles);
    }
}

static evn_status open_on(struct boundary **out, const char *text, const struct mesh *mesh,
                          double dt) {
    struct boundary *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b) return evn_fail(EVN_MEMORY, "admittance: no memory");
    b->triangles = mesh ? mesh->triangles : 0;
    b->dt = dt;
    b->beta = calloc((size_t)b->triangles + 1, sizeof *b->beta);
    b->filter = malloc(((size_t)b->triangles + 1) * sizeof *b->filter);
    for (int t = 0; b->filter && t < b->triangles; t++) b->filter[t] = -1;
    evn_status status = read_items(b, text, mesh);
    if (status) {
        boundary_close(b);
        return status;
    }
    make_hash(b);
    *out = b;
    return EVN_OK;
}

evn_status boundary_open(struct boundary **out, const char *text, const struct mesh *mesh,
                         double dt) {
    return open_on(out, text, mesh, dt);
}

evn_status boundary_check(const char *text) {
    struct boundary *b;
    evn_status status = open_on(&b, text, NULL, 0);
    if (!status) boundary_close(b);
    return status;
}
