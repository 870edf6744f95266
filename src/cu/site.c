/* Directives: what the program says of each, and the loops that are kept for their next instance. A
 * directive that comes with another number of iterations, other weights or other options has
 * another loop, since its schedule learns about these; the last few are kept. */
#include "cu/internal.h"
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOPS = 8 }; /* of a directive; more are closed */

struct site *cu_sites;
_Thread_local struct cu_thread cu_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of parts */

/* ---- memory of threads --------------------------------------------------------------------- */

static pthread_key_t ends;

static void end_thread(void *p) {
    struct cu_thread *t = p;
    free(t->wish.weight);
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

/* ---- what is said before ------------------------------------------------------------------- */

static struct wish *wish_of(const evn_cu_site *where) {
    struct wish *w = &cu_here.wish;
    if (w->site == where) return w;
    *w = (struct wish){.site = where, .step = 1, .weight = w->weight, .room = w->room};
    return w;
}

/* A directive has taken it. */
static void clear_wish(void) {
    struct wish *w = &cu_here.wish;
    w->site = NULL;
}

evn_cu_int evn_cu_trips(evn_cu_site *where, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                        int relation) {
    const int up = relation == EVN_CU_LESS || relation == EVN_CU_LESS_EQUAL;
    const int equal = relation == EVN_CU_LESS_EQUAL || relation == EVN_CU_MORE_EQUAL;
    struct wish *w = wish_of(where);
    w->from = from;
    w->step = step;
    if (up ? from > to : from < to) return 0;
    if (from == to && !equal) return 0;
    if (!step) cu_die(where, "the loop's step is 0, and it would not end");
    if (up != (step > 0))
        cu_die(where, "the loop's step %lld leads from %lld away from the bound %lld", step, from,
               to);
    const unsigned long long size = up ? (unsigned long long)step : 0ULL - (unsigned long long)step;
    const unsigned long long way = up ? (unsigned long long)to - (unsigned long long)from
                                      : (unsigned long long)from - (unsigned long long)to;
    const unsigned long long before_last = (way - !equal) / size;
    if (before_last >= INT_MAX)
        cu_die(where,
               "the loop from %lld to %lld by %lld has more than 2147483647 iterations, "
               "which is the most that units can share",
               from, to, step);
    return (evn_cu_int)before_last + 1;
}

void evn_cu_option(evn_cu_site *where, const char *name, evn_cu_int value) {
    struct wish *w = wish_of(where);
    if (!name || w->options == CU_OPTIONS)
        cu_die(where, "dist_schedule: more than %d options", (int)CU_OPTIONS);
    w->option[w->options++] = (struct option){name, value};
}

void evn_cu_speed(evn_cu_site *where, int family, double speed) {
    if (!(speed > 0 && speed < 1e300))
        cu_die(where, "speed: a unit's speed must be a number above 0");
    wish_of(where)->speed[family == EVN_CU_GPU] = speed;
}

void evn_cu_batch(evn_cu_site *where, void (*body)(const evn_cu_int *, int)) {
    wish_of(where)->batch = body;
}

double *evn_cu_weights(evn_cu_site *where, evn_cu_int trips) {
    struct wish *w = wish_of(where);
    const size_t n = trips > 0 ? (size_t)trips : 1;
    if (n > w->room) {
        double *more = n < SIZE_MAX / sizeof *more ? realloc(w->weight, n * sizeof *more) : NULL;
        if (!more) cu_die(where, "weight: not enough memory for %lld weights", trips);
        w->weight = more;
        w->room = n;
        cu_keep_alive();
    }
    w->weights = trips;
    return w->weight;
}

/* ---- values of reductions ------------------------------------------------------------------ */

struct parts {
    void *memory;
    size_t bytes;
};

/* Within units' work other leaders may still read the old values; so these stay for good there. */
static void more_parts(const evn_cu_site *where, struct parts *p, size_t bytes) {
    bytes += bytes / 2;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) cu_die(where, "reduction: not enough memory for %zu bytes", bytes);
    memset(memory, 0, bytes);
    if (!evn_units_here()) free(p->memory);
    *p = (struct parts){memory, bytes};
}

