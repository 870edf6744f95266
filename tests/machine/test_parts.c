/* Kinds and parts of machines that are not there, what `auto` makes of them, and what its units are
 * worth: recorded topologies (tests/machine/topology) and hwloc's synthetic ones. Run: ctest -R
 * '^parts$' */
#include "check.h"
#include "base/cpus.h"
#include "machine/cores.h"
#include "machine/topology.h"
#include "unit/descriptor.h"
#include <hwloc.h>
#include <math.h>
#include <unistd.h>

static evn_machine *open_file(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.xml", TOPOLOGIES, name);
    setenv("HWLOC_XMLFILE", path, 1);
    evn_machine *m = OPEN(machine);
    unsetenv("HWLOC_XMLFILE");
    assert_false(evn_machine_about(m).here);
    return m;
}

static evn_machine *open_synthetic(const char *description) {
    evn_machine *m;
    assert_ok(evn_machine_open_synthetic(&m, description));
    return m;
}

/* The list opens as `text`, and its units have these speeds and kinds of cores. */
static void expect_units(const evn_machine *m, const char *list, const char *text,
                         const double *speed, const int *kind) {
    OWN(units) *units = OPEN(units, m, list, NULL, 0);
    assert_string_equal(evn_units_text(units), text);
    for (int u = 0; u < evn_units_count(units); u++) {
        const double is = evn_unit_about(evn_units_get(units, u)).speed;
        if (!(fabs(is - speed[u]) <= 1e-9)) fail_msg("%s: unit %d has %.9g", list, u, is);
        assert_int_equal(evn_unit_about(evn_units_get(units, u)).kind, kind[u]);
    }
}

static void expect_part(const evn_machine *m, int i, const evn_part *p) {
    const evn_part *is = evn_machine_part(m, i);
    assert_non_null(is);
    assert_int_equal(is->first, p->first);
    assert_int_equal(is->cores, p->cores);
    assert_int_equal(is->kind, p->kind);
    assert_int_equal(is->package, p->package);
    assert_int_equal(is->threads, p->threads);
    assert_true(is->cache == p->cache);
    for (int c = p->first; c < p->first + p->cores; c++)
        assert_int_equal(evn_machine_part_of(m, c), i);
}

static int has_plugins(void) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "/hwloc_") != NULL;
    if (maps) fclose(maps);
    return found;
}

/* Without hwloc's plug-ins, and once as long as nothing else would be read. Must be the first test,
 * since others load them. */
TEST(this_node) {
    struct cpus all, one = {0};
    evn_machine *m = OPEN(machine);
    if (*machine_reason(m) || !topology_is_usual()) skip();
    assert_false(has_plugins());
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
    evn_machine *again = OPEN(machine);
    assert_ptr_equal(again, m);
    evn_machine_close(again);
    setenv("EVENER_SMT", "1", 1);
    assert_ok(evn_machine_open(&again));
    assert_ptr_not_equal(again, m);
    evn_machine_close(again);
    unsetenv("EVENER_SMT");
    assert_int_equal(cpus_get(&all), 0);
    cpus_add(&one, evn_machine_core_number(m, evn_machine_cores(m) - 1));
    assert_int_equal(cpus_set(0, &one), 0);
    assert_ok(evn_machine_open(&again));
    assert_int_equal(evn_machine_cores(again), 1);
    evn_machine_close(again);
    assert_int_equal(cpus_set(0, &all), 0);
    evn_machine_close(m);
}

/* Cores that clock 2 % apart are one kind; performance cores count once, and efficiency cores have
 * a unit of their own though all have one L3 cache. */
