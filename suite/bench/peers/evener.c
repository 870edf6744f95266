/* Evener, on the units and under the schedule that the environment names, by default those of the
 * library. Modes: pull (a plain body, no places), share (the same by evn_batch_share(), so that a
 * unit of several cores does tasks on all), places (heat: fields are regions, rows of neighbours
 * come by exchanges, as in examples/heat.c). */
#include "work.h"
#include <evener.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                  \
    if (call) return evn_complain("evener")
static work w;

static evn_status pull(evn_unit *unit, evn_batch *batch, void *step) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) w.task(&w, *(int *)step, t);
    return EVN_OK;
}

static void one(const evn_subteam *by, int t, void *step) {
    if (!by->core) w.task(&w, *(int *)step, t);
}

static evn_status share(evn_unit *unit, evn_batch *batch, void *step) {
    (void)unit;
    return evn_batch_share(batch, NULL, 0, one, step);
}

static evn_status places(evn_unit *unit, evn_batch *batch, void *step) {
    const int f = *(int *)step % 2;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        work_heat(evn_batch_host(batch, t, f), evn_batch_host(batch, t, 1 - f), ROWS(t), w.row);
    return EVN_OK;
}

static evn_status run_plain(evn_loop *loop, evn_body body) {
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) work_begin();
        const evn_status status = evn_loop_run(loop, body, &s);
        if (status) return status;
    }
    work_end();
    return EVN_OK;
}

/* Regions of both fields, and faces: a block's last row to the next one, and that one's first row
 * back. */
static evn_status open_places(evn_session *session, evn_loop *loop, evn_place *place,
                              evn_exchange **exchange) {
    static evn_face face[2][2 * BLOCKS];
    static int region[BLOCKS][2];
    static const evn_access both[] = {EVN_BOTH, EVN_BOTH};
    evn_status status = EVN_OK;
    const int row = w.row;
    for (int i = 0; i < 2 * BLOCKS && !status; i++) {
        const int t = i / 2, f = i % 2, end = ROWS(t) * row;
        const size_t bytes = (size_t)(ROWS(t) + 2) * (size_t)row * sizeof(double);
        evn_face *to = &face[f][2 * t];
        status = evn_place_add(place, w.field[f][t], bytes, &region[t][f]);
        to[0] = (evn_face){
            t, t + 1, end, 0, {1, 1, 1}, {1, 1, 1}, {1, 1, row}, .from_region = f, .to_region = f};
        to[1] = (evn_face){t + 1,         t,         row,         end + row,
                           {1, 1, 1},     {1, 1, 1}, {1, 1, row}, .from_region = f,
                           .to_region = f};
    }
    if (!status) status = evn_session_place(session, loop, place, 2, region[0], both);
    for (int f = 0; f < 2 && !status; f++)
        status =
            evn_exchange_open(&exchange[f], loop, sizeof(double), 2 * BLOCKS - 2, face[f], NULL);
    return status;
}

static evn_status run_places(evn_session *session, evn_loop *loop) {
    evn_place *place;
    evn_exchange *exchange[2] = {NULL, NULL};
    evn_status status = evn_place_open(&place, evn_session_units(session), 0.5);
    if (status) return status;
    status = open_places(session, loop, place, exchange);
    for (int s = 0; s < w.warm + w.steps && !status; s++) {
        if (s == w.warm) work_begin();
        status = evn_loop_run(loop, places, &s);
        if (!status) status = evn_exchange_run(exchange[1 - s % 2]);
    }
    work_end();
    if (!status) status = evn_session_collect(session, loop);
    for (int f = 0; f < 2; f++) evn_exchange_close(exchange[f]);
    evn_place_close(place);
    return status;
}

int WORK_MAIN(int argc, char **argv) {
    evn_session *session;
    evn_loop *loop;
    work_prepare(&w, argc, argv);
    const int with_places = !strcmp(w.mode, "places"), shared = !strcmp(w.mode, "share");
    if (with_places ? !w.row : !shared && strcmp(w.mode, "pull")) {
        fprintf(stderr, "%s: expected pull, share, or places of heat\n", w.mode);
        return 2;
    }
    const evn_problem problem = {
        .tasks = w.tasks, .weight = w.weight, .instances = w.warm + w.steps};
    TRY(evn_open(&session, NULL, NULL, 0));
    TRY(evn_open_loop(&loop, session, NULL, &problem));
    TRY(with_places ? run_places(session, loop) : run_plain(loop, shared ? share : pull));
    TRY(evn_close(session));
    work_print(&w);
    return 0;
}