void *evn_cu_parts(evn_cu_site *where, int which, size_t bytes, evn_cu_int trips) {
    struct site *s = site_of(where);
    const size_t n = trips > 0 ? (size_t)trips : 1;
    if (which < 0 || !bytes || n > SIZE_MAX / 2 / bytes)
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

/* ---- loops --------------------------------------------------------------------------------- */

static int is_for(const struct kept *k, evn_cu_int trips, const struct wish *w) {
    if (k->trips != trips || k->options != w->options) return 0;
    for (int i = 0; i < k->options; i++)
        if (k->option[i].value != w->option[i].value ||
            strcmp(k->option[i].name, w->option[i].name) != 0)
            return 0;
    if (k->speed[0] != w->speed[0] || k->speed[1] != w->speed[1]) return 0;
    if (!k->weight != (w->weights != trips)) return 0;
    return !k->weight || !memcmp(k->weight, w->weight, (size_t)trips * sizeof *k->weight);
}

/* What evn_schedule_open() is given; NULL: EVENER_SCHEDULE. */
static const char *write_schedule(const evn_cu_site *where, const struct wish *w, char *text,
                                  size_t size) {
    const char *kind = where->schedule && *where->schedule ? where->schedule : "static";
    if (!strcmp(kind, "runtime")) return cu_variable("EVENER_SCHEDULE") ? NULL : "static";
    size_t at = (size_t)snprintf(text, size, "%s", kind);
    int colon = strchr(kind, ':') != NULL;
    for (int i = 0; i < w->options && at < size; i++, colon = 1)
        at += (size_t)snprintf(text + at, size - at, "%c%s=%lld", colon ? ',' : ':',
                               w->option[i].name, w->option[i].value);
    if (at >= size) cu_die(where, "dist_schedule: %s and its options are too long", kind);
    return text;
}

/* How much each unit counts; NULL: nothing was said. A family that was left out has a unit's cores
 * or devices. */
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

static void free_kept(struct kept *k) {
    if (k) free(k->weight);
    free(k);
}

static void close_kept(struct site *s, struct kept *k) {
    cu_report_add(s, k->loop);
    evn_close_loop(cu.session, k->loop);
    free_kept(k);
}

void cu_sites_forget(void) {
    for (struct site *s = cu_sites; s; s = s->next)
        while (s->kept) {
            struct kept *k = s->kept;
            s->kept = k->next;
            close_kept(s, k);
        }
}

/* Closes what was not used for longest, but not within the units' work. */
static void drop_oldest(struct site *s) {
    struct kept **k = &s->kept;
    int count = 0;
    if (evn_units_running(cu.units)) return;
    while (*k && ++count < LOOPS) k = &(*k)->next;
    while (*k) {
        struct kept *old = *k;
        *k = old->next;
        close_kept(s, old);
    }
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
    if (w->weights == trips) {
        k->weight = malloc((size_t)trips * sizeof *k->weight);
        if (!k->weight) cu_die(s->where, "weight: not enough memory for %lld weights", trips);
        memcpy(k->weight, w->weight, (size_t)trips * sizeof *k->weight);
    }
    const evn_problem problem = {.tasks = (int)trips, .weight = k->weight, .speed = speed};
    evn_status status = evn_open_loop(&k->loop, cu.session, schedule, &problem);
    free(speed);
    if (status) cu_die_of_message(s->where);
    return k;
}

/* The directive's loop for this instance, first in the list. */
static struct kept *find_kept(struct site *s, evn_cu_int trips, const struct wish *w) {
    struct kept *k = s->kept;
    if (k && is_for(k, trips, w)) return k;
    for (struct kept **p = &s->kept; (k = *p); p = &k->next)
        if (is_for(k, trips, w)) {
            *p = k->next;
            break;
        }
    if (!k) {
        drop_oldest(s);
        k = open_kept(s, trips, w);
    }
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

static void arm(enum armed armed, struct site *s, struct kept *kept) {
    cu_here.armed = armed;
    cu_here.site = s;
    cu_here.kept = kept;
}

/* Where the program is; leaders within a teams block say the same all. */
static void come_to(const evn_cu_site *where) {
    atomic_store_explicit(&cu_at, where, memory_order_relaxed);
}

int evn_cu_enter(evn_cu_site *where, const evn_cu_group *group, int groups, evn_cu_int limit,
                 evn_cu_int trips) {
    check_caller(where);
    const struct wish *w = wish_of(where);
    clear_wish();
    if (trips <= 0) return 0;
    struct site *s = site_of(where);
    come_to(where);
    cu_units_want(s, group, groups, limit);
    arm(ARMED_LOOP, s, find_kept(s, trips, w));
    return 1;
}

int evn_cu_teams(evn_cu_site *where, const evn_cu_group *group, int groups, evn_cu_int limit) {
    check_caller(where);
    struct site *s = site_of(where);
    come_to(where);
    cu_units_want(s, group, groups, limit);
    arm(ARMED_TEAMS, s, NULL);
    return evn_units_count(cu.units);
}

/* All leaders come; the first unit's sees to the loop. */
static void enter_join(struct site *s, evn_cu_int trips, const struct wish *w) {
    if (!evn_unit_number(cu_here.unit)) {
        come_to(s->where);
        find_kept(s, trips, w);
    }
    evn_unit_synchronize(cu_here.unit);
    arm(ARMED_JOIN, s, s->kept);
}

/* OpenMP's static distribute: consecutive iterations, the remainder to the first teams. */
static void enter_standard(struct site *s, evn_cu_int trips) {
    const evn_cu_int teams = omp_get_num_teams(), me = omp_get_team_num();
    const evn_cu_int each = trips / teams, more = trips % teams;
    cu_here.next = me * each + (me < more ? me : more);
    cu_here.end = cu_here.next + each + (me < more);
    arm(ARMED_STANDARD, s, NULL);
}

int evn_cu_distribute(evn_cu_site *where, evn_cu_int trips) {
    const struct wish *w = wish_of(where);
    clear_wish();
    if (!cu_fork_is_taken()) check_caller(where);
    if (cu_here.batch || (evn_units_here() && !cu_here.unit))
        cu_die(where, "distribute within %s; it belongs into a teams block",
               cu_here.batch ? "a loop over compute units" : "a parallel region of a unit");
    if (trips <= 0) return 0;
    struct site *s = site_of(where);
    if (cu_here.unit)
        enter_join(s, trips, w);
    else
        enter_standard(s, trips);
    return 1;
}

evn_cu_int evn_cu_team(void) { return (evn_cu_int)evn_cu_number(); }
