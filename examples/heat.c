/* Heat in a pipe of 64 blocks of uneven length, on any list of units, checked by a plain loop:
 *     EVENER_UNITS=1:CPU:1,2:GPU:1 EVENER_DEVICES=emulated EVENER_RECORD=heat.json ./heat
 * and over ranks:  EVENER_PROCESSES=2 ./heat   or   mpirun -n 2 ./heat */
#include "heat.h"
#include <evener.h>
#include <evener/unit.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                  \
    if (call) return evn_complain("heat")
enum { BLOCKS = 64, STEPS = 101, POINTS = 62 * ROW };
static double block[2][BLOCKS][POINTS];      /* of two fields, with a row of each neighbour */
static double line[2][BLOCKS * POINTS];      /* the same without blocks, for the plain loop */
extern const evn_kernel_source heat_kernels; /* made from heat.kernel.c by evener_kernels() */

static void advance(const double *u, double *next, int rows) {
    for (int at = ROW; at < (rows + 1) * ROW; at++) next[at] = MOVED(u, at);
}

/* A step of a batch's blocks from field *from to the other one: one launch on a GPU. */
static evn_status step(evn_unit *unit, evn_batch *batch, void *from) {
    int now = *(int *)from, count;
    evn_batch_tasks(batch, &count);
    evn_argument argument[] = {{.buffer = evn_batch_buffer(batch)},
                               {.buffer = evn_batch_table(batch)},
                               {.value = &now, .bytes = sizeof now}};
    if (evn_unit_is_gpu(unit))
        return evn_batch_launch(batch, &heat_kernels, "heat_step", count, argument, 3);
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        advance(evn_batch_host(batch, t, now), evn_batch_host(batch, t, 1 - now), ROWS(t));
    return EVN_OK;
}

/* A row of one block goes to a row of another. */
static evn_face copy(int field, int from, int row, int to, int to_row) {
    return (evn_face){.from = from,
                      .to = to,
                      .from_at = row * ROW,
                      .to_at = to_row * ROW,
                      .from_stride = {1, 1, 1},
                      .to_stride = {1, 1, 1},
                      .n = {1, 1, ROW},
                      .from_region = field,
                      .to_region = field};
}

int main(void) {
    evn_session *session;
    evn_loop *loop;
    evn_place *place;      /* has the blocks' values where their units are */
    evn_exchange *halo[2]; /* of each field */
    evn_face face[BLOCKS - 1][2];
    double weight[BLOCKS];
    int region[BLOCKS][2], first[BLOCKS + 1] = {0}, now = 0, wrong = 0;
    for (int at = 0; at < BLOCKS * POINTS; at++) line[0][at] = line[1][at] = at % 11;
    TRY(evn_open(&session, NULL, NULL, EVN_OVER_RANKS));
    TRY(evn_place_open(&place, evn_session_units(session), 0.5));
    for (int t = 0; t < BLOCKS; t++) {
        first[t + 1] = first[t] + (int)(weight[t] = ROWS(t));
        for (int field = 0; field < 2; field++) {
            memcpy(block[field][t], &line[field][first[t] * ROW], BYTES(t));
            TRY(evn_place_add(place, block[field][t], BYTES(t), &region[t][field]));
        }
    }
    evn_problem problem = {.tasks = BLOCKS, .weight = weight, .instances = STEPS};
    TRY(evn_open_loop(&loop, session, NULL, &problem));
    TRY(evn_session_place(session, loop, place, 2, region[0], (evn_access[]){EVN_BOTH, EVN_BOTH}));
    for (int field = 0; field < 2; field++) {
        for (int t = 0; t < BLOCKS - 1;
             t++) { /* the last row on, the next block's first one back */
            face[t][0] = copy(field, t, ROWS(t), t + 1, 0);
            face[t][1] = copy(field, t + 1, 1, t, ROWS(t) + 1);
        }
        TRY(evn_exchange_open(&halo[field], loop, 8, 2 * BLOCKS - 2, face[0], NULL));
    }
    for (int n = 0; n < STEPS; n++, now = 1 - now) {
        TRY(evn_loop_run(loop, step, &now));
        TRY(evn_exchange_run(halo[1 - now]));
        advance(line[now], line[1 - now], first[BLOCKS]);
    }
    TRY(evn_session_collect(session, loop)); /* to rank 0 */
    for (int t = 0; t < BLOCKS && !evn_session_rank(session); t++)
        wrong += memcmp(block[now][t], &line[now][first[t] * ROW], BYTES(t)) != 0;
    if (!evn_session_rank(session))
        printf("%s: %d blocks are wrong\n", evn_units_text(evn_session_units(session)), wrong);
    for (int field = 0; field < 2; field++) evn_exchange_close(halo[field]);
    evn_place_close(place);
    TRY(evn_close(session));
    return wrong > 0;
}
