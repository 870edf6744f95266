/* NumCalc's folder of an object: Nodes.txt and Elements.txt, each a count and then lines; a node is
 * its number and coordinates, an element its number, three or four nodes, and three numbers of
 * which the first is 0 for the body's surface. */
#include "tdbem/mesh/mesh_formats.h"
#include <stdio.h>
#include <stdlib.h>

static evn_status nodes(struct source *s) {
    long long count, tag;
    if (!source_integer(s, &count) || !source_holds(s, count, 8))
        return source_bad(s, "expected the number of nodes");
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        double x[3];
        if (!source_integer(s, &tag) || !source_number(s, &x[0]) || !source_number(s, &x[1]) ||
            !source_number(s, &x[2]))
            return source_bad(s, "node %lld of %lld: expected a number and three coordinates", n,
                              count);
        source_skip_line(s);
        status = source_node(s, tag, x);
    }
    return status;
}

static evn_status elements(struct source *s) {
    long long count;
    if (!source_integer(s, &count) || !source_holds(s, count, 14))
        return source_bad(s, "expected the number of elements");
    source_skip_line(s);
    evn_status status = EVN_OK;
    for (long long n = 0; n < count && !status; n++) {
        long long v[8];
        int have = 0;
        source_skip(s, 0);
        while (have < 8 && !source_line_ends(s, 0) && source_integer(s, &v[have])) have++;
        if (have < 7 || !source_line_ends(s, 0))
            return source_bad(s,
                              "element %lld of %lld: expected a number, three or four nodes and "
                              "three numbers more",
                              n, count);
        if (v[have - 3] == 0) status = source_element(s, v[0], have - 4, v + 1);
    }
    return status;
}

evn_status read_numcalc(struct source *s) {
    static const struct {
        const char *file;
        evn_status (*read)(struct source *s);
    } files[] = {{"Nodes.txt", nodes}, {"Elements.txt", elements}};
    const char *folder = s->name;
    evn_status status = EVN_OK;
    char *path[2] = {NULL, NULL};
    s->noun = "element";
    for (int f = 0; f < 2 && !status; f++) {
        if (asprintf(&path[f], "%s/%s", folder, files[f].file) < 0)
            return evn_fail(EVN_MEMORY, "%s: no memory", folder);
        free(s->data);
        s->data = NULL;
        s->size = s->at = 0;
        s->name = path[f];
        status = source_load(s, path[f]);
        if (!status) status = files[f].read(s);
    }
    s->name = folder;
    free(path[0]);
    free(path[1]);
    return status;
}
