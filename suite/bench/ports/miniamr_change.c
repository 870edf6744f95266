/* Mantevo miniAMR on Evener: its blocks are tasks that come and go.
 * suite/bench/ports/miniamr_change.py adds this file to a copy of the program, and calls it in
 * place of the program's own loops over blocks. The program keeps its mesh (numbers, levels,
 * neighbours), the same on all ranks; values of blocks are regions of a place, and exist only
 * there. Of the program's options it has the 7-point stencil, all variables exchanged together, and
 * one rank of MPI.
 *
 * Ghost values beside blocks of another level differ from evn_face by powers of two: the program
 * passes on the sum of four values and not their mean, and a quarter of a value and not the value.
 * Bodies scale them, exactly. */
#include "miniamr_change.h"
#include "block.h"
#include <evener.h>
#include <evener/change.h>
#include <evener/loop.h>
#include <evener/schedule.h>
#include <evener/unit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) ((call) ? exit(evn_complain("miniAMR")) : (void)0)

/* By the place in the program's array of blocks. Between changes each block there is has a task. */
static struct slot {
    int task, region; /* task -1: born since the last change */
    int origins, origin[8];
    int faceless; /* its faces are still to be added */
} * slots;
static int tasks, born, stale; /* born: since the last change; stale: some blocks are faceless */
static int *slot_of;           /* of each task */
static double *sums;           /* of each task */
static evn_session *session;
static evn_loop *loop;
static evn_place *place;
static evn_exchange *halo;
static int wide[3];       /* values along an index, with ghosts */
static long long step[3]; /* values between neighbours */
static long long size;    /* values of a variable */

static void give_up(const char *why) { TRY(evn_fail(EVN_USAGE, "%s", why)); }

void port_open(void) {
    TRY(evn_open(&session, NULL, NULL, EVN_OVER_RANKS)); /* first of all */
    if (evn_session_rank(session) && !freopen("/dev/null", "w", stdout)) exit(1);
}

/* ---- faces ---- */

static evn_face *faces;
static int face_count, face_room;

/* The plane at `at` along index d, of all variables: its first value, and the strides. */
static long long plane(int d, int at, long long stride[3]) {
    const int j = d == 0 ? 1 : 0, k = d == 2 ? 1 : 2;
    stride[0] = size, stride[1] = step[j], stride[2] = step[k];
    return at * step[d] + step[j] + step[k];
}

/* The ghosts of block `to` on side l, from its neighbour. level: of the neighbour, beside `to`'s;
 * (a, b): the quarter of the coarser block's side, along the later and the earlier other index. */
static void add_face(int from, int to, int l, int level, int a, int b) {
    if (!slots[from].faceless && !slots[to].faceless) return;
    if (face_count == face_room) {
        face_room = 2 * face_room + 1024;
        faces = realloc(faces, face_room * sizeof *faces);
        if (!faces) give_up("no memory for faces");
    }
    evn_face *f = &faces[face_count++];
    const int d = l / 2, j = d == 0 ? 1 : 0, k = d == 2 ? 1 : 2, far = wide[d] - 1;
    *f = (evn_face){.from = slots[from].task, .to = slots[to].task, .numbers = EVN_DOUBLES};
    f->from_at = plane(d, l % 2 ? 1 : far - 1, f->from_stride);
    f->to_at = plane(d, l % 2 ? far : 0, f->to_stride);
    f->n[0] = num_vars, f->n[1] = wide[j] - 2, f->n[2] = wide[k] - 2;
    const long long quarter = b * (f->n[1] / 2) * step[j] + a * (f->n[2] / 2) * step[k];
    if (level > 0) {
        f->n[1] /= 2, f->n[2] /= 2;
        f->to_at += quarter;
        f->resolution[1] = f->resolution[2] = EVN_MEAN;
    } else if (level < 0) {
        f->from_at += quarter;
        f->resolution[1] = f->resolution[2] = EVN_REPEAT;
    }
}

