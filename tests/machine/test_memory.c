/* Available memory: recorded trees of /proc and /sys, made in a temporary folder. Run: ctest -R
 * '^memory$' */
#include "machine/memory.h"
#include "tree.h"
#include <sys/resource.h>

#define MiB      ((uint64_t)1 << 20)
#define NO_LIMIT "9223372036854771712\n" /* what version 1 says */

static void put_in(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    put(path, text);
}

/* A machine with 1000 MiB available, and no limits of the process. */
static void put_machine(void) {
    put("/proc/meminfo", "MemTotal:        2048000 kB\nMemFree:          100000 kB\n"
                         "MemAvailable:    1024000 kB\n");
    put("/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         unlimited            unlimited            bytes     \n");
    put("/proc/self/status", "Name:\ttest\nVmSize:\t  102400 kB\nVmData:\t   51200 kB\n");
}

static const char mounts_2[] =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "31 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char mounts_1[] =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:1 - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,nodev,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static void put_group_2(const char *folder, const char *max, const char *current,
                        const char *stat) {
    put_in(folder, "memory.max", max);
    put_in(folder, "memory.current", current);
    put_in(folder, "memory.stat", stat);
}

static void put_group_1(const char *folder, const char *limit, const char *usage,
                        const char *stat) {
    put_in(folder, "memory.limit_in_bytes", limit);
    put_in(folder, "memory.usage_in_bytes", usage);
    put_in(folder, "memory.stat", stat);
}

static void expect(uint64_t bytes) {
    const uint64_t got = memory_available(root);
    if (got != bytes)
        fail_msg("%llu bytes, expected %llu", (unsigned long long)got, (unsigned long long)bytes);
}

TEST_WITH(nothing_known, set_up, tear_down) { expect(0); }

TEST_WITH(no_groups, set_up, tear_down) {
    put_machine();
    expect(1000 * MiB);
}

/* The process is in /a/b; files of the root group are not there, as on a real machine. */
TEST_WITH(second, set_up, tear_down) {
    const char *const a = "/sys/fs/cgroup/a", *const b = "/sys/fs/cgroup/a/b";
    put_machine();
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a/b\n");
    put_group_2(a, "max\n", "314572800\n", "anon 104857600\nfile 0\n");
    put_group_2(b, "max\n", "104857600\n", "anon 104857600\nfile 0\n");
    expect(1000 * MiB);
    /* the group's own limit: 200 of 300 MiB are left */
    put_group_2(b, "314572800\n", "104857600\n", "anon 104857600\nfile 0\n");
    expect(200 * MiB);
    /* that of the group around it, which others use too */
    put_group_2(a, "419430400\n", "314572800\n", "anon 314572800\n");
    expect(100 * MiB);
    /* pages of files are given back; shared memory is not on these lists */
    put_group_2(a, "419430400\n", "314572800\n",
                "file 99999999\ninactive_anon 1\nactive_anon 2\ninactive_file "
                "31457280\nactive_file 20971520\n");
    expect(150 * MiB);
    /* no more than the machine has */
    put_group_2(a, "max\n", "0\n", "");
    put_group_2(b, "4000000000\n", "0\n", "");
    expect(1000 * MiB);
    put_in(b, "memory.high", "52428800\n");
    expect(50 * MiB);
}

/* A limit that is reached, or that was made smaller than what is used, leaves nothing: and that is
 * not unknown. */
TEST_WITH(exceeded, set_up, tear_down) {
    const char *const a = "/sys/fs/cgroup/a";
    put_machine();
    put("/proc/self/mountinfo", mounts_2);
    put("/proc/self/cgroup", "0::/a\n");
    put_group_2(a, "104857600\n", "104857600\n", "");
    expect(1);
    put_group_2(a, "104857600\n", "204857600\n", "inactive_file 4096\n");
    expect(1);
    put_group_2(a, "0\n", "0\n", "");
    expect(1);
}

TEST_WITH(first, set_up, tear_down) {
    const char *const top = "/sys/fs/cgroup/mem ory", *const a = "/sys/fs/cgroup/mem ory/job",
                      *const b = "/sys/fs/cgroup/mem ory/job/step";
    put_machine();
    put("/proc/self/mountinfo", mounts_1);
    put("/proc/self/cgroup", "9:name=systemd:/\n4:hugetlb,memory:/job/step\n1:cpu:/x\n0::/\n");
    put_group_1(top, NO_LIMIT, "900000000\n", "total_inactive_file 5\n");
    put_group_1(a, NO_LIMIT, "900000000\n", "");
    put_group_1(b, NO_LIMIT, "900000000\n", "");
    expect(1000 * MiB);
    put_group_1(a, "524288000\n", "314572800\n", "inactive_file 1\ntotal_inactive_file 0\n");
    expect(200 * MiB);
    put_group_1(a, "524288000\n", "314572800\n",
                "total_inactive_file 10485760\ntotal_active_file 10485760\n");
    expect(220 * MiB);
    put_group_1(b, "104857600\n", "104857600\n", "");
    expect(1);
}

/* A container sees its own group only, mounted under the path that it has outside; or with a
 * namespace of its own. */
TEST_WITH(container, set_up, tear_down) {
    put_machine();
    put("/proc/self/mountinfo", "31 22 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put_group_2("/sys/fs/cgroup", "314572800\n", "104857600\n", "");
    put_group_2("/sys/fs/cgroup/in", "max\n", "0\n", "");
    put("/proc/self/cgroup", "0::/docker/1234/in\n");
    expect(200 * MiB);
    put_group_2("/sys/fs/cgroup/in", "1048576\n", "0\n", "");
    expect(MiB);
    put("/proc/self/cgroup", "0::/docker/1234\n");
    expect(200 * MiB);
    put("/proc/self/cgroup", "0::/elsewhere\n");
    expect(200 * MiB);
    put("/proc/self/mountinfo", "31 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/proc/self/cgroup", "0::/\n");
    expect(200 * MiB);
}

TEST_WITH(own_limits, set_up, tear_down) {
    put_machine();
    put("/proc/self/limits",
        "Max data size             104857600            unlimited            bytes     \n"
        "Max address space         unlimited            unlimited            bytes     \n");
    expect(50 * MiB);
    put("/proc/self/limits",
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         104857600            104857600            bytes     \n");
    expect(1);
}

/* Damaged files are no limits. */
TEST_WITH(damaged, set_up, tear_down) {
    put_machine();
    put("/proc/self/mountinfo", "nonsense\n - cgroup2\n1 2 3 - cgroup2 x y\n");
    put("/proc/self/cgroup", "\n:\n0:\n::\n0::\n4:memory\n");
    expect(1000 * MiB);
    put("/proc/self/mountinfo", mounts_2);
    put_group_2("/sys/fs/cgroup", "lots\n", "\n", "");
    expect(1000 * MiB);
}

/* This process: its own limit is seen. */
TEST(here) {
    const uint64_t before = evn_machine_memory_available(NULL);
    struct rlimit limit;
    assert_true(before > 0);
    assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
    const struct rlimit little = {(rlim_t)64 << 20, limit.rlim_max};
    if (setrlimit(RLIMIT_DATA, &little)) skip();
    const uint64_t now = evn_machine_memory_available(NULL);
    setrlimit(RLIMIT_DATA, &limit);
    assert_true(now > 0 && now <= 64 * MiB);
}

RUN_TESTS(NULL, NULL)
