/* Gmsh's format, versions 2.x, 4.0 and 4.1, text and binary (Gmsh reference manual, "Legacy
 * formats" and "MSH file format"). Read are the nodes and the triangles; points, lines and volumes
 * are passed over. Vertices are numbered in the order of the list of nodes, whatever their tags. */
#include "tdbem/mesh/mesh_source.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msh {
    struct source *s;
    int version; /* 20, 40, 41 */
    int binary;
    struct tag {
        long long tag;
        int vertex;
    } * tag; /* tag of each vertex */
    size_t tags, tag_room;
};

/* nodes of each type of element, 0 for types that do not exist */
static int type_nodes(long long type) {
    static const unsigned char nodes[] = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                          10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                          12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
    if (type == 92) return 64;
    if (type == 93) return 125;
    return type >= 1 && type <= 31 ? nodes[type] : 0;
}

/* Why a surface element that is not a plane triangle is refused; NULL for what is passed over. */
static const char *unwanted(long long type) {
    switch (type) {
    case 3: return "a quadrangle";
    case 9: return "a triangle of second order";
    case 10:
    case 16: return "a quadrangle of second order";
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25: return "a triangle of higher order";
    default: return NULL;
    }
}

/* ---- values, text or binary ---- */

static int get_int(struct msh *m, long long *value) { /* binary: 4 bytes */
    if (!m->binary) return source_integer(m->s, value);
    int32_t i;
    if (!source_bytes(m->s, &i, sizeof i)) return 0;
    *value = i;
    return 1;
}

static int get_size(struct msh *m, long long *value) { /* binary: 8 bytes */
    if (!m->binary) return source_integer(m->s, value);
    int64_t i;
    if (!source_bytes(m->s, &i, sizeof i)) return 0;
    *value = i;
    return 1;
}

static int get_double(struct msh *m, double *value) {
    return m->binary ? source_bytes(m->s, value, sizeof *value) : source_number(m->s, value);
}

/* Lines mean nothing in binary parts. */
#define BAD(m, ...) ((m)->binary ? bad_binary((m), __VA_ARGS__) : source_bad((m)->s, __VA_ARGS__))

static evn_status bad_binary(const struct msh *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static evn_status bad_binary(const struct msh *m, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return evn_fail(EVN_USAGE, "%s: byte %zu: %s", m->s->name, m->s->at, text);
}

/* A count that the rest of the file cannot hold is wrong: `bytes` is the least that one takes. */
static int possible(const struct msh *m, long long count, size_t bytes) {
    return count >= 0 && (unsigned long long)count <= source_left(m->s) / bytes;
}

/* ---- nodes ---- */

static evn_status add_tag(struct msh *m, long long tag) {
    if (m->tags == m->tag_room) {
        size_t room = m->tag_room ? 2 * m->tag_room : 1024;
        struct tag *more = realloc(m->tag, room * sizeof *more);
        if (!more) return evn_fail(EVN_MEMORY, "%s: no memory for %zu nodes", m->s->name, room);
        m->tag = more;
        m->tag_room = room;
    }
    m->tag[m->tags] = (struct tag){tag, (int)m->tags};
    m->tags++;
    return EVN_OK;
}

static evn_status one_node(struct msh *m, long long tag, int parameters) {
    double x[3], ignored;
    for (int c = 0; c < 3; c++)
        if (!get_double(m, &x[c])) return BAD(m, "node %lld: expected three coordinates", tag);
    for (int p = 0; p < parameters; p++)
        if (!get_double(m, &ignored)) return BAD(m, "node %lld: expected its parameters", tag);
    return source_vertex(m->s, x);
}

static evn_status nodes_2(struct msh *m) {
    long long count, tag;
    if (!source_integer(m->s, &count)) return source_bad(m->s, "expected the number of nodes");
    if (m->binary) source_skip_line(m->s);
    if (!possible(m, count, m->binary ? 28 : 8))
        return BAD(m, "%lld nodes are more than the file holds", count);
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        if (!get_int(m, &tag))
            return BAD(m, "expected node %lld of %lld, a number and three coordinates", n + 1,
                       count);
        status = add_tag(m, tag);
        if (!status) status = one_node(m, tag, 0);
    }
    return status;
}

