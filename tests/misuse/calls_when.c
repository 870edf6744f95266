/* Calls at the wrong time: from within a body or a job, by another thread, in a process forked
 * since. */
#include "misuse/world.h"
#include <evener/exchange.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}
static void job(evn_unit *unit, void *arg) { (void)unit, (void)arg; }
static void crew_job(evn_crew *crew, int me, int cores, void *arg) {
    (void)crew, (void)me, (void)cores, (void)arg;
}

/* What a body or job is to do on one unit, and what came of it. */
struct inside {
    struct world *w;
    evn_loop *loop;
    evn_unit *on, *unit;
    evn_batch *batch;
    int (*make)(struct inside *in, int row);
    int row, result;
};

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct inside *in = arg;
    if (unit != in->on) return EVN_OK;
    in->unit = unit;
    in->batch = batch;
    in->result = in->make(in, in->row);
    return EVN_OK;
}

/* ---- what a body must not do --------------------------------------------------------------- */

static int in_body(struct inside *in, int row) {
    struct world *w = in->w;
    int step = 0;
    USAGE("for them", evn_units_run(w->units, job, NULL))
    SAYS("from within a job", evn_units_close(w->units))
    USAGE("for them", evn_units_check_binding(w->units))
    USAGE("at work", evn_loop_run(w->loop, nothing, NULL))
    USAGE("at work", evn_loop_visit(w->loop, nothing, NULL))
    USAGE("at work", evn_loop_visit_host(w->loop, nothing, NULL, EVN_READ))
    USAGE("at work", evn_loop_bring(w->loop))
    USAGE("at work", evn_loop_stealing(w->loop, 0))
    USAGE("without a source", evn_batch_launch(in->batch, NULL, "axpy", 1, NULL, 0))
    USAGE("no kernel", evn_batch_launch(in->batch, &probe_kernels, "plough", 1, NULL, 0))
    USAGE("within a loop's body", evn_loop_weights(w->loop, NULL))
    USAGE("within a loop's body", evn_loop_join(w->loop, in->unit, nothing, NULL))
    USAGE("at work", evn_loop_place(w->loop, w->place, 1, w->region, (evn_access[]){EVN_READ}))
    USAGE("within its body", evn_loop_keep_bursts(w->loop, 10))
    SAYS("within its body", evn_loop_close(w->loop))
    SAYS("within a body", evn_exchange_close(w->exchange))
    USAGE("cannot be acquired", evn_exchange_run(w->exchange))
    USAGE("cannot be acquired", evn_exchange_start(w->exchange, &step))
    USAGE("is held", evn_recovery_keep(w->recovery, 0))
    USAGE("at work", evn_recovery_go_on(w->recovery, EVN_DEVICE, &step))
    USAGE("held", evn_place_remove(w->place, evn_batch_tasks(in->batch, &step)[0]))
    CALLS_END
}

/* Calls that the units refuse say so in other words to their opener's thread. */
static int in_body_of_opener(struct inside *in, int row) {
    struct world *w = in->w;
    USAGE("return first", evn_units_run(w->units, job, NULL))
    USAGE("return first", evn_units_check_binding(w->units))
    USAGE("on the cores", evn_batch_launch(in->batch, &probe_kernels, "axpy", 1, NULL, 0))
    USAGE("on the cores", evn_batch_launch(in->batch, NULL, NULL, -1, NULL, -1))
    IS(NULL, evn_batch_queue(in->batch))
    IS(NULL, evn_batch_buffer(in->batch))
    IS(NULL, evn_batch_table(in->batch))
    IS(0, evn_batch_at(in->batch, evn_batch_next(in->batch), 0))
    CALLS_END
}

static int run_inside(struct world *w, evn_loop *loop, evn_unit *on,
                      int (*make)(struct inside *in, int row), int row) {
    struct inside in = {.w = w, .loop = loop, .on = on, .make = make, .row = row, .result = WRONG};
    if (evn_loop_run(loop, body, &in)) printf("the loop failed: %s\n", evn_message());
    return in.result;
}

