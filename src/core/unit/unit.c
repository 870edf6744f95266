/* Units: opening from a list, removal, closing, and queries. */
#include "unit/binding.h"
#include "unit/device_ops.h"
#include "unit/share.h"
#include "unit/taken.h"
#include "unit/team.h"
#include "base/argument.h"
#include "base/bind.h"
#include "base/decisions.h"
#include "base/not_linked.h"
#include "base/process.h"
#include "machine/cores.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list that `auto` stands for on this machine. */
static evn_status read_auto(struct unit_list *list, const evn_machine *machine, int devices) {
    const int parts = evn_machine_about(machine).parts;
    int *size = malloc(sizeof *size * (size_t)parts);
    if (!size) return evn_fail(EVN_MEMORY, "units: not enough memory for %d parts", parts);
    for (int i = 0; i < parts; i++) size[i] = evn_machine_part(machine, i)->cores;
    unit_list_auto(list, size, parts, devices);
    free(size);
    return EVN_OK;
}

/* The message about more cores than there are. */
static evn_status too_many(const evn_machine *machine, const char *text, int wanted) {
    const int have = evn_machine_cores(machine);
    const char *why = machine_reason(machine);
    return evn_fail(
        EVN_USAGE,
        "units: \"%s\" needs %d cores and there %s %d%s%s; ask for fewer, or " BIND_SHARE, text,
        wanted, have == 1 ? "is" : "are", have, *why ? " for this process: " : "", why);
}

/* 1 if the list names a core for the leader of a GPU unit. */
static int names_leaders(const struct unit_list *list) {
    for (int g = 0; g < list->groups; g++)
        if (list->group[g].family != UNIT_CPU && list->group[g].ranges) return 1;
    return 0;
}

/* Finds the kind and speed of a unit by its cores: `core`, and those that follow where nothing is
 * bound. All count as the slowest, since a team divides its work evenly. */
static void rate(evn_unit *u, const evn_machine *machine, int core) {
    u->kind = 0;
    for (int c = 0; c < u->cores; c++) {
        const int *number = u->core ? u->core : u->named;
        const int at = number ? machine_core_of(machine, number[c]) : core + c;
        const evn_part *part = evn_machine_part(machine, evn_machine_part_of(machine, at));
        if (part && part->kind > u->kind) u->kind = part->kind;
    }
    u->speed = u->cores * evn_machine_kind(machine, u->kind)->speed;
}

/* Rates each unit by the cores it has, as far as there are enough, whether its threads are bound or
 * not. */
static void rate_all(evn_units *all, const evn_machine *machine, int enough) {
    for (int i = 0, core = 0; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        u->speed = u->cores;
        if (!enough || (u->family != UNIT_CPU && all->crowded)) continue;
        if (u->family == UNIT_CPU) rate(u, machine, core);
        if (!u->named) core += u->cores;
    }
}

/* The cores that the list names for unit `i` of a group. */
static evn_status name_cores(evn_unit *u, const struct unit_list *list, const struct unit_group *g,
                             int i) {
    if (!g->ranges) return EVN_OK;
    u->named = malloc(sizeof *u->named * (size_t)u->cores);
    if (!u->named) return evn_fail(EVN_MEMORY, "units: not enough memory for %d cores", u->cores);
    for (int c = 0; c < u->cores; c++) u->named[c] = unit_list_core(list, g, i * u->cores + c);
    return EVN_OK;
}

/* Deals cores and devices out. */
static evn_status deal(evn_units *all, const struct unit_list *list) {
    int next = 0, device = 0;
    evn_status status = EVN_OK;
    for (int g = 0; g < list->groups; g++)
        for (int i = 0; i < list->group[g].count; i++) {
            evn_unit *u = &all->unit[next];
            u->all = all;
            u->number = next++;
            u->family = list->group[g].family;
            u->cores = u->family == UNIT_CPU ? list->group[g].size : 1;
            u->device = -1;
            u->slowness = 1;
            u->look = INFINITY;
            if (u->family != UNIT_CPU) {
                u->device = device;
                u->devices = list->group[g].size;
                device += u->devices;
            }
            if (!status) status = name_cores(u, list, &list->group[g], i);
        }
    for (int i = 0; !status && i < all->count; i++) status = team_open(&all->unit[i]);
    if (!status) status = binding_try(all, list->ranges);
    if (!status && all->bound) status = binding_deal(all);
    return status;
}

evn_status unit_count_devices(const char *devices, int *count) {
    *count = 0;
    if (device_ops_linked()) return device_ops.count(devices, count);
    if (!devices) return EVN_OK;
    return evn_fail(EVN_MISSING, "units: the code of devices (\"%.60s\") " NOT_LINKED, devices);
}

