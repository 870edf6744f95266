/* The launcher that has started this process, and the plug-in for it. */
#include "wire/launcher.h"
#include "base/text.h"
#include <evener/plugin.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FITTING = 2 };

/* Launchers by their environment variables, in the order of preference where several are equally
 * near (find()): Open MPI's sets PMIX_RANK, too. */
static const struct launcher {
    const char *name, *rank, *size;
    const char *local, *near;  /* numbers of this process on its host, and of processes there */
    const char *socket;        /* variable with the number of a descriptor, an open socket; NULL */
    const char *without;       /* with this variable `size` is not valid */
    const char *file[FITTING]; /* plug-ins that fit, the likeliest first */
} launchers[] = {
    {"Open MPI's mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     NULL,
     NULL,
     {"evener-wire-openmpi.so"}},
    /* a job of several components has the size of one */
    {"a launcher with PMIx",
     "PMIX_RANK",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     "MPI_LOCALNRANKS",
     NULL,
     "SLURM_HET_SIZE",
     {"evener-wire-openmpi.so", "evener-wire-mpich.so"}},
    {"a launcher with PMI (MPICH's mpiexec)",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     "PMI_FD",
     NULL,
     {"evener-wire-mpich.so"}},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* Number in a variable; -1: none. */
static int number_of(const char *variable) {
    const char *text = secure_getenv(variable);
    long value;
    return text && evn_text_number(&text, INT_MAX, &value) && !*text ? (int)value : -1;
}

/* 1 if the variable names an open socket. A program started by a rank may have the variable but not
 * the descriptor, and MPI would end it. */
static int is_socket(const char *variable) {
    const int fd = number_of(variable);
    struct stat about;
    return fd >= 0 && !fstat(fd, &about) && S_ISSOCK(about.st_mode);
}

/* ---- launchers within launchers ------------------------------------------------------------ */

/* 1 if a process began with this variable and value in its environment; 0 if not; -1: unknown. */
static int began_with(long process, const char *variable, const char *value) {
    char path[64], *entry = NULL;
    size_t room = 0;
    const size_t length = strlen(variable);
    snprintf(path, sizeof path, "/proc/%ld/environ", process);
    FILE *f = fopen(path, "re");
    int has = 0;
    while (f && !has && getdelim(&entry, &room, 0, f) > 0)
        has = !strncmp(entry, variable, length) && entry[length] == '=' &&
              !strcmp(entry + length + 1, value);
    if (!f || ferror(f)) has = -1;
    free(entry);
    if (f) fclose(f);
    return has;
}

/* Number of a process's parent; 0: unknown. */
static long parent_of(long process) {
    char path[64], line[512] = "";
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    const char *behind = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return behind && sscanf(behind, ") %*c %ld", &parent) == 1 ? parent : 0;
}

/* Number of processes from this one up to the one that has not got the launcher's rank from its
 * own: the launcher, or its daemon on this host. */
static int distance(const struct launcher *l) {
    enum { MOST = 100 };
    long process = (long)getppid();
    for (int n = 1; process > 0 && n < MOST; n++, process = parent_of(process)) {
        const int has = began_with(process, l->rank, secure_getenv(l->rank));
        if (has < 0) break;
        if (!has) return n;
    }
    return INT_MAX;
}

static int is_launcher(const struct launcher *l) {
    return number_of(l->rank) >= 0 && (!l->socket || is_socket(l->socket));
}

/* The launcher that has started this process. One within another leaves its variables beside the
 * outer one's, and is the nearer of them; equally near ones, or where nothing is known of other
 * processes, are one launcher with the variables of two. */
static const struct launcher *find(void) {
    const struct launcher *found = NULL;
    int least = 0;
    for (int i = 0; i < LAUNCHERS; i++) {
        const struct launcher *l = &launchers[i];
        if (!is_launcher(l)) continue;
        if (found && !least) least = distance(found);
        const int steps = found ? distance(l) : 0;
        if (found && steps >= least) continue;
        found = l;
        least = steps;
    }
    return found;
}

int wire_plugin_detected(void) { return find() != NULL; }

int wire_plugin_rank(void) {
    const struct launcher *l = find();
    return l ? number_of(l->rank) : -1;
}

int wire_plugin_size(void) {
    const struct launcher *l = find();
    return l && !(l->without && secure_getenv(l->without)) ? number_of(l->size) : -1;
}

int wire_plugin_near(void) {
    const struct launcher *l = find();
    return l ? number_of(l->near) : -1;
}

int wire_plugin_first(void) {
    const struct launcher *l = find();
    if (!l) return 1;
    /* srun's PMI has no number of its own among those of a host */
    const int own = number_of(l->local), local = own < 0 ? number_of("SLURM_LOCALID") : own;
    return local <= 0;
}

/* The launcher's environment, read when the plug-in is loaded: an MPI that starts alone writes
 * variables of its own into the environment later. */
static struct {
    const struct launcher *by;
    int rank, size;
} said;

/* A wire with one MPI built in: the plug-in of another MPI would call the functions of the built-in
 * one. */
#ifdef EVENER_WIRE_BUILTIN
extern const evn_wire_kind evener_wire_v1;

static evn_status load_fitting(const struct launcher *l, const char *file,
                               const evn_wire_kind **kind, void **library) {
    (void)l, (void)library;
    if (!file) file = secure_getenv("EVENER_WIRE");
    if (!file || !*file) *kind = &evener_wire_v1;
    if (*kind) return EVN_OK;
    return evn_fail(EVN_MISSING,
                    "wire: %s: this Evener has %s built in and opens no plug-in; name none "
                    "(--wire mpi:FILE, EVENER_WIRE), or build it with -DEVENER_WIRE=plugins",
                    file, evener_wire_v1.name);
}
#else
static evn_status load(const char *name, const char *file, const evn_wire_kind **kind,
                       void **library) {
    const evn_plugin plugin = {"wire", "EVENER_WIRE", name, "evener_wire_v1", EVN_WIRE_VERSION};
    const void *functions;
    evn_status status = evn_plugin_open(&functions, library, &plugin, file);
    *kind = functions;
    return status;
}

/* Opens `file`, or (NULL) the plug-in that fits the launcher. */
static evn_status load_fitting(const struct launcher *l, const char *file,
                               const evn_wire_kind **kind, void **library) {
    if (file) return load("a plug-in of wires", file, kind, library);
    evn_status status = EVN_MISSING;
    char why[600] = "";
    for (int i = 0; status && i < FITTING && l->file[i]; i++) {
        status = load(l->file[i], NULL, kind, library);
        if (status && !i) snprintf(why, sizeof why, "%s", evn_message());
    }
    if (!status) return EVN_OK;
    return evn_fail(status,
                    "%s; %s has started this process (%s=%s). Build the plug-in with "
                    "evener-wire-build MPICC, say where one is with EVENER_WIRE, or run --wire "
                    "alone",
                    why, l->name, l->rank, secure_getenv(l->rank));
}
#endif

evn_status wire_plugin_load(const char *file, const evn_wire_kind **kind, void **library) {
    said.by = find();
    said.rank = wire_plugin_rank();
    said.size = wire_plugin_size();
    *kind = NULL;
    *library = NULL;
    const struct launcher *l = said.by;
    if (!l && !file)
        return evn_fail(EVN_USAGE,
                        "wire: mpi: no launcher has started this process (none of %s, %s and %s "
                        "with a %s that is an open socket is in its environment); start it with "
                        "mpirun or srun",
                        launchers[0].rank, launchers[1].rank, launchers[2].rank,
                        launchers[2].socket);
    return load_fitting(l, file, kind, library);
}

#ifdef EVENER_WIRE_BUILTIN
evn_status wire_plugin_load_own(const evn_wire_kind **kind, void **library) {
    *library = NULL;
    *kind = &evener_wire_v1;
    said.by = NULL;
    return EVN_OK;
}
#else
/* The process's MPI in its own words, "MPICH Version: 4.0.2 ..", in as many as fit; 0: none. */
static int find_own(char *text, int size) {
    enum { VERSION_MAX = 16384 }; /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most */
    int (*version)(char *, int *) =
        (int (*)(char *, int *))(uintptr_t)dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    int length = 0;
    char *all = version ? calloc(1, VERSION_MAX) : NULL;
    const int found = all && !version(all, &length);
    if (found) snprintf(text, (size_t)size, "%.*s", (int)strcspn(all, ",\r\n"), all);
    free(all);
    return found;
}

evn_status wire_plugin_load_own(const evn_wire_kind **kind, void **library) {
    char own[80];
    said.by = NULL;
    *kind = NULL;
    *library = NULL;
    if (!find_own(own, sizeof own))
        return evn_fail(EVN_MISSING,
                        "wire: a communicator is given, and no MPI is in this process; link the "
                        "program with MPI's shared library");
    const int is_open = !strncmp(own, "Open MPI", 8);
    const char *maker = is_open ? "Open MPI" : "MPICH"; /* others have its constants, too */
    evn_status status =
        load(is_open ? "evener-wire-openmpi.so" : "evener-wire-mpich.so", NULL, kind, library);
    if (status) return evn_fail(status, "%s; this program's MPI is %s", evn_message(), own);
    const char *made_for = dlsym(*library, "evener_wire_made_for");
    if (made_for && !strcmp(made_for, maker)) return EVN_OK;
    return evn_fail(
        EVN_MISSING,
        "wire: the plug-in is made for %s, and this program's MPI is %s; build one with "
        "evener-wire-build MPICC of that MPI, and name it in EVENER_WIRE",
        made_for ? made_for : "an unknown MPI", own);
}
#endif

evn_status wire_plugin_check(const evn_wire_kind *kind, const evn_wire *wire) {
    if (!said.by) return EVN_OK;
    const int rank = kind->rank(wire), size = kind->size(wire);
    if (rank == said.rank && (said.size < 0 || size == said.size)) return EVN_OK;
    char of[32] = "";
    if (said.size >= 0) snprintf(of, sizeof of, " of %d", said.size);
    return evn_fail(EVN_MISSING,
                    "wire: %s says that this is rank %d of %d, and %s that it is rank %d%s: they "
                    "are of different MPIs; use the plug-in of the launcher's MPI (--wire "
                    "mpi:FILE), or the launcher of this one",
                    kind->name, rank, size, said.by->name, said.rank, of);
}
