/* Order of members, and messages between members and master. */
#include "ft/funneled/funnel.h"
#include "common/run/ranks.h"
#include "ft/funneled/master.h"
#include <sched.h>
#include <evener/clock.h>
#include <stdio.h>
#include <stdlib.h>

/* Signals: a member's input of so many passes is there; so many of its pieces are done. */
enum { READY, DONE, SIGNALS };

static int lines_of(const struct funnel *fu, int rank) {
    const struct owners *o = &fu->f->owners;
    return on_planes(fu->pass) ? o->z.count[rank] : o->y.count[rank];
}

static int pieces_of(const struct funnel *fu, int rank) {
    return piece_count(fu->pass, lines_of(fu, rank));
}

/* ---- a member ------------------------------------------------------------------------------- */

/* Piece of this rank with the last line of a task. */
static int last_piece(const struct funnel *fu, int task) {
    const struct owners *o = &fu->f->owners;
    const struct axis *a = on_planes(fu->pass) ? &o->z : &o->y;
    const int last = a->at[parts_begin(a->n, o->tasks, task + 1) - 1];
    int i = 0;
    while (piece_of(fu->pass, lines_of(fu, fu->me), i).end <= last) i++;
    return i;
}

evn_status funnel_wait(struct funnel *fu, int task) {
    const unsigned long long until = fu->pieces + 1 + (unsigned)last_piece(fu, task);
    return evn_shared_wait(fu->desk, fu->master, DONE, until);
}

/* ---- the master ----------------------------------------------------------------------------- */

/* Tasks of the master that have left with its pieces. */
struct own {
    evn_status (*left)(void *arg, int task);
    void *arg;
    int next; /* task that has not been looked at */
};

static evn_status own_left(struct funnel *fu, struct own *own, int pieces) {
    const struct owners *o = &fu->f->owners;
    evn_status status = EVN_OK;
    for (; !status && own->next < o->tasks; own->next++) {
        if (o->rank[own->next] != fu->me) continue;
        if (last_piece(fu, own->next) >= pieces) break;
        status = own->left(own->arg, own->next);
    }
    return status;
}

static void note_ready(struct master *m, int i) {
    m->member[i].ready = 1;
    m->order[m->waiting++] = i;
}

/* Members that have become ready. */
static evn_status look(struct master *m) {
    const struct funnel *fu = m->of;
    evn_status status = EVN_OK;
    for (int i = 1; !status && i < m->members; i++) {
        unsigned long long value = 0;
        if (m->member[i].ready) continue;
        status = evn_shared_raised(fu->desk, m->member[i].is.rank, READY, &value);
        if (!status && value >= m->member[i].asks) note_ready(m, i);
    }
    return status;
}

/* The oldest pieces that are done; *some counts them. */
static evn_status finish(struct master *m, struct own *own, int *some) {
    evn_status status = EVN_OK;
    for (int i = 0; i < m->members; i++) {
        struct served *s = &m->member[i];
        int done = 1;
        while (s->done < s->begun && done) {
            status = evn_event_finish(s->down[s->done % IN_FLIGHT], &done);
            if (status || !done) break;
            funnel_note(m->of, s->is.rank, 0, s->since[s->done % IN_FLIGHT], evn_now());
            master_end(m, s, s->done++);
            ++*some;
            status =
                i ? evn_shared_raise(m->of->desk, s->is.rank, DONE) : own_left(m->of, own, s->done);
            if (status) break;
        }
        if (status) return status;
    }
    return EVN_OK;
}

/* Next piece of the first ready member with a free slot. */
static evn_status begin(struct master *m, int *some) {
    for (int k = 0; k < m->waiting; k++) {
        struct served *s = &m->member[m->order[k]];
        if (s->begun - s->done >= IN_FLIGHT) continue;
        if (s->begun < s->pieces) {
            ++*some;
            s->since[s->begun % IN_FLIGHT] = evn_now();
            return master_begin(m, s, s->begun++);
        }
        m->waiting--;
        for (int j = k; j < m->waiting; j++) m->order[j] = m->order[j + 1];
        k--;
    }
    return EVN_OK;
}

/* Nothing is in flight: waits for a member to become ready. */
static evn_status rest(struct master *m) {
    int count = 0, which;
    for (int i = 1; i < m->members; i++)
        if (!m->member[i].ready)
            m->signal[count++] =
                (evn_shared_signal){m->member[i].is.rank, READY, m->member[i].asks};
    return evn_shared_wait_any(m->of->desk, m->signal, count, &which);
}

static evn_status serve_all(struct master *m, struct own *own) {
    evn_status status = EVN_OK;
    for (;;) {
        int left = 0, flying = 0, some = 0;
        status = look(m);
        if (!status) status = finish(m, own, &some);
        if (!status) status = begin(m, &some);
        if (status) return status;
        for (int i = 0; i < m->members; i++) {
            left += m->member[i].pieces - m->member[i].done;
            flying += m->member[i].begun - m->member[i].done;
        }
        if (!left) return EVN_OK;
        if (some) continue;
        if (flying) {
            evn_shared_poll(m->of->f->boxes);
            sched_yield();
        } else {
            status = rest(m);
            if (status) return status;
        }
    }
}

