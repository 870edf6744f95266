/* Wrong calls of schedules: problems, texts, what is learnt, assignments; and of the model. */
#include "misuse/world.h"
#include <evener/predict.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>

/* A schedule for a problem that is right but for what is given. */
static evn_status open_for(evn_problem p) {
    OWN(schedule) *s;
    if (!p.tasks) p.tasks = TASKS;
    if (!p.units) p.units = 2;
    const evn_status status = evn_schedule_open(&s, "binpack", &p);
    return status;
}

static const double negative[TASKS] = {1, -1, 1, 1, 1, 1}, no_number[TASKS] = {1, 1, NAN},
                    endless[TASKS] = {1, INFINITY}, zeros[TASKS];
static const int beyond[TASKS] = {0, 2, 0, 0, 0, 0}, below[TASKS] = {0, -1}, first[TASKS];
static const evn_link out_of_range = {{0, TASKS}, 8}, less = {{0, 1}, -8}, no_bytes = {{0, 1}, NAN};
static const evn_route slow = {1, {NAN, 0}, {0, 0}};

int calls_problem(struct world *w, int row) {
    (void)w;
    USAGE("-1 tasks", open_for((evn_problem){.tasks = -1}))
    USAGE("-2147483648 tasks", open_for((evn_problem){.tasks = INT_MIN}))
    USAGE("-3 units", open_for((evn_problem){.units = -3}))
    USAGE("weight of task 1", open_for((evn_problem){.weight = negative}))
    USAGE("weight of task 2", open_for((evn_problem){.weight = no_number}))
    USAGE("weight of task 1 is inf", open_for((evn_problem){.weight = endless}))
    USAGE("-1 links", open_for((evn_problem){.links = -1, .link = &less}))
    USAGE("no array", open_for((evn_problem){.links = 1}))
    USAGE("names task 6", open_for((evn_problem){.links = 1, .link = &out_of_range}))
    USAGE("-8 bytes", open_for((evn_problem){.links = 1, .link = &less}))
    USAGE("nan bytes", open_for((evn_problem){.links = 1, .link = &no_bytes}))
    USAGE("speed of unit 0", open_for((evn_problem){.speed = zeros}))
    USAGE("speed of unit 1", open_for((evn_problem){.speed = negative}))
    USAGE("speed of unit 1", open_for((evn_problem){.speed = endless}))
    USAGE("bandwidth", open_for((evn_problem){.bandwidth = -1}))
    USAGE("bandwidth", open_for((evn_problem){.bandwidth = NAN}))
    USAGE("bandwidth", open_for((evn_problem){.bandwidth = INFINITY}))
    USAGE("-5 instances", open_for((evn_problem){.instances = -5}))
    USAGE("-1 kinds", open_for((evn_problem){.kinds = -1}))
    USAGE("kinds", open_for((evn_problem){.kinds = INT_MAX}))
    USAGE("kind of unit 1", open_for((evn_problem){.kinds = 1, .kind = beyond}))
    USAGE("kind of unit 1", open_for((evn_problem){.kinds = 1, .kind = below}))
    USAGE("node of unit 1", open_for((evn_problem){.node = below}))
    USAGE("route", open_for((evn_problem){.route = &slow}))
    USAGE("far route", open_for((evn_problem){.far = &slow}))
    USAGE("memory of task 1", open_for((evn_problem){.bytes = negative}))
    USAGE("capacity of unit 1", open_for((evn_problem){.capacity = negative}))
    USAGE("capacity of unit", open_for((evn_problem){.units = 3, .capacity = no_number}))
    CALLS_END
}

