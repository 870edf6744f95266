/* The problem as its users see it: classes, sizes, tasks. */
#include "ft/ft.h"
#include "ft/classes.h"
#include "ft/parts.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>

struct ft {
    ft_shape shape;
    const struct ft_class *class_;
    int tasks, links;
    double *weight;
    evn_link *link;
};

/* Every task sends to every other: the points of its rows that are in the other's planes, and the
 * other way round. Where these are more pairs than a graph is good for there are none. */
enum { MOST_LINKS = 1 << 16 };

static void make_tasks(ft *f) {
    const int *n = f->shape.n, tasks = f->tasks;
    const double points = (double)n[0] * n[1] * n[2] / tasks;
    for (int t = 0; t < tasks; t++) f->weight[t] = points;
    for (int a = 0; f->link && a < tasks; a++)
        for (int b = a + 1; b < tasks; b++)
            f->link[f->links++] = (evn_link){{a, b}, 2 * 16 * points / tasks};
}

static evn_status open_shape(ft **out, ft_shape shape, const struct ft_class *class_) {
    ft *f = calloc(1, sizeof *f);
    if (f) {
        shape.bytes = 2 * 16.0 * shape.n[0] * shape.n[1] * shape.n[2];
        f->shape = shape;
        f->class_ = class_;
        f->tasks = parts_count(shape.n);
        const long links = (long)f->tasks * (f->tasks - 1) / 2;
        f->weight = malloc((size_t)f->tasks * sizeof *f->weight);
        if (links <= MOST_LINKS) f->link = malloc((size_t)(links + 1) * sizeof *f->link);
        if (f->weight && (f->link || links > MOST_LINKS)) {
            make_tasks(f);
            *out = f;
            return EVN_OK;
        }
    }
    ft_close(f);
    return evn_fail(EVN_MEMORY, "ft: not enough memory for the list of tasks");
}

evn_status ft_open_class(ft **out, char name) {
    *out = NULL;
    const struct ft_class *c = ft_class_of(name);
    if (!c)
        return evn_fail(EVN_USAGE, "ft: there is no class \"%c\", expected one of S W A B C D E F",
                        name);
    return open_shape(
        out, (ft_shape){.class_ = name, .n = {c->n[0], c->n[1], c->n[2]}, .steps = c->steps}, c);
}

evn_status ft_open_size(ft **out, const long size[3]) {
    *out = NULL;
    ft_shape shape = {.steps = 6};
    for (int d = 0; d < 3; d++) {
        const long least = d ? FT_LEAST : FT_LEAST_X;
        if (size[d] < least || size[d] > FT_MOST || size[d] & (size[d] - 1))
            return evn_fail(EVN_USAGE,
                            "ft: %ld points along %c, expected a power of two from %ld to %d",
                            size[d], "xyz"[d], least, FT_MOST);
        shape.n[d] = (int)size[d];
    }
    return open_shape(out, shape, NULL);
}

void ft_close(ft *f) {
    if (!f) return;
    free_all(f->weight, f->link, f);
}

ft_shape ft_describe(const ft *f) { return f->shape; }

double ft_mop(const ft *f, int steps) {
    const double points = (double)f->shape.n[0] * f->shape.n[1] * f->shape.n[2];
    return 1e-6 * points *
           (14.8157 + 7.19641 * log(points) + (5.23518 + 7.21113 * log(points)) * steps);
}

evn_problem ft_tasks(const ft *f) {
    return (evn_problem){
        .tasks = f->tasks, .weight = f->weight, .links = f->links, .link = f->link};
}

const double *ft_official(const ft *f, int t) {
    return f->class_ && t >= 1 && t <= f->class_->steps ? f->class_->sum[t - 1] : NULL;
}

const char *ft_count_name(int count) {
    static const char *const name[FT_COUNTS] = {[FT_CONTEXTS] = "contexts",
                                                [FT_LAUNCHES] = "launches",
                                                [FT_COPIES_IN] = "copies_in",
                                                [FT_BYTES_IN] = "bytes_in",
                                                [FT_COPIES_OUT] = "copies_out",
                                                [FT_BYTES_OUT] = "bytes_out",
                                                [FT_FIELD_COPIES_IN] = "field_copies_in",
                                                [FT_FIELD_BYTES_IN] = "field_bytes_in",
                                                [FT_FIELD_COPIES_OUT] = "field_copies_out",
                                                [FT_FIELD_BYTES_OUT] = "field_bytes_out",
                                                [FT_COMPUTE_S] = "compute_s",
                                                [FT_COPY_S] = "copy_s",
                                                [FT_PUT_S] = "put_s",
                                                [FT_BARRIER_S] = "barrier_s"};
    return name[count];
}

const char *ft_phase_name(int phase) {
    static const char *const name[FT_PHASES] = {
        [FT_START] = "start",   [FT_Z] = "z",     [FT_XY] = "xy",
        [FT_COPY] = "copy",     [FT_PUT] = "put", [FT_BARRIER] = "barrier",
        [FT_UNPACK] = "unpack", [FT_SUM] = "sum"};
    return name[phase];
}