static evn_status nodes_4(struct msh *m) {
    long long blocks, count, ignored, seen = 0;
    int ok = get_size(m, &blocks) && get_size(m, &count);
    if (m->version > 40) ok = ok && get_size(m, &ignored) && get_size(m, &ignored);
    if (!ok) return BAD(m, "expected the numbers of node blocks and nodes");
    if (!possible(m, blocks, 4) || !possible(m, count, 6))
        return BAD(m, "%lld nodes in %lld blocks are more than the file holds", count, blocks);
    evn_status status = EVN_OK;
    for (long long b = 0; b < blocks && !status; b++) {
        long long dimension, entity, parametric, here, tag;
        /* 4.0 has the entity before its dimension */
        ok = m->version > 40 ? get_int(m, &dimension) && get_int(m, &entity)
                             : get_int(m, &entity) && get_int(m, &dimension);
        if (!ok || !get_int(m, &parametric) || !get_size(m, &here))
            return BAD(m, "expected node block %lld of %lld", b + 1, blocks);
        if (dimension < 0 || dimension > 3 || !possible(m, here, 6) || here > count - seen)
            return BAD(m, "node block %lld: dimension %lld with %lld nodes (%lld left)", b + 1,
                       dimension, here, count - seen);
        int parameters = parametric ? (int)dimension : 0;
        seen += here;
        if (m->version > 40) {
            for (long long n = 0; n < here && !status; n++)
                status = get_size(m, &tag)
                             ? add_tag(m, tag)
                             : BAD(m, "node block %lld: expected %lld tags", b + 1, here);
            for (long long n = 0; n < here && !status; n++)
                status = one_node(m, m->tag[m->tags - (size_t)(here - n)].tag, parameters);
        } else {
            for (long long n = 0; n < here && !status; n++) {
                if (!get_int(m, &tag)) return BAD(m, "node block %lld: expected a tag", b + 1);
                status = add_tag(m, tag);
                if (!status) status = one_node(m, tag, parameters);
            }
        }
    }
    if (!status && seen != count)
        return BAD(m, "%lld nodes were promised, the blocks have %lld", count, seen);
    return status;
}

/* ---- elements ---- */

static evn_status one_element(struct msh *m, long long tag, long long type, int nodes) {
    long long node[125];
    const char *bad = unwanted(type);
    if (bad) return BAD(m, "element %lld is %s, expected plane triangles of three nodes", tag, bad);
    for (int n = 0; n < nodes; n++)
        if (!(m->version > 40 ? get_size(m, &node[n]) : get_int(m, &node[n])))
            return BAD(m, "element %lld: expected %d nodes", tag, nodes);
    if (type != 2) return EVN_OK;
    int corner[3];
    for (int e = 0; e < 3; e++) {
        size_t low = 0, high = m->tags;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (m->tag[middle].tag < node[e])
                low = middle + 1;
            else
                high = middle;
        }
        if (low == m->tags || m->tag[low].tag != node[e])
            return BAD(m, "element %lld: there is no node %lld", tag, node[e]);
        corner[e] = m->tag[low].vertex;
    }
    return source_triangle(m->s, corner[0], corner[1], corner[2]);
}

static evn_status elements_2_text(struct msh *m, long long count) {
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        long long tag, type, labels, ignored;
        if (!get_int(m, &tag) || !get_int(m, &type) || !get_int(m, &labels))
            return BAD(m, "expected element %lld of %lld", n + 1, count);
        if (!type_nodes(type)) return BAD(m, "element %lld: there is no type %lld", tag, type);
        if (labels < 0 || !possible(m, labels, 2))
            return BAD(m, "element %lld: %lld tags", tag, labels);
        for (long long l = 0; l < labels; l++)
            if (!get_int(m, &ignored)) return BAD(m, "element %lld: expected its tags", tag);
        status = one_element(m, tag, type, type_nodes(type));
    }
    return status;
}

