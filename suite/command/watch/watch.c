/* evener watch: units, times and imbalance of programs while they run, as top has processes. Each
 * figure is of the instances that have ended since the figure before it; with --once, of all. */
#include "cli/command.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "watch/watched.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct request {
    const char *json;
    long interval;
    int once;
};

/* A loop's figures in a period, of `seconds`. */
struct figures {
    const evn_watched_loop *loop;
    double seconds;
    evn_watched_totals sum;
    double imbalance;
    evn_watched_stats unit[EVN_WATCH_UNITS];
};

/* ---- figures ------------------------------------------------------------------------------- */

/* now + before of `n` numbers, less the same at the moment that `then` is of; those that were reset
 * meanwhile begin at 0. */
static void subtract(double *out, const void *now, const void *before, const void *then_now,
                     const void *then_before, size_t bytes) {
    const double *a = now, *b = before, *c = then_now, *d = then_before;
    for (size_t i = 0; i < bytes / sizeof *a; i++) {
        const double all = a[i] + b[i], less = all - c[i] - d[i];
        out[i] = less < 0 ? all : less;
    }
}

/* The figures of the loop since `then`; whether an instance has ended in that time. */
static int period(struct figures *f, const evn_watched_loop *w, const evn_watched_loop *then,
                  double then_at) {
    f->loop = w;
    f->seconds = w->ended - then_at;
    subtract((double *)&f->sum, &w->now, &w->before, &then->now, &then->before, sizeof f->sum);
    for (int u = 0; u < w->units; u++) {
        const evn_watched_unit *now = &w->unit[u], *was = &then->unit[u];
        subtract((double *)&f->unit[u], &now->now, &now->before, &was->now, &was->before,
                 sizeof f->unit[u]);
    }
    return f->sum.instances > 0 && f->seconds > 0;
}

/* The figures of a loop since the copy `then`, or since the process's counters began (NULL). */
static int figures_of(struct figures *f, const struct watched *w, const evn_watched *then, int l) {
    static const evn_watched_loop nothing;
    const evn_watched_loop *now = &w->copy->loop[l], *was = then ? &then->loop[l] : &nothing;
    if (now->state == EVN_WATCH_FREE) return 0;
    const int same = was->state != EVN_WATCH_FREE && !strcmp(was->name, now->name);
    return period(f, now, same ? was : &nothing, same ? was->ended : w->copy->begin);
}

/* A process at the moment before; copy NULL: there was none. */
struct moment {
    double at, core_s;
    evn_watched *copy;
};

static int is_of_run(const evn_watched *a, const evn_watched *b) {
    return a->run_pid == b->run_pid && a->run_begin == b->run_begin;
}

/* Loop `l` of process `i`, with the imbalance of all ranks' units, which open their loops in one
 * order; `before` NULL: since its counters began. */
static int figures_among(struct figures *f, const struct watched_list *list,
                         const struct moment *before, int i, int l) {
    static struct figures other;
    int units = 0;
    double *compute = malloc((size_t)list->count * EVN_WATCH_UNITS * sizeof *compute);
    if (!compute) return 0;
    for (int k = 0; k < list->count; k++) {
        if (!is_of_run(list->of[k].copy, list->of[i].copy)) continue;
        if (!figures_of(&other, &list->of[k], before ? before[k].copy : NULL, l)) continue;
        for (int u = 0; u < other.loop->units; u++) compute[units++] = other.unit[u].compute_s;
    }
    const int ends = figures_of(f, &list->of[i], before ? before[i].copy : NULL, l);
    f->imbalance = evn_imbalance(units, compute);
    free(compute);
    return ends;
}

/* ---- the page ------------------------------------------------------------------------------ */

static void print_process(const struct watched *w, double cores) {
    const evn_watched *c = w->copy;
    printf("%s, process %d", c->program, c->pid);
    if (c->ranks > 1) printf(", rank %d of %d", c->rank, c->ranks);
    if (*c->record) printf(", for %s", c->record);
    if (w->over)
        printf(": has ended\n");
    else
        printf(": %.1f s, %.2f cores busy\n", w->at - c->begin, cores);
    if (c->lacks) printf("  of its loops %d are shown, no more have counters\n", EVN_WATCH_LOOPS);
}

static double percent(double part, double of) { return 100 * part / of; }