/* After a failure nothing is awaited in vain: members put the rows that exist, and learn of the
 * failure at the end of the pass. */
static void give_up(struct master *m) {
    for (int i = 0; i < m->members; i++) {
        evn_queue_finish(m->member[i].queue);
        for (int k = m->member[i].done; i && k < m->member[i].pieces; k++)
            evn_shared_raise(m->of->desk, m->of->master + i, DONE);
    }
}

static evn_status serve(struct master *m, struct own *own) {
    const struct funnel *fu = m->of;
    m->waiting = 0;
    for (int i = 0; i < m->members; i++) {
        struct served *s = &m->member[i];
        s->begun = s->done = 0;
        s->pieces = pieces_of(fu, fu->master + i);
        s->ready = !s->pieces;
        s->asks += s->pieces > 0;
    }
    if (m->member[0].pieces) note_ready(m, 0);
    evn_status status = serve_all(m, own);
    if (!status) return EVN_OK;
    char why[256];
    snprintf(why, sizeof why, "%s", evn_message());
    give_up(m);
    return evn_fail(status, "%s", why);
}

evn_status funnel_ask(struct funnel *fu, evn_status (*left)(void *arg, int task), void *arg) {
    if (fu->asked) return EVN_OK;
    fu->asked = 1;
    if (!fu->lead) return evn_shared_raise(fu->desk, fu->master, READY);
    return serve(fu->lead, &(struct own){.left = left, .arg = arg});
}

void funnel_note(struct funnel *fu, int rank, int is_put, double begin, double end) {
    if (fu->pass == PLACE_Z && fu->spans < fu->room)
        fu->span[fu->spans++] = (ft_span){rank, is_put, begin, end};
}

/* ---- the run's side ------------------------------------------------------------------------- */

void funnel_begin(struct funnel *fu, enum place_pass pass) {
    fu->pieces += (unsigned)fu->mine;
    fu->pass = pass;
    if (pass == PLACE_Z) fu->spans = 0;
    fu->mine = pieces_of(fu, fu->me);
    fu->asked = 0;
}

int funnel_has_idle(const struct funnel *fu) {
    const struct owners *o = &fu->f->owners;
    for (int r = 0; r < o->ranks; r++)
        if (!o->z.count[ranks_master(fu->f->cluster, fu->f->way.per_node, r)]) return 1;
    return 0;
}

evn_status funnel_check(const struct funnel *fu) {
    return fu->lead ? master_check(fu->lead) : EVN_OK;
}

evn_status funnel_deal(struct funnel *fu) { return fu->lead ? master_deal(fu->lead) : EVN_OK; }

evn_status funnel_decay(struct funnel *fu) {
    struct master *m = fu->lead;
    if (!m || !m->memory) return EVN_OK;
    evn_status status = engine_decay(m->engine, m->member[0].queue, fu->decay);
    if (!status) status = evn_event_record(m->decayed, m->member[0].queue);
    for (int i = 1; !status && i < m->members; i++)
        status = evn_queue_wait(m->member[i].queue, m->decayed);
    return status;
}

struct funnel_counts funnel_counts(const struct funnel *fu) {
    return fu->lead ? fu->lead->counts : (struct funnel_counts){0};
}

/* ---- opening -------------------------------------------------------------------------------- */

static evn_status check_units(const struct funnel *fu, evn_units *units) {
    const int devices = evn_units_about(units).devices;
    if (evn_units_count(units) == 1 && devices == (fu->me == fu->master)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "ft: --variant funneled is for one unit a rank, of one device, which the first "
                    "rank of each node leads; expected --units 1:GPU:1, not %s",
                    evn_units_text(units));
}

static evn_status open_master(struct funnel *fu, evn_units *units) {
    evn_status status = check_units(fu, units);
    if (status || fu->me != fu->master) return status;
    return master_open(&fu->lead, fu, evn_unit_device(evn_units_get(units, 0), 0));
}

evn_status funnel_open(struct funnel *fu, struct fields *f, const struct decay *decay,
                       evn_units *units) {
    const struct owners *o = &f->owners;
    *fu = (struct funnel){.f = f, .decay = decay, .me = o->me};
    fu->master = ranks_master(f->cluster, f->way.per_node, o->me);
    for (fu->end = fu->master; fu->end < o->ranks; fu->end++)
        if (ranks_master(f->cluster, f->way.per_node, fu->end) != fu->master) break;
    fu->room = o->tasks + o->ranks * FUNNEL_PIECES;
    fu->span = calloc((size_t)fu->room, sizeof *fu->span);
    evn_status status = fu->span ? open_master(fu, units) : evn_fail(EVN_MEMORY, "ft: no memory");
    status = ranks_agreed(f->cluster, status);
    if (status) return status;
    const evn_shared_shape shape = {.signals = SIGNALS, .per_node = f->way.per_node};
    return evn_shared_open(&fu->desk, f->cluster, &shape);
}

void funnel_close(struct funnel *fu) {
    master_close(fu->lead);
    evn_shared_close(fu->desk);
    free(fu->span);
    *fu = (struct funnel){0};
}
