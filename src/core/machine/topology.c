/* Topologies and their descriptions.
 *
 * hwloc passes over a description that it cannot read and gives this node instead. So a file or a
 * text is given to hwloc here, which then fails, and a folder is looked at before. */
#include "machine/topology.h"
#include "base/cpus.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Variables that describe a machine, in hwloc's order: the first that is set counts. */
enum source { FSROOT, CPUID, SYNTHETIC, XMLFILE, SOURCES };
static const char *const variable[SOURCES] = {"HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC",
                                              "HWLOC_XMLFILE"};

static const char *value_of(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

static enum source find_source(void) {
    int s = 0;
    while (s < SOURCES && !value_of(variable[s])) s++;
    if (s == FSROOT && !strcmp(value_of(variable[s]), "/")) return SOURCES;
    return s;
}

/* ---- descriptions that cannot be read ---- */

static evn_status refuse(enum source s, const char *why) {
    static const char *const expected[SOURCES] = {
        [FSROOT] = "a folder that hwloc-gather-topology has written",
        [CPUID] = "a folder that hwloc-gather-cpuid has written",
        [SYNTHETIC] = "a text as \"package:2 core:8 pu:1\"",
        [XMLFILE] = "a file that lstopo of hwloc 2 has written (lstopo FILE.xml)"};
    return evn_fail(EVN_USAGE, "machine: %s: \"%.200s\": %s; expected %s", variable[s],
                    value_of(variable[s]), why, expected[s]);
}

static int has(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, F_OK);
}

static evn_status check_folder(enum source s) {
    static const char *const files[SOURCES][4] = {
        [FSROOT] = {"sys/devices/system/cpu", "sys/devices/system/node", "sys/bus/cpu/devices",
                    "proc/cpuinfo"},
        [CPUID] = {"hwloc-cpuid-info"}};
    const char *folder = value_of(variable[s]);
    if (access(folder, R_OK | X_OK)) return refuse(s, strerror(errno));
    for (int i = 0; i < 4; i++)
        if (files[s][i] && has(folder, files[s][i])) return EVN_OK;
    return refuse(s, "no machine is described in it");
}

/* The reason why hwloc does not take the file. */
static evn_status refuse_file(void) {
    char first;
    const int file = open(value_of(variable[XMLFILE]), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int failed = file < 0 || read(file, &first, 1) < 0, error = errno;
    if (file >= 0) close(file);
    return refuse(XMLFILE, failed ? strerror(error) : "hwloc cannot read this as a topology");
}

/* Gives hwloc the description. HWLOC_COMPONENTS, where it is set, decides which one hwloc takes. */
static evn_status give(hwloc_topology_t topology, enum source s) {
    if (s == FSROOT || s == CPUID) return check_folder(s);
    if (s == SOURCES || secure_getenv("HWLOC_COMPONENTS")) return EVN_OK;
    const char *text = value_of(variable[s]);
    if (s == XMLFILE) return hwloc_topology_set_xml(topology, text) ? refuse_file() : EVN_OK;
    return hwloc_topology_set_synthetic(topology, text) ? refuse(s, "hwloc does not understand it")
                                                        : EVN_OK;
}

/* ---- this node's own description ---- */

static int is_of_system(hwloc_obj_t root) {
    struct utsname is;
    if (uname(&is)) return 0;
    const char *const facts[][2] = {{"HostName", is.nodename},
                                    {"OSName", is.sysname},
                                    {"OSRelease", is.release},
                                    {"OSVersion", is.version},
                                    {"Architecture", is.machine}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *said = hwloc_obj_get_info_by_name(root, facts[i][0]);
        if (!said || strcmp(said, facts[i][1]) != 0) return 0;
    }
    return 1;
}

/* Hardware threads of the core of a hardware thread, as this system has them; 0: it has none such.
 */
static int read_siblings(hwloc_bitmap_t out, int thread) {
    static const char *const files[] = {"core_cpus_list", "thread_siblings_list"};
    char path[128], text[4096] = "";
    FILE *f = NULL;
    for (int i = 0; !f && i < 2; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", thread, files[i]);
        f = fopen(path, "re");
    }
    const int got = f && fgets(text, sizeof text, f);
    if (f) fclose(f);
    text[strcspn(text, "\n")] = '\0';
    return got && !hwloc_bitmap_list_sscanf(out, text);
}

static int has_cores_of(hwloc_topology_t topology, hwloc_bitmap_t siblings) {
    hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology);
    const int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < n; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);
        if (!read_siblings(siblings, hwloc_bitmap_first(core->cpuset))) return 0;
        hwloc_bitmap_and(siblings, siblings, all);
        if (!hwloc_bitmap_isequal(siblings, core->cpuset)) return 0;
    }
    return n > 0;
}

/* 1 if the file describes this node, as of its present start: launchers (Flux) give jobs such a
 * file, whole or cut down to the job's cores, to save them the reading of the topology. */
