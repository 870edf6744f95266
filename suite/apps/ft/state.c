/* The checksums, in and out. */
#include "ft/state.h"
#include <string.h>

static size_t doubles(const void *arg, int part, int step) {
    (void)arg;
    (void)part;
    return 2 * (size_t)step;
}

static double *numbers(const void *arg) { return **(double(*const *)[2])arg; }

static void pack(const void *arg, int part, size_t from, size_t count, double *to) {
    (void)part;
    memcpy(to, numbers(arg) + from, count * sizeof *to);
}

static void unpack(void *arg, int part, size_t from, size_t count, const double *data) {
    (void)part;
    memcpy(numbers(arg) + from, data, count * sizeof *data);
}

static const struct state_kind checksums = {.name = "FT",
                                            .magic = "EVNFT\0\0\1",
                                            .part = "list",
                                            .shared = 1,
                                            .doubles = doubles,
                                            .pack = pack,
                                            .unpack = unpack};

evn_status ft_state_open(struct states *s, const ft *problem, const struct ft_way *way,
                         double (**checksum)[2]) {
    const ft_shape shape = ft_describe(problem);
    s->kind = &checksums;
    s->arg = checksum;
    s->parts = 1;
    if (shape.class_)
        states_identify(s, "app=ft class=%c transposes=%d", shape.class_, way->transposes);
    else
        states_identify(s, "app=ft size=%dx%dx%d transposes=%d", shape.n[0], shape.n[1], shape.n[2],
                        way->transposes);
    return states_open(s);
}