/* Before leaders are bound: a driver's threads inherit the affinity of their creator. */
static evn_status open_devices(evn_units *all, const char *devices) {
    if (device_ops_linked()) return device_ops.open(all, devices);
    return evn_fail(EVN_MISSING, "units: the code of devices (\"%.60s\") " NOT_LINKED, all->text);
}

static void close_devices(evn_unit *u) {
    if (u->gpu || u->queue) device_ops.close(u);
}

static evn_status read_log(void) {
    if (&decisions) return decisions.read();
    const char *text = secure_getenv("EVENER_LOG");
    if (!text || !*text) return EVN_OK;
    return evn_fail(EVN_MISSING, "EVENER_LOG: the code of the log " NOT_LINKED);
}

static atomic_ulong serials;

evn_status evn_units_open(evn_units **out, const evn_machine *machine, const char *text,
                          const char *devices, unsigned flags) {
    NEED_OUT(out);
    NEED(machine, "a machine");
    NEED(text, "a list of units, as 2:CPU:1 or auto");
    if (flags & ~(unsigned)(EVN_OVERSUBSCRIBE | EVN_DESCRIBE_ONLY | EVN_STAY_BOUND |
                            EVN_CALLER_FREE | EVN_SINGLE_CORES))
        return evn_fail(EVN_USAGE,
                        "units: flags %#x, expected 0 or EVN_OVERSUBSCRIBE, EVN_DESCRIBE_ONLY, "
                        "EVN_STAY_BOUND, EVN_CALLER_FREE and EVN_SINGLE_CORES",
                        flags);
    struct unit_list list;
    struct binding_wish wish;
    const int have = evn_machine_cores(machine), is_auto = unit_list_is_auto(text);
    int found = 0;
    int describe = (flags & EVN_DESCRIBE_ONLY) || !evn_machine_about(machine).here;
    evn_status status = binding_read(&wish, machine);
    if (!status) status = read_log();
    if (!status && !describe && is_auto) status = unit_count_devices(devices, &found);
    if (!status)
        status =
            is_auto ? read_auto(&list, machine, found) : unit_list_parse(&list, text, have, found);
    if (status) return status;
    if (is_auto && (flags & EVN_SINGLE_CORES)) unit_list_split(&list);
    int wanted = list.cores - list.gpus; /* leaders of GPU units can share */
    if (!describe && wanted > have && !(flags & EVN_OVERSUBSCRIBE))
        return too_many(machine, text, wanted);
    if (!describe && list.ranges && (wanted > have || (list.cores > have && names_leaders(&list))))
        return evn_fail(
            EVN_USAGE,
            "units: \"%s\" names cores and needs %d, and there %s %d; where units share "
            "cores none can be named",
            text, list.cores, have == 1 ? "is" : "are", have);
    evn_units *all = aligned_alloc(64, (sizeof *all + 63) / 64 * 64);
    if (!all) return evn_fail(EVN_MEMORY, "units: not enough memory for \"%s\"", text);
    memset(all, 0, sizeof *all);
    all->machine = machine;
    all->count = list.units;
    all->cpus = list.cpus;
    all->gpus = list.gpus;
    all->fpgas = list.fpgas;
    all->devices = list.devices;
    /* cores that are named are demanded, also under a quota */
    all->bound = !describe && wanted <= have && (wish.binds || list.ranges);
    all->binding = wish.binding;
    all->claims = wish.claims;
    all->crowded = list.cores > have;
    all->stays = (flags & EVN_STAY_BOUND) != 0;
    all->caller_free = !all->stays && (flags & EVN_CALLER_FREE);
    all->forks = process_forks();
    all->serial = atomic_fetch_add(&serials, 1) + 1;
    unit_list_print(&list, all->text, sizeof all->text);
    all->unit = calloc((size_t)all->count, sizeof *all->unit);
    if (!all->unit) {
        free(all);
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", list.units);
    }
    status = deal(all, &list);
    rate_all(all, machine, wanted <= have);
    for (int i = 0; !status && !describe && i < all->count; i++) status = taken_open(&all->unit[i]);
    if (!status && !describe && all->devices) status = open_devices(all, devices);
    if (!status && !describe) status = leaders_start(all);
    if (status) {
        evn_units_close(all);
        return status;
    }
    *out = all;
    return EVN_OK;
}

/* EVN_USAGE within a job: a leader cannot end the leaders. */
static evn_status refuse_at_work(const evn_units *all, const char *what) {
    if (!units_running(all)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "units: %s of \"%s\" from within a job of theirs; it must return first", what,
                    all->text);
}