/* Calls `each` for all ghosts there are, as of add_face(). */
static void all_ghosts(void (*each)(int from, int to, int l, int level, int a, int b)) {
    for (int t = 0; t < tasks; t++) {
        const int n = slot_of[t];
        const block *b = &blocks[n];
        for (int l = 0; l < 6; l++) {
            if (b->nei_level[l] == b->level) {
                each(b->nei[l][0][0], n, l, 0, 0, 0);
            } else if (b->nei_level[l] == b->level + 1) {
                for (int q = 0; q < 4; q++) each(b->nei[l][q / 2][q % 2], n, l, 1, q / 2, q % 2);
            } else if (b->nei_level[l] == b->level - 1) {
                const int m = b->nei[l][0][0];
                for (int q = 0; q < 4; q++)
                    if (blocks[m].nei[l ^ 1][q / 2][q % 2] == n) each(m, n, l, -1, q / 2, q % 2);
            }
        }
    }
}

static evn_link *links;
static int link_count, link_room;
static void add_link(int from, int to, int l, int level, int a, int b) {
    (void)a, (void)b;
    if (level < 0 || (level == 0 && l % 2)) return; /* each pair once */
    if (link_count == link_room) {
        link_room = 2 * link_room + 1024;
        links = realloc(links, link_room * sizeof *links);
        if (!links) give_up("no memory for links");
    }
    const int d = l / 2, j = d == 0 ? 1 : 0, k = d == 2 ? 1 : 2;
    const double values = (double)num_vars * (wide[j] - 2) * (wide[k] - 2) / (level ? 4 : 1);
    links[link_count++] = (evn_link){{slots[from].task, slots[to].task}, values * sizeof(double)};
}

/* ---- bodies ---- */

static double *values(evn_batch *batch, int t, int var) {
    return (double *)evn_batch_host(batch, t, 0) + var * size;
}

/* The values that the program's init() has given to the first blocks. */
static evn_status begin(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        for (int v = 0; v < num_vars; v++)
            for (int i = 0; i < wide[0]; i++)
                for (int j = 0; j < wide[1]; j++)
                    memcpy(values(batch, t, v) + i * step[0] + j * step[1],
                           blocks[slot_of[t]].array[v][i][j], wide[2] * sizeof(double));
    return EVN_OK;
}

/* Ghosts on side l, before the stencil reads them: scaled, or at the boundary a copy. */
static void mend(double *u, int l, int level) {
    const int d = l / 2, j = d == 0 ? 1 : 0, k = d == 2 ? 1 : 2;
    double *ghost = u + (l % 2 ? wide[d] - 1 : 0) * step[d];
    const long long inward = l % 2 ? -step[d] : step[d];
    if (level == 0) return;
    for (int b = 1; b < wide[j] - 1; b++)
        for (int a = 1; a < wide[k] - 1; a++) {
            double *g = ghost + b * step[j] + a * step[k];
            *g = level == -2 ? g[inward] : level > 0 ? *g * 4 : *g / 4;
        }
}

static evn_status stencil_of(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    const int var = *(const int *)arg, nx = wide[0], ny = wide[1], nz = wide[2];
    double(*work)[ny][nz] = malloc(sizeof(double[nx][ny][nz]));
    if (!work) return evn_fail(EVN_MEMORY, "no memory for a block");
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        const block *b = &blocks[slot_of[t]];
        double(*u)[ny][nz] = (double(*)[ny][nz])values(batch, t, var);
        for (int l = 0; l < 6; l++)
            mend(u[0][0], l, b->nei_level[l] == -2 ? -2 : b->nei_level[l] - b->level);
        for (int i = 1; i < nx - 1; i++)
            for (int j = 1; j < ny - 1; j++)
                for (int k = 1; k < nz - 1; k++)
                    work[i][j][k] = (u[i - 1][j][k] + u[i][j - 1][k] + u[i][j][k - 1] + u[i][j][k] +
                                     u[i][j][k + 1] + u[i][j + 1][k] + u[i + 1][j][k]) /
                                    7.0;
        for (int i = 1; i < nx - 1; i++)
            for (int j = 1; j < ny - 1; j++)
                memcpy(&u[i][j][1], &work[i][j][1], (nz - 2) * sizeof(double));
    }
    free(work);
    return EVN_OK;
}

