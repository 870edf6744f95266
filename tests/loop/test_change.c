/* Tasks of a loop that come and go (evener/change.h): random sequences of changes, additions and
 * removals of faces, after each of which the loop does every task once, kept tasks have what they
 * had, and the exchange copies, and counts, as one that is opened anew does, on cores and with
 * regions on emulated devices. Whichever allocation fails, all is as it was. Mistakes are named.
 * Run: ctest -R loop-change */
#include "world.h"
#include "exchange/plan.h"
#include "failing.h"
#include "record/record.h"

/* A block has inner values and ghosts in slots, each of which one face may write. */
enum { SLOTS = 6, WIDTH = 4, INNER = 24, VALUES = INNER + SLOTS * WIDTH, MOST = 120, FACES = 400 };

struct block {
    int id, region;
    double *memory;
};

/* A face by the blocks that it is between, and its lasting number. */
struct pair_of {
    int from, to, slot, at, width, number;
};

struct fixture {
    evn_units *units;
    evn_place *place;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *x;
    struct block block[MOST];
    int blocks, ids;
    struct pair_of face[FACES];
    int faces, numbered;
    int gone[MOST], gones; /* regions of tasks that are gone */
    double *left[MOST];    /* and their memory */
    int done[MOST];
    int few;    /* 1: many tasks with few faces, of which few change at a time */
    int mended; /* exchanges whose plan was not made from scratch */
};

static void begin(struct fixture *f, const char *units, int with_place) {
    *f = (struct fixture){0};
    f->units = open_units(units, "emulated");
    if (with_place) ok(evn_place_open(&f->place, f->units, 0.5));
}

static void end(struct fixture *f) {
    evn_place_close(f->place);
    close_units(f->units);
}

static struct block make_block(struct fixture *f) {
    struct block b = {.id = f->ids++, .region = -1, .memory = malloc(VALUES * sizeof(double))};
    for (int i = 0; i < VALUES; i++) b.memory[i] = b.id * 1000 + i;
    if (f->place) ok(evn_place_add(f->place, b.memory, VALUES * sizeof(double), &b.region));
    return b;
}

static int task_of(const struct fixture *f, int id) {
    for (int t = 0; t < f->blocks; t++)
        if (f->block[t].id == id) return t;
    return -1;
}

static evn_face face_of(const struct fixture *f, const struct pair_of *p) {
    return (evn_face){.from = task_of(f, p->from),
                      .to = task_of(f, p->to),
                      .from_at = p->at,
                      .to_at = INNER + p->slot * WIDTH,
                      .from_stride = {0, 0, 1},
                      .to_stride = {0, 0, 1},
                      .n = {1, 1, p->width}};
}

static int is_taken(const struct fixture *f, int to, int slot) {
    for (int i = 0; i < f->faces; i++)
        if (f->face[i].to == to && f->face[i].slot == slot) return 1;
    return 0;
}

/* Up to `most` faces into free slots, mostly both ways; those without values count, too. */
static int invent_faces(struct fixture *f, int most, evn_face *face) {
    int count = 0;
    for (int i = 0; i < most; i++) {
        int a = below(f->blocks), b = below(f->blocks);
        const int slot = below(SLOTS), width = below(8) ? WIDTH : 0;
        for (int way = 0; way < 2 && f->faces < FACES; way++) {
            const int from = f->block[way ? b : a].id, to = f->block[way ? a : b].id;
            if (is_taken(f, to, slot)) continue;
            const struct pair_of p = {.from = from,
                                      .to = to,
                                      .slot = slot,
                                      .at = slot * WIDTH,
                                      .width = width,
                                      .number = f->numbered + count};
            face[count++] = face_of(f, &p);
            if (width) f->face[f->faces++] = p;
        }
    }
    return count;
}

static void list_hosts(const struct fixture *f, void **host) {
    for (int t = 0; t < f->blocks; t++) host[t] = f->block[t].memory;
}