static evn_status elements_2_binary(struct msh *m, long long count) {
    evn_status status = EVN_OK;
    for (long long done = 0; done < count && !status;) {
        long long type, here, labels, tag, ignored;
        if (!get_int(m, &type) || !get_int(m, &here) || !get_int(m, &labels))
            return BAD(m, "the file ends after %lld of %lld elements", done, count);
        if (!type_nodes(type) || here < 1 || here > count - done || labels < 0 ||
            !possible(m, labels, 4))
            return BAD(m, "a block of %lld elements of type %lld with %lld tags", here, type,
                       labels);
        for (long long n = 0; n < here && !status; n++) {
            if (!get_int(m, &tag)) return BAD(m, "expected an element");
            for (long long l = 0; l < labels; l++)
                if (!get_int(m, &ignored)) return BAD(m, "element %lld: expected its tags", tag);
            status = one_element(m, tag, type, type_nodes(type));
        }
        done += here;
    }
    return status;
}

static evn_status elements_2(struct msh *m) {
    long long count;
    if (!source_integer(m->s, &count)) return source_bad(m->s, "expected the number of elements");
    if (m->binary) source_skip_line(m->s);
    if (!possible(m, count, 8)) return BAD(m, "%lld elements are more than the file holds", count);
    return m->binary ? elements_2_binary(m, count) : elements_2_text(m, count);
}

static evn_status elements_4(struct msh *m) {
    long long blocks, count, ignored, seen = 0;
    int ok = get_size(m, &blocks) && get_size(m, &count);
    if (m->version > 40) ok = ok && get_size(m, &ignored) && get_size(m, &ignored);
    if (!ok) return BAD(m, "expected the numbers of element blocks and elements");
    if (!possible(m, blocks, 4) || !possible(m, count, 4))
        return BAD(m, "%lld elements in %lld blocks are more than the file holds", count, blocks);
    evn_status status = EVN_OK;
    for (long long b = 0; b < blocks && !status; b++) {
        long long type, here, tag;
        if (!get_int(m, &ignored) || !get_int(m, &ignored) || !get_int(m, &type) ||
            !get_size(m, &here))
            return BAD(m, "expected element block %lld of %lld", b + 1, blocks);
        if (!type_nodes(type) || !possible(m, here, 4) || here > count - seen)
            return BAD(m, "element block %lld: %lld elements of type %lld (%lld left)", b + 1, here,
                       type, count - seen);
        seen += here;
        for (long long n = 0; n < here && !status; n++) {
            if (!(m->version > 40 ? get_size(m, &tag) : get_int(m, &tag)))
                return BAD(m, "element block %lld: expected %lld elements", b + 1, here);
            status = one_element(m, tag, type, type_nodes(type));
        }
    }
    if (!status && seen != count)
        return BAD(m, "%lld elements were promised, the blocks have %lld", count, seen);
    return status;
}

/* ---- sections ---- */

static evn_status format(struct msh *m) {
    double version;
    long long type, size;
    if (!source_number(m->s, &version) || !source_integer(m->s, &type) ||
        !source_integer(m->s, &size))
        return source_bad(m->s, "expected version, type and size of the file");
    if (version >= 2 && version < 3)
        m->version = 20;
    else if (version == 4.0)
        m->version = 40;
    else if (version > 4 && version < 5)
        m->version = 41;
    else
        return source_bad(m->s, "version %g, expected 2.x or 4.x", version);
    if ((type != 0 && type != 1) || size != 8)
        return source_bad(m->s, "type %lld with numbers of %lld bytes, expected 0 or 1 with 8",
                          type, size);
    m->binary = (int)type;
    if (m->binary) {
        long long one;
        source_skip_line(m->s);
        if (!get_int(m, &one) || one != 1)
            return BAD(m, "a binary file of the other byte order, or damaged");
    }
    return EVN_OK;
}

