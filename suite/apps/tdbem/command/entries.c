/* --entries: entries of the matrices, and nothing else. */
#include "common/cli/message.h"
#include "tdbem/command/state.h"
#include "tdbem/matrices/slices.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int entries_print(const struct state *s) {
    const tdbem_options *o = &s->options;
    struct mesh *mesh = NULL;
    double *row = NULL;
    int count = 0, *present = NULL, vertices = 0;
    int code = words_read_rows("entries", s->w.entries, 3, &row, &count);
    if (code) {
        free(row);
        return code;
    }
    evn_status status = mesh_open_scaled(&mesh, o->mesh, o->scale > 0 ? o->scale : 1);
    if (status == EVN_SYSTEM) status = EVN_USAGE; /* a file that cannot be read is bad input */
    if (!status) status = mesh_present(mesh, &present, &vertices);
    struct slices_entry *entry = calloc((size_t)count, sizeof *entry);
    if (!status && !entry) status = evn_fail(EVN_MEMORY, "--entries: not enough memory");
    for (int e = 0; !status && e < count; e++) {
        int v[3] = {0};
        for (int i = 0; i < 3; i++) {
            const double x = row[3 * e + i], max = i ? vertices - 1 : 1e9;
            if (i && x == floor(x) && x >= 0 && x <= max && present[(int)x] < 0) {
                status = evn_fail(EVN_USAGE,
                                  "--entries %s: entry %d: no triangle uses vertex %g of the mesh",
                                  s->w.entries, e + 1, x);
                break;
            }
            if (x != floor(x) || x < 0 || x > max) {
                status = evn_fail(EVN_USAGE,
                                  "--entries %s: entry %d: expected k i j, with vertices 0 to %d",
                                  s->w.entries, e + 1, vertices - 1);
                break;
            }
            v[i] = i ? present[(int)x] : (int)x;
        }
        if (!status) entry[e] = (struct slices_entry){.k = v[0], .i = v[1], .j = v[2]};
    }
    if (!status) {
        const struct slices_options so = {
            .problem = o->problem,
            .eta = o->eta,
            .delta = o->delta > 0 ? o->delta
                                  : (o->delta_ratio > 0 ? o->delta_ratio : 0.5) * mesh->h_mean,
            .quad = o->quad,
        };
        status = slices_entries(entry, count, mesh, &so);
    }
    for (int e = 0; !status && e < count; e++)
        printf("%d,%d,%d,%.17g\n", (int)row[3 * e], (int)row[3 * e + 1], (int)row[3 * e + 2],
               entry[e].value);
    free_all(entry, present, row);
    mesh_close(mesh);
    return status ? give_up(status) : EXIT_DONE;
}
