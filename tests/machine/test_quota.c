/* CPU quotas: recorded trees of /proc and /sys, made in a temporary folder. Run: ctest -R '^quota$'
 */
#include "machine/quota.h"
#include "tree.h"

static void expect(double processors) {
    const double got = quota_processors(root);
    if (!(got == processors)) fail_msg("%g processors, expected %g", got, processors);
}

static const char mounts_2[] =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "31 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char mounts_1[] =
    "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw shared:1 - cgroup cgroup rw,cpuset\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static void test_none(void **state) {
    (void)state;
    expect(0);
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a\n");
    expect(0);
}

/* The process is in /a/b: the least of both counts, whichever has it. */
static void test_second(void **state) {
    (void)state;
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    expect(0);
    put("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    expect(4);
    put("/sys/fs/cgroup/a/cpu.max", "75000 50000\n");
    expect(1.5);
    put("/sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
    expect(0.2);
    /* that of a neighbour does not */
    put("/sys/fs/cgroup/a/c/cpu.max", "1000 100000\n");
    expect(0.2);
}

static void test_first(void **state) {
    (void)state;
    put("/proc/self/mountinfo", mounts_1);
    put("/proc/self/cgroup", "4:cpuset:/\n3:cpu,cpuacct:/job/step\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    expect(0);
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n");
    expect(2.5);
    put("/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "100000\n");
    expect(1);
    put("/sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1000\n");
    put("/sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
    expect(1);
}

/* A container sees its own group only. */
static void test_container(void **state) {
    (void)state;
    put("/proc/self/mountinfo", "31 22 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    put("/proc/self/cgroup", "0::/docker/1234\n");
    expect(3);
    put("/proc/self/mountinfo", "31 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/proc/self/cgroup", "0::/\n");
    expect(3);
}

/* What is no quota is none. */
static void test_damaged(void **state) {
    (void)state;
    static const char *const wrong[] = {"",           "max",        "lots 100000", "100000",
                                        "100000 max", "-5 100000",  "0 100000",    "nan 100000",
                                        "100000 0",   "100000 nan", "inf 100000",  "100000 -1"};
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put("/sys/fs/cgroup/a/cpu.max", wrong[i]);
        expect(0);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_none),      WITH_FOLDER(test_second),  WITH_FOLDER(test_first),
        WITH_FOLDER(test_container), WITH_FOLDER(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