TEST(laptop) {
    const double slow = 3500. / 4800;
    OWN(machine) *m = open_file("laptop");
    assert_int_equal(evn_machine_cores(m), 14);
    assert_int_equal(evn_machine_about(m).kinds, 2);
    assert_string_equal(evn_machine_kind(m, 0)->name, "IntelCore");
    assert_int_equal(evn_machine_kind(m, 0)->cores, 6);
    assert_true(evn_machine_kind(m, 0)->frequency == 4.8e9);
    assert_true(evn_machine_kind(m, 0)->speed == 1);
    assert_string_equal(evn_machine_kind(m, 1)->name, "IntelAtom");
    assert_int_equal(evn_machine_kind(m, 1)->cores, 8);
    assert_true(fabs(evn_machine_kind(m, 1)->speed - slow) < 1e-9);
    assert_int_equal(evn_machine_about(m).parts, 2);
    expect_part(m, 0, &(evn_part){0, 6, 0, 0, 2, 24 << 20});
    expect_part(m, 1, &(evn_part){6, 8, 1, 0, 1, 24 << 20});
    assert_int_equal(evn_machine_core_number(m, 5), 10);
    assert_int_equal(machine_core_of(m, 11), 5);
    assert_int_equal(evn_machine_core_number(m, 6), 12);
    expect_units(m, "auto", "1:CPU:6,1:CPU:8", (double[]){6, 8 * slow}, (int[]){0, 1});
    /* the list that auto has written means the same */
    expect_units(m, "1:CPU:6,1:CPU:8", "1:CPU:6,1:CPU:8", (double[]){6, 8 * slow}, (int[]){0, 1});
    /* a team is as fast as its slowest core */
    expect_units(m, "1:CPU:4,1:CPU:4", "1:CPU:4,1:CPU:4", (double[]){4, 4 * slow}, (int[]){0, 1});
    /* more than there is: for plans, about which nothing is known */
    OWN(units) *units = OPEN(units, m, "2:CPU:14", NULL, EVN_DESCRIBE_ONLY);
    assert_true(evn_unit_about(evn_units_get(units, 1)).speed == 14);
}

/* LITTLE cores come first in the system's numbers, and last in ours; capacities go before clocks,
 * and there is no L3. */
TEST(board) {
    const double slow = 485. / 1024;
    OWN(machine) *m = open_file("board");
    assert_int_equal(evn_machine_about(m).kinds, 2);
    assert_int_equal(evn_machine_about(m).parts, 2);
    expect_part(m, 0, &(evn_part){0, 4, 0, 0, 1, 0});
    expect_part(m, 1, &(evn_part){4, 4, 1, 0, 1, 0});
    for (int c = 0; c < 8; c++) {
        assert_int_equal(evn_machine_core_number(m, c), (c + 4) % 8);
        assert_int_equal(machine_core_of(m, (c + 4) % 8), c);
    }
    expect_units(m, "auto", "2:CPU:4", (double[]){4, 4 * slow}, (int[]){0, 1});
}

/* Two packages of eight L3 caches. */
TEST(epyc) {
    double speed[16];
    const int kind[16] = {0};
    for (int u = 0; u < 16; u++) speed[u] = 8;
    OWN(machine) *m = open_synthetic("package:2 l3:8(size=33554432) core:8 pu:2");
    assert_int_equal(evn_machine_cores(m), 128);
    assert_int_equal(evn_machine_about(m).kinds, 1);
    assert_int_equal(evn_machine_about(m).parts, 16);
    for (int i = 0; i < 16; i++) expect_part(m, i, &(evn_part){8 * i, 8, 0, i / 8, 2, 32 << 20});
    expect_units(m, "auto", "16:CPU:8", speed, kind);
}

static void expect_auto(const char *description, const char *list) {
    evn_machine *m = open_synthetic(description);
    evn_units *units = OPEN(units, m, "auto", NULL, 0);
    if (strcmp(evn_units_text(units), list) != 0)
        fail_msg("%s: %s, expected %s", description, evn_units_text(units), list);
    evn_units_close(units);
    evn_machine_close(m);
}

