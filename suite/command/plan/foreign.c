/* Records of programs, and graphs, as problems to be planned. */
#include "plan/foreign.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 1000000 };

static const cJSON *item(const cJSON *o, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static int lacks(const char *path, const char *what) {
    complain("%s: %s; expected the record of a program, EVENER_RECORD=FILE, or of evener run "
             "--json FILE",
             path, what);
    return EXIT_USAGE;
}

/* ---- loops of a record --------------------------------------------------------------------- */

/* Whether `loop` names it, by number or name. */
static int is_named(const cJSON *o, int number, const char *loop) {
    const char *name = json_text(o, "name");
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return !strcmp(loop, text) || (name && !strcmp(loop, name));
}

static int refuse_loop(const char *path, const char *loop, int loops) {
    complain("%s: it has no loop \"%s\" on all of its units; expected a name, or a number from 0 "
             "to %d",
             path, loop, loops - 1);
    return EXIT_USAGE;
}

int record_part_find(struct record_part *part, const char *path, const cJSON *root,
                     const char *loop) {
    const cJSON *loops = item(root, "loops"), *o;
    const int all = cJSON_GetArraySize(item(root, "task_s"));
    const int units = cJSON_GetArraySize(item(root, "units"));
    double longest = -1;
    int first = 0, number = 0;
    *part = (struct record_part){.root = root, .of = root, .tasks = all};
    cJSON_ArrayForEach(o, loops) {
        const double tasks = json_number(o, "tasks"), seconds = json_number(o, "seconds");
        const int same = cJSON_GetArraySize(item(o, "units")) == units;
        if (!(tasks >= 1 && tasks <= all && tasks == floor(tasks) && seconds >= 0))
            return lacks(path, "a loop in \"loops\" has no \"tasks\" or no \"seconds\"");
        if (same && first + (int)tasks > all)
            return lacks(path, "its \"loops\" have more tasks than \"task_s\" has times");
        if (same && (loop ? is_named(o, number, loop) : seconds > longest)) {
            longest = seconds;
            *part = (struct record_part){root, o, first, (int)tasks, number};
            if (loop) return 0;
        }
        if (same) first += (int)tasks;
        number++;
    }
    return loop ? refuse_loop(path, loop, number > 1 ? number : 1) : 0;
}

/* ---- a record ------------------------------------------------------------------------------ */

/* A list of the record with one number for each task, those of the part; NULL after a message. */
static double *read_numbers(const struct foreign *f, const char *key) {
    const struct record_part *part = &f->part;
    const cJSON *o = item(part->root, key);
    double *value = malloc((size_t)part->tasks * sizeof *value);
    char why[120];
    int t = 0;
    if (!value) {
        complain("not enough memory for %d tasks", part->tasks);
        return NULL;
    }
    const int sound = cJSON_GetArraySize(o) == cJSON_GetArraySize(item(part->root, "task_s"));
    for (o = sound ? o->child : NULL; o && t < part->first + part->tasks; o = o->next, t++) {
        if (!(cJSON_IsNumber(o) && o->valuedouble >= 0 && isfinite(o->valuedouble))) break;
        if (t >= part->first) value[t - part->first] = o->valuedouble;
    }
    if (t == part->first + part->tasks) return value;
    snprintf(why, sizeof why, "\"%s\" is not one number from 0 for each task", key);
    lacks(f->path, why);
    free(value);
    return NULL;
}

/* Loads are such sums, and are divided by their mean; bytes (least: 0) may be none. */
static int check_sum(const struct foreign *f, const char *what, double sum, double least) {
    if (sum >= least && sum <= 1e200) return 0;
    complain("%s: the %s make %g in all, expected %g to 1e200", f->path, what, sum, least);
    return EXIT_USAGE;
}

static double sum_of(const double *value, int count) {
    double sum = 0;
    for (int i = 0; value && i < count; i++) sum += value[i];
    return sum;
}

/* Weights, data and links, once they are read. */
static int check_sums(const struct foreign *f) {
    double bytes = sum_of(f->bytes, f->tasks);
    for (int l = 0; l < f->links; l++) bytes += f->link[l].bytes;
    const int code =
        f->weight ? check_sum(f, "weights of tasks", sum_of(f->weight, f->tasks), 1e-200) : 0;
    return code ? code : check_sum(f, "bytes of tasks and links", bytes, 0);
}

/* A link of the record, [task, task, bytes]: 1, or 0 where it is of another loop; -1: it is none.
 */
static int read_link(const struct record_part *part, const cJSON *o, evn_link *link) {
    const int all = cJSON_GetArraySize(item(part->root, "task_s"));
    int own = 0;
    for (int e = 0; e < 3; e++) {
        const cJSON *v = cJSON_GetArrayItem(o, e);
        if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || !isfinite(v->valuedouble)) return -1;
        if (e == 2) link->bytes = v->valuedouble;
        if (e == 2) break;
        if (v->valuedouble != v->valueint || v->valueint >= all) return -1;
        link->task[e] = v->valueint - part->first;
        own += link->task[e] >= 0 && link->task[e] < part->tasks;
    }
    if (cJSON_GetArraySize(o) != 3 || link->task[0] == link->task[1] || own == 1) return -1;
    return own == 2;
}