static void open_blocks(struct fixture *f, const char *schedule) {
    evn_face face[FACES];
    void *host[MOST];
    int region[MOST];
    const evn_access access = EVN_BOTH;
    f->blocks = f->few ? 60 + below(40) : 3 + below(12);
    for (int t = 0; t < f->blocks; t++) f->block[t] = make_block(f);
    f->loop = open_loop(f->units, &f->schedule, schedule, (evn_problem){.tasks = f->blocks});
    for (int t = 0; t < f->blocks; t++) region[t] = f->block[t].region;
    if (f->place) ok(evn_loop_place(f->loop, f->place, 1, region, &access));
    const int count = invent_faces(f, f->few ? 60 : 20, face);
    list_hosts(f, host);
    ok(evn_exchange_open(&f->x, f->loop, sizeof(double), count, face, host));
    f->numbered = count;
}

static void drop_gone(struct fixture *f) {
    for (int i = 0; i < f->gones; i++) {
        if (f->place) ok(evn_place_remove(f->place, f->gone[i]));
        free(f->left[i]);
    }
    f->gones = 0;
}

static void close_blocks(struct fixture *f) {
    drop_gone(f);
    evn_exchange_close(f->x);
    close_loop(f->loop, f->schedule);
    for (int t = 0; t < f->blocks; t++) {
        if (f->place) ok(evn_place_remove(f->place, f->block[t].region));
        free(f->block[t].memory);
    }
    f->x = NULL;
    f->loop = NULL;
    f->schedule = NULL;
    f->blocks = f->faces = f->numbered = 0;
}

/* ---- a change ------------------------------------------------------------------------------ */

struct change {
    evn_change of;
    int first[MOST + 1], from[MOST * 4], region[MOST];
    char kept[MOST];
    double weight[MOST];
    struct block block[MOST], gone[MOST];
    int gones;
};

/* Some tasks go, others come, of one, of several or of none; numbers are shuffled. */
static void invent_change(struct fixture *f, struct change *c) {
    int old[MOST], at = 0, n = 0;
    *c = (struct change){0};
    for (int t = 0; t < f->blocks; t++) {
        if (below(f->few ? 60 : 4) == 0)
            c->gone[c->gones++] = f->block[t];
        else
            old[n++] = t;
    }
    for (int born = below(f->few ? 3 : 6) + !n; born && n < MOST; born--) old[n++] = -1;
    for (int i = n - 1; i > 0; i--) {
        const int j = below(i + 1), last = old[i];
        old[i] = old[j];
        old[j] = last;
    }
    for (int t = 0; t < n; t++) {
        c->first[t] = at;
        c->kept[t] = old[t] >= 0;
        c->weight[t] = 1 + below(3);
        c->block[t] = old[t] >= 0 ? f->block[old[t]] : make_block(f);
        c->region[t] = c->kept[t] ? 12345 : c->block[t].region;
        if (old[t] >= 0) c->from[at++] = old[t];
        for (int k = old[t] < 0 ? below(4) : 0; k; k--) c->from[at++] = below(f->blocks);
    }
    c->first[n] = at;
    c->of = (evn_change){.tasks = n,
                         .first = c->first,
                         .from = c->from,
                         .kept = c->kept,
                         .weight = below(2) ? c->weight : NULL,
                         .links = below(2) ? -1 : 0,
                         .region = c->region};
}

/* What the fixture knows of it, once the loop has followed. */
static void follow(struct fixture *f, const struct change *c) {
    for (int i = 0; i < c->gones; i++) {
        f->left[f->gones] = c->gone[i].memory;
        f->gone[f->gones++] = c->gone[i].region;
    }
    memcpy(f->block, c->block, sizeof f->block);
    f->blocks = c->of.tasks;
    int left = 0;
    for (int i = 0; i < f->faces; i++)
        if (task_of(f, f->face[i].from) >= 0 && task_of(f, f->face[i].to) >= 0)
            f->face[left++] = f->face[i];
    f->faces = left;
}

