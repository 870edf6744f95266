/* Units at work: leaders, their teams of cores, and where their threads are bound.
 *
 * Leaders are POSIX threads and each opens its own top-level OpenMP regions: an inner region under
 * a nested one costs 56 us with libgomp, under a thread of its own 5.5 us. The runtime binds the
 * teams of all leaders to the same first places when OMP_PROC_BIND is set, so every team's first
 * region binds its threads again; the runtime keeps them, and with them the binding.
 */
#include <evener/status.h>
#include "unit/descriptor.h"
#include "unit/gate.h"
#include <evener/unit.h>
#include <ctype.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a waiting leader looks before it sleeps: about 50 us, longer than an exchange lasts. */
enum { SPINS = 1500 };

struct evn_unit {
    evn_units *all;
    int number;
    enum unit_family family;
    int cores;           /* of its team */
    double slowness;     /* evn_unit_slow() */
    int *core;           /* the system's numbers; NULL where nothing is bound */
    int device, devices; /* the first one's number, and how many */
    evn_device **gpu;
    evn_queue **queue;
    pthread_t thread;
    int started;       /* has a thread of its own to be joined */
    evn_status status; /* of binding its team */
    char message[256];
};

struct evn_units {
    const evn_machine *machine;
    int count, cpus, gpus, devices;
    evn_unit *unit;
    char text[512];
    int threads; /* leaders exist */
    int bound;
    int crowded; /* more threads than cores: nobody spins */
    /* the caller as it was, to be given back */
    cpu_set_t caller_mask;
    int caller_dynamic, caller_saved;
    /* the job at hand */
    void (*job)(evn_unit *, void *);
    void *arg;
    int stop;
    struct gate begin;  /* counts jobs given out */
    struct gate end;    /* counts jobs all others have finished */
    atomic_int working; /* a job is under way */
    _Alignas(64) atomic_int running;
    /* evn_unit_synchronize() */
    struct gate meeting;
    _Alignas(64) atomic_int arrived;
};

