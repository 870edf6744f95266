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
enum { BLOCKS = 64, STEPS = 101, MAX = 62 * BLOCKS * ROW };
static double whole[2][MAX], block[2][MAX];  /* both fields: of the plain loop, of the blocks */
extern const evn_kernel_source heat_kernels; /* made from heat.kernel.c by evener_kernels() */

static void move(const double *u, double *v, int rows) {
    for (int at = ROW; at < (rows + 1) * ROW; at++) v[at] = MOVED(u, at);
}

/* A step of a batch's blocks, from field *from to the other one. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *from) {
    int u = *(int *)from, count;
    evn_batch_tasks(batch, &count);
    evn_argument argument[] = {{.buffer = evn_batch_buffer(batch)},
                               {.buffer = evn_batch_table(batch)},
                               {.value = &u, .bytes = sizeof u}};
    if (evn_unit_is_gpu(unit))
        return evn_batch_launch(batch, &heat_kernels, "heat_step", count, argument, 3);
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        move(evn_batch_host(batch, t, u), evn_batch_host(batch, t, 1 - u), ROWS(t));
    return EVN_OK;
}

int main(void) {
    evn_session *session;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *exchange[2];
    evn_face face[2][2 * BLOCKS];
    int region[BLOCKS][2], top[BLOCKS + 1] = {0}, from = 0, wrong = 0;
    double size[BLOCKS], *mine[2][BLOCKS];
    for (int at = 0; at < MAX; at++) whole[0][at] = whole[1][at] = at % 11;
    for (int t = 0; t < BLOCKS; t++) top[t + 1] = top[t] + (int)(size[t] = ROWS(t));
    evn_problem problem = {.tasks = BLOCKS, .weight = size, .instances = STEPS};
    TRY(evn_open(&session, NULL, NULL, EVN_OVER_RANKS));
    TRY(evn_open_loop(&loop, session, NULL, &problem));
    TRY(evn_place_open(&place, evn_session_units(session), 0.5));
    for (int i = 0; i < 2 * BLOCKS; i++) {
        int t = i / 2, f = i % 2, end = ROWS(t) * ROW;
        mine[f][t] = memcpy(&block[f][(top[t] + 2 * t) * ROW], &whole[f][top[t] * ROW], BYTES(t));
        TRY(evn_place_add(place, mine[f][t], BYTES(t), &region[t][f]));
        evn_face *to = &face[f][2 * t]; /* the last row to the next block, its first one back */
        to[0] = (evn_face){
            t, t + 1, end, 0, {1, 1, 1}, {1, 1, 1}, {1, 1, ROW}, .from_region = f, .to_region = f};
        to[1] = (evn_face){t + 1,         t,         ROW,         end + ROW,
                           {1, 1, 1},     {1, 1, 1}, {1, 1, ROW}, .from_region = f,
                           .to_region = f};
    }
    evn_access both[] = {EVN_BOTH, EVN_BOTH};
    TRY(evn_session_place(session, loop, place, 2, region[0], both));
    for (int f = 0; f < 2; f++)
        TRY(evn_exchange_open(&exchange[f], loop, 8, 2 * BLOCKS - 2, face[f], NULL));
    for (int step = 0; step < STEPS; step++, from = 1 - from) {
        TRY(evn_loop_run(loop, body, &from));
        TRY(evn_exchange_run(exchange[1 - from]));
        move(whole[from], whole[1 - from], top[BLOCKS]);
    }
    TRY(evn_session_collect(session, loop)); /* to rank 0 */
    for (int t = 0; t < BLOCKS && !evn_session_rank(session); t++)
        wrong += memcmp(mine[from][t], &whole[from][top[t] * ROW], BYTES(t)) != 0;
    if (!evn_session_rank(session))
        printf("%s: %d blocks are wrong\n", evn_units_text(evn_session_units(session)), wrong);
    for (int f = 0; f < 2; f++) evn_exchange_close(exchange[f]);
    evn_place_close(place);
    TRY(evn_close(session));
    return wrong > 0;
}
