/* From ranges of tasks to ranges of planes. */
#include "mg/device/device_steps.h"
#include "mg/mg.h"
#include <stdlib.h>

/* Two numbers for each range of tasks, twice where `twice`. */
static evn_status make(struct task_ranges tasks, int twice, int **begin, int **end) {
    const size_t count = (size_t)(tasks.count << twice) + 1;
    *begin = malloc(2 * count * sizeof **begin);
    *end = *begin ? *begin + count : NULL;
    return *begin ? EVN_OK : evn_fail(EVN_MEMORY, "mg: not enough memory");
}

typedef evn_status on_planes(struct part *p, int level, const int *begin, const int *end,
                             int count);

/* `planes` a task, without the first and last `less` of each range. */
static evn_status each(struct part *p, int l, struct task_ranges tasks, int planes, int less,
                       on_planes *pass) {
    int *begin, *end;
    evn_status status = make(tasks, 0, &begin, &end);
    if (status) return status;
    for (int i = 0; i < tasks.count; i++) {
        begin[i] = planes * tasks.begin[i] + less;
        end[i] = planes * tasks.end[i] - less;
    }
    status = pass(p, l, begin, end, tasks.count);
    free(begin);
    return status;
}

/* The first and the last plane of each range. */
static evn_status outermost(struct part *p, int l, struct task_ranges tasks, int planes,
                            on_planes *pass) {
    int *begin, *end;
    evn_status status = make(tasks, 1, &begin, &end);
    if (status) return status;
    for (int i = 0; i < tasks.count; i++) {
        begin[2 * i] = planes * tasks.begin[i];
        begin[2 * i + 1] = planes * tasks.end[i] - 1;
        end[2 * i] = begin[2 * i] + 1;
        end[2 * i + 1] = begin[2 * i + 1] + 1;
    }
    status = pass(p, l, begin, end, 2 * tasks.count);
    free(begin);
    return status;
}

static evn_status squares(struct part *p, int l, const int *begin, const int *end, int count) {
    (void)l;
    return part_squares(p, begin, end, count);
}

evn_status device_clear(struct part *p, double *square, struct task_ranges tasks, int what) {
    (void)square;
    (void)tasks;
    (void)what;
    return part_clear(p);
}

evn_status device_first(struct part *p, double *square, struct task_ranges tasks, int what) {
    evn_status status = EVN_OK;
    if (what & SWEEP_RESTRICT) status = each(p, p->finest - 1, tasks, MG_PLANES / 2, 0, part_down);
    if (!status && what & SWEEP_SQUARES) status = each(p, p->finest, tasks, MG_PLANES, 0, squares);
    for (int i = 0; !status && what & SWEEP_SQUARES && i < tasks.count; i++)
        status =
            part_fetch_squares(p, square, MG_PLANES * tasks.begin[i], MG_PLANES * tasks.end[i]);
    return status;
}

evn_status device_finest(struct part *p, double *square, struct task_ranges tasks, int what) {
    evn_status status = each(p, p->finest, tasks, MG_PLANES, 0, part_up);
    (void)square;
    if (!status && what & SWEEP_RESTRICT)
        status = each(p, p->finest - 1, tasks, MG_PLANES / 2, 1, part_down);
    if (!status && what & SWEEP_SQUARES) status = each(p, p->finest, tasks, MG_PLANES, 1, squares);
    for (int i = 0; !status && what & SWEEP_SQUARES && i < tasks.count; i++)
        status = part_fetch_squares(p, square, MG_PLANES * tasks.begin[i] + 1,
                                    MG_PLANES * tasks.end[i] - 1);
    return status;
}

evn_status device_edges(struct part *p, double *square, struct task_ranges tasks, int what) {
    evn_status status = EVN_OK;
    if (what & SWEEP_RESTRICT)
        status = outermost(p, p->finest - 1, tasks, MG_PLANES / 2, part_down);
    if (status || !(what & SWEEP_SQUARES)) return status;
    status = outermost(p, p->finest, tasks, MG_PLANES, squares);
    for (int i = 0; !status && i < tasks.count; i++) {
        const int first = MG_PLANES * tasks.begin[i], last = MG_PLANES * tasks.end[i] - 1;
        status = part_fetch_squares(p, square, first, first + 1);
        if (!status) status = part_fetch_squares(p, square, last, last + 1);
    }
    return status;
}

evn_status device_down(struct part *p, double *square, struct task_ranges tasks, int l) {
    (void)square;
    return each(p, l - 1, tasks, MG_PLANES >> (p->finest - l + 1), 0, part_down);
}

evn_status device_down_shared(struct part *p, double *square, struct task_ranges tasks, int l) {
    int *begin, *end;
    (void)square;
    evn_status status = make(tasks, 0, &begin, &end);
    if (status) return status;
    for (int i = 0; i < tasks.count; i++) {
        begin[i] = (tasks.begin[i] + 1) / 2;
        end[i] = (tasks.end[i] + 1) / 2;
    }
    status = part_down(p, l - 1, begin, end, tasks.count);
    free(begin);
    return status;
}

evn_status device_up(struct part *p, double *square, struct task_ranges tasks, int l) {
    (void)square;
    return each(p, l, tasks, MG_PLANES >> (p->finest - l), 0, part_up);
}
