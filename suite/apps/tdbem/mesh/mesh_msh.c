/* Gmsh's format, versions 2.x, 4.0 and 4.1, text and binary (Gmsh reference manual, "Legacy
 * formats" and "MSH file format"). Read are the nodes, triangles and quadrangles, and the physical
 * groups of surfaces as parts; points, lines and volumes are passed over. Vertices are numbered in
 * the order of the list of nodes, whatever their tags. */
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_msh_parts.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msh {
    struct source *s;
    int version; /* 20, 40, 41 */
    struct msh_parts parts;
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

/* What is done with a type: nodes of a triangle or quadrangle that is read; 0: points, lines and
 * volumes, which are passed over; -1: surfaces of third order and more. */
static int surface_nodes(long long type) {
    switch (type) {
    case 2:
    case 3:
    case 9:
    case 10:
    case 16: return type_nodes(type);
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25: return -1;
    default: return 0;
    }
}

static int is_solid(long long type) {
    return (type >= 4 && type <= 7) || (type >= 11 && type <= 14) || (type >= 17 && type <= 19) ||
           type >= 29;
}

/* ---- values, text or binary ---- */

static int get_int(struct msh *m, long long *value) { /* binary: 4 bytes */
    if (!m->s->binary) return source_integer(m->s, value);
    int32_t i;
    if (!source_bytes(m->s, &i, sizeof i)) return 0;
    *value = i;
    return 1;
}

static int get_size(struct msh *m, long long *value) { /* binary: 8 bytes */
    if (!m->s->binary) return source_integer(m->s, value);
    int64_t i;
    if (!source_bytes(m->s, &i, sizeof i)) return 0;
    *value = i;
    return 1;
}

static int get_double(struct msh *m, double *value) {
    return m->s->binary ? source_bytes(m->s, value, sizeof *value) : source_number(m->s, value);
}

/* ---- nodes ---- */

static evn_status one_node(struct msh *m, long long tag, int parameters) {
    double x[3], ignored;
    for (int c = 0; c < 3; c++)
        if (!get_double(m, &x[c]))
            return source_bad(m->s, "node %lld: expected three coordinates", tag);
    for (int p = 0; p < parameters; p++)
        if (!get_double(m, &ignored))
            return source_bad(m->s, "node %lld: expected its parameters", tag);
    return source_node(m->s, tag, x);
}

static evn_status nodes_2(struct msh *m) {
    long long count, tag;
    if (!source_integer(m->s, &count)) return source_bad(m->s, "expected the number of nodes");
    if (m->s->binary) source_skip_line(m->s);
    if (!source_holds(m->s, count, m->s->binary ? 28 : 8))
        return source_bad(m->s, "%lld nodes are more than the file holds", count);
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        if (!get_int(m, &tag))
            return source_bad(m->s, "expected node %lld of %lld, a number and three coordinates",
                              n + 1, count);
        status = one_node(m, tag, 0);
    }
    return status;
}

/* Version 4.0: each node behind its tag. */
static evn_status nodes_with_tags(struct msh *m, long long count, int parameters) {
    evn_status status = EVN_OK;
    for (long long n = 0, tag; n < count && !status; n++)
        status = get_int(m, &tag) ? one_node(m, tag, parameters)
                                  : source_bad(m->s, "expected a block of %lld nodes", count);
    return status;
}

/* Version 4.1: all tags of a block, and then its nodes. */
static evn_status nodes_of_block(struct msh *m, long long count, int parameters) {
    size_t tags = m->s->at;
    long long tag;
    for (long long n = 0; n < count; n++)
        if (!get_size(m, &tag)) return source_bad(m->s, "expected a block of %lld tags", count);
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        const size_t at = m->s->at;
        m->s->at = tags;
        get_size(m, &tag);
        tags = m->s->at;
        m->s->at = at;
        status = one_node(m, tag, parameters);
    }
    return status;
}

