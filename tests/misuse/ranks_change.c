/* Wrong calls over ranks: of changes of the tasks, and of births. */
#include "misuse/over_ranks.h"
#include <evener/change.h>
#include <string.h>

/* A change that is wrong on one rank, which alone has another value of a member. */
#define CHANGE(words, field, value_)                                                               \
    ONE(words, (c = same_tasks, c.field = ODD ? (value_) : same_tasks.field,                       \
                evn_loop_change(w->own, &c)))

void ranks_change(struct world *w) {
    static const int falling[TASKS + 1] = {0, 1, 0, 1}, before[TASKS + 1] = {-1, 1, 2, 3};
    static const int far[TASKS] = {0, 1, TASKS}, below[TASKS] = {0, -1};
    static const int twice[TASKS] = {0, 1, 1, 3};
    static const int others[TASKS] = {1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const char none[TASKS] = {0};
    static const double negative[TASKS] = {1, -1}, equal[TASKS] = {1};
    static const evn_link beyond = {{0, TASKS}, 8}, link = {{0, 1}, 8};
    /* of 4 tasks a rank: the origins of task 2 go to two ranks for other tasks */
    static const int chain_first[] = {0, 2, 4, 6}, chain[] = {0, 4, 8, 9, 4, 8};
    evn_change c = {.tasks = 3, .first = chain_first, .from = chain, .links = -1};
    ALL("which task 2 comes from, were sent to ranks 0 and 2", evn_loop_change(w->own, &c))
    ONE("a change", evn_loop_change(w->own, ODD ? NULL : &same_tasks))
    CHANGE("at least one", tasks, 0)
    CHANGE("at least one", tasks, -1)
    CHANGE("-1 origins", first, falling)
    CHANGE("begin at -1", first, before)
    CHANGE("task 2 comes from task 12", from, far)
    CHANGE("task 1 comes from task -1", from, below)
    CHANGE("both task 1", from, twice)
    CHANGE("no origins are given", first, NULL)
    CHANGE("no origins are given", from, NULL)
#define EVERYWHERE(words, field, value_)                                                           \
    CHANGE(words, field, value_)                                                                   \
    ALL(words, (c = same_tasks, c.field = value_, evn_loop_change(w->own, &c)))
    EVERYWHERE("task 1 is -1", weight, negative)
    EVERYWHERE("task 1 is -1", bytes, negative)
    EVERYWHERE("task 1 is -1", state, negative)
    EVERYWHERE("-1 instances", instances, -1)
#undef EVERYWHERE
    ONE("names task 12",
        (c = same_tasks, c.links = 1, c.link = ODD ? &beyond : &link, evn_loop_change(w->own, &c)))
    CHANGE("-2 links", links, -2)
    CHANGE("no array of them", links, 1)
    CHANGE("may move", most, -0.5)
    CHANGE("may move", most, 2)
    /* right by itself, and other than on the other ranks */
    CHANGE("tasks on rank", tasks, TASKS - 1)
    CHANGE("arrays on rank", from, others)
    CHANGE("arrays on rank", kept, none)
    CHANGE("arrays on rank", weight, equal)
    CHANGE("arrays on rank", bytes, equal)
    CHANGE("arrays on rank", state, equal)
    CHANGE("arrays on rank", links, 0)
    CHANGE("arrays on rank", instances, 9)
    CHANGE("arrays on rank", most, 0.5)
    ONE("all ranks make the same calls",
        ODD ? evn_loop_change(w->own, &same_tasks) : evn_loop_visit(w->own, nothing, NULL))
    must(evn_loop_about(w->own).generation == 0);
    must_ok(evn_loop_change(w->own, &same_tasks)); /* and what is right is done */
    goes_on(w);
}

/* ---- births -------------------------------------------------------------------------------- */

/* The last task of each rank is born of itself, with values that are the same. */
struct births {
    char kept[TASKS];
    int region[TASKS], before[TASKS];
    evn_change of;
};

static int is_born(int t) { return t % OWN == OWN - 1; }

static void make_births(const struct world *w, struct births *b) {
    *b = (struct births){.of = same_tasks};
    memcpy(b->before, w->region, sizeof b->before);
    for (int t = 0; t < TASKS; t++) {
        b->kept[t] = !is_born(t);
        b->region[t] = -1;
        if (is_born(t)) must_ok(evn_place_make(w->place, BYTES, &b->region[t]));
    }
    b->of.kept = b->kept;
    b->of.region = b->region;
}

/* The change, and faces of born tasks. */
static void change(struct world *w, const struct births *b) {
    evn_face face[2 * TASKS];
    int faces = 0;
    must_ok(evn_loop_change(w->placed, &b->of));
    for (int t = 0; t + 1 < TASKS; t++)
        if (is_born(t) || is_born(t + 1)) face_pair(t, &face[faces]), faces += 2;
    must_ok(evn_exchange_add(w->placed_halo, faces, face, NULL));
    for (int t = 0; t < TASKS; t++)
        if (is_born(t)) w->region[t] = b->region[t];
}

static evn_status bear(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        memcpy(evn_batch_host(batch, t, 0), evn_batch_origin_host(batch, t, 0, 0), BYTES);
    return EVN_OK;
}

static evn_status bears_wrongly(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    const int t = evn_batch_tasks(batch, &(int){0})[0];
    evn_batch_origin_host(batch, t, 1, 0);
    return EVN_OK;
}

/* In a visit of the program's, without births. */
static evn_status fill(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        memcpy(evn_batch_host(batch, t, 0), w->value[t], BYTES);
    return EVN_OK;
}

/* Births fail on one rank, and come about then. */
static evn_status bear_twice(struct world *w, evn_body wrongly, evn_access wrong) {
    struct births b;
    make_births(w, &b);
    change(w, &b);
    const evn_status status =
        evn_loop_bear(w->placed, ODD ? wrongly : bear, w, ODD ? wrong : EVN_READ);
    char message[400];
    snprintf(message, sizeof message, "%s", evn_message());
    must_ok(evn_loop_bear(w->placed, bear, NULL, EVN_READ));
    return evn_fail(status, "%s", message);
}

/* One rank removes the region of an origin too early: its values are lost, and the program writes
 * them. */
static evn_status bear_without_origin(struct world *w) {
    struct births b;
    make_births(w, &b);
    change(w, &b);
    if (ODD) must_ok(evn_place_remove(w->place, b.before[OWN * w->rank + OWN - 1]));
    const evn_status status = evn_loop_bear(w->placed, bear, NULL, EVN_READ);
    char message[400];
    snprintf(message, sizeof message, "%s", evn_message());
    for (int t = OWN * w->rank; t < OWN * (w->rank + 1); t++)
        if (is_born(t)) must(!ODD || evn_place_where(w->place, w->region[t]) < 0);
    must_ok(evn_loop_visit_host(w->placed, fill, w, EVN_WRITE));
    return evn_fail(status, "%s", message);
}

/* One rank has a larger region for a born task of another one's, which those find that collect. */
static evn_status collect_sizes(struct world *w) {
    const int other = OWN * ((w->rank + 1) % RANKS) + OWN - 1;
    struct births b;
    make_births(w, &b);
    if (ODD) {
        must_ok(evn_place_remove(w->place, b.region[other]));
        must_ok(evn_place_make(w->place, 2 * BYTES, &b.region[other]));
    }
    change(w, &b);
    must_ok(evn_loop_bear(w->placed, bear, NULL, EVN_READ));
    return evn_session_collect(w->session, w->placed);
}

/* A change with another region of a born task on one rank. */
static evn_status change_with(struct world *w, struct births *b, int region) {
    const int mine = OWN * w->rank + OWN - 1, right = b->region[mine];
    if (ODD) b->region[mine] = region;
    const evn_status status = evn_loop_change(w->placed, &b->of);
    b->region[mine] = right;
    return status;
}

void ranks_births(struct world *w) {
    struct births b;
    make_births(w, &b);
    ONE("region 1000, which the place does not have", change_with(w, &b, 1000))
    ONE("which a task of before has", change_with(w, &b, w->region[0]))
    ONE("which a task of before has", change_with(w, &b, w->region[TASKS - 1]))
    ONE("named twice", change_with(w, &b, b.region[w->rank == RANKS - 1 ? OWN - 1 : TASKS - 1]))
    must(evn_loop_about(w->placed).generation == 0);
    change(w, &b); /* and what is right is done */
    must_ok(evn_loop_bear(w->placed, bear, NULL, EVN_READ));
    goes_on(w);
    ONE_FAILS(EVN_BODY, "region 0 of origin 1", bear_twice(w, bears_wrongly, EVN_READ))
    ONE("a body", bear_twice(w, NULL, EVN_READ))
    ONE("expected EVN_READ or EVN_BOTH", bear_twice(w, bear, EVN_WRITE))
    ONE("was removed before evn_loop_bear()", bear_without_origin(w))
    ONE("collect() with regions of other sizes on rank", collect_sizes(w))
}
