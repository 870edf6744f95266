/* Cores in `evener info`. */
#include "cli/info_cores.h"
#include "cli/info_ranks.h"
#include <stdio.h>
#include <stdlib.h>

const char *info_size(double bytes, char text[32]) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    while (bytes >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    snprintf(text, 32, bytes == (long)bytes ? "%.0f %s" : "%.1f %s", bytes, unit[u]);
    return text;
}

/* The system's numbers of cores first to first + count - 1. */
static void numbers(const evn_machine *m, int first, int count, char *text, size_t size) {
    int *core = malloc((size_t)count * sizeof *core);
    *text = 0;
    for (int i = 0; core && i < count; i++) core[i] = evn_machine_core_number(m, first + i);
    if (core) info_cores(core, count, text, size);
    free(core);
}

/* Prints the limits that keep this process from cores of the node. */
static void print_limits(const evn_machine *m) {
    const evn_machine_info limits = evn_machine_about(m);
    const int cores = evn_machine_cores(m);
    if (limits.allowed < limits.node)
        printf("           of %d on this node; masks, cpusets and places leave %d\n", limits.node,
               limits.allowed);
    if (!(limits.quota > 0)) return;
    printf("           a quota of %.4g processors", limits.quota);
    if (cores < limits.allowed)
        printf(" leaves %d of %d: any of them, since threads are not bound\n", cores,
               limits.allowed);
    else
        printf(", enough for all of them\n");
}

static void print_claimed(const evn_machine *m) {
    char text[512];
    int core[1024], count = 0;
    for (int i = 0; i < evn_machine_cores(m) && count < 1024; i++)
        if (evn_machine_core_claimed(m, i)) core[count++] = evn_machine_core_number(m, i);
    if (!count) return;
    info_cores(core, count, text, sizeof text);
    printf("           claimed by other programs: %s\n", text);
}

void info_print_cores(const evn_machine *m) {
    const int n = evn_machine_cores(m);
    char text[1024];
    numbers(m, 0, n, text, sizeof text);
    printf("cores      %d: %s  (packages %d, NUMA nodes %d)\n", n, text,
           evn_machine_about(m).packages, evn_machine_about(m).numa_nodes);
    print_limits(m);
    print_claimed(m);
}

/* Kinds have letters in the picture: A is the fastest. */
static char letter(int kind) { return (char)(kind < 26 ? 'A' + kind : '?'); }

static void print_kinds(const evn_machine *m) {
    const int kinds = evn_machine_about(m).kinds;
    for (int k = 0; kinds > 1 && k < kinds; k++) {
        const evn_core_kind *kind = evn_machine_kind(m, k);
        printf("%s%c: ", k ? "           " : "kinds      ", letter(k));
        if (*kind->name) printf("%s, ", kind->name);
        printf("%d core%s", kind->cores, kind->cores == 1 ? "" : "s");
        if (kind->frequency > 0) printf(", up to %.2f GHz", 1e-9 * kind->frequency);
        printf(", speed %.2f\n", kind->speed);
    }
}

static void print_part(const evn_machine *m, const evn_part *part) {
    char text[1024], size[32];
    printf("[");
    for (int c = 0; c < part->cores; c++) putchar(letter(part->kind));
    printf("] package %d", part->package);
    if (part->cache) printf(", L3 %s", info_size((double)part->cache, size));
    numbers(m, part->first, part->cores, text, sizeof text);
    printf(", core%s %s", part->cores == 1 ? "" : "s", text);
    if (part->threads > 1) printf(", one of %d threads each", part->threads);
    printf("\n");
}

void info_print_picture(const evn_machine *m) {
    print_kinds(m);
    for (int i = 0; i < evn_machine_about(m).parts; i++) {
        printf("%s", i ? "           " : "parts      ");
        print_part(m, evn_machine_part(m, i));
    }
}

int info_devices(const evn_machine *m, const char *name, char *why, size_t size) {
    int count = 0;
    *why = '\0';
    if (!evn_machine_about(m).here) {
        snprintf(why, size, "this is not the machine we run on");
    } else if (evn_devices_count(name, &count, why, size)) {
        snprintf(why, size, "%s", evn_message());
        count = 0;
    }
    return count;
}
