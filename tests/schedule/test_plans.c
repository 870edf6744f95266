/* The plans of all schedules on a set of problems, before and after eight instances in which a unit
 * becomes slower: they are what they were when the checksums of plans.txt were written, so that
 * nobody's assignment changes by the way. Those of `map` hold for the version of Scotch that they
 * were made with, those of `optimal` are made without its solver. Run: ctest -R plans; a change
 * that is meant: build/tests/test-plans --write > tests/schedule/plans.txt */
#include "npbmz/npbmz.h"

#include "base/checksum.h"
#include "check.h"
#include <evener/plugin.h>
#include <inttypes.h>

static const char *const specs[] = {
    "static",
    "dynamic",
    "dynamic:chunk=3,memorize=0",
    "dynamic:chunk=2,memorize=1",
    "guided:size",
    "guided:time",
    "weighted",
    "weighted:size",
    "binpack",
    "interval",
    "interval:iterations=3",
    "map",
    "optimal:gap=0,limit=0",
};
enum { SPECS = sizeof specs / sizeof *specs, INSTANCES = 8, SLOWER_FROM = 3, PROBLEMS = 12 };

struct problem {
    evn_problem p;
    double *weight, *speed;
    evn_link *link;
    npbmz *zones;
};

/* A reproducible sequence of whole numbers. */
static int draw(unsigned long long *seed, int below) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*seed >> 33) % (unsigned long long)below);
}

/* Tasks in a grid of `across` columns, of whole weights and bytes so that sums are exact. */
static void make_grid(struct problem *x, int tasks, int across, int units, int fast,
                      int bandwidth) {
    unsigned long long seed = (unsigned long long)(tasks + 1000 * units + fast);
    x->weight = malloc(sizeof *x->weight * (size_t)tasks);
    x->speed = malloc(sizeof *x->speed * (size_t)units);
    x->link = malloc(sizeof *x->link * 2 * (size_t)tasks);
    int links = 0;
    for (int t = 0; t < tasks; t++) {
        x->weight[t] = 100 + draw(&seed, 900);
        const int bytes = 8 * (10 + draw(&seed, 50));
        if (t % across < across - 1 && t + 1 < tasks)
            x->link[links++] = (evn_link){{t, t + 1}, bytes};
        if (t + across < tasks) x->link[links++] = (evn_link){{t, t + across}, bytes + 80};
    }
    for (int u = 0; u < units; u++) x->speed[u] = u < units / 2 ? 1 : fast;
    x->p = (evn_problem){.tasks = tasks,
                         .weight = x->weight,
                         .links = links,
                         .link = x->link,
                         .units = units,
                         .speed = x->speed,
                         .bandwidth = bandwidth,
                         .instances = 100};
}

static void make_zones(struct problem *x, char class_, int units, int fast) {
    assert_int_equal(npbmz_open(&x->zones, NPBMZ_BT, class_), EVN_OK);
    x->p = npbmz_tasks(x->zones);
    x->speed = malloc(sizeof *x->speed * (size_t)units);
    for (int u = 0; u < units; u++) x->speed[u] = u < units - 2 ? 1 : fast;
    x->p.units = units;
    x->p.speed = x->speed;
}

static void make(struct problem *x, int i) {
    *x = (struct problem){0};
    switch (i) {
    case 0: make_grid(x, 16, 4, 4, 1, 0); break;
    case 1: make_grid(x, 64, 8, 4, 1, 0); break;
    case 2: make_grid(x, 64, 8, 4, 1, 16); break;
    case 3: make_grid(x, 64, 8, 5, 3, 64); break;
    case 4: make_grid(x, 33, 33, 3, 2, 8); break;
    case 5: make_grid(x, 257, 16, 8, 4, 32); break;
    case 6: make_grid(x, 5, 5, 8, 2, 32); break;
    case 7: make_grid(x, 1, 1, 2, 2, 32); break;
    case 8: make_grid(x, 600, 24, 20, 2, 32); break;
    case 9: make_zones(x, 'W', 4, 1); break;
    case 10: make_zones(x, 'B', 4, 5); break;
    default: make_zones(x, 'C', 6, 1); break;
    }
}

static void drop(struct problem *x) {
    free(x->weight);
    free(x->speed);
    free(x->link);
    npbmz_close(x->zones);
}

/* Both plans of one schedule for one problem, a line each. */
static char *plans_of(int problem, const char *spec) {
    struct problem x;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    make(&x, problem);
    evn_schedule *s;
    if (evn_schedule_open(&s, spec, &x.p)) fail_msg("%s: %s", spec, evn_message());
    int *owner = malloc(sizeof *owner * (size_t)x.p.tasks);
    double *seconds = malloc(sizeof *seconds * (size_t)x.p.tasks);
    for (int i = 0; i <= INSTANCES; i += INSTANCES) {
        char *plan = evn_schedule_export(s);
        fprintf(out, "%d after %d: %s\n", problem, i, plan);
        free(plan);
        for (int k = 0; !i && k < INSTANCES; k++) {
            assert_ok(evn_schedule_simulate(s, owner, seconds));
            for (int t = 0; t < x.p.tasks; t++)
                seconds[t] *= k >= SLOWER_FROM && owner[t] == x.p.units - 1 ? 4 : 1;
            assert_ok(evn_schedule_learn(s, owner, seconds));
        }
    }
    fclose(out);
    free(owner);
    free(seconds);
    evn_schedule_close(s);
    drop(&x);
    return text;
}

static uint64_t sum_of(const char *text) {
    return checksum_add(CHECKSUM_BEGIN, text, strlen(text));
}

/* A line for each problem: the checksums of the schedules' plans. */
static void write_sums(void) {
    for (int i = 0; i < PROBLEMS; i++)
        for (int s = 0; s < SPECS; s++) {
            HEAP char *text = plans_of(i, specs[s]);
            printf("%016" PRIx64 "%c", sum_of(text), s + 1 < SPECS ? ' ' : '\n');
        }
}

/* Whether there is the Scotch that the plans of the file were made with. */
static int comparable(const char *spec) {
    const char *library;
    char text[256];
    return strcmp(spec, "map") != 0 || (!evn_schedule_library("map", &library, text, sizeof text) &&
                                        !strncmp(text, "7.0.3,", 6));
}

TEST(plans) {
    OWN(file) *file = fopen(PLANS, "r");
    assert_non_null(file);
    for (int i = 0; i < PROBLEMS; i++)
        for (int s = 0; s < SPECS; s++) {
            uint64_t was;
            assert_int_equal(fscanf(file, "%" SCNx64, &was), 1);
            if (!comparable(specs[s])) continue;
            HEAP char *text = plans_of(i, specs[s]);
            if (sum_of(text) != was)
                fail_msg("problem %d under %s: the plans are now\n%s", i, specs[s], text);
        }
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--write")) {
        write_sums();
        return 0;
    }
    return run_all_tests(NULL, NULL);
}