/* Kept tasks have their owners and times, born ones their heaviest origin's owner and none. */
static void check_inherited(const struct fixture *f, const struct change *c, const int *owner,
                            const double *seconds, const double *weight) {
    int borns = 0, count, last = owner[0];
    const int *born = evn_loop_born(f->loop, &count);
    for (int t = 0; t < c->of.tasks; t++) {
        int best = -1;
        for (int i = c->first[t]; i < c->first[t + 1]; i++)
            if (best < 0 || weight[c->from[i]] > weight[best]) best = c->from[i];
        if (best >= 0) last = owner[best];
        assert_int_equal(evn_loop_owner(f->loop)[t], last);
        const double want = c->kept[t] ? seconds[best] : 0;
        assert_true(evn_loop_seconds(f->loop)[t] == want);
        if (!c->kept[t]) assert_int_equal(born[borns++], t);
    }
    assert_int_equal(borns, count);
}

/* For records. */
static void check_noted(const struct fixture *f, const struct change *c, int generation,
                        const int *had, const double *took, int before) {
    assert_int_equal(evn_loop_about(f->loop).generation, generation + 1);
    const evn_changed noted = evn_loop_changed(f->loop, generation);
    int kept = 0, moved = 0, gone = 0, draws;
    const int *next = evn_loop_next(f->loop, &draws), *owner = evn_loop_owner(f->loop);
    for (int t = 0; t < c->of.tasks; t++) {
        kept += c->kept[t];
        moved += draws != 1 && next[t] != owner[t];
    }
    for (int i = 0; i < f->faces; i++) {
        int stays = 0;
        for (int t = 0; t < c->of.tasks; t++)
            stays += c->kept[t] *
                     ((c->block[t].id == f->face[i].from) + (c->block[t].id == f->face[i].to));
        gone += stays < 2;
    }
    assert_int_equal(noted.instance, evn_schedule_instance(f->schedule));
    assert_int_equal(noted.tasks, c->of.tasks);
    assert_int_equal(noted.kept, kept);
    assert_int_equal(noted.born, c->of.tasks - kept);
    assert_int_equal(noted.gone, c->gones);
    assert_int_equal(noted.moved, moved);
    assert_int_equal(noted.faces_gone, gone);
    assert_true(noted.seconds > 0);
    const int instance = generation ? evn_loop_changed(f->loop, generation - 1).instance : 0;
    double busy[8] = {0};
    for (int t = 0; t < before; t++) busy[had[t]] += took[t];
    if (noted.instance == instance)
        assert_true(noted.imbalance != noted.imbalance); /* no run since the change before */
    else
        assert_true(noted.imbalance == evn_imbalance(evn_units_count(f->units), busy));
    const double last = generation ? evn_loop_changed(f->loop, generation - 1).begin : 0;
    assert_true(noted.begin > last && noted.begin + noted.seconds <= evn_now() - f->loop->origin);
}

static void change_tasks(struct fixture *f) {
    int owner[MOST];
    double seconds[MOST], weight[MOST];
    struct change c;
    invent_change(f, &c);
    const size_t n = (size_t)f->blocks;
    memcpy(owner, evn_loop_owner(f->loop), n * sizeof *owner);
    memcpy(seconds, evn_loop_seconds(f->loop), n * sizeof *seconds);
    memcpy(weight, evn_schedule_problem(f->schedule)->weight, n * sizeof *weight);
    const int generation = evn_loop_about(f->loop).generation;
    ok(evn_loop_change(f->loop, &c.of));
    assert_int_equal(evn_loop_about(f->loop).generation, generation + 1);
    check_noted(f, &c, generation, owner, seconds, (int)n);
    follow(f, &c);
    check_inherited(f, &c, owner, seconds, weight);
}

