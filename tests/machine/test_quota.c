/* CPU quotas: recorded trees of /proc and /sys, made in a temporary folder. Run: ctest -R '^quota$'
 */
#include "machine/limits.h"
#include "machine/quota.h"
#include "tree.h"
#include <errno.h>
#include <sys/resource.h>

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

TEST_WITH(none, set_up, tear_down) {
    expect(0);
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a\n");
    expect(0);
}

/* The process is in /a/b: the least of both counts, whichever has it. */
TEST_WITH(second, set_up, tear_down) {
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

TEST_WITH(first, set_up, tear_down) {
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
TEST_WITH(container, set_up, tear_down) {
    put("/proc/self/mountinfo", "31 22 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    put("/proc/self/cgroup", "0::/docker/1234\n");
    expect(3);
    put("/proc/self/mountinfo", "31 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/proc/self/cgroup", "0::/\n");
    expect(3);
}

/* What is no quota is none. */
TEST_WITH(damaged, set_up, tear_down) {
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

/* ---- limits on threads and processes ---- */

static void says(int error, const char *words, int is_there) {
    char text[700];
    assert_ptr_equal(limits_text(root, error, text, sizeof text), text);
    if (!strstr(text, words) != !is_there) fail_msg("%s: \"%s\"", words, text);
}

/* The limits of this process are the machine's; those of groups are the tree's. */
TEST_WITH(limits, set_up, tear_down) {
    struct rlimit before, own = {8192 << 10, RLIM_INFINITY};
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    says(EAGAIN, "Resource temporarily unavailable", 1);
    says(EAGAIN, "pids.max", 0);
    own.rlim_max = before.rlim_max;
    own.rlim_cur = before.rlim_max == RLIM_INFINITY ? (rlim_t)3 << 40 : before.rlim_cur;
    assert_int_equal(setrlimit(RLIMIT_AS, &own), 0);
    if (own.rlim_cur == (rlim_t)3 << 40) says(ENOMEM, "ulimit -v 3221225472 kB", 1);
    setrlimit(RLIMIT_AS, &before);
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/pids.max", "max\n");
    put("/sys/fs/cgroup/a/b/pids.current", "7\n");
    says(EAGAIN, "pids.max", 0);
    put("/sys/fs/cgroup/a/pids.max", "9\n");
    put("/sys/fs/cgroup/a/pids.current", "8\n");
    says(EAGAIN, "pids.max 9 of the control group /sys/fs/cgroup/a, 8 of them in use", 1);
    put("/sys/fs/cgroup/a/b/pids.max", "20\n");
    says(EAGAIN, "pids.max 9 of", 1); /* which has the least left */
    put("/sys/fs/cgroup/a/b/pids.max", "7\n");
    says(EAGAIN, "pids.max 7 of the control group /sys/fs/cgroup/a/b,", 1);
    says(EPERM, "ulimit", 0);
    says(EPERM, "pids.max", 0);
}

RUN_TESTS(NULL, NULL)