static void print_loop(const struct figures *f) {
    const evn_watched_loop *w = f->loop;
    char imbalance[24] = "-";
    if (isfinite(f->imbalance)) snprintf(imbalance, sizeof imbalance, "%.2f", f->imbalance);
    printf("  %s, %s%s: %.0f steps, %.4g ms each, imbalance %s, %.0f migrations; %d tasks\n",
           *w->name ? w->name : "loop", w->schedule, w->state == EVN_WATCH_CLOSED ? ", closed" : "",
           f->sum.instances, 1e3 * (f->sum.compute_s + f->sum.exchange_s) / f->sum.instances,
           imbalance, f->sum.migrations, w->tasks);
    printf("    unit       cores  compute  exchange     copy     idle    tasks/s\n");
    for (int u = 0; u < w->units; u++) {
        const evn_watched_stats *s = &f->unit[u];
        printf("    %-4d %s  %6d  %5.1f %%   %5.1f %%  %5.1f %%  %5.1f %%  %9.4g\n", w->first + u,
               w->unit[u].gpu ? "GPU" : "CPU", w->unit[u].cores, percent(s->compute_s, f->seconds),
               percent(s->exchange_s, f->seconds), percent(s->copy_s, f->seconds),
               percent(s->idle_s, f->seconds), s->tasks / f->seconds);
    }
}

/* A loop of which no instance has ended in the period. */
static void print_waiting(const struct watched *w, const evn_watched_loop *loop) {
    printf("  %s: no step has ended", *loop->name ? loop->name : "loop");
    if (loop->ended > 0) printf(" for %.1f s", w->at - loop->ended);
    fputc('\n', stdout);
}

static void print_loops(const struct watched_list *list, const struct moment *before, int i) {
    static struct figures f;
    const struct watched *w = &list->of[i];
    for (int l = 0; l < EVN_WATCH_LOOPS; l++) {
        const evn_watched_loop *loop = &w->copy->loop[l];
        if (figures_among(&f, list, before, i, l))
            print_loop(&f);
        else if (loop->state == EVN_WATCH_OPEN)
            print_waiting(w, loop);
    }
}

/* ---- the record ---------------------------------------------------------------------------- */

static cJSON *record_unit(const evn_watched_loop *w, int u, const evn_watched_stats *s) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "id", w->first + u);
    cJSON_AddStringToObject(o, "kind", w->unit[u].gpu ? "gpu" : "cpu");
    cJSON_AddNumberToObject(o, "threads", w->unit[u].cores);
    record_number(o, "compute_s", s->compute_s);
    record_number(o, "exchange_s", s->exchange_s);
    record_number(o, "copy_s", s->copy_s);
    record_number(o, "idle_s", s->idle_s);
    record_number(o, "tasks", s->tasks);
    return o;
}

static cJSON *record_loop(const struct figures *f) {
    const evn_watched_loop *w = f->loop;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", w->name);
    cJSON_AddStringToObject(o, "schedule", w->schedule);
    cJSON_AddBoolToObject(o, "open", w->state == EVN_WATCH_OPEN);
    cJSON_AddNumberToObject(o, "tasks", w->tasks);
    record_number(o, "steps", f->sum.instances);
    record_number(o, "compute_s", f->sum.compute_s);
    record_number(o, "communication_s", f->sum.exchange_s);
    record_number(o, "imbalance", f->imbalance);
    record_number(o, "migrations", f->sum.migrations);
    record_number(o, "bytes", f->sum.bytes);
    record_number(o, "moved_bytes", f->sum.moved_bytes);
    cJSON *units = cJSON_AddArrayToObject(o, "units");
    for (int u = 0; u < w->units; u++) cJSON_AddItemToArray(units, record_unit(w, u, &f->unit[u]));
    return o;
}

/* A process since its counters began. */
static cJSON *record_process(const struct watched_list *list, int i, double cores) {
    static struct figures f;
    const struct watched *w = &list->of[i];
    const evn_watched *c = w->copy;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "pid", c->pid);
    cJSON_AddStringToObject(o, "app", c->program);
    cJSON_AddStringToObject(o, "record", c->record);
    cJSON_AddNumberToObject(o, "rank", c->rank);
    cJSON_AddNumberToObject(o, "ranks", c->ranks);
    cJSON_AddBoolToObject(o, "ended", w->over);
    record_number(o, "seconds", w->at - c->begin);
    record_number(o, "core_s", w->core_s);
    record_number(o, "busy_cores", cores);
    cJSON *loops = cJSON_AddArrayToObject(o, "loops");
    for (int l = 0; l < EVN_WATCH_LOOPS; l++)
        if (figures_among(&f, list, NULL, i, l)) cJSON_AddItemToArray(loops, record_loop(&f));
    return o;
}

/* ---- watching ------------------------------------------------------------------------------ */

/* Cores that were busy since the moment before, or in the mean of the process's life. */
static double busy_cores(const struct watched *w, const struct moment *m) {
    struct timespec boot;
    if (m->copy) return (w->core_s - m->core_s) / (w->at - m->at);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    const double now = (double)boot.tv_sec + 1e-9 * (double)boot.tv_nsec,
                 age = now - (double)w->begun / (double)sysconf(_SC_CLK_TCK);
    return age > 0 ? w->core_s / age : 0;
}