/* One kind and one cache: one unit, as ever. */
TEST(even) {
    static const struct {
        const char *is, *list;
        int cores;
    } of[] = {{"package:1 l3:1 core:72 pu:1", "1:CPU:72", 72}, /* Grace */
              {"package:1 core:4 pu:2", "1:CPU:4", 4},
              {"core:4 pu:1", "1:CPU:4", 4},
              {"pu:3", "1:CPU:3", 3}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        OWN(machine) *m = open_synthetic(of[i].is);
        assert_int_equal(evn_machine_about(m).parts, 1);
        expect_units(m, "auto", of[i].list, (double[]){of[i].cores}, (int[]){0});
    }
    /* NUMA nodes in a package are parts: without an L3 (A64FX, KNL), and within one */
    expect_auto("package:1 numa:4 l2:1 core:12 pu:1", "4:CPU:12");
    expect_auto("package:2 l3:1 numa:2 core:8 pu:2", "4:CPU:8");
    expect_auto("package:1 numa:2 l3:4 core:8 pu:2", "8:CPU:8");
    expect_auto("numa:2 package:2 core:2 pu:1", "4:CPU:2");
    /* but those of memory alone are not (HBM beside each, or one for all) */
    expect_auto("package:2 [numa(indexes=0,2)] [numa(indexes=1,3)] core:4 pu:1", "2:CPU:4");
    expect_auto("[numa(indexes=2)] package:2 [numa(indexes=0,1)] core:4 pu:1", "2:CPU:4");
    OWN(machine) *m = open_synthetic("package:2 core:4 pu:1"); /* no L3: packages are parts */
    expect_units(m, "auto", "2:CPU:4", (double[]){4, 4}, (int[]){0, 0});
}

/* Each hardware thread is a core where that is asked for; first threads of all cores of a part come
 * before the second ones. */
TEST(siblings) {
    setenv("EVENER_SMT", "1", 1);
    evn_machine *m = open_file("laptop");
    assert_int_equal(evn_machine_cores(m), 20);
    for (int c = 0; c < 12; c++)
        assert_int_equal(evn_machine_core_number(m, c), 2 * (c % 6) + c / 6);
    expect_part(m, 0, &(evn_part){0, 12, 0, 0, 1, 24 << 20});
    evn_machine_close(m);
    setenv("EVENER_SMT", "0", 1);
    m = open_file("laptop");
    assert_int_equal(evn_machine_cores(m), 14);
    evn_machine_close(m);
    setenv("EVENER_SMT", "yes", 1);
    assert_fails(evn_machine_open(&m), EVN_USAGE, "EVENER_SMT: \"yes\", expected 1 or 0");
    unsetenv("EVENER_SMT");
}

/* A share of such a machine: the faster kind is still what speeds go by. */
TEST(share) {
    const int numbers[] = {0, 1, 6, 7};
    char path[1024];
    evn_machine *m;
    snprintf(path, sizeof path, "%s/board.xml", TOPOLOGIES);
    setenv("HWLOC_XMLFILE", path, 1);
    assert_ok(evn_machine_open_within(&m, numbers, 2));
    expect_units(m, "auto", "1:CPU:2", (double[]){2 * 485. / 1024}, (int[]){1});
    int sharing;
    assert_true(evn_machine_cache(m, 2, &sharing) == 1 << 20); /* by which nodes are told apart */
    assert_int_equal(sharing, 2);
    evn_machine_close(m);
    assert_ok(evn_machine_open_within(&m, numbers, 4));
    assert_int_equal(evn_machine_core_number(m, 0), 6);
    expect_units(m, "auto", "2:CPU:2", (double[]){2, 2 * 485. / 1024}, (int[]){0, 1});
    evn_machine_close(m);
    unsetenv("HWLOC_XMLFILE");
}

/* ---- this node's own file ---- */

static char own[] = "/tmp/evener-parts-XXXXXX";

/* Writes this node's topology, cut down to one hardware thread if `thread` is one, to a file. */
static void write_own(int thread) {
    hwloc_topology_t topology;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    if (thread >= 0) {
        hwloc_bitmap_t only = hwloc_bitmap_alloc();
        hwloc_bitmap_only(only, (unsigned)thread);
        assert_int_equal(hwloc_topology_restrict(topology, only, 0), 0);
        hwloc_bitmap_free(only);
    }
    assert_int_equal(hwloc_topology_export_xml(topology, own, 0), 0);
    hwloc_topology_destroy(topology);
}