static void change_faces(struct fixture *f) {
    evn_face face[FACES];
    void *host[MOST];
    int drop[FACES], drops = 0;
    for (int i = 0; i < f->faces; i++)
        if (below(f->few ? 80 : 8) == 0) drop[drops++] = i;
    for (int i = drops - 1; i >= 0; i--) {
        const int at = drop[i];
        drop[i] = f->face[at].number;
        memmove(&f->face[at], &f->face[at + 1], (size_t)(--f->faces - at) * sizeof f->face[0]);
    }
    ok(evn_exchange_drop(f->x, drops, drop));
    for (int part = below(3); part >= 0; part--) {
        const int count = invent_faces(f, below(f->few ? 3 : 8), face);
        list_hosts(f, host);
        ok(evn_exchange_add(f->x, count, face, host));
        f->numbered += count;
    }
}

/* ---- beside one that is opened anew -------------------------------------------------------- */

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count;
    (void)unit;
    const int *task = evn_batch_tasks(batch, &count);
    for (int i = 0; i < count; i++) __atomic_fetch_add(&f->done[task[i]], 1, __ATOMIC_RELAXED);
    return EVN_OK;
}

static void run_loop(struct fixture *f) {
    int count;
    memset(f->done, 0, sizeof f->done);
    ok(evn_loop_run(f->loop, body, f));
    for (int t = 0; t < f->blocks; t++) assert_int_equal(f->done[t], 1);
    evn_loop_born(f->loop, &count);
    assert_int_equal(count, 0);
    drop_gone(f);
}

/* The values as the program sees them on the host. */
static void look(struct fixture *f, double *values) {
    for (int t = 0; t < f->blocks; t++) {
        if (f->place) ok(evn_place_acquire(f->place, 1, &f->block[t].region, EVN_HOST, EVN_READ));
        memcpy(values + (size_t)t * VALUES, f->block[t].memory, VALUES * sizeof *values);
        if (f->place) ok(evn_place_release(f->place, 1, &f->block[t].region, EVN_HOST));
    }
}

/* The same faces by plain copies. */
static void copy_plainly(const struct fixture *f, double *values) {
    for (int i = 0; i < f->faces; i++) {
        const struct pair_of *p = &f->face[i];
        memcpy(values + (size_t)task_of(f, p->to) * VALUES + INNER + p->slot * WIDTH,
               values + (size_t)task_of(f, p->from) * VALUES + p->at,
               (size_t)p->width * sizeof *values);
    }
}

/* Writes a block's inner values on a device that has a copy of it, where it stays; 1: none has. */
static int write_there(struct fixture *f, const struct block *b, const double *values) {
    for (int u = 0; f->place && u < evn_units_count(f->units); u++) {
        evn_unit *unit = evn_units_get(f->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++) {
            const int space = evn_place_space(f->place, unit, d);
            if (!evn_place_valid(f->place, b->region, space)) continue;
            evn_queue *queue = evn_unit_queue(unit, d);
            ok(evn_place_acquire(f->place, 1, &b->region, space, EVN_BOTH));
            ok(evn_copy_to_device(queue, evn_place_buffer(f->place, space),
                                  evn_place_at(f->place, b->region, space), values,
                                  INNER * sizeof *values));
            ok(evn_queue_finish(queue));
            ok(evn_place_release(f->place, 1, &b->region, space));
            return 0;
        }
    }
    return 1;
}

/* Other inner values, so that each run has something to copy. */
static void refresh(struct fixture *f) {
    for (int t = 0; t < f->blocks; t++) {
        const struct block *b = &f->block[t];
        double values[INNER];
        for (int i = 0; i < INNER; i++) values[i] = below(1000000);
        if (!write_there(f, b, values)) continue;
        if (f->place) ok(evn_place_acquire(f->place, 1, &b->region, EVN_HOST, EVN_BOTH));
        memcpy(b->memory, values, sizeof values);
        if (f->place) ok(evn_place_release(f->place, 1, &b->region, EVN_HOST));
    }
}