static int read_links(struct foreign *f) {
    const cJSON *list = item(f->root, "links"), *o;
    if (cJSON_IsNull(list) || !list) {
        complain("warning: %s: %s, so that exchange is not planned", f->path,
                 list ? "its links were too many to be kept" : "it has no \"links\"");
        return 0;
    }
    f->link = malloc((size_t)cJSON_GetArraySize(list) * sizeof *f->link + 1);
    if (!f->link) {
        complain("not enough memory for %d links", cJSON_GetArraySize(list));
        return EXIT_USAGE;
    }
    cJSON_ArrayForEach(o, list) {
        const int is_own = read_link(&f->part, o, &f->link[f->links]);
        if (is_own < 0)
            return lacks(f->path, "an entry of \"links\" is not [task, other task of its loop, "
                                  "bytes]");
        f->links += is_own;
    }
    if (foreign_sort(f->link, f->links) < 0) return 0;
    return lacks(f->path, "two entries of \"links\" are of the same tasks");
}

static int check_times(const struct foreign *f) {
    double *seconds = read_numbers(f, "task_s");
    const double sum = sum_of(seconds, f->part.tasks);
    const int code = seconds ? check_sum(f, "times in \"task_s\"", sum, 1e-200) : EXIT_USAGE;
    free(seconds);
    return code;
}

static int check_record(void *p, const struct workload *is) {
    struct foreign *f = p;
    (void)is;
    int code = json_file_read(&f->root, f->path);
    if (code) return code;
    const cJSON *times = item(f->root, "task_s");
    if (!cJSON_IsArray(times) || !times->child)
        return lacks(f->path, "there are no times of tasks in it, \"task_s\"");
    code = record_part_find(&f->part, f->path, f->root, f->loop);
    if (!code) code = check_times(f);
    if (code) return code;
    f->tasks = f->part.tasks;
    const double steps = json_number(f->part.of, "steps");
    f->steps = steps >= 1 && steps <= STEPS_MOST ? (int)steps : 1;
    f->name = json_text(f->root, "app");
    f->noun = json_text(f->root, "noun");
    f->class_ = json_text(f->root, "class");
    const char *key = json_text(f->root, "problem"), *loop = json_text(f->part.of, "name");
    if (!key) key = f->class_;
    snprintf(f->key, sizeof f->key, "%s", loop ? loop : key ? key : f->path);
    if (item(f->root, "weight") && !(f->weight = read_numbers(f, "weight"))) return EXIT_USAGE;
    if (item(f->root, "task_bytes") && !(f->bytes = read_numbers(f, "task_bytes")))
        return EXIT_USAGE;
    if (f->weight && sum_of(f->weight, f->tasks) <= 0) { /* says nothing, and times are there */
        free(f->weight);
        f->weight = NULL;
    }
    code = read_links(f);
    return code ? code : check_sums(f);
}

/* ---- a graph ------------------------------------------------------------------------------- */

static int by_tasks(const void *a, const void *b) {
    const evn_link *x = a, *y = b;
    const int i = x->task[0] == y->task[0];
    return (x->task[i] > y->task[i]) - (x->task[i] < y->task[i]);
}

int foreign_sort(evn_link *link, int links) {
    for (int l = 0; l < links; l++)
        if (link[l].task[0] > link[l].task[1])
            link[l] = (evn_link){{link[l].task[1], link[l].task[0]}, link[l].bytes};
    if (links) qsort(link, (size_t)links, sizeof *link, by_tasks);
    for (int l = 1; l < links; l++)
        if (!by_tasks(&link[l - 1], &link[l])) return l;
    return -1;
}

static int check_graph(void *p, const struct workload *is) {
    struct foreign *f = p;
    (void)is;
    f->steps = 1;
    f->name = "graph";
    snprintf(f->key, sizeof f->key, "%s", f->path);
    const int code = graph_read(f);
    return code ? code : check_sums(f);
}

/* ---- both ---------------------------------------------------------------------------------- */

static struct workload_shape describe(const void *p) {
    const struct foreign *f = p;
    return (struct workload_shape){.class_ = f->class_,
                                   .key = f->key,
                                   .steps = f->steps,
                                   .group = 1,
                                   .bytes = sum_of(f->bytes, f->tasks)};
}

static evn_problem tasks(const void *p) {
    const struct foreign *f = p;
    return (evn_problem){.tasks = f->tasks,
                         .weight = f->weight,
                         .links = f->links,
                         .link = f->link,
                         .state = f->bytes};
}

static void close_state(void *p) {
    struct foreign *f = p;
    cJSON_Delete(f->root);
    free(f->weight);
    free(f->bytes);
    free(f->link);
}

#define PLANNED                                                                                    \
    .weight = "weight", .schedule = "auto", .state = sizeof(struct foreign), .describe = describe, \
    .tasks = tasks, .close = close_state

const struct workload foreign_record = {
    .name = "record",
    .help = "the record of a program",
    .noun = "task",
    .check = check_record,
    PLANNED,
};

const struct workload foreign_graph = {
    .name = "graph",
    .help = "a graph of tasks",
    .noun = "task",
    .check = check_graph,
    PLANNED,
};
