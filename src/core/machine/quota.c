/* CPU quotas of control groups. */
#include "machine/quota.h"
#include "machine/groups.h"
#include <math.h>

/* The first number of a file, and with `second` the one behind it; 0 where they are not there
 * ("max"). */
static int read_numbers(const char *root, const char *folder, const char *name, double *first,
                        double *second) {
    FILE *f = groups_open(root, folder, name);
    if (!f) return 0;
    const int wanted = second ? 2 : 1;
    const int got = second ? fscanf(f, "%lf %lf", first, second) : fscanf(f, "%lf", first);
    fclose(f);
    return got == wanted;
}

struct least {
    const char *root;
    double processors;
};

static void ask(const char *folder, int is_second, void *arg) {
    struct least *least = arg;
    double quota, period;
    const int there =
        is_second ? read_numbers(least->root, folder, "cpu.max", &quota, &period)
                  : read_numbers(least->root, folder, "cpu.cfs_quota_us", &quota, NULL) &&
                        read_numbers(least->root, folder, "cpu.cfs_period_us", &period, NULL);
    /* version 1 writes -1 for none; a NaN is none either */
    if (there && quota > 0 && period > 0 && isfinite(quota / period))
        least->processors = fmin(least->processors, quota / period);
}

double quota_processors(const char *root) {
    struct least least = {root, INFINITY};
    groups_each(root, "cpu", ask, &least);
    return isinf(least.processors) ? 0 : least.processors;
}