/* Regions go to devices of their tasks' units, most of them; the same ones stay on the host. */
static void go_to_devices(struct fixture *f) {
    for (int t = 0; f->place && t < f->blocks; t++) {
        const struct block *b = &f->block[t];
        evn_unit *unit = evn_units_get(f->units, evn_loop_owner(f->loop)[t]);
        const int devices = evn_unit_devices(unit);
        if (!devices || b->id % 16 == 5) continue;
        const int space = evn_place_space(f->place, unit, b->id % devices);
        ok(evn_place_acquire(f->place, 1, &b->region, space, EVN_READ));
        ok(evn_place_release(f->place, 1, &b->region, space));
    }
}

/* Words that a device's list has. */
static long long words_of(const struct copies *c) {
    long long words = 0;
    for (int i = 0; i < c->blocks; i++)
        words += (long long)c->block[i].n[0] * c->block[i].n[1] * c->block[i].n[2];
    return words;
}

/* A device has the list that the host has. */
static void check_sent(const struct end *e, const struct copies *c) {
    const size_t blocks = (size_t)c->blocks * sizeof *c->block;
    const size_t pieces = (size_t)c->pieces * sizeof *c->piece;
    if (!e->on || !c->pieces) return;
    char *sent = malloc(blocks + pieces);
    ok(evn_copy_to_host(e->copies, sent, c->block_buffer, 0, blocks));
    ok(evn_copy_to_host(e->copies, sent + blocks, c->piece_buffer, 0, pieces));
    ok(evn_queue_finish(e->copies));
    assert_memory_equal(sent, c->block, blocks);
    assert_memory_equal(sent + blocks, c->piece, pieces);
    free(sent);
}

static const struct end *end_of(const evn_exchange *x, const struct end *like) {
    for (int i = 0; i < x->plan.ends; i++)
        if (x->plan.end[i].unit == like->unit && x->plan.end[i].space == like->space)
            return &x->plan.end[i];
    fail_msg("a unit has copies in a space where it should have none");
    return NULL;
}

/* Messages are those of an exchange that is opened anew, with the same faces in the same places;
 * and devices copy as much. */
static void check_messages(const evn_exchange *x, const evn_exchange *fresh) {
    assert_int_equal(x->plan.messages, fresh->plan.messages);
    for (int i = 0; i < fresh->plan.messages; i++) {
        const struct message *m = &x->plan.message[i], *n = &fresh->plan.message[i];
        assert_int_equal(m->from->unit, n->from->unit);
        assert_int_equal(m->from->space, n->from->space);
        assert_int_equal(m->to->unit, n->to->unit);
        assert_int_equal(m->to->space, n->to->space);
        assert_int_equal(m->bytes, n->bytes);
        assert_int_equal(m->filled, n->filled);
        assert_int_equal(m->out_at, n->out_at);
        assert_int_equal(m->in_at, n->in_at);
    }
    for (int i = 0; i < fresh->plan.ends; i++) {
        const struct end *q = &fresh->plan.end[i], *p = end_of(x, q);
        assert_int_equal(p->pack.blocks, q->pack.blocks);
        assert_int_equal(p->unpack.blocks, q->unpack.blocks);
        const size_t size = sizeof *p->pack.block;
        if (q->pack.blocks)
            assert_memory_equal(p->pack.block, q->pack.block, (size_t)q->pack.blocks * size);
        if (q->unpack.blocks)
            assert_memory_equal(p->unpack.block, q->unpack.block, (size_t)q->unpack.blocks * size);
        assert_int_equal(words_of(&p->direct), words_of(&q->direct));
        check_sent(p, &p->direct);
        check_sent(p, &p->pack);
        check_sent(p, &p->unpack);
    }
}