static evn_status nodes_4(struct msh *m) {
    long long blocks, count, ignored, seen = 0;
    int ok = get_size(m, &blocks) && get_size(m, &count);
    if (m->version > 40) ok = ok && get_size(m, &ignored) && get_size(m, &ignored);
    if (!ok) return source_bad(m->s, "expected the numbers of node blocks and nodes");
    if (!source_holds(m->s, blocks, 4) || !source_holds(m->s, count, 6))
        return source_bad(m->s, "%lld nodes in %lld blocks are more than the file holds", count,
                          blocks);
    evn_status status = EVN_OK;
    for (long long b = 0; b < blocks && !status; b++) {
        long long dimension, entity, parametric, here;
        /* 4.0 has the entity before its dimension */
        ok = m->version > 40 ? get_int(m, &dimension) && get_int(m, &entity)
                             : get_int(m, &entity) && get_int(m, &dimension);
        if (!ok || !get_int(m, &parametric) || !get_size(m, &here))
            return source_bad(m->s, "expected node block %lld of %lld", b + 1, blocks);
        if (dimension < 0 || dimension > 3 || !source_holds(m->s, here, 6) || here > count - seen)
            return source_bad(m->s, "node block %lld: dimension %lld with %lld nodes (%lld left)",
                              b + 1, dimension, here, count - seen);
        int parameters = parametric ? (int)dimension : 0;
        seen += here;
        status = m->version > 40 ? nodes_of_block(m, here, parameters)
                                 : nodes_with_tags(m, here, parameters);
    }
    if (!status && seen != count)
        return source_bad(m->s, "%lld nodes were promised, the blocks have %lld", count, seen);
    return status;
}

/* ---- elements ---- */

static evn_status one_element(struct msh *m, long long tag, long long type, int nodes) {
    long long node[125];
    const int wanted = surface_nodes(type);
    if (wanted < 0)
        return source_bad(m->s,
                          "element %lld is of third order or more; expected first or second order, "
                          "as of gmsh -order 1",
                          tag);
    for (int n = 0; n < nodes; n++)
        if (!(m->version > 40 ? get_size(m, &node[n]) : get_int(m, &node[n])))
            return source_bad(m->s, "element %lld: expected %d nodes", tag, nodes);
    m->s->solids += (size_t)is_solid(type);
    return wanted ? source_element(m->s, tag, nodes, node) : EVN_OK;
}

/* The first tag of a surface is its physical group. */
static evn_status element_tags(struct msh *m, long long tag, long long type, long long labels) {
    evn_status status = EVN_OK;
    for (long long l = 0, label; l < labels && !status; l++)
        if (!get_int(m, &label))
            status = source_bad(m->s, "element %lld: expected its tags", tag);
        else if (!l && surface_nodes(type) > 0)
            status = msh_part(&m->parts, m->s, label);
    return status;
}

static evn_status elements_2_text(struct msh *m, long long count) {
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        long long tag, type, labels;
        if (!get_int(m, &tag) || !get_int(m, &type) || !get_int(m, &labels))
            return source_bad(m->s, "expected element %lld of %lld", n + 1, count);
        if (!type_nodes(type))
            return source_bad(m->s, "element %lld: there is no type %lld", tag, type);
        if (labels < 0 || !source_holds(m->s, labels, 2))
            return source_bad(m->s, "element %lld: %lld tags", tag, labels);
        status = element_tags(m, tag, type, labels);
        if (!status) status = one_element(m, tag, type, type_nodes(type));
    }
    return status;
}

static evn_status elements_2_binary(struct msh *m, long long count) {
    evn_status status = EVN_OK;
    for (long long done = 0; done < count && !status;) {
        long long type, here, labels, tag;
        if (!get_int(m, &type) || !get_int(m, &here) || !get_int(m, &labels))
            return source_bad(m->s, "the file ends after %lld of %lld elements", done, count);
        if (!type_nodes(type) || here < 1 || here > count - done || labels < 0 ||
            !source_holds(m->s, labels, 4))
            return source_bad(m->s, "a block of %lld elements of type %lld with %lld tags", here,
                              type, labels);
        for (long long n = 0; n < here && !status; n++) {
            if (!get_int(m, &tag)) return source_bad(m->s, "expected an element");
            status = element_tags(m, tag, type, labels);
            if (!status) status = one_element(m, tag, type, type_nodes(type));
        }
        done += here;
    }
    return status;
}

static evn_status elements_2(struct msh *m) {
    long long count;
    if (!source_integer(m->s, &count)) return source_bad(m->s, "expected the number of elements");
    if (m->s->binary) source_skip_line(m->s);
    if (!source_holds(m->s, count, 8))
        return source_bad(m->s, "%lld elements are more than the file holds", count);
    return m->s->binary ? elements_2_binary(m, count) : elements_2_text(m, count);
}

