/* Recovery (evener/recover.h) of a loop whose tasks come and go: devices that are lost in the
 * generation of the kept state and in later ones, by any operation of steps, changes, births and
 * exchanges, one after another or several at once, and the run ends with the values of plain
 * arrays. Without rebuild(), and with one that goes elsewhere, the message says so.
 * Run: ctest -R '^recover$' */
#include "world.h"
#include "loop/internal.h"
#include "device/ops/kept.h"
#include <evener/change.h>
#include <evener/recover.h>

extern const evn_kernel_source recover_kernels;

enum { VALUES = 24, GHOSTS = 4, STEPS = 14, MESHES = STEPS / 2, MOST = 16, IDS = 96, TABLES = 3 };
enum { GENERATIONS = 200, BYTES = VALUES * sizeof(double) };

/* ---- the meshes, one for two steps, and their values by plain arrays ----------------------- */

static struct mesh {
    int tasks, id[MOST], first[MOST + 1], from[3 * MOST];
    char kept[MOST];
} mesh[MESHES];
static int ids, partner[IDS]; /* a task's ghosts are its partner's first values, while both live */

static int task_of(const struct mesh *m, int id) {
    for (int t = 0; t < m->tasks; t++)
        if (m->id[t] == id) return t;
    return -1;
}

static void invent_meshes(void) {
    mesh[0].tasks = 9;
    for (int t = 0; t < 9; t++) mesh[0].id[t] = ids++;
    for (int g = 1; g < MESHES; g++) {
        const struct mesh *before = &mesh[g - 1];
        struct mesh *m = &mesh[g];
        int at = 0;
        for (int t = 0; t < before->tasks; t++) {
            const int goes = below(3) == 0, heirs = goes ? below(3) : below(5) == 0;
            if (!goes) {
                m->first[m->tasks] = at;
                m->kept[m->tasks] = 1;
                m->id[m->tasks++] = before->id[t];
                m->from[at++] = t;
            }
            for (int h = 0; h < heirs && m->tasks < MOST - before->tasks / 2; h++) {
                m->first[m->tasks] = at;
                m->id[m->tasks++] = ids++;
                m->from[at++] = t;
                if (below(2)) m->from[at++] = below(before->tasks);
            }
        }
        if (!m->tasks) m->id[m->tasks++] = ids++;
        m->first[m->tasks] = at;
    }
    for (int g = MESHES - 1; g >= 0; g--)
        for (int t = 0; t < mesh[g].tasks; t++)
            partner[mesh[g].id[t]] = mesh[g].id[(t + 1) % mesh[g].tasks];
    if (ids > IDS) abort();
}

static double wanted[IDS][VALUES], table_wanted[TABLES][VALUES];

static double start_of(int id, int i) { return 10 * id + i; }
static double table_start(int k, int i) { return 1000 * (k + 1) + i; }

static void compute_wanted(void) {
    static double before[IDS][VALUES];
    for (int t = 0; t < mesh[0].tasks; t++)
        for (int i = 0; i < VALUES; i++) wanted[mesh[0].id[t]][i] = start_of(mesh[0].id[t], i);
    for (int step = 0; step < STEPS; step++) {
        const struct mesh *m = &mesh[step / 2];
        memcpy(before, wanted, sizeof before);
        for (int t = 0; step && step % 2 == 0 && t < m->tasks; t++)
            for (int i = 0; !m->kept[t] && i < VALUES; i++) {
                double sum = 1;
                for (int k = m->first[t]; k < m->first[t + 1]; k++)
                    sum = sum + 0.5 * before[mesh[step / 2 - 1].id[m->from[k]]][i];
                wanted[m->id[t]][i] = sum;
            }
        memcpy(before, wanted, sizeof before);
        for (int t = 0; t < m->tasks; t++) {
            const int id = m->id[t], from = partner[id];
            double *x = wanted[id];
            if (task_of(m, from) >= 0 && from != id)
                memcpy(x + VALUES - GHOSTS, before[from], GHOSTS * sizeof *x);
        }
        for (int t = 0; t < m->tasks; t++)
            for (int i = 0; i < VALUES; i++)
                wanted[m->id[t]][i] = 0.5 * wanted[m->id[t]][i] + (i + step);
        for (int k = 0; k < TABLES; k++)
            for (int i = 0; i < VALUES; i++)
                table_wanted[k][i] = (step ? table_wanted[k][i] : table_start(k, i)) + step * k;
    }
}