/* The loop's count of a run. */
static evn_loop_totals count_run(const struct fixture *f, evn_exchange *x) {
    const evn_loop_totals before = evn_loop_sum(f->loop);
    ok(evn_exchange_run(x));
    evn_loop_totals after = evn_loop_sum(f->loop);
    after.bytes -= before.bytes;
    after.messages -= before.messages;
    after.copies -= before.copies;
    return after;
}

static void check_exchange(struct fixture *f) {
    static double want[MOST * VALUES], got[MOST * VALUES], bytes[2][64];
    evn_face face[FACES];
    void *host[MOST];
    evn_exchange *fresh = NULL;
    refresh(f);
    look(f, want);
    go_to_devices(f);
    copy_plainly(f, want);
    for (int t = below(2) * f->blocks - 1; t >= 0; t--) /* some faces are copied early */
        if (below(3)) ok(evn_exchange_ahead(f->x, t));
    ok(evn_exchange_run(f->x));
    f->mended += f->x->gone > 0 || f->x->plan.cut > 0;
    const evn_loop_totals counted = count_run(f, f->x);
    for (int i = 0; i < f->faces; i++) face[i] = face_of(f, &f->face[i]);
    list_hosts(f, host);
    ok(evn_exchange_open(&fresh, f->loop, sizeof(double), f->faces, face, host));
    const evn_loop_totals anew = count_run(f, fresh);
    assert_true(counted.bytes == anew.bytes);
    assert_int_equal(counted.messages, anew.messages);
    assert_int_equal(counted.copies, anew.copies);
    check_messages(f->x, fresh);
    assert_int_equal(f->x->faces - f->x->gone, fresh->faces);
    assert_int_equal(f->x->parts, fresh->parts);
    int i = 0; /* of `fresh`; in the other those that are gone may still have a place */
    for (int at = 0; at < f->x->faces; at++) {
        if (f->x->face[at].from < 0) continue;
        const struct part *p = &f->x->part[f->x->face[at].to], *q = &fresh->part[fresh->face[i].to];
        assert_int_equal(f->x->face[at].number, f->face[i].number);
        assert_int_equal(p->task, q->task);
        assert_int_equal(p->region, q->region);
        assert_int_equal(p->written, q->written);
        assert_int_equal(p->bytes, q->bytes);
        const struct part *a = &f->x->part[f->x->face[at].from];
        const struct part *b = &fresh->part[fresh->face[i++].from];
        assert_int_equal(a->written, b->written);
        assert_int_equal(a->bytes, b->bytes);
    }
    const int pairs = evn_exchange_pairs(f->x, bytes[0]);
    assert_int_equal(pairs, evn_exchange_pairs(fresh, bytes[1]));
    const size_t units = (size_t)evn_units_count(f->units);
    assert_memory_equal(bytes[0], bytes[1], units * units * sizeof(double));
    evn_exchange_close(fresh);
    look(f, got); /* on the host, where copies of blocks are the latest ones then */
    assert_memory_equal(got, want, (size_t)f->blocks * VALUES * sizeof *got);
}

static void run_sequences(const char *units, int with_place, int few, int sequences) {
    static const char *const schedules[] = {"auto",          "map",         "static",
                                            "dynamic",       "guided:time", "interval",
                                            "weighted:size", "binpack",     "binpack:time"};
    struct fixture f;
    if (!getenv("EVENER_TEST_LONG")) sequences /= few ? 5 : 3; /* each schedule at least once */
    begin(&f, units, with_place);
    f.few = few;
    for (int s = 0; s < sequences; s++) {
        open_blocks(&f, schedules[s % 9]);
        for (int i = few ? 12 : 1 + below(5); i; i--) {
            if (below(5)) run_loop(&f);
            if (below(3)) change_tasks(&f);
            if (below(4)) change_faces(&f);
            if (below(3)) run_loop(&f);
            check_exchange(&f);
        }
        close_blocks(&f);
    }
    if (few) assert_in_range(f.mended, sequences, 12 * sequences);
    end(&f);
}

