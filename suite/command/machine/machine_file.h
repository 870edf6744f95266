/* Machines described in files: units, how long a task takes on each kind of them, and how bytes go
 * between them.
 *
 * A file is one JSON object. Times are in seconds, sizes of tasks in points, bandwidths in bytes a
 * second; all of them have to be above 0, latencies may be 0.
 *
 *     {
 *      "machine": "two devices beside four cores",      name, for tables
 *      "about": ["where each figure is from"],          text; any number of lines
 *      "units": [
 *       {"unit": "GPU:1",                               family and size, as in 2:GPU:1
 *        "count": 2,                                    how many there are
 *        "space": "device",                             its memory; "host" for CPUs, "device" for
 *                                                       GPUs unless given
 *        "speed": {"bt-mz": 2e7, "*": 5e7},             points a second, by workload; "*": others
 *        "seconds": {"bt-mz": [[0, 8e-5], [65892, 3e-3]]},   or of tasks by size, instead
 *        "crowd": {"bt-mz": [[1, 1], [16, 2.1]]},       factor on these by how many units of the
 *                                                       kind compute at the time; 1 unless given
 *        "beside": {"bt-mz": 1.2},                      and another while units of other kinds do
 *        "within": {"latency": 1e-5, "bandwidth": 2e11}},    faces between tasks of one unit, or
 *                                                            by workload, {"bt-mz": {..}, "*":
 *                                                            {..}}; free unless given
 *       {"unit": "CPU:1", "count": 4, "speed": {"*": 1e6}}
 *      ],
 *      "links": [
 *       {"between": ["host", "device"], "latency": 1e-5, "bandwidth": 1.2e10},
 *       {"between": ["device", "device"], "latency": 1e-5, "bandwidth": 2e10}
 *      ],
 *      "copies": [                                        of whole tasks (--exchange zones),
 * between
 *       {"between": ["device", "device"], "units": 2,     up to so many units of these spaces; as
 *        "latency": 2e-5, "bandwidth": 7e10}],            links unless given
 *      "nodes": [                                     of a cluster: "units" are of one of them
 *       {"count": 1024, "name": "cpu", "units": ["1:CPU:32"], "network": "edr"}],
 *      "networks": {"edr": {"latency": 2e-6, "bandwidth": 1.25e10}},
 *      "sets": ["1:GPU:1", "2:GPU:1,4:CPU:1"],          of units, for bench schedules
 *      "published": [{"app": "bt-mz", "class": "B", "units": "2:GPU:1", "schedule": "static",
 *                     "speedup": 1.5}]                  over one unit, in the papers' exchange
 *     }
 *
 * Nodes are ranks, which send and receive one message at a time over their network; between nodes
 * of two networks the longer latency and the smaller bandwidth hold. Lists of units may name nodes,
 * "64*cpu" or "64*1:CPU:16" (nodes.h).
 *
 * A table of factors is interpolated, and its first and last hold beyond it.
 *
 * A link holds for units in these two spaces, both ways. Two devices without a link are staged in
 * the host's memory, over both their links to it; two units of the host without one exchange for
 * nothing. Tables of seconds are interpolated; a task below the first size or beyond the last takes
 * that one's time per point. A CPU unit of a size that is not listed takes the listed one that is
 * nearest below (or the smallest), in proportion to its cores, and 2:GPU:2 is two times two devices
 * that share a task evenly. */
#pragma once

#include <cjson/cJSON.h>
#include <evener.h>
#include <evener/model.h>

/* The value of --exchange, NULL: parallel; 0, or an exit status after a message. */
int exchange_read(int *order, const char *text);
extern const char *const exchange_name[]; /* by evn_exchange_order */

/* A kind of units, as a list of units has it. */
struct unit_kind {
    int gpu;   /* family: 0 CPU, 1 GPU */
    int size;  /* cores, or devices */
    int count; /* of them in the list */
};

/* The kinds of a list's units in the order they come, and of each unit the kind's index in `kind`
 * (one entry a unit). Returns how many; at most KINDS_MOST. */