/* ---- the program --------------------------------------------------------------------------- */

struct way {
    const char *schedule;
    int every;
    int makes;   /* regions are the place's */
    int lazy;    /* regions of gone tasks stay, and are used again */
    int tables;  /* tasks have a second region, of several, and births are the host's */
    int late;    /* step before which nothing is kept */
    int rebuild; /* 0: none; 1; 2: changes nothing; 3: to other tasks; 4: regions of another size;
                    5: a region that others have is another one; 6: a region is none */
};

struct program {
    const struct way *way;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *ghosts;
    evn_recovery *recovery;
    int region[IDS]; /* -1: none */
    double *block[IDS];
    int table[TABLES];
    double content[TABLES][VALUES];
    int mesh, mesh_of[GENERATIONS]; /* by generation */
    int other, none;                /* 1: tables are others, or none */
    int step, rebuilt, lost, anew, later;
    int told, listened, lost_unit;
    char text[1024];
    struct loop_listener listener;
    evn_status fails; /* of the body in step 4 */
    int fails_on;     /* on this unit; -1: none */
};

static int regions(const struct program *p) { return p->way->tables ? 2 : 1; }

static void add_region(struct program *p, int id, int values) {
    if (p->region[id] >= 0) return;
    if (p->way->makes) {
        ok(evn_place_make(p->place, (size_t)values * sizeof(double), &p->region[id]));
        return;
    }
    p->block[id] = malloc((size_t)values * sizeof(double));
    ok(evn_place_add(p->place, p->block[id], (size_t)values * sizeof(double), &p->region[id]));
}

static evn_status remove_region(struct program *p, int id) {
    evn_status status = p->region[id] < 0 ? EVN_OK : evn_place_remove(p->place, p->region[id]);
    if (status) return status;
    free(p->block[id]);
    p->block[id] = NULL;
    p->region[id] = -1;
    return EVN_OK;
}

/* Removes regions of tasks that are gone. */
static evn_status clean(struct program *p) {
    evn_status status = EVN_OK;
    for (int id = 0; !p->way->lazy && !status && id < ids; id++)
        if (task_of(&mesh[p->mesh], id) < 0) status = remove_region(p, id);
    return status;
}

static void list_regions(const struct program *p, const struct mesh *m, int *region) {
    for (int t = 0; t < m->tasks; t++) {
        region[regions(p) * t] = p->region[m->id[t]];
        if (p->way->tables) region[2 * t + 1] = p->table[(m->id[t] + p->other) % TABLES];
        if (p->way->tables && p->none) region[2 * t + 1] = -1;
    }
}

/* Faces of the tasks that are born, or whose partner is. */
static evn_status add_faces(struct program *p, const struct mesh *m, const char *kept) {
    evn_face face[MOST];
    int count = 0;
    for (int t = 0; t < m->tasks; t++) {
        const int from = task_of(m, partner[m->id[t]]);
        if (from < 0 || from == t || (kept && kept[t] && kept[from])) continue;
        face[count++] = (evn_face){.from = from,
                                   .to = t,
                                   .to_at = VALUES - GHOSTS,
                                   .from_stride = {0, 0, 1},
                                   .to_stride = {0, 0, 1},
                                   .n = {1, 1, GHOSTS}};
    }
    return evn_exchange_add(p->ghosts, count, face, NULL);
}