int calls_in_body(struct world *w, int row) {
    return run_inside(w, w->loop, w->cpu, in_body_of_opener, row);
}

int calls_in_body_of_device(struct world *w, int row) {
    return run_inside(w, w->loop, w->gpu, in_body, row);
}

/* ---- what a batch cannot answer: the instance fails, too ------------------------------------ */

static int mistakes(struct inside *in, int row) {
    const struct world *w = in->w;
    evn_batch *b = in->batch;
    const int mine = evn_batch_tasks(b, &(int){0})[0];
    GIVES(NULL, "NULL", evn_batch_tasks(b, NULL))
    SAYS("-1 more tasks", evn_batch_done(b, -1))
    SAYS("99 more tasks", evn_batch_done(b, 99))
    SAYS("evn_batch_next()", (evn_batch_next(b), evn_batch_done(b, 1)))
    GIVES(-1, "evn_batch_done()", (evn_batch_done(b, 1), evn_batch_next(b)))
    SAYS("task -1", evn_batch_add(b, -1, 1))
    SAYS("task 99", evn_batch_add(b, 99, 1))
    SAYS("-1 seconds", evn_batch_add(b, mine, -1))
    SAYS("seconds", evn_batch_add(b, mine, NAN))
    SAYS("inf seconds", evn_batch_add(b, mine, INFINITY))
    SAYS("task -1", evn_batch_spent(b, -1, evn_now()))
    SAYS("evn_batch_spent()", evn_batch_spent(b, mine, evn_now()))
    GIVES(0, "task -1", evn_batch_at(b, -1, 0))
    GIVES(0, "region 1", evn_batch_at(b, mine, 1))
    GIVES(0, "region -1", evn_batch_at(b, mine, -1))
    GIVES(NULL, "task 99", evn_batch_host(b, 99, 0))
    GIVES(NULL, "region 1", evn_batch_host(b, mine, 1))
    GIVES(NULL, "region -1", evn_batch_host(b, mine, -1))
    CALLS_END
}

/* On cores and on a device, by turns. */
int calls_batch_mistakes(struct world *w, int row) {
    struct inside in = {
        .w = w, .on = row % 2 ? w->gpu : w->cpu, .make = mistakes, .row = row / 2, .result = WRONG};
    const evn_status status = evn_loop_run(w->loop, body, &in);
    if (in.result != RIGHT || status == EVN_BODY) return in.result;
    printf("the instance did not fail\n");
    return WRONG;
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static void make_in_job(evn_unit *unit, void *arg) {
    struct inside *in = arg;
    if (unit == in->on) in->result = in->make(in, in->row);
}

static int in_job(struct inside *in, int row) {
    struct world *w = in->w;
    USAGE("return first", evn_units_run(w->units, job, NULL))
    USAGE("at work", evn_loop_run(w->loop, nothing, NULL))
    USAGE("at work", evn_loop_visit(w->loop, nothing, NULL))
    SAYS("from within a job", evn_units_close(w->units))
    USAGE("return first", evn_exchange_run(w->exchange))
    CALLS_END
}

static evn_status without_body[2];
static void join_without_body(evn_unit *unit, void *arg) {
    const int me = evn_unit_number(unit);
    without_body[me] = evn_loop_join(arg, unit, me ? nothing : NULL, NULL);
}
static void join_described(evn_unit *unit, void *arg) {
    without_body[evn_unit_number(unit)] = evn_loop_join(arg, unit, nothing, NULL);
}

static evn_status join(struct world *w, evn_units *units, void (*by)(evn_unit *, void *)) {
    evn_loop *loop;
    if (evn_loop_open(&loop, units, w->schedule)) return EVN_OK;
    evn_units_run(units, by, loop);
    return without_body[0];
}

int calls_in_job(struct world *w, int row) {
    if (row >= 2) {
        struct inside in = {.w = w, .on = w->cpu, .make = in_job, .row = row - 2, .result = WRONG};
        evn_units_run(w->units, make_in_job, &in);
        return in.result;
    }
    FAILS(EVN_BODY, "a body", join(w, w->other, join_without_body))
    USAGE("only described", join(w, w->described_cores, join_described))
    CALLS_END
}

/* ---- another thread ------------------------------------------------------------------------ */

static int by_another(struct world *w, int row) {
    int step = 0;
    USAGE("the thread that opened them", evn_units_run(w->units, job, NULL))
    USAGE("the thread that opened them", evn_loop_run(w->loop, nothing, NULL))
    USAGE("the thread that opened them", evn_loop_visit(w->loop, nothing, NULL))
    USAGE("the thread that opened them", evn_loop_visit_host(w->loop, nothing, NULL, EVN_READ))
    USAGE("the thread that opened them", evn_loop_bring(w->loop))
    USAGE("outside", evn_loop_join(w->loop, w->cpu, nothing, NULL))
    USAGE("the thread that opened them", evn_exchange_run(w->exchange))
    USAGE("the thread that opened them", evn_exchange_start(w->exchange, &step))
    USAGE("the thread that opened them", evn_crew_run(w->crew, NULL, 2, crew_job, NULL))
    USAGE("the thread that opened them", evn_crew_run(w->crew, NULL, 1, crew_job, NULL))
    USAGE("the thread that opened them", evn_units_check_binding(w->units))
    CALLS_END
}

struct errand {
    struct world *w;
    int row, result;
};
static void *run_errand(void *arg) {
    struct errand *e = arg;
    e->result = by_another(e->w, e->row);
    return NULL;
}

int calls_of_another_thread(struct world *w, int row) {
    struct errand e = {w, row, WRONG};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_errand, &e)) return WRONG;
    pthread_join(thread, NULL);
    return e.result;
}