/* Past the section's end: `$EndNodes` for `$Nodes`. */
static evn_status section_end(struct msh *m, const char *name, int search) {
    struct source *s = m->s;
    char end[72], word[72];
    snprintf(end, sizeof end, "$End%s", name + 1);
    if (search) { /* an unknown section */
        const char *found = memmem(s->data + s->at, source_left(s), end, strlen(end));
        if (!found) return source_bad(s, "the file ends in section %s", name);
        s->at = (size_t)(found - s->data) + strlen(end);
        return EVN_OK;
    }
    size_t at = s->at;
    if (!source_word(s, word, sizeof word))
        return BAD(m, "the file ends in section %s, expected %s", name, end);
    if (strcmp(word, end)) {
        s->at = at;
        source_skip(s, 0);
        return BAD(m, "expected %s: section %s has more than was promised", end, name);
    }
    return EVN_OK;
}

static int by_tag(const void *a, const void *b) {
    const struct tag *s = a, *t = b;
    if (s->tag != t->tag) return s->tag < t->tag ? -1 : 1;
    return s->vertex - t->vertex;
}

static evn_status sort_tags(struct msh *m) {
    if (m->tags) qsort(m->tag, m->tags, sizeof *m->tag, by_tag);
    for (size_t n = 1; n < m->tags; n++)
        if (m->tag[n].tag == m->tag[n - 1].tag)
            return evn_fail(EVN_USAGE, "%s: node %lld is there twice", m->s->name, m->tag[n].tag);
    return EVN_OK;
}

static evn_status sections(struct msh *m) {
    evn_status status = EVN_OK;
    int nodes = 0, elements = 0;
    char name[64];
    while (!status) {
        size_t at = m->s->at;
        if (!source_word(m->s, name, sizeof name)) break;
        if (name[0] != '$') {
            m->s->at = at;
            source_skip(m->s, 0);
            return source_bad(m->s, "\"%.20s\": expected a section, as $Nodes", name);
        }
        if (!m->version && strcmp(name, "$MeshFormat") && strcmp(name, "$Comments"))
            return source_bad(m->s, "%.20s: expected $MeshFormat first (version 1 is not read)",
                              name);
        int known = 1;
        if (!strcmp(name, "$MeshFormat")) {
            status = m->version ? source_bad(m->s, "a second $MeshFormat") : format(m);
        } else if (!strcmp(name, "$Nodes")) {
            if (nodes++) return source_bad(m->s, "a second section $Nodes");
            if (m->binary) source_skip_line(m->s);
            status = m->version == 20 ? nodes_2(m) : nodes_4(m);
            if (!status) status = sort_tags(m);
        } else if (!strcmp(name, "$Elements")) {
            if (!nodes) return source_bad(m->s, "section $Elements before $Nodes");
            if (elements++) return source_bad(m->s, "a second section $Elements");
            if (m->binary) source_skip_line(m->s);
            status = m->version == 20 ? elements_2(m) : elements_4(m);
        } else {
            known = 0;
        }
        if (!status) status = section_end(m, name, !known);
    }
    if (status) return status;
    if (!m->version) return evn_fail(EVN_USAGE, "%s: no section $MeshFormat", m->s->name);
    if (!nodes) return evn_fail(EVN_USAGE, "%s: no section $Nodes", m->s->name);
    if (!elements) return evn_fail(EVN_USAGE, "%s: no section $Elements", m->s->name);
    return EVN_OK;
}

evn_status read_msh(struct source *s) {
    struct msh m = {.s = s};
    evn_status status = sections(&m);
    free(m.tag);
    return status;
}