/* The loop's tasks are those of a mesh. */
static evn_status change_to(struct program *p, int to, const int *first, const int *from,
                            const char *kept) {
    const struct mesh *m = &mesh[to];
    int region[2 * MOST];
    list_regions(p, m, region);
    const evn_change c = {.tasks = m->tasks,
                          .first = first,
                          .from = from,
                          .kept = kept,
                          .links = -1,
                          .region = region};
    evn_status status = evn_loop_change(p->loop, &c);
    if (status) return status;
    p->mesh = to;
    p->mesh_of[evn_loop_about(p->loop).generation] = to;
    return add_faces(p, m, kept);
}

static evn_status rebuild(void *arg, int generation) {
    struct program *p = arg;
    const int to = p->way->rebuild == 3 ? MESHES - 1 : p->mesh_of[generation];
    const struct mesh *m = &mesh[to];
    int count, first[MOST + 1], from[MOST], at = 0;
    char kept[MOST];
    const int *now = evn_recovery_tasks(p->recovery, &count);
    p->rebuilt++;
    if (p->way->rebuild == 2) return EVN_OK;
    if (p->way->rebuild == 1) assert_int_equal(count, m->tasks);
    for (int t = 0; t < m->tasks; t++) {
        first[t] = at;
        kept[t] = p->way->rebuild != 4 && p->way->rebuild != 3 && now[t] >= 0;
        if (kept[t]) /* it is known by its number since the state was kept */
            assert_int_equal(now[t], task_of(&mesh[p->mesh], m->id[t]));
        if (kept[t])
            from[at++] = now[t];
        else
            add_region(p, m->id[t], p->way->rebuild == 4 ? VALUES + 1 : VALUES);
    }
    first[m->tasks] = at;
    p->other = p->way->rebuild == 5;
    p->none = p->way->rebuild == 6;
    evn_status status = change_to(p, to, first, from, kept);
    return status ? status : clean(p);
}

static void lost(evn_unit *unit, void *arg) {
    struct program *p = arg;
    p->lost++;
    p->lost_unit = evn_unit_number(unit);
    assert_true(evn_unit_devices(unit) > 0); /* still there */
}

static void told(const char *text, void *arg) {
    struct program *p = arg;
    p->told++;
    snprintf(p->text, sizeof p->text, "%s", text);
    assert_null(strchr(text, '\n'));
}

static void listen(void *arg) {
    struct program *p = arg;
    p->listened++;
    assert_int_equal(evn_units_count(p->units), p->loop->count);
}

static void begin(struct program *p, const struct way *way, const char *list, const char *devices) {
    static const double speed[] = {1, 2, 3, 4};
    memset(p, 0, sizeof *p);
    p->way = way;
    p->lost_unit = p->fails_on = -1;
    p->units = open_units(list, devices);
    ok(evn_place_open(&p->place, p->units, 0.5));
    p->loop = open_loop(p->units, &p->schedule, way->schedule,
                        (evn_problem){.tasks = mesh[0].tasks, .speed = speed});
    for (int id = 0; id < ids; id++) p->region[id] = -1;
    for (int t = 0; t < mesh[0].tasks; t++) add_region(p, mesh[0].id[t], VALUES);
    for (int k = 0; way->tables && k < TABLES; k++)
        ok(evn_place_add(p->place, p->content[k], BYTES, &p->table[k]));
    int region[2 * MOST];
    list_regions(p, &mesh[0], region);
    ok(evn_loop_place(p->loop, p->place, regions(p), region, (evn_access[]){EVN_BOTH, EVN_READ}));
    ok(evn_exchange_open(&p->ghosts, p->loop, sizeof(double), 0, NULL, NULL));
    ok(add_faces(p, &mesh[0], NULL));
    p->listener = (struct loop_listener){.units_changed = listen, .arg = p};
    loop_listen(p->loop, &p->listener);
    ok(evn_recovery_open(
        &p->recovery, p->loop, way->every,
        &(evn_recovery_calls){
            .lost = lost, .told = told, .arg = p, .rebuild = way->rebuild ? rebuild : NULL}));
}

