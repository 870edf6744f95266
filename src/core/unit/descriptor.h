/* Unit descriptors: parsing of lists such as `4:CPU:4,2:GPU:1` and `2:CPU:4@0-7`. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>

/* FPGA units are units of devices as GPU units are; of which kind of device is all that differs. */
enum unit_family { UNIT_CPU, UNIT_GPU, UNIT_FPGA };

/* "CPU", "GPU", "FPGA" */
const char *unit_family_name(enum unit_family family);

/* `count` units of `size` cores or devices each. Named cores: ranges first_range to first_range +
 * ranges - 1 of the list. */
struct unit_group {
    int count;
    enum unit_family family;
    int size;
    int first_range, ranges;
};

/* Cores by the system's numbers of their hardware threads, both ends included. */
struct core_range {
    int first, last;
};

enum { UNIT_GROUPS_MAX = 64, UNITS_MAX = 4096, CORE_RANGES_MAX = 128, CORE_NUMBERS_MAX = 65536 };

struct unit_list {
    int groups;
    struct unit_group group[UNIT_GROUPS_MAX];
    int units, cpus, gpus; /* units in all, of cores, of devices */
    int fpgas;             /* units of FPGA among the latter */
    int cores, devices;    /* cores and devices that are needed; a GPU unit needs one core, too */
    int ranges;            /* ranges of named cores; 0: the list names none */
    struct core_range range[CORE_RANGES_MAX];
};

/* Cores of a group: those of its units, or the leaders of its GPU units. */
int unit_group_cores(const struct unit_group *g);

/* Replaces the CPU units by units of one core each. */
void unit_list_split(struct unit_list *list);

/* Parses `text`; `auto` becomes one GPU unit for each of `devices` devices and one CPU unit of the
 * remaining cores (at least one). EVN_USAGE names the column, from 1. */
evn_status unit_list_parse(struct unit_list *out, const char *text, int cores, int devices);

/* `auto` on a machine with `parts` parts of `size` cores each: a CPU unit for each part, and a GPU
 * unit for each device, whose leaders take the last, slowest cores. One CPU unit of all cores if
 * there would be too many groups. */
void unit_list_auto(struct unit_list *out, const int *size, int parts, int devices);

/* 1 if the text is `auto`. */
int unit_list_is_auto(const char *text);

/* The system's number of named core `i` of a group, 0 <= i < unit_group_cores(). */
int unit_list_core(const struct unit_list *list, const struct unit_group *g, int i);

/* Appends a group; units of the same kind as the last group's join it, unless cores are named.
 * `core`: the system's numbers of the group's cores, NULL: not named. 0: there is no room. */
int unit_list_add(struct unit_list *list, int count, enum unit_family family, int size,
                  const int *core);

/* Writes the list into `text` of `size` bytes, truncated if it does not fit. */
void unit_list_print(const struct unit_list *list, char *text, int size);