int calls_schedule(struct world *w, int row) {
    evn_schedule *s;
    const evn_problem p = {.tasks = TASKS, .units = 2};
    USAGE("NULL", evn_schedule_open(NULL, "static", &p))
    USAGE("guided:time", evn_schedule_open(&s, NULL, &p))
    USAGE("a problem", evn_schedule_open(&s, "static", NULL))
    USAGE("static, dynamic", evn_schedule_open(&s, "", &p))
    USAGE("static, dynamic", evn_schedule_open(&s, "nonsense", &p))
    USAGE("whole number", evn_schedule_open(&s, "dynamic:chunk=-1", &p))
    USAGE("whole number", evn_schedule_open(&s, "dynamic:chunk=99999999999999999999", &p))
    USAGE("whole number", evn_schedule_open(&s, "static:chunk=0", &p))
    USAGE("empty", evn_schedule_open(&s, "dynamic:", &p))
    USAGE("by what", evn_schedule_open(&s, "guided", &p))
    USAGE("numbers above 0", evn_schedule_open(&s, "weighted:speed=1+0", &p))
    USAGE("numbers above 0", evn_schedule_open(&s, "weighted:speed=1e999+1", &p))
    USAGE("speeds of 2 units", evn_schedule_open(&s, "weighted:speed=99*1", &p))
    USAGE("owners", evn_schedule_learn(w->schedule, NULL, zeros))
    USAGE("times", evn_schedule_learn(w->schedule, first, NULL))
    USAGE("unit 2", evn_schedule_learn(w->schedule, beyond, zeros))
    USAGE("unit -1", evn_schedule_learn(w->schedule, below, zeros))
    USAGE("took -1 s", evn_schedule_learn(w->schedule, first, negative))
    USAGE("task 2 took", evn_schedule_learn(w->schedule, first, no_number))
    USAGE("task 1 took inf", evn_schedule_learn(w->schedule, first, endless))
    USAGE("a text", evn_schedule_import(w->schedule, NULL))
    USAGE("expected", evn_schedule_import(w->schedule, ""))
    USAGE("runs", evn_schedule_import(w->schedule, "static 6 tasks 2 units: 3*0 3*2"))
    USAGE("runs", evn_schedule_import(w->schedule, "static 6 tasks 2 units: 7*0"))
    USAGE("runs", evn_schedule_import(w->schedule, "static 6 tasks 2 units: -1*0 7*1"))
    USAGE("runs", evn_schedule_import(w->schedule, "static 6 tasks 2 units:"))
    CALLS_END
}

/* What an assignment means for a problem of one link. */
static double cut(int links, const evn_link *link, const int *owner) {
    const evn_problem p = {.tasks = TASKS, .units = 2, .links = links, .link = link};
    return evn_problem_cut(&p, owner, NULL);
}

int calls_assignment(struct world *w, int row) {
    const evn_problem p = {.tasks = TASKS, .units = 2}, none = {0}, *made;
    made = evn_schedule_problem(w->schedule);
    USAGE("NULL", evn_schedule_reassign(w->schedule, 4, NULL))
    USAGE("1 core", evn_schedule_reassign(w->schedule, 1, w->ints))
    USAGE("-1 core", evn_schedule_reassign(w->schedule, -1, w->ints))
    USAGE("NULL", evn_schedule_simulate(w->schedule, NULL, w->doubles))
    USAGE("NULL", evn_schedule_simulate(w->schedule, w->ints, NULL))
    NO_NUMBER("times", evn_imbalance(2, NULL))
    NO_NUMBER("0 units", evn_imbalance(0, zeros))
    NO_NUMBER("-1 units", evn_imbalance(-1, zeros))
    NO_NUMBER("a problem", evn_problem_imbalance(NULL, first, NULL))
    NO_NUMBER("owners", evn_problem_imbalance(&p, NULL, NULL))
    NO_NUMBER("on unit 2", evn_problem_imbalance(&p, beyond, w->doubles))
    NO_NUMBER("on unit -1", evn_problem_imbalance(made, below, NULL))
    NO_NUMBER("0 tasks", evn_problem_imbalance(&none, first, NULL))
    NO_NUMBER("a problem", evn_problem_cut(NULL, first, NULL))
    NO_NUMBER("owners", evn_problem_cut(&p, NULL, w->ints))
    NO_NUMBER("on unit 2", evn_problem_cut(&p, beyond, w->ints))
    NO_NUMBER("no array", cut(1, NULL, first))
    NO_NUMBER("-1 links", cut(-1, &less, first))
    NO_NUMBER("names task 6", cut(1, &out_of_range, first))
    NO_NUMBER("-8 bytes", cut(1, &less, first))
    CALLS_END
}

/* Predictions for tasks and processes that are right but for what is given. */
static evn_status predict(evn_problem p, evn_processes how, const int *owner, double seconds) {
    const double times[TASKS] = {seconds};
    const int threads[2] = {1, 1};
    evn_prediction out;
    if (!p.tasks) p.tasks = TASKS;
    if (!how.processes) how.processes = 2;
    if (!how.threads) how.threads = 1;
    const evn_prediction_input in = {.tasks = &p, .seconds = times, .alpha = seconds / 2};
    return evn_predict_step(&in, &how, owner, threads, &out);
}

/* A simulation of a model that is right but for what is given. */
static evn_status simulate(evn_model m) {
    static const double seconds[TASKS];
    OWN(simulation) *s;
    if (!m.tasks) m.tasks = TASKS;
    if (!m.units) m.units = 2;
    if (!m.kinds) m.kinds = 1;
    if (!m.seconds) m.seconds = seconds;
    const evn_status status = evn_simulation_open(&s, &m);
    return status;
}