static int is_own(hwloc_topology_t topology) {
    hwloc_bitmap_t siblings = hwloc_bitmap_alloc();
    const int own =
        siblings && is_of_system(hwloc_get_root_obj(topology)) && has_cores_of(topology, siblings);
    hwloc_bitmap_free(siblings);
    return own;
}

/* ---- reading ---- */

#if HWLOC_API_VERSION >= 0x00020100
enum { INCLUDE_DISALLOWED = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED };
#else
enum { INCLUDE_DISALLOWED = HWLOC_TOPOLOGY_FLAG_WHOLE_SYSTEM };
#endif

/* Switches off hwloc's x86 component, which binds the thread to each core in turn: on a busy
 * machine that takes tens of milliseconds. It adds nothing where the system tells caches and has
 * one kind of cores; where the system does not tell affinities it would ask for them without end.
 */
static void spare_binding(hwloc_topology_t topology, enum source s) {
#if HWLOC_API_VERSION >= 0x00020100
    const int told = s == SOURCES && !secure_getenv("HWLOC_COMPONENTS") &&
                     !access("/sys/devices/system/cpu/cpu0/cache/index0/size", R_OK) &&
                     access("/sys/devices/cpu_atom", F_OK);
    if (told || !cpus_are_told())
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#else
    (void)topology, (void)s;
#endif
}

int topology_is_usual(void) {
    for (char **v = environ; v && *v; v++)
        if (!strncmp(*v, "HWLOC_", 6)) return 0;
    return 1;
}

/* hwloc opens its plug-ins, and the libraries of devices with them, for the first topology, and
 * closes them with the last one: this one stays, so that they are opened once. */
static void keep_plugins(void) {
    static hwloc_topology_t kept;
    if (hwloc_topology_init(&kept)) kept = NULL;
}

/* Makes an empty topology; without the plug-ins, which are of devices and files and take most of
 * the time, where the environment may be changed: no other thread reads it. */
static int init(hwloc_topology_t *topology) {
    static const char plugins[] = "HWLOC_PLUGINS_PATH";
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stat threads; /* the folder has a link for each, and two */
    if (!topology_is_usual() || stat("/proc/self/task", &threads) || threads.st_nlink != 3 ||
        setenv(plugins, "/dev/null", 1)) {
        pthread_once(&once, keep_plugins);
        return hwloc_topology_init(topology);
    }
    const int failed = hwloc_topology_init(topology);
    unsetenv(plugins);
    return failed;
}

/* Finds whether the topology is this node's; else the reason. */
static evn_status find_here(evn_machine *m, enum source s) {
    const char *this = secure_getenv("HWLOC_THISSYSTEM");
    m->described = s < SOURCES ? variable[s] : NULL;
    m->about.here = hwloc_topology_is_thissystem(m->topology) > 0;
    if (m->about.here && s < SOURCES && !this)
        return refuse(s, "HWLOC_COMPONENTS keeps hwloc from reading it; unset that variable");
    if (!m->about.here && s == XMLFILE && !this) m->about.here = is_own(m->topology);
    if (!m->about.here && m->described)
        snprintf(m->reason, sizeof m->reason,
                 "%s names another machine than this one, on which nothing can run; unset it, or "
                 "say HWLOC_THISSYSTEM=1 if it is this one",
                 m->described);
    else if (!m->about.here)
        snprintf(m->reason, sizeof m->reason,
                 "HWLOC_THISSYSTEM=%.20s says that this is another machine, on which nothing can "
                 "run; unset it",
                 this ? this : "");
    return EVN_OK;
}

evn_status topology_read(evn_machine *m, const char *synthetic, int whole) {
    const enum source s = synthetic ? SOURCES : find_source();
    if (init(&m->topology)) {
        m->topology = NULL;
        return evn_fail(EVN_SYSTEM, "machine: hwloc cannot start: %s", strerror(errno));
    }
    if (synthetic && hwloc_topology_set_synthetic(m->topology, synthetic))
        return evn_fail(EVN_USAGE,
                        "machine: hwloc does not understand \"%s\", expected for example "
                        "\"package:2 core:8 pu:1\"",
                        synthetic);
    spare_binding(m->topology, s);
    evn_status status = give(m->topology, s);
    if (status) return status;
    if (!synthetic && whole) hwloc_topology_set_flags(m->topology, INCLUDE_DISALLOWED);
    if (hwloc_topology_load(m->topology)) {
        if (s == XMLFILE) return refuse_file();
        if (s < SOURCES) return refuse(s, strerror(errno));
        return evn_fail(EVN_SYSTEM, "machine: hwloc cannot read the topology: %s", strerror(errno));
    }
    if (!synthetic) return find_here(m, s);
    snprintf(m->reason, sizeof m->reason,
             "the machine was opened from a description, and nothing can run on it");
    return EVN_OK;
}
