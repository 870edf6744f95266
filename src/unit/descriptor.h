/* Unit descriptors: the text `4:CPU:4,2:GPU:1` and what it means. */
#ifndef UNIT_DESCRIPTOR_H
#define UNIT_DESCRIPTOR_H

#include <evener/status.h>

enum unit_family { UNIT_CPU, UNIT_GPU };

/* `count` units of `size` cores or devices each. */
struct unit_group {
    int count;
    enum unit_family family;
    int size;
};

enum { UNIT_GROUPS_MAX = 64, UNITS_MAX = 4096 };

struct unit_list {
    int groups;
    struct unit_group group[UNIT_GROUPS_MAX];
    int units, cpus, gpus; /* units in all, of each family */
    int cores, devices;    /* asked for; a GPU unit asks for one core too */
};

/* Reads `text`; `auto` becomes one GPU unit for each of `devices` devices and one CPU unit of the
 * cores that are left (at least one). EVN_USAGE names the column, from 1. */
evn_status unit_list_parse(struct unit_list *out, const char *text, int cores, int devices);

/* What `auto` means where a machine's cores are in `parts` parts of `size` cores each, one kind and
 * cache each: a CPU unit of each part and a GPU unit of each device, whose leaders take the last
 * cores, which are the slowest. All cores are one unit where that would be too many groups. */
void unit_list_auto(struct unit_list *out, const int *size, int parts, int devices);

/* Whether the text is `auto`. */
int unit_list_is_auto(const char *text);

/* Writes the list out into `text` of `size` bytes, cut short if it does not fit. */
void unit_list_print(const struct unit_list *list, char *text, int size);

#endif