int calls_model(struct world *w, int row) {
    evn_simulation *s;
    evn_step step;
    const evn_model empty = {.tasks = TASKS, .units = 2, .kinds = 1};
    USAGE("NULL", evn_simulation_open(NULL, &w->model))
    USAGE("a model", evn_simulation_open(&s, NULL))
    USAGE("seconds are NULL", evn_simulation_open(&s, &empty))
    USAGE("-1 tasks", simulate((evn_model){.tasks = -1}))
    USAGE("-1 units", simulate((evn_model){.units = -1}))
    USAGE("-1 kinds", simulate((evn_model){.kinds = -1}))
    USAGE("kinds", simulate((evn_model){.kinds = INT_MAX}))
    USAGE("time of task 1", simulate((evn_model){.seconds = negative}))
    USAGE("time of task 2", simulate((evn_model){.seconds = no_number}))
    USAGE("data of task 1", simulate((evn_model){.state = endless}))
    USAGE("-1 links", simulate((evn_model){.links = -1, .link = &less}))
    USAGE("no array", simulate((evn_model){.links = 1}))
    USAGE("end of link 0", simulate((evn_model){.links = 1, .link = &out_of_range}))
    USAGE("size of link 0", simulate((evn_model){.links = 1, .link = &less}))
    USAGE("kind of unit 1", simulate((evn_model){.kind = beyond}))
    USAGE("factor of unit 0", simulate((evn_model){.slow = zeros}))
    USAGE("route 0", simulate((evn_model){.route = &slow}))
    USAGE("route within kind 0", simulate((evn_model){.within = &slow}))
    USAGE("noise", simulate((evn_model){.noise = 1}))
    USAGE("noise", simulate((evn_model){.noise = -0.5}))
    USAGE("noise", simulate((evn_model){.noise = NAN}))
    USAGE("a schedule", evn_simulation_step(w->simulation, NULL, &step))
    USAGE("NULL", evn_simulation_step(w->simulation, w->schedule, NULL))
    USAGE("3 units", evn_simulation_step(w->simulation, w->of_three, &step))
    NO_NUMBER("a model", evn_model_speeds(NULL, NULL, w->doubles))
    NO_NUMBER("NULL", evn_model_speeds(&w->model, NULL, NULL))
    NO_NUMBER("seconds are NULL", evn_model_speeds(&empty, NULL, w->doubles))
    USAGE("-1 tasks", predict((evn_problem){.tasks = -1}, (evn_processes){0}, first, 1))
    USAGE("weight of task 2",
          predict((evn_problem){.weight = no_number}, (evn_processes){0}, first, 1))
    USAGE("end of link 0",
          predict((evn_problem){.links = 1, .link = &out_of_range}, (evn_processes){0}, first, 1))
    USAGE("link 0 has",
          predict((evn_problem){.links = 1, .link = &less}, (evn_processes){0}, first, 1))
    USAGE("1 links", predict((evn_problem){.links = 1}, (evn_processes){0}, first, 1))
    USAGE("-1 processes", predict((evn_problem){0}, (evn_processes){.processes = -1}, first, 1))
    USAGE("cores at most",
          predict((evn_problem){0}, (evn_processes){INT_MAX, INT_MAX, 0, 0}, first, 1))
    USAGE("task 1 is of process 2", predict((evn_problem){0}, (evn_processes){0}, beyond, 1))
    USAGE("task 1 is of process -1", predict((evn_problem){0}, (evn_processes){0}, below, 1))
    USAGE("alpha", predict((evn_problem){0}, (evn_processes){0}, first, NAN))
    USAGE("alpha", predict((evn_problem){0}, (evn_processes){0}, first, -1))
    USAGE("tasks and times", evn_predict_step(NULL, NULL, first, first, NULL))
    USAGE("tasks", evn_predict_group(NULL, "binpack", NULL, NULL, NULL))
    NO_NUMBER("tasks", evn_predict_speedup(NULL, NULL, first, first, 0, 0))
    USAGE("tasks and units", evn_predict_units(NULL, "static", first, NULL, w->doubles))
    NO_NUMBER("alpha", evn_predict_team(NAN, 0, NULL, 1))
    NO_NUMBER("phases", evn_predict_team(0, 1, NULL, 1))
    NO_NUMBER("x", evn_predict_slope(1, NULL, w->doubles, NULL))
    USAGE("rank of unit 1", simulate((evn_model){.rank = beyond}))
    USAGE("rank of unit 1", simulate((evn_model){.rank = below}))
    USAGE("far route 0", simulate((evn_model){.far = &slow}))
    USAGE("tree", simulate((evn_model){.tree = NAN}))
    CALLS_END
}