enum { KINDS_MAX = 64 };
int unit_kinds(const evn_units *units, struct unit_kind *kinds, int *kind);

/* "CPU:4" */
const char *unit_kind_text(struct unit_kind kind, char text[24]);

struct machine_file;

/* Reads a file; 0, or an exit status after a message that names the file, the place and what would
 * be right. */
int machine_file_open(struct machine_file **out, const char *path);
void machine_file_close(struct machine_file *m);

const char *machine_file_name(const struct machine_file *m);

/* All units there are, "2:GPU:1,4:CPU:1"; of several sizes of a family the first one. Of a cluster
 * all nodes, "1024*cpu". */
const char *machine_file_units(const struct machine_file *m);

/* Kinds of nodes: how many there are (0: no cluster); the one of that name or of those units, else
 * the first one, -1 where there is none; the units of one, and their number of nodes and cores. */
int machine_file_nodes(const struct machine_file *m);
int machine_file_node(const struct machine_file *m, const char *text);
const char *machine_file_node_units(const struct machine_file *m, int node);
int machine_file_node_count(const struct machine_file *m, int node);
int machine_file_node_cores(const struct machine_file *m, int node);

/* Route of a message from a node of kind `a` to one of kind `b`. */
evn_route machine_file_network(const struct machine_file *m, int a, int b);

/* The i-th set of units; NULL beyond the last. */
const char *machine_file_set(const struct machine_file *m, int i);

/* The published speedup over one unit of that workload, class, units and schedule; 0: none. */
double machine_file_published(const struct machine_file *m, const char *app, const char *class_,
                              const char *units, const char *schedule);

/* Seconds of each of n tasks of `points` points on a unit of that kind. 0, or an exit status after
 * a message: the file does not have such a unit, or not for that workload. */
int machine_file_seconds(const struct machine_file *m, const char *app, struct unit_kind kind,
                         int n, const double *points, double *seconds);

/* A task's time by a table of seconds, [[points, s], ..] with ascending points. */
double machine_table_seconds(const cJSON *table, double points);

/* The ways between kinds, kinds x kinds, those of copies of whole tasks, and within kinds for a
 * workload; errors as above. */
int machine_file_routes(const struct machine_file *m, const char *app,
                        const struct unit_kind *kinds, int n, evn_route *route, evn_route *copy,
                        evn_route *within);

/* Factor on the seconds of that kind while `n` of its units compute. */
double machine_file_crowd(const struct machine_file *m, const char *app, struct unit_kind kind,
                          int n);

/* Factor on the seconds of that kind while units of another kind compute, too. */
double machine_file_beside(const struct machine_file *m, const char *app, struct unit_kind kind);

/* Tasks on units of a machine, ready to be simulated; the arrays of `model` belong to it. */
struct machine_model {
    evn_model model;
    int kinds;
    struct unit_kind unit_kind[KINDS_MAX];
    int *kind;
    double *seconds, *state, *copied, *crowd, *beside;
    evn_route *route, *within, *far, *copy; /* far: between nodes; copy: of whole tasks */
    int *entry;                             /* of each kind: its node's in the file; -1: none */
};

struct nodes;

/* Room for `tasks` on `units`: kinds are found, seconds are 0, all exchange is free, and a task's
 * data has state_bytes for each of its weight, unless `tasks` has states, and a whole copy of it
 * copied_bytes. `nodes` (NULL, or
 * none in it: all are on one) are ranks; like units of two kinds of nodes are of two kinds. 0, or
 * an exit status after a message. Close it in any case. */
int machine_model_open(struct machine_model *m, const evn_units *units, const struct nodes *nodes,
                       const evn_problem *tasks, double state_bytes, double copied_bytes);
void machine_model_close(struct machine_model *m);

/* Fills seconds and routes as the file has them, and checks that it has the units. */
int machine_model_fill(struct machine_model *m, const struct machine_file *file, const char *app,
                       const evn_problem *tasks);

/* Checks that there are as many units as the list needs; errors as above. */
int machine_file_check(const struct machine_file *m, const struct unit_kind *kinds, int n);