/* ---- another process ----------------------------------------------------------------------- */

static int in_another(struct world *w, int row) {
    evn_loop *l;
    const evn_problem p = {.tasks = TASKS};
    int step = 0;
    USAGE("forked", evn_units_run(w->units, job, NULL))
    USAGE("forked", evn_loop_run(w->loop, nothing, NULL))
    USAGE("forked", evn_loop_visit(w->loop, nothing, NULL))
    USAGE("forked", evn_exchange_run(w->exchange))
    USAGE("forked", evn_crew_run(w->crew, NULL, 2, crew_job, NULL))
    USAGE("forked", evn_crew_run(w->crew, NULL, 1, crew_job, NULL))
    USAGE("forked", evn_place_acquire(w->place, 1, w->region, w->space, EVN_READ))
    USAGE("forked", evn_buffer_open((evn_buffer **)&w->pointer, w->device, 8))
    USAGE("forked", evn_copy_to_device(w->queue, w->buffer, 0, w->text, 8))
    USAGE("forked", evn_queue_finish(w->queue))
    USAGE("forked", evn_event_record(w->event, w->queue))
    USAGE("forked", evn_open_loop(&l, w->session, "static", &p))
    USAGE("forked", evn_close_loop(w->session, w->session_loop))
    IS(EVN_OK, evn_close(w->session))
    FINE(evn_exchange_close(w->exchange))
    FINE(evn_loop_close(w->loop))
    FINE(evn_place_close(w->place))
    FINE(evn_units_close(w->units))
    FINE(evn_device_close(w->device))
    SAYS("outside", evn_crew_barrier(w->crew))
    USAGE("outside", evn_loop_join(w->loop, w->cpu, nothing, NULL))
    USAGE("without a failure", evn_recovery_go_on(w->recovery, EVN_OK, &step))
    CALLS_END
}

int calls_of_another_process(struct world *w, int row) {
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        alarm(120);
        const int result = in_another(w, row);
        fflush(stdout);
        _exit(result);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return WRONG;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("it ends by signal %d\n", WTERMSIG(status));
    return WRONG;
}