static void end(struct program *p) {
    evn_recovery_close(p->recovery);
    loop_unlisten(p->loop, &p->listener);
    evn_exchange_close(p->ghosts);
    assert_null(p->loop->listener);
    close_loop(p->loop, p->schedule);
    evn_place_close(p->place);
    for (int id = 0; id < ids; id++) free(p->block[id]);
    close_units(p->units);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* On the host, whatever was there before. */
static evn_status write_block(struct program *p, int id, const double *values) {
    const int *region = &p->region[id];
    evn_status status = evn_place_acquire(p->place, 1, region, EVN_HOST, EVN_WRITE);
    if (status) return status;
    memcpy(evn_place_host(p->place, *region), values, BYTES);
    return evn_place_release(p->place, 1, region, EVN_HOST);
}

static evn_status read_block(struct program *p, int id, double *values) {
    const int *region = &p->region[id];
    evn_status status = evn_place_acquire(p->place, 1, region, EVN_HOST, EVN_READ);
    if (status) return status;
    memcpy(values, evn_place_host(p->place, *region), BYTES);
    return evn_place_release(p->place, 1, region, EVN_HOST);
}

static evn_status set_tables(struct program *p, int step) {
    evn_status status = EVN_OK;
    for (int k = 0; p->way->tables && !status && k < TABLES; k++) {
        status = evn_place_acquire(p->place, 1, &p->table[k], EVN_HOST, EVN_BOTH);
        if (status) return status;
        for (int i = 0; i < VALUES; i++)
            p->content[k][i] = step < 0 ? table_start(k, i) : p->content[k][i] + step * k;
        status = evn_place_release(p->place, 1, &p->table[k], EVN_HOST);
    }
    return status;
}

static evn_status start(struct program *p) {
    evn_status status = set_tables(p, -1);
    for (int t = 0; !status && t < mesh[0].tasks; t++) {
        double x[VALUES];
        for (int i = 0; i < VALUES; i++) x[i] = start_of(mesh[0].id[t], i);
        status = write_block(p, mesh[0].id[t], x);
    }
    return status;
}

static evn_status step_body(evn_unit *unit, evn_batch *b, void *arg) {
    struct program *p = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count), width = 1 + regions(p), values = VALUES;
    if (evn_unit_number(unit) == p->fails_on && p->step == 4)
        return evn_fail(p->fails, "the barn is empty");
    if (evn_batch_device(b) < 0) {
        for (int k = 0; k < count; k++) {
            double *x = evn_batch_host(b, task[k], 0);
            for (int i = 0; i < VALUES; i++) x[i] = 0.5 * x[i] + (i + p->step);
        }
        return EVN_OK;
    }
    const evn_argument argument[] = {{.buffer = evn_batch_buffer(b)},
                                     {.buffer = evn_batch_table(b)},
                                     {.value = &width, .bytes = sizeof width},
                                     {.value = &values, .bytes = sizeof values},
                                     {.value = &p->step, .bytes = sizeof p->step}};
    if (!argument[1].buffer) return evn_fail(EVN_DEVICE, "no table: %s", evn_message());
    return evn_batch_launch(b, &recover_kernels, "halve", count, argument, 5);
}

static evn_status birth_body(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    const int width = 4 + EVN_ORIGINS_IN_ROW, values = VALUES, in_row = EVN_ORIGINS_IN_ROW;
    (void)unit, (void)arg;
    if (evn_batch_device(b) < 0) {
        for (int n = 0; n < count; n++) {
            double *x = evn_batch_host(b, task[n], 0);
            for (int i = 0; i < VALUES; i++) x[i] = 1;
            for (int k = 0; k < evn_batch_origins(b, task[n]); k++) {
                const double *from = evn_batch_origin_host(b, task[n], k, 0);
                for (int i = 0; i < VALUES; i++) x[i] = x[i] + 0.5 * from[i];
            }
        }
        return EVN_OK;
    }
    const evn_argument argument[] = {{evn_batch_buffer(b), NULL, 0},
                                     {evn_batch_table(b), NULL, 0},
                                     {NULL, &width, sizeof width},
                                     {NULL, &values, sizeof values},
                                     {NULL, &in_row, sizeof in_row}};
    if (!argument[1].buffer) return evn_fail(EVN_DEVICE, "no table: %s", evn_message());
    return evn_batch_launch(b, &recover_kernels, "bear_half", count, argument, 5);
}