static int bind_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    if (core < 0 || core >= CPU_SETSIZE) return EINVAL;
    CPU_SET(core, &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* Whether the calling thread may run on `core` and nowhere else. */
static int is_bound_to(int core) {
    cpu_set_t mask;
    if (pthread_getaffinity_np(pthread_self(), sizeof mask, &mask)) return 0;
    return core >= 0 && core < CPU_SETSIZE && CPU_COUNT(&mask) == 1 && CPU_ISSET(core, &mask);
}

/* Makes the leader's team of threads and binds each to its core; called by the leader itself. */
static void make_team(evn_unit *u) {
    u->status = EVN_OK;
    omp_set_dynamic(0);
    int got = 1, failed = -1;
    if (u->core && bind_to(u->core[0])) failed = 0;
    if (u->cores > 1 && u->family == UNIT_CPU) {
#pragma omp parallel num_threads(u->cores)
        {
            int me = omp_get_thread_num();
            if (u->core && bind_to(u->core[me])) {
#pragma omp critical(evn_bind)
                failed = me;
            }
#pragma omp single
            got = omp_get_num_threads();
        }
    }
    if (got != u->cores) {
        u->status = EVN_SYSTEM;
        snprintf(u->message, sizeof u->message,
                 "units: unit %d got a team of %d threads instead of %d; look at OMP_THREAD_LIMIT",
                 u->number, got, u->cores);
    } else if (failed >= 0) {
        u->status = EVN_SYSTEM;
        snprintf(u->message, sizeof u->message,
                 "units: thread %d of unit %d cannot be bound to core %d; it is outside of what "
                 "this process may use",
                 failed, u->number, u->core[failed]);
    }
}

static void *lead(void *p) {
    evn_unit *u = p;
    evn_units *all = u->all;
    for (unsigned seen = 0;; seen++) {
        gate_wait(&all->begin, seen);
        if (all->stop) return NULL;
        all->job(u, all->arg);
        /* the last one to finish opens the gate to the caller */
        if (atomic_fetch_sub(&all->running, 1) == 1) gate_open(&all->end);
    }
}

static void give_out(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    all->job = job;
    all->arg = arg;
    atomic_store(&all->running, all->count - 1);
    gate_open(&all->begin);
}

void evn_units_run(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    atomic_store_explicit(&all->working, 1, memory_order_relaxed);
    if (all->count == 1 || !all->threads) {
        for (int u = 0; u < all->count; u++) job(&all->unit[u], arg);
    } else {
        unsigned seen = gate_count(&all->end);
        give_out(all, job, arg);
        job(&all->unit[0], arg);
        gate_wait(&all->end, seen);
    }
    atomic_store_explicit(&all->working, 0, memory_order_relaxed);
}

int evn_units_running(const evn_units *all) {
    return atomic_load_explicit(&all->working, memory_order_relaxed);
}

void evn_unit_synchronize(evn_unit *u) {
    evn_units *all = u->all;
    if (all->count == 1 || !all->threads) return;
    unsigned seen = gate_count(&all->meeting);
    if (atomic_fetch_add(&all->arrived, 1) == all->count - 1) {
        atomic_store(&all->arrived, 0);
        gate_open(&all->meeting);
    } else {
        gate_wait(&all->meeting, seen);
    }
}

static void team_job(evn_unit *u, void *unused) {
    (void)unused;
    make_team(u);
}

/* The first unit's failure, or EVN_OK. */
static evn_status gather(const evn_units *all) {
    for (int i = 0; i < all->count; i++)
        if (all->unit[i].status) return evn_fail(all->unit[i].status, "%s", all->unit[i].message);
    return EVN_OK;
}

static evn_status start(evn_units *all) {
    all->caller_saved =
        !pthread_getaffinity_np(pthread_self(), sizeof all->caller_mask, &all->caller_mask);
    all->caller_dynamic = omp_get_dynamic();
    all->threads = 1;
    int spins = all->bound && !all->crowded ? SPINS : 0;
    gate_init(&all->begin, spins);
    gate_init(&all->end, spins);
    gate_init(&all->meeting, spins);
    for (int i = 1; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        int error = pthread_create(&u->thread, NULL, lead, u);
        if (error)
            return evn_fail(EVN_SYSTEM, "units: the thread of unit %d of %d cannot be made: %s", i,
                            all->count, strerror(error));
        u->started = 1;
    }
    evn_units_run(all, team_job, NULL);
    return gather(all);
}

/* Cores of a unit, from *core on. */
static evn_status deal_cores(evn_unit *u, const evn_machine *machine, int *core) {
    u->core = malloc(sizeof *u->core * (size_t)u->cores);
    if (!u->core)
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", u->all->count);
    for (int c = 0; c < u->cores; c++) u->core[c] = evn_machine_core_number(machine, (*core)++);
    return EVN_OK;
}

/* Deals cores and devices out in the machine's order. */
static evn_status deal(evn_units *all, const evn_machine *machine, const struct unit_list *list) {
    int next = 0, core = 0, device = 0;
    for (int g = 0; g < list->groups; g++)
        for (int i = 0; i < list->group[g].count; i++) {
            evn_unit *u = &all->unit[next];
            u->all = all;
            u->number = next++;
            u->family = list->group[g].family;
            u->cores = u->family == UNIT_CPU ? list->group[g].size : 1;
            u->device = -1;
            u->slowness = 1;
            if (u->family == UNIT_GPU) {
                u->device = device;
                u->devices = list->group[g].size;
                device += u->devices;
            }
        }
    evn_status status = EVN_OK;
    for (int i = 0; all->bound && !status && i < all->count; i++)
        if (all->unit[i].family == UNIT_CPU || !all->crowded)
            status = deal_cores(&all->unit[i], machine, &core);
    return status;
}

/* Whether the system has a GPU's device file. Asked before a vendor's libraries are loaded only to
 * learn that there is none, which takes longer than many a run. */
static int has_gpu(void) {
    static const char *const file[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/dxg",
                                       "/dev/dri/renderD128"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (!access(file[i], F_OK)) return 1;
    return 0;
}

/* How many devices `auto` takes. */
static evn_status count_devices(const char *devices, int *count) {
    char why[512];
    *count = 0;
    if (devices) return evn_devices_count(devices, count, why, sizeof why);
    if (!has_gpu()) return EVN_OK;
    evn_status status = evn_devices_count("cuda", count, why, sizeof why);
    if (!status && !*count) status = evn_devices_count("opencl:type=gpu", count, why, sizeof why);
    return status;
}

/* Opens the units' devices. Before leaders are bound: threads that a driver makes inherit where
 * their maker may run. */
static evn_status open_devices(evn_units *all, const char *devices) {
    char why[512] = "", text[256];
    int count = 0, clock = -1;
    if (!devices) devices = "best";
    evn_status status = evn_devices_count(devices, &count, why, sizeof why);
    if (status) return status;
    const char *rest = NULL; /* of `emulated` without a number */
    if (!strcmp(devices, "emulated") || !strcmp(devices, "best")) rest = "";
    if (!strncmp(devices, "emulated:", 9) && !isdigit((unsigned char)devices[9]) &&
        !strchr(devices, '+'))
        rest = devices + 9;
    if (rest && count < all->devices) {
        int is_best = !strcmp(devices, "best");
        evn_device *first = NULL;
        if (is_best) status = evn_device_open(&first, devices, 0);
        if (!status && (!is_best || !strcmp(evn_device_traits(first)->architecture, "emulated"))) {
            snprintf(text, sizeof text, "emulated:%d%s%s", all->devices, *rest ? "," : "", rest);
            devices = text;
            status = evn_devices_count(devices, &count, why, sizeof why);
        }
        evn_device_close(first);
        if (status) return status;
    }
    if (count < all->devices)
        return evn_fail(EVN_MISSING,
                        "units: \"%s\" asks for %d device%s, and --devices %s gives %d%s%s; "
                        "--devices emulated gives any number of emulated ones",
                        all->text, all->devices, all->devices == 1 ? "" : "s", devices, count,
                        *why ? ": " : "", why);
    for (int i = 0; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (!u->devices) continue;
        u->gpu = calloc((size_t)u->devices, sizeof *u->gpu);
        u->queue = calloc((size_t)u->devices, sizeof *u->queue);
        if (!u->gpu || !u->queue) return evn_fail(EVN_MEMORY, "units: not enough memory");
        for (int d = 0; !status && d < u->devices; d++) {
            status = evn_device_open(&u->gpu[d], devices, u->device + d);
            if (!status) status = evn_queue_open(&u->queue[d], u->gpu[d]);
            if (status) break;
            const int is_virtual = evn_device_traits(u->gpu[d])->clock_is_virtual;
            if (clock >= 0 && clock != is_virtual)
                return evn_fail(EVN_USAGE,
                                "units: --devices %s has real and virtual clocks, whose times do "
                                "not go together; say clock=virtual of all or of none",
                                devices);
            clock = is_virtual;
        }
        if (status) return status;
    }
    return EVN_OK;
}

static void close_devices(evn_unit *u) {
    for (int d = 0; d < u->devices; d++) {
        if (u->queue) evn_queue_close(u->queue[d]);
        if (u->gpu) evn_device_close(u->gpu[d]);
    }
    free(u->queue);
    free(u->gpu);
    u->queue = NULL;
    u->gpu = NULL;
    u->devices = 0;
}

evn_status evn_units_open(evn_units **out, const evn_machine *machine, const char *text,
                          unsigned flags) {
    return evn_units_open_on(out, machine, text, NULL, flags);
}

evn_status evn_units_open_on(evn_units **out, const evn_machine *machine, const char *text,
                             const char *devices, unsigned flags) {
    *out = NULL;
    struct unit_list list;
    int have = evn_machine_cores(machine), found = 0;
    int describe = (flags & EVN_DESCRIBE_ONLY) || !evn_machine_is_here(machine);
    evn_status status = EVN_OK;
    if (!describe && unit_list_is_auto(text)) status = count_devices(devices, &found);
    if (!status) status = unit_list_parse(&list, text, have, found);
    if (status) return status;
    int wanted = list.cores - list.gpus; /* leaders of GPU units can share */
    if (!describe && wanted > have && !(flags & EVN_OVERSUBSCRIBE))
        return evn_fail(EVN_USAGE,
                        "units: \"%s\" needs %d cores and there %s %d; ask for fewer, or say "
                        "--oversubscribe (EVN_OVERSUBSCRIBE) to share them",
                        text, wanted, have == 1 ? "is" : "are", have);
    evn_units *all = aligned_alloc(64, (sizeof *all + 63) / 64 * 64);
    if (!all) return evn_fail(EVN_MEMORY, "units: not enough memory");
    memset(all, 0, sizeof *all);
    all->machine = machine;
    all->count = list.units;
    all->cpus = list.cpus;
    all->gpus = list.gpus;
    all->devices = list.devices;
    all->bound = !describe && wanted <= have;
    all->crowded = list.cores > have;
    unit_list_print(&list, all->text, sizeof all->text);
    all->unit = calloc((size_t)all->count, sizeof *all->unit);
    if (!all->unit) {
        free(all);
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", list.units);
    }
    status = deal(all, machine, &list);
    if (!status && !describe && all->devices) status = open_devices(all, devices);
    if (!status && !describe) status = start(all);
    if (status) {
        evn_units_close(all);
        return status;
    }
    *out = all;
    return EVN_OK;
}

/* Ends the leaders' threads and gives the caller back what it had. */
static void stop(evn_units *all) {
    if (!all->threads) return;
    all->stop = 1;
    gate_open(&all->begin);
    for (int i = 1; i < all->count; i++) {
        if (all->unit[i].started) pthread_join(all->unit[i].thread, NULL);
        all->unit[i].started = 0;
    }
    all->stop = 0;
    all->threads = 0;
    gate_destroy(&all->begin);
    gate_destroy(&all->end);
    gate_destroy(&all->meeting);
    omp_set_dynamic(all->caller_dynamic);
    if (all->caller_saved)
        pthread_setaffinity_np(pthread_self(), sizeof all->caller_mask, &all->caller_mask);
}

evn_status evn_units_remove(evn_units *all, int number) {
    if (number < 0 || number >= all->count)
        return evn_fail(EVN_USAGE, "units: there is no unit %d to remove", number);
    if (all->count == 1)
        return evn_fail(EVN_USAGE, "units: unit 0 is the last one and cannot be removed");
    int had_threads = all->threads;
    stop(all);
    evn_unit *u = &all->unit[number];
    if (u->family == UNIT_CPU)
        all->cpus--;
    else
        all->gpus--;
    all->devices -= u->devices;
    close_devices(u);
    free(u->core);
    memmove(u, u + 1, sizeof *u * (size_t)(all->count - 1 - number));
    all->count--;
    struct unit_list list = {0};
    for (int i = 0; i < all->count; i++) {
        evn_unit *v = &all->unit[i];
        v->number = i;
        int size = v->family == UNIT_CPU ? v->cores : v->devices;
        struct unit_group *last = list.groups ? &list.group[list.groups - 1] : NULL;
        if (last && last->family == v->family && last->size == size)
            last->count++;
        else if (list.groups < UNIT_GROUPS_MAX)
            list.group[list.groups++] = (struct unit_group){1, v->family, size};
    }
    unit_list_print(&list, all->text, sizeof all->text);
    return had_threads ? start(all) : EVN_OK;
}

void evn_units_close(evn_units *all) {
    if (!all) return;
    stop(all);
    for (int i = 0; i < all->count; i++) {
        close_devices(&all->unit[i]);
        free(all->unit[i].core);
    }
    free(all->unit);
    free(all);
}

static void check_job(evn_unit *u, void *unused) {
    (void)unused;
    u->status = EVN_OK;
    if (!u->core) return;
    int wrong = is_bound_to(u->core[0]) ? -1 : 0;
    if (u->cores > 1) {
#pragma omp parallel num_threads(u->cores)
        {
            int me = omp_get_thread_num();
            if (!is_bound_to(u->core[me])) {
#pragma omp critical(evn_bind)
                wrong = me;
            }
        }
    }
    if (wrong < 0) return;
    u->status = EVN_SYSTEM;
    snprintf(u->message, sizeof u->message,
             "units: thread %d of unit %d is not bound to its core %d", wrong, u->number,
             u->core[wrong]);
}

evn_status evn_units_check_binding(evn_units *all) {
    if (!all->bound) return EVN_OK;
    evn_units_run(all, check_job, NULL);
    return gather(all);
}

const evn_machine *evn_units_machine(const evn_units *all) { return all->machine; }
const char *evn_units_text(const evn_units *all) { return all->text; }
int evn_units_count(const evn_units *all) { return all->count; }
int evn_units_cpus(const evn_units *all) { return all->cpus; }
int evn_units_gpus(const evn_units *all) { return all->gpus; }
evn_unit *evn_units_get(const evn_units *all, int number) {
    return number >= 0 && number < all->count ? &all->unit[number] : NULL;
}

int evn_unit_number(const evn_unit *u) { return u->number; }
int evn_unit_count(const evn_unit *u) { return u->all->count; }
int evn_unit_count_cpus(const evn_unit *u) { return u->all->cpus; }
int evn_unit_count_gpus(const evn_unit *u) { return u->all->gpus; }
int evn_unit_is_cpu(const evn_unit *u) { return u->family == UNIT_CPU; }
int evn_unit_is_gpu(const evn_unit *u) { return u->family == UNIT_GPU; }
int evn_unit_cores(const evn_unit *u) { return u->cores; }
double evn_unit_slowness(const evn_unit *u) { return u->slowness; }
void evn_unit_slow(evn_unit *u, double factor) {
    if (factor >= 1 && factor <= 1000)
        u->slowness = factor;
    else
        evn_fail(EVN_USAGE, "units: unit %d cannot take %g times as long, only 1 to 1000 times",
                 u->number, factor);
}
int evn_unit_core_number(const evn_unit *u, int core) {
    return u->core && core >= 0 && core < u->cores ? u->core[core] : -1;
}

int evn_unit_devices(const evn_unit *u) { return u->devices; }
evn_device *evn_unit_device(const evn_unit *u, int i) {
    return u->gpu && i >= 0 && i < u->devices ? u->gpu[i] : NULL;
}
evn_queue *evn_unit_queue(const evn_unit *u, int i) {
    return u->queue && i >= 0 && i < u->devices ? u->queue[i] : NULL;
}
int evn_unit_device_number(const evn_unit *u, int i) {
    return i >= 0 && i < u->devices ? u->device + i : -1;
}
int evn_units_devices(const evn_units *all) { return all->devices; }