/* Writes another word over one in the file. */
static void overwrite(const char *from, const char *to) {
    char text[1 << 18];
    OWN(file) *f = fopen(own, "r+");
    const size_t size = fread(text, 1, sizeof text - 1, f);
    text[size] = '\0';
    char *at = strstr(text, from);
    assert_true(at && strlen(from) == strlen(to));
    fseek(f, at - text, SEEK_SET);
    fputs(to, f);
}

/* Launchers give jobs the node's own topology as a file: everything runs with it. One of another
 * host, or of another system on this one, is another machine's, which its reason says. */
TEST(own_file) {
    unsetenv("HWLOC_XMLFILE");
    evn_machine *here = OPEN(machine);
    if (!evn_machine_about(here).here) skip();
    const int last = evn_machine_cores(here) - 1;
    close(mkstemp(own));
    setenv("HWLOC_XMLFILE", own, 1);
    write_own(-1);
    evn_machine *m = OPEN(machine);
    assert_true(evn_machine_about(m).here);
    assert_int_equal(evn_machine_cores(m), last + 1);
    assert_true(evn_machine_about(m).memory == evn_machine_about(here).memory);
    evn_machine_close(m);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    assert_ok(evn_machine_open(&m));
    assert_false(evn_machine_about(m).here);
    evn_machine_close(m);
    unsetenv("HWLOC_THISSYSTEM");
    write_own(evn_machine_core_number(here, last));
    assert_ok(evn_machine_open(&m));
    assert_true(evn_machine_about(m).here);
    assert_int_equal(evn_machine_cores(m), 1);
    assert_int_equal(evn_machine_core_number(m, 0), evn_machine_core_number(here, last));
    evn_machine_close(m);
    static const char *const facts[] = {
        "\"HostName\" value=", "\"OSRelease\" value=", "\"Architecture\" value="};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char other[40];
        snprintf(other, sizeof other, "%s", facts[i]);
        other[1] = 'X';
        write_own(-1);
        overwrite(facts[i], other);
        assert_ok(evn_machine_open(&m));
        assert_false(evn_machine_about(m).here);
        assert_non_null(strstr(machine_reason(m), "HWLOC_XMLFILE names another machine"));
        assert_fails(evn_machine_keep_to(m), EVN_USAGE, "HWLOC_XMLFILE names another machine");
        evn_machine_close(m);
    }
    unsetenv("HWLOC_XMLFILE");
    remove(own);
    evn_machine_close(here);
}

/* Leaders of GPU units take the last cores. */
TEST(auto_with_devices) {
    static const struct {
        int size[4], parts, devices;
        const char *text;
    } of[] = {{{6, 8}, 2, 0, "1:CPU:6,1:CPU:8"},
              {{6, 8}, 2, 1, "1:CPU:6,1:CPU:7,1:GPU:1"},
              {{6, 2}, 2, 2, "1:CPU:6,2:GPU:1"},
              {{6, 2}, 2, 3, "1:CPU:5,3:GPU:1"},
              {{4, 4, 4}, 3, 1, "2:CPU:4,1:CPU:3,1:GPU:1"},
              {{2}, 1, 2, "1:CPU:1,2:GPU:1"},
              {{1}, 1, 8, "1:CPU:1,8:GPU:1"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct unit_list list;
        char text[64];
        unit_list_auto(&list, of[i].size, of[i].parts, of[i].devices);
        unit_list_print(&list, text, sizeof text);
        assert_string_equal(text, of[i].text);
        assert_int_equal(list.gpus, of[i].devices);
        assert_int_equal(list.units, list.cpus + list.gpus);
    }
}

/* More groups than a list may have are one unit. */
TEST(many_parts) {
    int size[65];
    struct unit_list list;
    for (int i = 0; i < 65; i++) size[i] = i + 1;
    unit_list_auto(&list, size, 64, 0);
    assert_int_equal(list.groups, 64);
    for (int devices = 0; devices < 2; devices++) {
        unit_list_auto(&list, size, 65, devices);
        assert_int_equal(list.cpus, 1);
        assert_int_equal(list.cores, 65 * 66 / 2); /* with the leader's */
    }
}

RUN_TESTS(NULL, NULL)