/* By the program itself, on the host: births would overwrite regions of several tasks. */
static evn_status bear_on_host(struct program *p, const struct mesh *before, const struct mesh *m) {
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < m->tasks; t++) {
        double x[VALUES], from[VALUES];
        if (m->kept[t]) continue;
        for (int i = 0; i < VALUES; i++) x[i] = 1;
        for (int k = m->first[t]; !status && k < m->first[t + 1]; k++) {
            status = read_block(p, before->id[m->from[k]], from);
            for (int i = 0; !status && i < VALUES; i++) x[i] = x[i] + 0.5 * from[i];
        }
        if (!status) status = write_block(p, m->id[t], x);
    }
    return status;
}

/* To the next mesh. */
static evn_status evolve(struct program *p) {
    const struct mesh *before = &mesh[p->mesh], *m = before + 1;
    for (int t = 0; t < m->tasks; t++) add_region(p, m->id[t], VALUES);
    evn_status status = change_to(p, p->mesh + 1, m->first, m->from, m->kept);
    if (!status)
        status = p->way->tables ? bear_on_host(p, before, m)
                                : evn_loop_bear(p->loop, birth_body, p, EVN_READ);
    return status ? status : clean(p);
}

static evn_status advance(struct program *p) {
    evn_status status = p->step < p->way->late ? EVN_OK : evn_recovery_keep(p->recovery, p->step);
    if (!status && p->step == STEPS) return evn_loop_visit_host(p->loop, NULL, NULL, EVN_READ);
    if (!status && p->mesh < p->step / 2) status = evolve(p);
    /* an interval of 0: the state after a change is kept at once */
    if (!status && !p->way->every && p->step >= p->way->late)
        status = evn_recovery_keep(p->recovery, p->step);
    if (!status) status = set_tables(p, p->step);
    if (!status) status = evn_exchange_run(p->ghosts);
    return status ? status : evn_loop_run(p->loop, step_body, p);
}

static evn_status begin_anew(struct program *p) {
    int first[MOST + 1] = {0};
    p->anew++;
    p->step = 0;
    if (p->mesh) {
        for (int t = 0; t < mesh[0].tasks; t++) add_region(p, mesh[0].id[t], VALUES);
        const char kept[MOST] = {0};
        evn_status status = change_to(p, 0, first, first, kept);
        if (!status) status = clean(p);
        if (status) return status;
    }
    return start(p);
}

/* The message, and each region where its new owner will compute it. */
static void check_recovered(const struct program *p, int is_rebuilt) {
    char from[64];
    snprintf(from, sizeof from, "goes on from step %d", p->step);
    assert_non_null(strstr(p->text, p->step < 0 ? "begins anew" : from));
    assert_non_null(strstr(p->text, evn_units_text(p->units)));
    assert_int_equal(p->listened, p->lost);
    const struct mesh *m = &mesh[p->mesh];
    for (int t = 0; p->step >= 0 && !is_rebuilt && t < m->tasks; t++) {
        evn_unit *unit = evn_units_get(p->units, evn_loop_owner(p->loop)[t]);
        assert_non_null(unit);
        if (evn_unit_devices(unit) == 1)
            assert_true(
                evn_place_valid(p->place, p->region[m->id[t]], evn_place_space(p->place, unit, 0)));
    }
}