evn_status units_remove(evn_units *all, int number) {
    NEED(all, "units");
    if (number < 0 || number >= all->count)
        return evn_fail(EVN_USAGE, "units: there is no unit %d to remove, expected 0 to %d", number,
                        all->count - 1);
    if (all->forks != process_forks())
        return evn_fail(EVN_USAGE, "units: \"%s\" were opened before this process was forked",
                        all->text);
    evn_status status = refuse_at_work(all, "removal of a unit");
    if (status) return status;
    if (all->threads && !pthread_equal(all->caller, pthread_self()))
        return evn_fail(EVN_USAGE,
                        "units: \"%s\" belong to the thread that opened them, and another one "
                        "would remove one",
                        all->text);
    if (all->count == 1)
        return evn_fail(EVN_USAGE, "units: unit 0 is the last one and cannot be removed");
    int had_threads = all->threads;
    leaders_stop(all);
    evn_unit *u = &all->unit[number];
    if (u->family == UNIT_CPU)
        all->cpus--;
    else
        all->gpus--;
    all->devices -= u->devices;
    close_devices(u);
    team_close(u);
    taken_close(u);
    binding_close(u);
    memmove(u, u + 1, sizeof *u * (size_t)(all->count - 1 - number));
    all->count--;
    struct unit_list list = {0};
    for (int i = 0; i < all->count; i++) {
        evn_unit *v = &all->unit[i];
        v->number = i;
        unit_list_add(&list, 1, v->family, v->family == UNIT_CPU ? v->cores : v->devices, v->named);
    }
    unit_list_print(&list, all->text, sizeof all->text);
    return had_threads ? leaders_start(all) : EVN_OK;
}

void evn_units_close(evn_units *all) {
    if (!all) return;
    /* a process forked later has no threads to end */
    const int is_here = all->forks == process_forks();
    if (is_here && refuse_at_work(all, "evn_units_close()")) return;
    if (is_here) leaders_stop(all);
    for (int i = 0; i < all->count; i++) {
        if (is_here) close_devices(&all->unit[i]);
        if (is_here && helpers_close)
            helpers_close(&all->unit[i]); /* also for units that are only described */
        if (is_here) team_close(&all->unit[i]);
        taken_close(&all->unit[i]);
        binding_close(&all->unit[i]);
    }
    free(all->unit);
    free(all);
}

evn_units_info evn_units_about(const evn_units *all) {
    NEED_OR((evn_units_info){0}, all, "units");
    return (evn_units_info){all->machine, all->gpus, all->devices, units_running(all)};
}
const char *evn_units_text(const evn_units *all) {
    NEED_OR("", all, "units");
    return all->text;
}
int evn_units_count(const evn_units *all) {
    NEED_OR(0, all, "units");
    return all->count;
}
evn_unit *evn_units_get(const evn_units *all, int number) {
    NEED_OR(NULL, all, "units");
    return number >= 0 && number < all->count ? &all->unit[number] : NULL;
}

int evn_unit_number(const evn_unit *u) {
    NEED_OR(-1, u, "a unit");
    return u->number;
}
int evn_unit_is_gpu(const evn_unit *u) {
    NEED_OR(0, u, "a unit");
    return u->family != UNIT_CPU;
}
int evn_unit_cores(const evn_unit *u) {
    NEED_OR(0, u, "a unit");
    return u->cores;
}
evn_unit_info evn_unit_about(const evn_unit *u) {
    NEED_OR((evn_unit_info){0}, u, "a unit");
    return (evn_unit_info){unit_binding(u), u->speed, u->kind, u->device};
}
double unit_slowness(const evn_unit *u) { return u->slowness; }
double unit_speed(const evn_unit *u) { return u->speed; }
void evn_unit_slow(evn_unit *u, double factor) {
    NEED_OR(, u, "a unit");
    if (factor >= 1 && factor <= 1000)
        u->slowness = factor;
    else
        evn_fail(EVN_USAGE, "units: unit %d cannot take %g times as long, only 1 to 1000 times",
                 u->number, factor);
}
int evn_unit_core_number(const evn_unit *u, int core) {
    NEED_OR(-1, u, "a unit");
    return u->core && core >= 0 && core < u->cores ? u->core[core] : -1;
}

int evn_unit_devices(const evn_unit *u) {
    NEED_OR(0, u, "a unit");
    return u->devices;
}
evn_device *evn_unit_device(const evn_unit *u, int i) {
    NEED_OR(NULL, u, "a unit");
    return u->gpu && i >= 0 && i < u->devices ? u->gpu[i] : NULL;
}
evn_queue *evn_unit_queue(const evn_unit *u, int i) {
    NEED_OR(NULL, u, "a unit");
    return u->queue && i >= 0 && i < u->devices ? u->queue[i] : NULL;
}
