/* Directives and their loops, kept for the next instance. A directive with other options, or
 * another number of iterations without keys, gets another loop, since its schedule learns for
 * these; the last few are kept. Other weights and keys are passed to the loop. */
#include "cu/internal.h"
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOPS = 8 }; /* loops that a directive keeps open; more are closed */

struct site *cu_sites;
_Thread_local struct cu_thread cu_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects cu_sites and parts */

/* ---- memory of threads --------------------------------------------------------------------- */

static pthread_key_t ends;

static void free_rooms(struct wish *w) {
    free(w->weight);
    free(w->key);
}

static void end_thread(void *p) {
    struct cu_thread *t = p;
    free_rooms(&t->wish);
    for (struct wish *w = t->wish.outer; w;) {
        struct wish *outer = w->outer;
        free_rooms(w);
        free(w);
        w = outer;
    }
    free(t->held);
    free(t->slot);
}

static void make_key(void) { pthread_key_create(&ends, end_thread); }

void cu_keep_alive(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (cu_here.kept_alive) return;
    pthread_once(&once, make_key);
    pthread_setspecific(ends, &cu_here);
    cu_here.kept_alive = 1;
}

/* ---- sites --------------------------------------------------------------------------------- */

static struct site *site_of(evn_cu_site *where) {
    struct site *s = __atomic_load_n((struct site **)&where->state, __ATOMIC_ACQUIRE);
    if (s) return s;
    pthread_mutex_lock(&lock);
    s = where->state;
    if (!s && (s = calloc(1, sizeof *s))) {
        s->where = where;
        s->next = cu_sites;
        cu_sites = s;
        __atomic_store_n(&where->state, s, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (!s) cu_die(where, "not enough memory");
    return s;
}

/* The thread that runs a directive first runs all of them: it leads unit 0. */
static atomic_int taken;
static _Thread_local int is_mine;

static int is_the_thread(void) {
    if (!is_mine && !atomic_exchange(&taken, 1)) is_mine = 1;
    return is_mine;
}

int cu_by_other_thread(void) { return atomic_load(&taken) && !is_mine; }

static void check_caller(const evn_cu_site *where) {
    const evn_cu_site *at = cu_at;
    if (evn_units_here())
        cu_die(where,
               "teams within the work of compute units, of %s:%d; units do not share out what "
               "one of them does, an inner parallel region does",
               at->file, at->line);
    if (omp_in_parallel())
        cu_die(where, "teams with compute units within a parallel region; they must stand outside "
                      "of it");
    if (!is_the_thread())
        cu_die(where, "teams with compute units by a second thread; the thread that ran the first "
                      "of them runs all");
    if (!cu_fork_is_taken())
        cu_die(where, "this program was linked without evener-cc; link with it, or add the flags "
                      "of `pkg-config --libs evener-cu`");
}

/* ---- settings before a directive ---- */

/* Begins a wish; one that is being said waits below it, with its weights and keys. */
static struct wish *begin_wish(const evn_cu_site *where) {
    struct wish *w = &cu_here.wish;
    if (w->site) {
        struct wish *outer = malloc(sizeof *outer);
        if (!outer) cu_die(where, "not enough memory");
        *outer = *w;
        *w = (struct wish){.site = where, .step = 1, .outer = outer};
        cu_keep_alive();
        return w;
    }
    *w = (struct wish){.site = where,
                       .step = 1,
                       .weight = w->weight,
                       .weight_room = w->weight_room,
                       .key = w->key,
                       .key_room = w->key_room};
    return w;
}

static struct wish *wish_of(const evn_cu_site *where) {
    return cu_here.wish.site == where ? &cu_here.wish : begin_wish(where);
}

/* The wish of the directive at `where`, which a clause is about to set. */
static struct wish *advise(const evn_cu_site *where) {
    struct wish *w = wish_of(where);
    w->advised = 1;
    return w;
}

/* Ends a wish that its directive has taken; the outer directive's continues. */
static void end_wish(void) {
    struct wish *w = &cu_here.wish, *outer = w->outer;
    if (!outer) {
        w->site = NULL;
        return;
    }
    free_rooms(w);
    *w = *outer;
    free(outer);
}

/* A loop's bounds, for a message. */
struct bounds {
    const evn_cu_site *where;
    char from[24], to[24];
    evn_cu_int step;
};

static struct bounds write_bounds(const evn_cu_site *where, evn_cu_int from, evn_cu_int to,
                                  evn_cu_int step, int relation) {
    struct bounds b = {.where = where, .step = step};
    if (relation & EVN_CU_UNSIGNED) {
        snprintf(b.from, sizeof b.from, "%llu", (unsigned long long)from);
        snprintf(b.to, sizeof b.to, "%llu", (unsigned long long)to);
    } else {
        snprintf(b.from, sizeof b.from, "%lld", from);
        snprintf(b.to, sizeof b.to, "%lld", to);
    }
    return b;
}

__attribute__((noreturn, cold)) static void die_of_bounds(const struct bounds *b,
                                                          const char *what) {
    cu_die(b->where, "the loop from %s to %s by %lld %s", b->from, b->to, b->step, what);
}

/* 1 if the loop's variable, of this size and sign, can hold `value`. */
static int holds(int relation, unsigned long long value) {
    const int bits = 8 * (relation / EVN_CU_BYTE % 16);
    if (!bits || bits >= 64) return 1;
    if (relation & EVN_CU_NATURAL) return !(value >> bits);
    return (value + (1ULL << (bits - 1))) >> bits == 0;
}

evn_cu_int cu_count(const evn_cu_site *where, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                    int relation) {
    const int sign = relation & 3, unsigned_bounds = relation & EVN_CU_UNSIGNED;
    const int up = sign == EVN_CU_LESS || sign == EVN_CU_LESS_EQUAL;
    const int equal = sign == EVN_CU_LESS_EQUAL || sign == EVN_CU_MORE_EQUAL;
    const unsigned long long first = (unsigned long long)from, bound = (unsigned long long)to;
    const int above = unsigned_bounds ? first > bound : from > to;
    if (up ? above : !above && from != to) return 0;
    if (from == to && !equal) return 0;
    if (!step) cu_die(where, "the loop's step is 0, and it would not end");
    const struct bounds b = write_bounds(where, from, to, step, relation);
    if (up != (step > 0))
        cu_die(where, "the loop's step %lld leads from %s away from the bound %s", step, b.from,
               b.to);
    const unsigned long long size = up ? (unsigned long long)step : 0ULL - (unsigned long long)step;
    const unsigned long long before_last = ((up ? bound - first : first - bound) - !equal) / size;
    if (before_last >= INT_MAX)
        die_of_bounds(&b, "has more than 2147483647 iterations, which is the most that units "
                          "can share");
    if (!holds(relation, first + before_last * (unsigned long long)step))
        die_of_bounds(&b, "has a variable whose type cannot hold the last value, so in C it would "
                          "not end");
    return (evn_cu_int)before_last + 1;
}

evn_cu_int evn_cu_trips(evn_cu_site *where, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                        int relation) {
    struct wish *w = wish_of(where);
    /* bounds stand before clauses: the directive was met again within its own clauses */
    if (w->advised) w = begin_wish(where);
    w->from = from;
    w->step = step;
    return cu_count(where, from, to, step, relation);
}

void evn_cu_option(evn_cu_site *where, const char *name, evn_cu_int value) {
    struct wish *w = advise(where);
    if (!name || w->options == CU_OPTIONS)
        cu_die(where, "dist_schedule: more than %d options", (int)CU_OPTIONS);
    w->option[w->options++] = (struct option){name, value};
}

void evn_cu_speed(evn_cu_site *where, int family, double speed) {
    if (!(speed > 0 && speed < 1e300))
        cu_die(where, "speed: a unit's speed must be a number above 0");
    advise(where)->speed[family == EVN_CU_GPU] = speed;
}

void evn_cu_batch(evn_cu_site *where, void (*body)(const evn_cu_int *, int)) {
    advise(where)->batch = body;
}

/* `old`, of *room numbers of 8 bytes, with room for one of each iteration. */
static void *more_room(const evn_cu_site *where, const char *clause, void *old, size_t *room,
                       evn_cu_int trips) {
    const size_t n = trips > 0 ? (size_t)trips : 1;
    if (n <= *room) return old;
    void *more = n < SIZE_MAX / 8 ? realloc(old, n * 8) : NULL;
    if (!more) cu_die(where, "%s: not enough memory for %lld iterations", clause, trips);
    *room = n;
    cu_keep_alive();
    return more;
}

double *evn_cu_weights(evn_cu_site *where, evn_cu_int trips) {
    struct wish *w = advise(where);
    w->weight = more_room(where, "weight", w->weight, &w->weight_room, trips);
    w->weights = trips;
    return w->weight;
}

evn_cu_int *evn_cu_keys(evn_cu_site *where, evn_cu_int trips) {
    struct wish *w = advise(where);
    w->key = more_room(where, "key", w->key, &w->key_room, trips);
    w->keys = trips;
    return w->key;
}

evn_cu_int *evn_cu_here(evn_cu_site *where, evn_cu_int trips) {
    size_t room = 0;
    return more_room(where, "affinity", NULL, &room, trips);
}

void evn_cu_here_end(evn_cu_int *iteration) { free(iteration); }

int evn_cu_is_here(evn_cu_site *where, int what) {
    if (what < 0) cu_die(where, "affinity: %s", evn_message());
    return what;
}

/* ---- values of reductions ------------------------------------------------------------------ */

enum { LINE = 64 }; /* bytes of a cache line */

struct parts {
    void *block; /* has the memory from its first multiple of a cache line on */
    void *memory;
    size_t bytes;
};

/* Zeros that the system gives when they are first touched, by whoever computes the values. Within
 * units' work other leaders may still read the old values; so these stay for good there. */
static void more_parts(const evn_cu_site *where, struct parts *p, size_t bytes) {
    bytes += bytes / 2;
    char *block = calloc(1, bytes + LINE);
    if (!block) cu_die(where, "reduction: not enough memory for %zu bytes", bytes);
    if (!evn_units_here()) free(p->block);
    *p = (struct parts){block, block + (-(uintptr_t)block & (LINE - 1)), bytes};
}

void evn_cu_section(evn_cu_site *where, evn_cu_int count, size_t bytes) {
    if (count < 0 || count > LLONG_MAX / 64)
        cu_die(where, "reduction: a section of %lld elements; expected 0 or more", count);
    if (bytes > 1 << 20)
        cu_die(where,
               "reduction: an array of %zu bytes, of which each unit would have a copy on its "
               "stack; of more than 1 MiB reduce a pointer to it",
               bytes);
}

void *evn_cu_parts(evn_cu_site *where, int which, size_t bytes, evn_cu_int trips) {
    struct site *s = site_of(where);
    const size_t n = trips > 0 ? (size_t)trips : 1;
    if (!bytes) bytes = 1; /* an array of Fortran without elements */
    if (which < 0 || n > SIZE_MAX / 2 / bytes)
        cu_die(where, "reduction: %lld values of %zu bytes are too many", trips, bytes);
    pthread_mutex_lock(&lock);
    if (which >= s->part_count) {
        const size_t count = (size_t)which + 1;
        struct parts *more = realloc(s->parts, count * sizeof *more);
        if (!more) cu_die(where, "reduction: not enough memory");
        for (size_t i = (size_t)s->part_count; i < count; i++) more[i] = (struct parts){0};
        s->parts = more;
        s->part_count = (int)count;
    }
    struct parts *p = &s->parts[which];
    if (n * bytes > p->bytes) more_parts(where, p, n * bytes);
    void *memory = p->memory;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* A variable of lastprivate within a teams block, as the last iteration has left it. */
struct last {
    void *of; /* its address there */
    char value[];
};

void evn_cu_last_put(evn_cu_site *where, int which, void *own, size_t bytes) {
    struct last *last = evn_cu_parts(where, which, sizeof *last + bytes, 1);
    last->of = own;
    memcpy(last->value, own, bytes);
}

void evn_cu_last_get(evn_cu_site *where, int which, void *own, size_t bytes, int copies) {
    const struct last *last = evn_cu_parts(where, which, sizeof *last + bytes, 1);
    if (last->of == own) return;
    if (!copies)
        cu_die(where, "lastprivate: each unit of the teams block has a variable of its own, whose "
                      "class cannot be copied as bytes; declare it before the block, shared");
    memcpy(own, last->value, bytes);
}

/* ---- loops --------------------------------------------------------------------------------- */

static int is_for(const struct kept *k, evn_cu_int trips, const struct wish *w) {
    const int keyed = w->keys == trips;
    if (keyed != !!k->keys || (!keyed && k->trips != trips) || k->options != w->options) return 0;
    for (int i = 0; i < k->options; i++)
        if (k->option[i].value != w->option[i].value ||
            strcmp(k->option[i].name, w->option[i].name) != 0)
            return 0;
    if (k->speed[0] != w->speed[0] || k->speed[1] != w->speed[1]) return 0;
    return k->weighted == (w->weights == trips);
}

/* Argument of evn_open_loop(); NULL: EVENER_SCHEDULE, or auto. */
static const char *write_schedule(const evn_cu_site *where, const struct wish *w, char *text,
                                  size_t size) {
    const char *kind = where->schedule && *where->schedule ? where->schedule : "static";
    if (!strcmp(kind, "runtime")) return NULL;
    size_t at = (size_t)snprintf(text, size, "%s", kind);
    int colon = strchr(kind, ':') != NULL;
    for (int i = 0; i < w->options && at < size; i++, colon = 1)
        at += (size_t)snprintf(text + at, size - at, "%c%s=%lld", colon ? ',' : ':',
                               w->option[i].name, w->option[i].value);
    if (at >= size) cu_die(where, "dist_schedule: %s and its options are too long", kind);
    return text;
}

/* Speed of each unit; NULL: not given. A family without one counts its unit's cores or devices. */
static double *write_speeds(const struct wish *w) {
    const int units = evn_units_count(cu.units);
    double *speed =
        w->speed[0] > 0 || w->speed[1] > 0 ? malloc((size_t)units * sizeof *speed) : NULL;
    for (int u = 0; speed && u < units; u++) {
        const evn_unit *unit = evn_units_get(cu.units, u);
        const int gpu = evn_unit_is_gpu(unit);
        const double parts = gpu ? evn_unit_devices(unit) : evn_unit_cores(unit);
        speed[u] = w->speed[gpu] > 0 ? w->speed[gpu] : parts;
    }
    return speed;
}

static void close_kept(struct site *s, struct kept *k) {
    cu_report_add(s, k->loop);
    evn_close_loop(cu.session, k->loop);
    free(k->keys);
    free(k);
}

void cu_sites_forget(void) {
    for (struct site *s = cu_sites; s; s = s->next)
        while (s->kept) {
            struct kept *k = s->kept;
            s->kept = k->next;
            close_kept(s, k);
        }
}

/* Closes the least recently used loop; not within the units' work. */
static void drop_oldest(struct site *s) {
    struct kept **k = &s->kept;
    int count = 0;
    if (evn_units_about(cu.units).running) return;
    while (*k && ++count < LOOPS) k = &(*k)->next;
    while (*k) {
        struct kept *old = *k;
        *k = old->next;
        close_kept(s, old);
    }
}

/* The directive as the record and its page name it; of a long path the end. */
static evn_status name_kept(const evn_cu_site *where, evn_loop *loop) {
    enum { FILE_MOST = 300 };
    char name[FILE_MOST + 32];
    const size_t length = strlen(where->file);
    const char *file = where->file + (length > FILE_MOST ? length - FILE_MOST : 0);
    snprintf(name, sizeof name, "%s:%d", file, where->line);
    return evn_name_loop(cu.session, loop, name);
}

static struct kept *open_kept(struct site *s, evn_cu_int trips, const struct wish *w) {
    char text[256];
    const char *schedule = write_schedule(s->where, w, text, sizeof text);
    double *speed = write_speeds(w);
    struct kept *k = calloc(1, sizeof *k);
    if (!k) cu_die(s->where, "not enough memory");
    k->trips = trips;
    k->options = w->options;
    memcpy(k->option, w->option, sizeof k->option);
    memcpy(k->speed, w->speed, sizeof k->speed);
    k->weighted = w->weights == trips;
    if (w->keys == trips) k->keys = cu_keys_open(s->where, w->key, (int)trips);
    const evn_problem problem = {
        .tasks = (int)trips, .weight = k->weighted ? w->weight : NULL, .speed = speed};
    evn_status status = evn_open_loop(&k->loop, cu.session, schedule, &problem);
    free(speed);
    if (!status) status = name_kept(s->where, k->loop);
    if (status) cu_die_of_message(s->where);
    return k;
}

/* The directive's loop for this instance, first in the list. */
static struct kept *find_kept(struct site *s, evn_cu_int trips, const struct wish *w) {
    struct kept *k;
    for (struct kept **p = &s->kept; (k = *p); p = &k->next)
        if (is_for(k, trips, w)) {
            *p = k->next;
            break;
        }
    if (!k) {
        drop_oldest(s);
        k = open_kept(s, trips, w);
    } else if (!(k->keys && cu_keys_follow(s->where, k, w)) && k->weighted &&
               evn_loop_weights(k->loop, w->weight)) {
        cu_die_of_message(s->where);
    }
    k->trips = trips;
    k->next = s->kept;
    s->kept = k;
    return k;
}

evn_loop *evn_cu_loop(const char *file, int line) {
    evn_loop *loop = NULL;
    pthread_mutex_lock(&lock);
    for (struct site *s = cu_sites; s && file; s = s->next)
        if (s->where->line == line && !strcmp(s->where->file, file) && s->kept)
            loop = s->kept->loop;
    pthread_mutex_unlock(&lock);
    if (!loop)
        evn_fail(EVN_USAGE, "no directive of compute units in %s, line %d, has run",
                 file ? file : "(null)", line);
    return loop;
}

/* ---- entering ------------------------------------------------------------------------------ */

static void arm(enum armed armed, struct site *s, struct kept *kept, const struct wish *w) {
    cu_here.armed = armed;
    cu_here.site = s;
    cu_here.kept = kept;
    cu_here.from = w ? w->from : 0;
    cu_here.step = w ? w->step : 1;
    cu_here.batch_body = w ? w->batch : NULL;
}

/* Sets the current directive; all leaders within a teams block set the same. */
static void come_to(const evn_cu_site *where) {
    atomic_store_explicit(&cu_at, where, memory_order_relaxed);
}

int evn_cu_enter(evn_cu_site *where, const evn_cu_group *group, int groups, evn_cu_int limit,
                 evn_cu_int trips) {
    check_caller(where);
    const struct wish *w = wish_of(where);
    if (trips > 0) {
        struct site *s = site_of(where);
        come_to(where);
        cu_units_want(s, group, groups, limit);
        arm(ARMED_LOOP, s, find_kept(s, trips, w), w);
    }
    end_wish();
    return trips > 0;
}

int evn_cu_teams(evn_cu_site *where, const evn_cu_group *group, int groups, evn_cu_int limit) {
    check_caller(where);
    struct site *s = site_of(where);
    come_to(where);
    cu_units_want(s, group, groups, limit);
    arm(ARMED_TEAMS, s, NULL, NULL);
    return evn_units_count(cu.units);
}

void evn_cu_run(evn_cu_site *where, evn_cu_int tasks, void (*body)(void *arg), void *arg) {
    check_caller(where);
    if (!body) cu_die(where, "omp_cu_run: the body is NULL");
    if (tasks < 0 || tasks > INT_MAX)
        cu_die(where, "omp_cu_run: %lld tasks; expected 0 to %d", tasks, INT_MAX);
    struct site *s = site_of(where);
    come_to(where);
    if (tasks && !cu.session) cu_units_want(s, NULL, 0, 0);
    if (tasks) cu_fork_run(s, find_kept(s, tasks, wish_of(where)), body, arg);
    end_wish();
}

/* All leaders come; the first unit's sees to the loop. */
static void enter_join(struct site *s, evn_cu_int trips, const struct wish *w) {
    if (!evn_unit_number(cu_here.unit)) {
        come_to(s->where);
        find_kept(s, trips, w);
    }
    evn_unit_synchronize(cu_here.unit);
    arm(ARMED_JOIN, s, s->kept, w);
}

/* OpenMP's static distribute: consecutive iterations, the remainder to the first teams. */
static void enter_standard(struct site *s, evn_cu_int trips) {
    const evn_cu_int teams = omp_get_num_teams(), me = omp_get_team_num();
    const evn_cu_int each = trips / teams, more = trips % teams;
    cu_here.next = me * each + (me < more ? me : more);
    cu_here.end = cu_here.next + each + (me < more);
    arm(ARMED_STANDARD, s, NULL, NULL);
}

int evn_cu_distribute(evn_cu_site *where, evn_cu_int trips) {
    const struct wish *w = wish_of(where);
    if (!cu_fork_is_taken()) check_caller(where);
    if (cu_here.batch || (evn_units_here() && !cu_here.unit))
        cu_die(where, "distribute within %s; it belongs into a teams block",
               cu_here.batch ? "a loop over compute units" : "a parallel region of a unit");
    if (trips > 0) {
        struct site *s = site_of(where);
        if (cu_here.unit)
            enter_join(s, trips, w);
        else
            enter_standard(s, trips);
    }
    end_wish();
    return trips > 0;
}

evn_cu_int evn_cu_team(void) { return (evn_cu_int)evn_cu_number(); }