/* All steps; EVN_OK, or the failure that cannot be helped. */
static evn_status march(struct program *p) {
    evn_status status = start(p);
    for (p->step = 0; p->step <= STEPS;) {
        if (!status) status = advance(p);
        if (!status) {
            p->step++;
            continue;
        }
        const int at = p->mesh, rebuilt = p->rebuilt;
        status = evn_recovery_go_on(p->recovery, status, &p->step);
        if (status) return status;
        check_recovered(p, p->rebuilt > rebuilt);
        p->later += p->rebuilt > rebuilt && at > p->mesh;
        if (p->step < 0) status = begin_anew(p);
    }
    return status;
}

static void check_values(struct program *p) {
    const struct mesh *m = &mesh[MESHES - 1];
    assert_int_equal(p->mesh, MESHES - 1);
    for (int t = 0; t < m->tasks; t++) {
        double got[VALUES];
        ok(read_block(p, m->id[t], got));
        for (int i = 0; i < VALUES; i++)
            if (got[i] != wanted[m->id[t]][i])
                fail_msg("%s every %d: value %d of task %d is %.17g instead of %.17g",
                         p->way->schedule, p->way->every, i, t, got[i], wanted[m->id[t]][i]);
    }
    for (int k = 0; p->way->tables && k < TABLES; k++) {
        ok(evn_place_acquire(p->place, 1, &p->table[k], EVN_HOST, EVN_READ));
        assert_memory_equal(p->content[k], table_wanted[k], BYTES);
        ok(evn_place_release(p->place, 1, &p->table[k], EVN_HOST));
    }
}

/* ---- the tests ----------------------------------------------------------------------------- */

static const struct way ways[] = {
    {.schedule = "static", .every = 5, .rebuild = 1},
    {.schedule = "map", .every = 100, .makes = 1, .rebuild = 1},
    {.schedule = "dynamic:chunk=2,memorize=0", .every = 3, .makes = 1, .lazy = 1, .rebuild = 1},
    {.schedule = "guided:time", .every = 4, .lazy = 1, .rebuild = 1},
    {.schedule = "auto", .every = 5, .tables = 1, .rebuild = 1},
    {.schedule = "binpack", .every = 1, .makes = 1, .tables = 1, .rebuild = 1},
    {.schedule = "interval", .every = 100, .lazy = 1, .tables = 1, .rebuild = 1},
    {.schedule = "static", .every = 0, .makes = 1, .rebuild = 1},
    {.schedule = "map", .every = 4, .late = 5, .makes = 1, .rebuild = 1},
    {.schedule = "static", .every = 4, .late = 7, .lazy = 1},
    {.schedule = "map", .every = 3},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* As it should be, on cores and on devices. */
TEST(plain) {
    for (int w = 0; w < WAYS; w++)
        for (int devices = 0; devices < 2; devices++) {
            ENDS(end) struct program p;
            begin(&p, &ways[w], devices ? "1:CPU:1,2:GPU:1" : "2:CPU:1",
                  devices ? "emulated:2" : NULL);
            ok(march(&p));
            check_values(&p);
            assert_int_equal(p.lost + p.rebuilt + p.anew, 0);
            /* nothing is kept where nothing can fail */
            if (!devices) assert_int_equal(place_restore(p.place), EVN_USAGE);
        }
}

/* The third of four units. */
static void check_lost(const struct program *p) {
    const evn_schedule *schedule = evn_loop_schedule(p->loop);
    const evn_problem *problem = evn_schedule_problem(schedule);
    assert_string_equal(evn_schedule_text(schedule), evn_schedule_text(p->schedule));
    assert_int_equal(p->lost_unit, 2);
    assert_non_null(strstr(p->text, "emulated device 1"));
    assert_int_equal(problem->units, 3);
    assert_true(problem->speed[0] == 1 && problem->speed[1] == 2 && problem->speed[2] == 4);
    assert_true(evn_loop_sum(p->loop).instances <= STEPS);
}

/* One device of three is lost, in each way and at every moment, or at every second one. */
TEST(lost) {
    static const char *const what[] = {"kernel", "copy", "lost", "alloc"};
    int lost_at[4] = {0}, later[WAYS] = {0}, anew = 0;
    const int stride = getenv("EVENER_TEST_LONG") ? 1 : 2;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < WAYS * 10; i++) {
            const int each = k == 2 ? 7 : 2, w = i % WAYS, when = 1 + each * (i / WAYS) + w % each;
            if ((i / WAYS + w + k) % stride) continue;
            char devices[64];
            ENDS(end) struct program p;
            snprintf(devices, sizeof devices, "emulated:3,fail=%s@%d,bad=1", what[k], when);
            begin(&p, &ways[w], "1:CPU:1,3:GPU:1", devices);
            if (march(&p)) {
                if (ways[w].rebuild) fail_msg("%s: %s", devices, evn_message());
                assert_says("no state of the tasks since change");
                assert_int_equal(p.lost, 0);
            } else {
                check_values(&p);
                assert_in_range(p.lost, 0, 1);
                assert_int_equal(evn_units_count(p.units), 4 - p.lost);
                assert_int_equal(p.told, p.lost);
                if (p.lost) check_lost(&p);
            }
            lost_at[k] += p.lost;
            later[w] += p.later;
            anew += p.anew;
        }
    for (int k = 0; k < 4; k++) assert_true(lost_at[k] > 0);
    for (int w = 0; w < WAYS; w++)
        if (ways[w].rebuild && ways[w].every > 1 && !ways[w].late && !later[w])
            fail_msg("%s every %d: never", ways[w].schedule, ways[w].every);
    assert_true(anew > 0);
}

