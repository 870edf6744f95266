/* Core time of a unit's threads, from /proc/self/task/THREAD/schedstat. */
#include "unit/taken.h"
#include "base/argument.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

evn_status taken_open(evn_unit *u) {
    u->threads = calloc((size_t)unit_threads(u), sizeof *u->threads);
    if (u->threads) return EVN_OK;
    return evn_fail(EVN_MEMORY, "units: not enough memory for %d threads", unit_threads(u));
}

void taken_close(evn_unit *u) {
    free(u->threads);
    u->threads = NULL;
}

int taken_read(pid_t thread, double *run, double *delay) {
    char path[64] = "/proc/thread-self/schedstat", text[96];
    unsigned long long ran, waited, times;
    if (thread) snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return 0;
    text[got] = '\0';
    /* a kernel that does not count writes zeros; one that does has given a thread that runs a core
     * at least once, though its time may still be 0 until the next tick */
    if (sscanf(text, "%llu %llu %llu", &ran, &waited, &times) != 3 || !times) return 0;
    *run = (double)ran * 1e-9;
    *delay = (double)waited * 1e-9;
    return 1;
}

static void begin(struct unit_thread *t, pid_t thread) {
    if (!taken_read(thread, &t->run, &t->delay)) t->run = t->delay = 0;
}

void taken_note(evn_unit *u, int place) {
    struct unit_thread *t = u->threads ? &u->threads[place] : NULL;
    const pid_t me = gettid();
    if (!t || atomic_load(&t->id) == me) return;
    begin(t, 0);
    atomic_store(&t->id, me);
}

/* Threads that have ended are in none of the sums. */
double evn_unit_taken(const evn_unit *u, int anew) {
    NEED_OR(NAN, u, "a unit");
    double ran = 0, waited = 0;
    int counts = 0;
    for (int k = 0; u->threads && k < unit_threads(u); k++) {
        struct unit_thread *t = &u->threads[k];
        const pid_t id = atomic_load(&t->id);
        double run, delay;
        if (!id || !taken_read(id, &run, &delay)) continue;
        counts = 1;
        ran += fmax(run - t->run, 0);
        waited += fmax(delay - t->delay, 0);
        if (anew) begin(t, id);
    }
    if (!counts) return NAN;
    return ran + waited > 0 ? waited / (ran + waited) : 0;
}