TEST(cores) {
    run_sequences("1:CPU:1", 0, 0, 300);
    run_sequences("3:CPU:1", 0, 0, 300);
    run_sequences("2:CPU:1", 1, 0, 200);
}

/* Plans are mended, not made from scratch. */
TEST(few) {
    run_sequences("1:CPU:1", 0, 1, 100);
    run_sequences("3:CPU:1", 0, 1, 100);
    run_sequences("2:CPU:1", 1, 1, 50);
    run_sequences("1:CPU:1,2:GPU:1", 1, 1, 50);
    run_sequences("2:GPU:1", 1, 1, 50);
    run_sequences("1:GPU:2", 1, 1, 50);
}

TEST(on_devices) { run_sequences("1:CPU:1,2:GPU:1", 1, 0, 200); }

/* The record of a loop whose tasks came and went. */
TEST(record) {
    struct fixture f;
    begin(&f, "2:CPU:1", 0);
    open_blocks(&f, "map");
    for (int i = 0; i < 3; i++) {
        run_loop(&f);
        change_tasks(&f);
    }
    run_loop(&f);
    struct recorded_loop loop = {0};
    struct record_parts parts = {.units = f.units};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ok(record_take(&loop, f.loop, 0));
    ok(record_describe(&parts, &parts.unit, &parts.device));
    ok(record_write(out, &loop, 1, &parts));
    fclose(out);
    const evn_changed last = evn_loop_changed(f.loop, 2);
    char want[200];
    snprintf(want, sizeof want,
             "{\"instance\": 3, \"tasks\": %d, \"kept\": %d, \"born\": %d, \"gone\": %d",
             last.tasks, last.kept, last.born, last.gone);
    if (!strstr(text, "\"changes\": [{\"instance\": 1,") || !strstr(text, want))
        fail_msg("%s has no %s", text, want);
    free(text);
    free(parts.unit);
    free(parts.device);
    record_release(&loop);
    close_blocks(&f);
    end(&f);
}

/* ---- all or nothing ------------------------------------------------------------------------ */

#if HAVE_FAILING
/* Makes each allocation of a call fail in turn; how many there are. */
#    define EACH(call, check)                                                                      \
        for (long i = 1;; i++) {                                                                   \
            fails = i;                                                                             \
            const evn_status status = call;                                                        \
            const long left = fails;                                                               \
            fails = 0;                                                                             \
            if (left) {                                                                            \
                assert_int_equal(status, EVN_OK);                                                  \
                assert_in_range(i, 4, 100000);                                                     \
                break;                                                                             \
            }                                                                                      \
            if (status) {                                                                          \
                assert_int_equal(status, EVN_MEMORY);                                              \
                check;                                                                             \
            } else {                                                                               \
                break; /* without this one it could do less well, and did */                       \
            }                                                                                      \
        }

static void check_as_before(struct fixture *f, const char *text, int generation) {
    char *now = evn_schedule_export(f->schedule);
    assert_string_equal(now, text);
    free(now);
    assert_int_equal(evn_loop_about(f->loop).generation, generation);
    assert_int_equal(evn_schedule_problem(f->schedule)->tasks, f->blocks);
    check_exchange(f);
}

/* A plan that fails is made from scratch by the next run; without memory for records of it a run
 * does without them. */
static void run_for_want_of_memory(struct fixture *f) {
    for (long i = 1, left = 0; !left; i++) {
        fails = i;
        const evn_status status = evn_exchange_run(f->x);
        left = fails;
        fails = 0;
        if (left || status != EVN_MEMORY) assert_int_equal(status, EVN_OK);
    }
}