/* Shows all processes: as a page, or as a line of a record. 0, or an exit status. */
static int show(const struct watched_list *list, const struct moment *before, FILE *record) {
    cJSON *root = record ? cJSON_CreateObject() : NULL, *all = NULL;
    if (root) all = cJSON_AddArrayToObject(root, "processes");
    for (int i = 0; i < list->count; i++) {
        const struct watched *w = &list->of[i];
        const double cores = busy_cores(w, &before[i]);
        if (record) {
            cJSON_AddItemToArray(all, record_process(list, i, cores));
            continue;
        }
        print_process(w, cores);
        print_loops(list, w->over ? NULL : before, i);
    }
    char *text = root ? cJSON_PrintUnformatted(root) : NULL;
    if (text) fprintf(record, "%s\n", text);
    free(text);
    cJSON_Delete(root);
    FILE *out = record ? record : stdout;
    return fflush(out) || ferror(out) ? EXIT_FAILED : 0;
}

static int no_memory(void) {
    complain("not enough memory");
    return EXIT_FAILED;
}

static int keep(const struct watched_list *list, struct moment *before) {
    for (int i = 0; i < list->count; i++) {
        const struct watched *w = &list->of[i];
        if (!before[i].copy) before[i].copy = malloc(sizeof *w->copy);
        if (!before[i].copy) return no_memory();
        memcpy(before[i].copy, w->copy, sizeof *w->copy);
        before[i].at = w->at;
        before[i].core_s = w->core_s;
    }
    return 0;
}

static int all_over(const struct watched_list *list) {
    int over = 0;
    for (int i = 0; i < list->count; i++) over += list->of[i].over;
    return over == list->count;
}

static void wait_for(long ms) {
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Until all processes have ended. */
static int follow(struct watched_list *list, struct moment *before, const struct request *request,
                  FILE *record) {
    const int clears = !request->once && !record && isatty(STDOUT_FILENO);
    for (int code = 0;; wait_for(request->interval)) {
        code = watched_read(list);
        if (!code && clears) fputs("\033[H\033[J", stdout);
        if (!code) code = show(list, before, record);
        if (code || request->once || all_over(list)) return code;
        if (!record && !clears) fputc('\n', stdout);
        code = keep(list, before);
        if (code) return code;
    }
}

/* A number is a process's; anything else a record's path. */
static int find(struct watched_list *list, const char *word) {
    const int is_pid = word && strspn(word, "0123456789") == strlen(word);
    const long pid = is_pid ? strtol(word, NULL, 10) : 0;
    if (is_pid && (pid < 1 || pid > 1 << 30))
        return complain("%s: this is no number of a process", word);
    return watched_find(list, (int)pid, is_pid ? NULL : word);
}

static int watch(const char *word, const struct request *request) {
    struct watched_list list = {0};
    evn_output *record = NULL;
    int code = find(&list, word);
    if (!code) code = output_open(&record, request->json);
    struct moment *before = code ? NULL : calloc((size_t)list.count, sizeof *before);
    if (!code && !before) code = no_memory();
    if (!code) code = follow(&list, before, request, evn_output_stream(record));
    if (record && (!code || ferror(evn_output_stream(record)))) code = output_commit(record, NULL);
    for (int i = 0; before && i < list.count; i++) free(before[i].copy);
    free(before);
    evn_output_close(record);
    watched_close(&list);
    return code;
}

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"interval", "MS", "time from one page to the next (default 1000)",
     OPTION_NUMBER(interval, 10, 86400000)},
    {"once", NULL, "one page, of all that the program has done so far", OPTION_FLAG(once)},
    {"json", "FILE", "a line a page, each a record of all so far; - is standard output",
     OPTION_OUTPUT(json)},
    {0},
};

int command_watch(int argc, char **argv) {
    struct request request = {.interval = 1000};
    const struct option_set sets[] = {{table, &request, NULL}, {0}};
    const char *word = NULL;
    int count;
    const int code = options_read("watch", sets, argc, argv, &word, 1, &count);
    if (code >= 0) return code ? code : watch(word, &request);
    printf(
        "usage: evener watch [PID|RECORD] [options]\n"
        "\n"
        "Units, times, imbalance and busy cores of a running program, until it ends: of a\n"
        "process, or of the program that will write RECORD, with all of its ranks on this node;\n"
        "without a word, of all that there are. The program is run with EVENER_WATCH=1 or\n"
        "EVENER_RECORD=FILE, evener run with --json FILE.\n"
        "\n");
    options_help("watch", sets, 0);
    return EXIT_DONE;
}
