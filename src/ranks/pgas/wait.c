/* Waiting for signals. A waiter polls, and holds the wire's lock only while polling: other threads
 * of the rank may put data that other ranks wait for. */
#include "pgas/inside.h"
#include "cluster/cluster.h"

void evn_shared_poll(evn_shared *s) {
    if (!s || !s->wire->poll) return;
    cluster_lock(s->cluster);
    s->wire->poll(s->segment);
    cluster_unlock(s->cluster);
}

/* The first signal that has arrived; -1: none yet. */
static int find(const evn_shared *s, const evn_shared_signal *of, int count) {
    for (int i = 0; i < count; i++)
        if (of[i].from >= 0 &&
            s->wire->value(s->segment, shared_word(s, of[i].from, of[i].signal)) >= of[i].value)
            return i;
    return -1;
}

evn_status shared_wait(evn_shared *s, const evn_shared_signal *of, int count, int *which) {
    double since = 0;
    for (;;) {
        const unsigned bell = s->wire->bell(s->segment);
        *which = find(s, of, count);
        if (*which >= 0) return EVN_OK;
        evn_shared_poll(s);
        evn_status status = s->wire->rest(s->segment, bell, count == 1 ? of->from : -1, &since);
        if (status) return status;
    }
}

static evn_status check(const evn_shared *s, const char *what, const evn_shared_signal *of) {
    evn_status status = shared_check_rank(s, what, of->from);
    return status ? status : shared_check_signal(s, what, of->signal);
}

evn_status evn_shared_wait(evn_shared *s, int from, int signal, unsigned long long value) {
    const evn_shared_signal one = {from, signal, value};
    int which;
    evn_status status = check(s, "evn_shared_wait()", &one);
    return status ? status : shared_wait(s, &one, 1, &which);
}

evn_status evn_shared_wait_any(evn_shared *s, const evn_shared_signal *of, int count, int *which) {
    static const char what[] = "evn_shared_wait_any()";
    int some = 0;
    if (!s || !of || !which)
        return evn_fail(EVN_USAGE, "%s: %s is NULL", what,
                        !s    ? "the shared memory"
                        : !of ? "the list"
                              : "which");
    *which = -1;
    for (int i = 0; i < count; i++) {
        if (of[i].from == -1) continue;
        evn_status status = check(s, what, &of[i]);
        if (status) return status;
        some = 1;
    }
    if (!some)
        return evn_fail(EVN_USAGE, "%s: there is nothing to wait for: all %d entries are from -1",
                        what, count);
    return shared_wait(s, of, count, which);
}

evn_status evn_shared_raised(evn_shared *s, int from, int signal, unsigned long long *value) {
    static const char what[] = "evn_shared_raised()";
    const evn_shared_signal one = {from, signal, 0};
    evn_status status = check(s, what, &one);
    if (!status && !value) status = evn_fail(EVN_USAGE, "%s: value is NULL", what);
    if (status) return status;
    evn_shared_poll(s);
    *value = s->wire->value(s->segment, shared_word(s, from, signal));
    return EVN_OK;
}
