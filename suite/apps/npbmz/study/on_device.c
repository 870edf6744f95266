/* The table of phases on devices. */
#include "npbmz/study/on_device.h"
#include "common/run/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct device_peaks device_peaks(evn_units *units, struct device_peaks asked) {
    struct device_peaks sum = {0, asked.operations * evn_units_about(units).devices};
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++) {
            const double one =
                asked.bandwidth > 0
                    ? asked.bandwidth
                    : probe_device_bandwidth(evn_unit_device(unit, d), evn_unit_queue(unit, d));
            if (!(one > 0)) return (struct device_peaks){0, sum.operations};
            sum.bandwidth += one;
        }
    }
    return sum;
}

static double interior_points(const npbmz *problem, int zones) {
    double sum = 0;
    for (int z = 0; z < zones; z++) {
        int n[3];
        npbmz_zone(problem, z, n);
        sum += (double)(n[0] - 2) * (n[1] - 2) * (n[2] - 2);
    }
    return sum;
}

/* A phase of all devices together. */
static evn_device_phase sum_of(const struct run_result *r, const char *name) {
    evn_device_phase sum = {.launches = 0};
    for (int d = 0; d < r->devices; d++)
        for (int i = 0; i < r->phases[d].count; i++) {
            const evn_device_phase *one = &r->phases[d].phase[i];
            if (name && strcmp(one->name, name) != 0) continue;
            sum.seconds += one->seconds;
            sum.launches += one->launches;
        }
    return sum;
}

/* Per cent of a peak, in `width` columns. */
static void print_share(int width, double share, int is_known) {
    if (is_known)
        printf(" %*.1f%%", width - 1, 100 * share);
    else
        printf(" %*s", width, "unknown");
}

/* Seconds that the devices need at least; NAN: their bandwidth is not known. */
static double floor_of(npbmz_cost cost, double n, struct device_peaks peaks) {
    if (!(peaks.bandwidth > 0)) return NAN;
    const double busy = peaks.operations > 0 ? 2 * cost.operations * n / peaks.operations : 0;
    return fmax(busy, cost.bytes * n / peaks.bandwidth);
}

/* `n` points over all steps, `s` seconds a device. */
static void print_phase(npbmz_cost cost, double n, double s, struct device_peaks peaks) {
    const double floor = floor_of(cost, n, peaks);
    printf(" %10.3f %9.2f", 1e9 * s / n, 1e-9 * cost.operations * n / s);
    print_share(8, 2 * cost.operations * n / s / peaks.operations, peaks.operations > 0);
    printf(" %8.2f", 1e-9 * cost.bytes * n / s);
    print_share(8, cost.bytes * n / s / peaks.bandwidth, peaks.bandwidth > 0);
    print_share(8, floor / s, floor == floor);
    putchar('\n');
}

static int is_phase(const char *name) {
    for (int p = 0; p < NPBMZ_PHASES; p++)
        if (!strcmp(name, npbmz_phase_name(p))) return 1;
    return 0;
}

/* Launches that are no phase of the benchmark's: exchange and norms. */
static void print_others(const struct run_result *r, double all) {
    for (int d = 0; d < r->devices; d++)
        for (int i = 0; i < r->phases[d].count; i++) {
            const char *name = r->phases[d].phase[i].name;
            int seen = is_phase(name);
            for (int k = 0; k < d && !seen; k++)
                for (int j = 0; j < r->phases[k].count; j++)
                    seen |= !strcmp(r->phases[k].phase[j].name, name);
            if (seen) continue;
            const evn_device_phase sum = sum_of(r, name);
            printf("  %-14s %9.4f %5.1f%% %9lld %9.2f\n", name, sum.seconds / r->devices,
                   100 * sum.seconds / all, sum.launches, 1e6 * sum.seconds / (double)sum.launches);
        }
}

void device_phases_print(const npbmz *problem, enum npbmz_benchmark benchmark,
                         const struct run_result *r, struct device_peaks peaks) {
    const double all = sum_of(r, NULL).seconds, n = interior_points(problem, r->tasks) * r->steps;
    double floor_all = 0, sum_all = 0;
    printf("\n  %-14s %9s %6s %9s %9s %10s %9s %8s %8s %8s %8s\n", "phase", "s", "share",
           "launches", "us each", "ns/point", "Gop/s", "of peak", "GB/s", "of band.", "floor");
    for (int p = 0; p < NPBMZ_PHASES; p++) {
        const evn_device_phase sum = sum_of(r, npbmz_phase_name(p));
        const npbmz_cost cost = npbmz_kernel_cost(benchmark, p);
        if (!(sum.seconds > 0)) continue;
        /* devices work at a time: what they take together is their number times the wall's */
        const double s = sum.seconds / r->devices;
        floor_all += floor_of(cost, n, peaks);
        sum_all += s;
        printf("  %-14s %9.4f %5.1f%% %9lld %9.2f", npbmz_phase_name(p), s, 100 * sum.seconds / all,
               sum.launches, 1e6 * sum.seconds / (double)sum.launches);
        print_phase(cost, n, s, peaks);
    }
    print_others(r, all);
    printf("  %-14s %9.4f %5.1f%% %9s %9s %10.3f %36s", "phases", sum_all,
           100 * sum_all * r->devices / all, "", "", 1e9 * sum_all / n, "");
    print_share(8, floor_all / sum_all, floor_all == floor_all);
    printf("\n  launches of a device: %.4f s by its clock; that run, with events around them: %.4f "
           "s\n",
           all / r->devices, r->seconds);
}