/* A second device is lost while the first one's loss is made good, or later. */
TEST(two) {
    int both = 0;
    for (int when = 20; when < 60; when += 3)
        for (int then = 1; then < 40; then += getenv("EVENER_TEST_LONG") ? 4 : 9) {
            char devices[100];
            ENDS(end) struct program p;
            snprintf(devices, sizeof devices,
                     "emulated:1,fail=kernel@%d+emulated:1,fail=copy@%d+emulated:1", when / 3,
                     when + then);
            begin(&p, &ways[(when + then) % 9], "1:CPU:1,3:GPU:1", devices);
            ok(march(&p));
            check_values(&p);
            both += p.lost == 2;
        }
    assert_true(both > 0);
}

/* One after another, and several in one step. */
TEST(several) {
    static const struct {
        const char *list, *devices;
        int lost, told;
    } c[] = {
        {"1:CPU:1,3:GPU:1", "emulated:1,fail=kernel@3+emulated:1,fail=kernel@9+emulated:1", 2, 2},
        {"1:CPU:1,3:GPU:1", "emulated:1,fail=kernel@2+emulated:1+emulated:1,fail=kernel@2", 2, 1},
        {"1:CPU:1,2:GPU:1", "emulated:1,fail=kernel@2+emulated:1,fail=kernel@2", 2, 1},
        {"1:CPU:1,1:GPU:2,1:GPU:1", "emulated:2,fail=kernel@4+emulated:1", 1, 1},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        ENDS(end) struct program p;
        begin(&p, &ways[0], c[i].list, c[i].devices);
        ok(march(&p));
        check_values(&p);
        assert_int_equal(p.lost, c[i].lost);
        assert_int_equal(p.told, c[i].told);
    }
}

