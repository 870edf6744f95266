/* PLY, as text or bytes of either order: a header that lists elements and their properties, and
 * then the elements. Read are x, y, z of `vertex` and the list of corners of `face`. */
#include "tdbem/mesh/mesh_formats.h"
#include <math.h>
#include <string.h>

enum { PROPERTIES = 64, ELEMENTS = 16 };

enum role { PASSED, X, Y, Z, CORNERS };

struct property {
    struct scalar type, count; /* count.bytes 0: no list */
    enum role role;
};

struct element {
    char name[32];
    long long count;
    struct property property[PROPERTIES];
    int properties;
};

struct ply {
    struct element element[ELEMENTS];
    int elements, vertices, faces; /* whether there were such */
};

static int find_type(const char *name, struct scalar *type) {
    static const struct {
        const char *name, *other;
        struct scalar type;
    } types[] = {{"char", "int8", {'i', 1}},     {"uchar", "uint8", {'u', 1}},
                 {"short", "int16", {'i', 2}},   {"ushort", "uint16", {'u', 2}},
                 {"int", "int32", {'i', 4}},     {"uint", "uint32", {'u', 4}},
                 {"float", "float32", {'f', 4}}, {"double", "float64", {'f', 8}}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (!strcmp(name, types[t].name) || !strcmp(name, types[t].other)) {
            *type = types[t].type;
            return 1;
        }
    return 0;
}

static enum role role_of(const char *element, const char *name, int list) {
    if (!strcmp(element, "face") && list)
        return !strcmp(name, "vertex_indices") || !strcmp(name, "vertex_index") ? CORNERS : PASSED;
    if (strcmp(element, "vertex") || list || strlen(name) != 1) return PASSED;
    return *name == 'x' ? X : *name == 'y' ? Y : *name == 'z' ? Z : PASSED;
}

static evn_status add_property(struct source *s, struct ply *p) {
    char word[32], name[64];
    struct property new = {0};
    if (!p->elements) return source_bad(s, "a property before the first element");
    struct element *e = &p->element[p->elements - 1];
    if (e->properties == PROPERTIES)
        return source_bad(s, "element %s has more than %d properties", e->name, PROPERTIES);
    source_word(s, word, sizeof word);
    const int list = !strcmp(word, "list");
    if (list) {
        source_word(s, word, sizeof word);
        if (!find_type(word, &new.count) || new.count.kind == 'f')
            return source_bad(s, "\"%s\" is no type of a list's length", word);
        source_word(s, word, sizeof word);
    }
    if (!find_type(word, &new.type)) return source_bad(s, "\"%s\" is no type of numbers", word);
    source_word(s, name, sizeof name);
    new.role = role_of(e->name, name, list);
    if (new.role == CORNERS &&new.type.kind == 'f')
        return source_bad(s, "corners are of type %s, expected whole numbers", word);
    e->property[e->properties++] = new;
    return EVN_OK;
}

static evn_status add_element(struct source *s, struct ply *p) {
    if (p->elements == ELEMENTS) return source_bad(s, "more than %d kinds of elements", ELEMENTS);
    struct element *e = &p->element[p->elements++];
    source_word(s, e->name, sizeof e->name);
    if (!source_integer(s, &e->count) || e->count < 0)
        return source_bad(s, "element %s: expected how many there are", e->name);
    if (!strcmp(e->name, "tristrips") && e->count)
        return source_bad(s, "triangle strips are not read; save the mesh with faces");
    return EVN_OK;
}

static evn_status header(struct source *s, struct ply *p) {
    char word[32];
    int formats = 0;
    evn_status status = EVN_OK;
    if (!source_word(s, word, sizeof word) || strcmp(word, "ply"))
        return source_bad(s, "\"%s\": expected ply", word);
    int binary = 0;
    while (!status) {
        source_skip_line(s);
        if (!source_word(s, word, sizeof word)) return source_bad(s, "the header has no end");
        if (!strcmp(word, "end_header")) break;
        if (!strcmp(word, "format")) {
            source_word(s, word, sizeof word);
            binary = strcmp(word, "ascii") != 0;
            s->swap = !strcmp(word, "binary_big_endian");
            if (binary && !s->swap && strcmp(word, "binary_little_endian"))
                return source_bad(
                    s, "format \"%s\", expected ascii, binary_little_endian or binary_big_endian",
                    word);
            formats++;
        } else if (!strcmp(word, "element")) {
            status = add_element(s, p);
        } else if (!strcmp(word, "property")) {
            status = add_property(s, p);
        } else if (strcmp(word, "comment") && strcmp(word, "obj_info")) {
            status = source_bad(s, "\"%s\": expected element, property or end_header", word);
        }
    }
    if (!status && formats != 1) return source_bad(s, "the header has no line \"format\"");
    source_skip_line(s);
    s->binary = binary;
    return status;
}

static evn_status list(struct source *s, const struct element *e, const struct property *p,
                       long long n, size_t at) {
    double count, value;
    const int corners = p->role == CORNERS;
    if (!source_scalar(s, p->count, &count))
        return source_bad(s, "the file ends after %lld of %lld %s elements", n, e->count, e->name);
    if (!(count >= (corners ? 3 : 0)) || count != floor(count) ||
        !source_holds(s, count > 1e15 ? -1 : (long long)count,
                      s->binary ? (size_t)p->type.bytes : 1))
        return source_bad(s, "%s %lld: %g corners", e->name, n, count);
    evn_status status = corners ? source_polygon(s, n, at) : EVN_OK;
    for (double i = 0; i < count && !status; i++) {
        if (!source_scalar(s, p->type, &value))
            return source_bad(s, "%s %lld: expected %g numbers", e->name, n, count);
        if (!corners) continue;
        if (!(fabs(value) < 1e15) || value != floor(value))
            return source_bad(s, "%s %lld: vertex %g is no number of one", e->name, n, value);
        status = source_corner(s, (long long)value);
    }
    return status;
}

static evn_status one(struct source *s, const struct element *e, long long n) {
    double x[3] = {0}, value;
    const size_t at = s->at;
    evn_status status = EVN_OK;
    for (int i = 0; i < e->properties && !status; i++) {
        const struct property *p = &e->property[i];
        if (p->count.bytes) {
            status = list(s, e, p, n, at);
            continue;
        }
        if (!source_scalar(s, p->type, &value))
            return source_bad(s, "%s %lld of %lld: expected %d numbers", e->name, n, e->count,
                              e->properties);
        if (p->role >= X && p->role <= Z) x[p->role - X] = value;
    }
    return status || strcmp(e->name, "vertex") ? status : source_point(s, x);
}

static int has(const struct element *e, enum role role) {
    int count = 0;
    for (int i = 0; i < e->properties; i++) count += e->property[i].role == role;
    return count == 1;
}

static evn_status elements(struct source *s, struct ply *p) {
    evn_status status = EVN_OK;
    for (int i = 0; i < p->elements && !status; i++) {
        const struct element *e = &p->element[i];
        const int vertex = !strcmp(e->name, "vertex"), face = !strcmp(e->name, "face");
        if (vertex && (p->vertices++ || !has(e, X) || !has(e, Y) || !has(e, Z)))
            return source_bad(s, "element vertex: expected properties x, y and z, once");
        if (face && (p->faces++ || !has(e, CORNERS)))
            return source_bad(s, "element face: expected a property list vertex_indices, once");
        if (e->properties && !source_holds(s, e->count, 1))
            return source_bad(s, "%lld %s elements are more than the file holds", e->count,
                              e->name);
        for (long long n = 0; e->properties && n < e->count && !status; n++) status = one(s, e, n);
    }
    if (!status && !p->vertices) return evn_fail(EVN_USAGE, "%s: no element vertex", s->name);
    if (!status && !p->faces)
        return evn_fail(EVN_USAGE,
                        "%s: no element face: a cloud of points; expected a surface, as by Poisson "
                        "reconstruction in MeshLab",
                        s->name);
    source_skip(s, 0);
    if (!status && source_left(s))
        return source_bad(s, "more after the last element than the header says");
    return status;
}

evn_status read_ply(struct source *s) {
    struct ply p = {0};
    evn_status status = header(s, &p);
    return status ? status : elements(s, &p);
}