TEST(failing) {
    static const char *const schedules[] = {"auto",   "map",           "guided:time", "interval",
                                            "static", "weighted:size", "binpack",     "dynamic"};
    for (int kind = 0; kind < 3; kind++)
        for (int s = 0; s < 8; s++) {
            struct fixture f;
            begin(&f, "2:CPU:1", kind == 1);
            f.few = kind == 2;
            open_blocks(&f, schedules[s]);
            for (int i = 0; i < 3; i++) run_loop(&f);
            for (int round = 0; round < 3; round++) {
                struct change c;
                evn_face face[FACES];
                void *host[MOST];
                char *text = evn_schedule_export(f.schedule);
                invent_change(&f, &c);
                const int generation = evn_loop_about(f.loop).generation;
                EACH(evn_loop_change(f.loop, &c.of), check_as_before(&f, text, generation));
                free(text);
                follow(&f, &c);
                check_exchange(&f);
                text = evn_schedule_export(f.schedule);
                struct fixture before = f;
                const int count = invent_faces(&f, 10, face);
                struct fixture after = f;
                list_hosts(&f, host);
                f = before;
                EACH(evn_exchange_add(f.x, count, face, host),
                     check_as_before(&f, text, generation + 1));
                after.numbered += count;
                f = after;
                run_for_want_of_memory(&f);
                check_exchange(&f);
                free(text);
                run_loop(&f);
            }
            close_blocks(&f);
            end(&f);
        }
}
#endif

/* ---- mistakes ------------------------------------------------------------------------------ */

static void expect(evn_status status, const char *text) {
    assert_int_equal(status, EVN_USAGE);
    if (!strstr(evn_message(), text)) fail_msg("%s; expected: %s", evn_message(), text);
}

static evn_status changing_body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    const evn_change c = {.tasks = 1};
    (void)unit, (void)batch;
    return evn_loop_change(f->loop, &c);
}

TEST(mistakes) {
    struct fixture f;
    begin(&f, "1:CPU:1", 0);
    open_blocks(&f, "static");
    void *host[MOST];
    char text[200];
    list_hosts(&f, host);
    int first[] = {0, 0}, from[] = {0, 1, 2};
    const evn_change c = {.tasks = 1, .first = first, .from = from, .kept = (char[]){1}};
    expect(evn_loop_change(f.loop, &c), "task 0 is kept and has 0 origins, expected 1");
    first[1] = 3;
    expect(evn_loop_change(f.loop, &c), "task 0 is kept and has 3 origins, expected 1");
    assert_fails(evn_loop_run(f.loop, changing_body, &f), EVN_BODY,
                 "evn_loop_change() while its units are at work");
    assert_int_equal(evn_loop_about(f.loop).generation, 0);
    check_exchange(&f);
    /* faces: of no task, on old ones, dropped twice or never there */
    evn_face face = face_of(&f, &f.face[0]);
    snprintf(text, sizeof text, "exchange: face %d ", f.numbered);
    expect(evn_exchange_add(f.x, 1, &face, host), text);
    snprintf(text, sizeof text, "face %d writes at the same time", f.face[0].number);
    char other[200];
    snprintf(other, sizeof other, "which face %d writes at the same time", f.numbered);
    if (!strstr(evn_message(), text) && !strstr(evn_message(), other))
        fail_msg("%s", evn_message());
    const int numbers[2] = {f.face[0].number, f.face[0].number};
    expect(evn_exchange_drop(f.x, 2, numbers), "to be dropped twice");
    const int none = f.numbered;
    expect(evn_exchange_drop(f.x, 1, &none), "to be dropped; there were faces 0 to");
    check_exchange(&f);
    ok(evn_exchange_drop(f.x, 1, numbers));
    expect(evn_exchange_drop(f.x, 1, numbers), "is gone already");
    evn_face again = face_of(&f, &f.face[0]);
    f.face[0].number = f.numbered++;
    struct pair_of moved = f.face[0];
    memmove(f.face, f.face + 1, (size_t)(f.faces - 1) * sizeof f.face[0]);
    f.face[f.faces - 1] = moved;
    ok(evn_exchange_add(f.x, 1, &again, host));
    check_exchange(&f);
    close_blocks(&f);
    end(&f);
}

RUN_TESTS(NULL, NULL)