static evn_status elements_4(struct msh *m) {
    long long blocks, count, ignored, seen = 0;
    int ok = get_size(m, &blocks) && get_size(m, &count);
    if (m->version > 40) ok = ok && get_size(m, &ignored) && get_size(m, &ignored);
    if (!ok) return source_bad(m->s, "expected the numbers of element blocks and elements");
    if (!source_holds(m->s, blocks, 4) || !source_holds(m->s, count, 4))
        return source_bad(m->s, "%lld elements in %lld blocks are more than the file holds", count,
                          blocks);
    evn_status status = EVN_OK;
    for (long long b = 0; b < blocks && !status; b++) {
        long long type, here, tag, entity;
        /* 4.0 has the entity before its dimension */
        const int ok = m->version > 40 ? get_int(m, &ignored) && get_int(m, &entity)
                                       : get_int(m, &entity) && get_int(m, &ignored);
        if (!ok || !get_int(m, &type) || !get_size(m, &here))
            return source_bad(m->s, "expected element block %lld of %lld", b + 1, blocks);
        if (surface_nodes(type) > 0)
            status = msh_part(&m->parts, m->s, msh_group_of(&m->parts, entity));
        if (status) return status;
        if (!type_nodes(type) || !source_holds(m->s, here, 4) || here > count - seen)
            return source_bad(m->s, "element block %lld: %lld elements of type %lld (%lld left)",
                              b + 1, here, type, count - seen);
        seen += here;
        for (long long n = 0; n < here && !status; n++) {
            if (!(m->version > 40 ? get_size(m, &tag) : get_int(m, &tag)))
                return source_bad(m->s, "element block %lld: expected %lld elements", b + 1, here);
            status = one_element(m, tag, type, type_nodes(type));
        }
    }
    if (!status && seen != count)
        return source_bad(m->s, "%lld elements were promised, the blocks have %lld", count, seen);
    return status;
}

/* ---- entities ---- */

/* Boxes and what bounds an entity are passed over; the first physical group of a surface counts. */
static int one_entity(struct msh *m, int dimension, long long *tag, long long *group) {
    const int numbers = m->version > 40 && dimension == 0 ? 3 : 6;
    long long groups, parts, ignored;
    double number;
    int ok = get_int(m, tag);
    for (int i = 0; ok && i < numbers; i++) ok = get_double(m, &number);
    ok = ok && get_size(m, &groups) && source_holds(m->s, groups, 2);
    *group = 0;
    for (long long g = 0; ok && g < groups; g++) ok = get_int(m, g ? &ignored : group);
    if (!ok || dimension == 0) return ok;
    ok = get_size(m, &parts) && source_holds(m->s, parts, 2);
    for (long long p = 0; ok && p < parts; p++) ok = get_int(m, &ignored);
    return ok;
}

static evn_status entities(struct msh *m) {
    long long count[4], tag, group;
    evn_status status = EVN_OK;
    for (int d = 0; d < 4; d++)
        if (!get_size(m, &count[d]) || !source_holds(m->s, count[d], 4))
            return source_bad(m->s, "expected the numbers of points, curves, surfaces and volumes");
    for (int d = 0; d < 4; d++)
        for (long long e = 0; e < count[d] && !status; e++)
            if (!one_entity(m, d, &tag, &group))
                return source_bad(m->s, "expected entity %lld of %lld of dimension %d", e + 1,
                                  count[d], d);
            else if (d == 2)
                status = msh_entity(&m->parts, m->s, tag, group);
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
    m->s->binary = (int)type;
    if (m->s->binary) {
        long long one;
        source_skip_line(m->s);
        if (!get_int(m, &one) || one != 1)
            return source_bad(m->s, "a binary file of the other byte order, or damaged");
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
        return source_bad(m->s, "the file ends in section %s, expected %s", name, end);
    if (strcmp(word, end)) {
        s->at = at;
        source_skip(s, 0);
        return source_bad(m->s, "expected %s: section %s has more than was promised", end, name);
    }
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
        } else if (!strcmp(name, "$PhysicalNames")) {
            status = msh_names(&m->parts, m->s);
        } else if (!strcmp(name, "$Entities") && m->version > 20) {
            if (m->s->binary) source_skip_line(m->s);
            status = entities(m);
        } else if (!strcmp(name, "$Nodes")) {
            if (nodes++) return source_bad(m->s, "a second section $Nodes");
            if (m->s->binary) source_skip_line(m->s);
            status = m->version == 20 ? nodes_2(m) : nodes_4(m);
        } else if (!strcmp(name, "$Elements")) {
            if (!nodes) return source_bad(m->s, "section $Elements before $Nodes");
            if (elements++) return source_bad(m->s, "a second section $Elements");
            if (m->s->binary) source_skip_line(m->s);
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
    s->noun = "element";
    evn_status status = sections(&m);
    msh_parts_close(&m.parts);
    return status;
}