static evn_status sum_of(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        const double *u = values(batch, t, *(const int *)arg);
        double sum = 0;
        for (int i = 1; i < wide[0] - 1; i++)
            for (int j = 1; j < wide[1] - 1; j++)
                for (int k = 1; k < wide[2] - 1; k++) sum += u[i * step[0] + j * step[1] + k];
        sums[t] = sum;
    }
    return EVN_OK;
}

/* Two values along each index make one of the coarser block: the first index fastest, as the
 * program adds them. */
static long long cell_of(int i, int j, int k, int c) {
    return (2 * i + 1 + c % 2) * step[0] + (2 * j + 1 + c / 2 % 2) * step[1] + 2 * k + 1 + c / 4;
}

/* A part of a block, each value eight times, divided by eight; or a block of eight, sums of eight.
 * Ghosts are 0 until the next exchange. */
static evn_status bear(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    const int hx = wide[0] / 2 - 1, hy = wide[1] / 2 - 1, hz = wide[2] / 2 - 1;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        const int parts = evn_batch_origins(batch, t);
        memset(values(batch, t, 0), 0, num_vars * size * sizeof(double));
        for (int o = 0; o < parts; o++) {
            const int eighth = parts == 8 ? o : blocks[slot_of[t]].child_number;
            const long long at = (eighth % 2 * hx + 1) * step[0] +
                                 (eighth / 2 % 2 * hy + 1) * step[1] + eighth / 4 * hz + 1;
            for (int v = 0; v < num_vars; v++) {
                double *u = values(batch, t, v);
                const double *from = (double *)evn_batch_origin_host(batch, t, o, 0) + v * size;
                for (int i = 0; i < hx; i++)
                    for (int j = 0; j < hy; j++)
                        for (int k = 0; k < hz; k++) {
                            const long long coarse = at + i * step[0] + j * step[1] + k;
                            double sum = from[cell_of(i, j, k, 0)];
                            for (int c = 1; c < 8; c++) sum += from[cell_of(i, j, k, c)];
                            if (parts == 8) u[coarse] = sum;
                            for (int c = 0; c < 8 && parts == 1; c++)
                                u[cell_of(i, j, k, c)] = from[coarse] / 8.0;
                        }
            }
        }
    }
    return EVN_OK;
}

/* ---- the program's calls ---- */

void port_begin(void) {
    const int inner[3] = {x_block_size, y_block_size, z_block_size};
    if (stencil != 7 || code || comm_vars != num_vars || num_pes != 1)
        give_up("needs --stencil 7, --code 0, no --comm_vars, and one rank of MPI");
    if (evn_units_about(evn_session_units(session)).gpus) give_up("bodies run on cores");
    for (int d = 0; d < 3; d++) wide[d] = inner[d] + 2;
    step[2] = 1, step[1] = wide[2], step[0] = (long long)wide[1] * wide[2],
    size = step[0] * wide[0];
    tasks = sorted_index[num_refine + 1];
    slots = calloc(max_num_blocks, sizeof *slots);
    slot_of = malloc(max_num_blocks * sizeof *slot_of);
    sums = malloc(max_num_blocks * sizeof *sums);
    int *region = malloc(tasks * sizeof *region);
    if (!slots || !slot_of || !sums || !region) give_up("no memory for blocks");
    TRY(evn_place_open(&place, evn_session_units(session), 0.5));
    for (int t = 0; t < tasks; t++) {
        const int n = slot_of[t] = sorted_list[t].n;
        TRY(evn_place_make(place, num_vars * size * sizeof(double), &region[t]));
        slots[n] = (struct slot){.task = t, .region = region[t], .faceless = 1};
    }
    all_ghosts(add_link);
    all_ghosts(add_face);
    TRY(evn_open_loop(&loop, session, NULL,
                      &(evn_problem){.tasks = tasks, .links = link_count, .link = links}));
    TRY(evn_session_place(session, loop, place, 1, region, &(evn_access){EVN_BOTH}));
    TRY(evn_loop_visit_host(loop, begin, NULL, EVN_WRITE));
    TRY(evn_exchange_open(&halo, loop, sizeof(double), face_count, faces, NULL));
    for (int t = 0; t < tasks; t++) slots[slot_of[t]].faceless = 0;
    free(region);
}