/* What cannot be helped comes back as it was, with nothing changed. */
TEST(refused) {
    static const struct {
        const char *list, *devices;
        evn_status fails, status;
        int on;
        const char *says;
    } c[] = {
        {"1:GPU:1", "emulated:1,fail=kernel@4", EVN_OK, EVN_DEVICE, -1, "fail=kernel@4"},
        {"2:GPU:1", "emulated:1,fail=kernel@1+emulated:1,fail=kernel@1", EVN_OK, EVN_DEVICE, -1,
         "fail=kernel@1"},
        {"1:CPU:1,1:GPU:1", "emulated:1", EVN_SYSTEM, EVN_BODY, 0, "barn is empty"},
        {"1:CPU:1,1:GPU:1", "emulated:1", EVN_MEMORY, EVN_BODY, 0, "barn is empty"},
        {"1:CPU:1,1:GPU:1", "emulated:1", EVN_USAGE, EVN_BODY, 1, "barn is empty"},
        /* for want of memory on a device, it can */
        {"1:CPU:1,1:GPU:1", "emulated:1", EVN_MEMORY, EVN_OK, 1, NULL},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        ENDS(end) struct program p;
        begin(&p, &ways[0], c[i].list, c[i].devices);
        p.fails = c[i].fails;
        p.fails_on = c[i].on;
        const int units = evn_units_count(p.units);
        assert_int_equal(march(&p), c[i].status);
        if (c[i].says) {
            assert_says(c[i].says);
            assert_int_equal(p.step, -1);
            assert_ptr_equal(evn_loop_schedule(p.loop), p.schedule);
        } else {
            check_values(&p);
        }
        assert_int_equal(p.lost + p.told + p.listened, c[i].says ? 0 : 3);
        assert_int_equal(evn_units_count(p.units), units - !c[i].says);
    }
}

static void fails_with(const struct way *way, evn_status status, const char *text) {
    ENDS(end) struct program p;
    begin(&p, way, "1:CPU:1,2:GPU:1", "emulated:2,fail=kernel@7,bad=1");
    assert_fails(march(&p), status, text);
}

TEST(mistakes) {
    struct way way = {.schedule = "static", .every = 100};
    ENDS(end) struct program p;
    int count;
    way.rebuild = 2;
    fails_with(&way, EVN_USAGE, "tasks of change");
    way.rebuild = 3;
    fails_with(&way, EVN_USAGE, "expected evn_loop_change() to the 9 of generation 0");
    way.rebuild = 4;
    fails_with(&way, EVN_USAGE, "bytes, and the kept copy 192");
    way.tables = 1;
    way.rebuild = 5;
    fails_with(&way, EVN_USAGE, "in step 0, which other tasks have still");
    way.rebuild = 6;
    fails_with(&way, EVN_USAGE, "has no region 1 after rebuild(), and had one in step 0");
    /* nothing is kept */
    way.rebuild = 1;
    begin(&p, &way, "1:CPU:1,1:GPU:1", "emulated:1");
    assert_null(evn_recovery_tasks(p.recovery, &count));
    assert_int_equal(count, 0);
    /* a loop without a place, and one that did not learn that a unit is gone */
    evn_recovery *recovery;
    OWN(loop) *bare = OPEN(loop, p.units, p.schedule);
    ok(evn_recovery_open(&recovery, bare, 1, NULL));
    assert_int_equal(evn_recovery_keep(recovery, 0), EVN_USAGE);
    evn_recovery_close(recovery);
    p.fails = EVN_MEMORY;
    p.fails_on = 1;
    ok(march(&p));
    assert_int_equal(p.lost, 1);
    assert_fails(evn_loop_run(bare, nothing, NULL), EVN_USAGE,
                 "1 units, and the loop was made for 2");
}

/* A change alone does not make the state be kept again, but where the interval is 0. */
TEST(interval) {
    for (int every = 0; every < 6; every += 5) {
        const struct way way = {.schedule = "static", .every = every, .rebuild = 1};
        ENDS(end) struct program p;
        int count;
        begin(&p, &way, "1:CPU:1,1:GPU:1", "emulated:1");
        ok(start(&p));
        ok(evn_recovery_keep(p.recovery, 0));
        ok(evolve(&p));
        ok(evn_recovery_keep(p.recovery, 1));
        assert_non_null(evn_recovery_tasks(p.recovery, &count));
        assert_int_equal(count, mesh[every ? 0 : 1].tasks);
        ok(evn_recovery_keep(p.recovery, 5));
        assert_non_null(evn_recovery_tasks(p.recovery, &count));
        assert_int_equal(count, mesh[1].tasks);
    }
}

int main(void) {
    seed = 7;
    invent_meshes();
    compute_wanted();
    return run_all_tests(NULL, NULL);
}
