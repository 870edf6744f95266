/* Libraries that are not the Scotch or CBC that schedules look for, or that behave badly; which one
 * is compiled says FAKE_.. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef FAKE_SCOTCH
/* clang-format off */
#    define OTHERS(X)                                                                              \
        X(memFree)                                                                                 \
        X(contextAlloc)                                                                            \
        X(contextInit) X(contextExit) X(contextRandomClone) X(contextRandomSeed)                   \
            X(contextRandomReset) X(contextOptionSetNum) X(contextThreadSpawn) X(contextBindGraph) \
                X(graphAlloc) X(graphInit) X(graphExit) X(graphBuild) X(graphMap) X(archAlloc)     \
                    X(archInit) X(archExit) X(archCmpltw) X(stratAlloc) X(stratInit) X(stratExit)
/* clang-format on */
#    define X(name)                                                                                \
        void SCOTCH_##name(void);                                                                  \
        void SCOTCH_##name(void) { abort(); }
OTHERS(X)
#    undef X
int SCOTCH_numSizeof(void);
int SCOTCH_numSizeof(void) { return FAKE_BYTES; }
void SCOTCH_version(int *version, int *release, int *patch);
void SCOTCH_version(int *version, int *release, int *patch) {
    *version = FAKE_SCOTCH;
    *release = 0;
    *patch = 4;
}
#    ifndef FAKE_LACKS
void SCOTCH_stratGraphMapBuild(void);
void SCOTCH_stratGraphMapBuild(void) { abort(); }
#    endif
#endif

#ifdef FAKE_CBC
/* clang-format off */
#    define OTHERS(X)                                                                              \
        X(deleteModel)                                                                             \
        X(loadProblem)                                                                             \
        X(setInteger) X(setMIPStartI) X(setLogLevel) X(setParameter) X(getNodeCount)               \
            X(getBestPossibleObjValue) X(isProvenInfeasible)
/* clang-format on */
#    define X(name)                                                                                \
        void Cbc_##name(void);                                                                     \
        void Cbc_##name(void) {}
OTHERS(X)
#    undef X
const char *Cbc_getVersion(void);
const char *Cbc_getVersion(void) { return FAKE_CBC; }
void *Cbc_newModel(void);
void *Cbc_newModel(void) { return &pthread_self; }
#    ifndef FAKE_LACKS
void *Cbc_bestSolution(void);
void *Cbc_bestSolution(void) { return NULL; }
#    endif

static void *wait_on(void *p) {
    for (;;) pause();
    return p;
}

/* As OpenBLAS does. */
__attribute__((constructor)) static void start_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_on, NULL);
}

/* All that a solver must not do in the program's name. */
int Cbc_solve(void *model);
int Cbc_solve(void *model) {
    (void)model;
#    ifdef FAKE_STOPS
    raise(SIGSTOP);
#    endif
    printf("a solver's question\n");
    fprintf(stderr, "a solver's complaint\n");
    fflush(NULL);
    raise(SIGURG); /* ignored, unless the program has a handler */
    exit(0);
}
#endif
