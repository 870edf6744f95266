/* I-DEAS universal files: datasets between lines of -1, each after its number. Read are nodes
 * (2411, 781 and 15) and elements (2412 and 780); other datasets are passed over. */
#include "tdbem/mesh/mesh_formats.h"
#include <stdlib.h>
#include <string.h>

/* Fortran's exponents may be written with D. */
static int get_real(struct source *s, double *value) {
    char word[64], *end;
    if (!source_word(s, word, sizeof word)) return 0;
    for (char *c = word; *c; c++)
        if (*c == 'D' || *c == 'd') *c = 'e';
    *value = strtod(word, &end);
    return end > word && !*end;
}

/* 1 at the line of -1 that ends a dataset, which is passed then. */
static int at_end(struct source *s) {
    const size_t at = s->at;
    char word[8];
    if (source_word(s, word, sizeof word) && !strcmp(word, "-1")) return 1;
    s->at = at;
    return 0;
}

static evn_status nodes(struct source *s, int ignored) {
    evn_status status = EVN_OK;
    while (!status && !at_end(s)) {
        long long tag, number;
        double x[3];
        if (!source_integer(s, &tag)) return source_bad(s, "expected a node or -1");
        for (int i = 0; i < ignored; i++)
            if (!source_integer(s, &number))
                return source_bad(s, "node %lld: expected %d numbers after it", tag, ignored);
        for (int c = 0; c < 3; c++)
            if (!get_real(s, &x[c]))
                return source_bad(s, "node %lld: expected three coordinates", tag);
        status = source_node(s, tag, x);
    }
    return status;
}

/* Nodes of second order go round, a corner and the middle of an edge in turn. */
static evn_status round_element(struct source *s, long long label, int nodes,
                                const long long *node) {
    long long in_order[8];
    for (int i = 0; i < nodes / 2; i++) {
        in_order[i] = node[2 * i];
        in_order[nodes / 2 + i] = node[2 * i + 1];
    }
    return source_element(s, label, nodes, in_order);
}

static evn_status element(struct source *s, long long label, long long type, int count,
                          const long long *node) {
    const int family = type >= 41 && type <= 95 ? (int)(type % 10) : 0;
    const int expected = (int[]){0, 3, 6, 0, 4, 8, 0, 0, 0, 0}[family];
    s->solids += type > 95 && type < 120;
    if (family == 3 || family == 6)
        return source_bad(s, "element %lld is of third order; expected first or second", label);
    if (!expected) return EVN_OK;
    if (count != expected)
        return source_bad(s, "element %lld of type %lld has %d nodes, expected %d", label, type,
                          count, expected);
    return expected < 5 ? source_element(s, label, count, node)
                        : round_element(s, label, count, node);
}

static evn_status elements(struct source *s, int ignored) {
    enum { NODES = 64 };
    evn_status status = EVN_OK;
    while (!status && !at_end(s)) {
        long long label, type, count, number, node[NODES];
        if (!source_integer(s, &label) || !source_integer(s, &type))
            return source_bad(s, "expected an element or -1");
        int ok = 1;
        for (int i = 0; i < ignored; i++) ok = ok && source_integer(s, &number);
        if (!ok || !source_integer(s, &count) || count < 1 || count > NODES)
            return source_bad(s, "element %lld: expected 1 to %d nodes", label, NODES);
        /* beams have a line on their ends */
        for (int i = 0; i < 3 && type >= 11 && type <= 32; i++)
            ok = ok && source_integer(s, &number);
        for (long long n = 0; n < count; n++) ok = ok && source_integer(s, &node[n]);
        if (!ok) return source_bad(s, "element %lld: expected %lld nodes", label, count);
        status = element(s, label, type, (int)count, node);
    }
    return status;
}

static void pass(struct source *s) {
    while (source_left(s) && !at_end(s)) source_skip_line(s);
}

evn_status read_unv(struct source *s) {
    s->noun = "element";
    evn_status status = EVN_OK;
    long long mark, number;
    while (!status && (source_skip(s, 0), source_left(s))) {
        if (!source_integer(s, &mark) || mark != -1)
            return source_bad(s, "expected -1 and the number of a dataset");
        if (!source_integer(s, &number)) return source_bad(s, "expected the number of a dataset");
        if (number == 2411 || number == 781 || number == 15)
            status = nodes(s, 3);
        else if (number == 2412)
            status = elements(s, 3);
        else if (number == 780)
            status = elements(s, 5);
        else
            pass(s);
    }
    if (!status && !s->points) return evn_fail(EVN_USAGE, "%s: no nodes (dataset 2411)", s->name);
    return status;
}