void port_split(int n, int m) {
    if (slots[n].task < 0) give_up("a block is refined twice within one change");
    slots[m] = (struct slot){.task = -1, .origins = 1, .origin = {slots[n].task}};
    born++;
}

void port_join(int n, int o, int m) {
    const int task = slots[m].task;
    if (task < 0) give_up("a block is born and coarsened within one change");
    if (!o) slots[n] = (struct slot){.task = -1}, born++;
    slots[n].origin[slots[n].origins++] = task;
}

/* After the program has split or joined blocks: tasks are renumbered, and born ones get values.
 * Their faces come with the next exchange: in between there may be other changes. */
void port_change(void) {
    if (!born) return;
    const int n = sorted_index[num_refine + 1];
    int *first = malloc((n + 1) * sizeof *first), *from = malloc(8 * n * sizeof *from);
    int *region = malloc(n * sizeof *region);
    char *kept = malloc(n);
    if (!first || !from || !region || !kept) give_up("no memory for a change");
    first[0] = 0;
    for (int t = 0; t < n; t++) {
        struct slot *s = &slots[slot_of[t] = sorted_list[t].n];
        first[t + 1] = first[t];
        kept[t] = s->task >= 0;
        if (kept[t]) from[first[t + 1]++] = s->task;
        for (int o = 0; !kept[t] && o < s->origins; o++) from[first[t + 1]++] = s->origin[o];
        if (!kept[t]) {
            TRY(evn_place_make(place, num_vars * size * sizeof(double), &s->region));
            s->faceless = stale = 1;
        }
        s->task = t, region[t] = s->region;
    }
    tasks = n, born = link_count = 0;
    all_ghosts(add_link);
    TRY(evn_loop_change(loop, &(evn_change){.tasks = n,
                                            .first = first,
                                            .from = from,
                                            .kept = kept,
                                            .links = link_count,
                                            .link = links,
                                            .region = region}));
    TRY(evn_loop_bear(loop, bear, NULL, EVN_READ));
    free(first), free(from), free(region), free(kept);
}

void port_comm(void) {
    if (stale) {
        face_count = 0;
        all_ghosts(add_face);
        TRY(evn_exchange_add(halo, face_count, faces, NULL));
        for (int t = 0; t < tasks; t++) slots[slot_of[t]].faceless = 0;
        stale = 0;
    }
    TRY(evn_exchange_run(halo));
}

void port_stencil(int var) {
    TRY(evn_loop_run(loop, stencil_of, &var));
    total_fp_divs += (double)num_active * num_cells;
    total_fp_adds += 6.0 * num_active * num_cells;
}

double port_check_sum(int var) {
    double sum = 0;
    TRY(evn_loop_visit_host(loop, sum_of, &var, EVN_READ));
    TRY(evn_loop_allgather(loop, sums, sizeof *sums));
    for (int t = 0; t < tasks; t++) sum += sums[t];
    return sum;
}

void port_close(void) {
    long long moved = 0, all_born = 0, most = 0;
    double seconds = 0;
    for (int c = 0; c < evn_loop_about(loop).generation; c++) {
        const evn_changed change = evn_loop_changed(loop, c);
        moved += change.moved, all_born += change.born, seconds += change.seconds;
        if (change.tasks > most) most = change.tasks;
    }
    printf("Changes: %d, %lld born, %lld moved, at most %lld blocks, %.4f s\n",
           evn_loop_about(loop).generation, all_born, moved, most, seconds);
    fflush(stdout);
    evn_exchange_close(halo);
    evn_place_close(place);
    TRY(evn_close(session));
}
