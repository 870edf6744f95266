/* The state of a job in one word, so that entering, leaving and closing are one step each. */
#include "base/fork_join.h"

#define INSIDE      0xffffull /* members in the job */
#define NEEDED_ONE  0x10000ull
#define NEEDED      0xffff0000ull /* members that must still come */
#define JOINABLE    (1ull << 32)
#define CLASS_SHIFT 33
#define JOB_SHIFT   35 /* the bits above: the lower 29 bits of the job's number */

static unsigned job_of(uint64_t state) { return (unsigned)(state >> JOB_SHIFT); }
static unsigned short_of(unsigned number) { return number & (UINT32_MAX >> 3); }
static int is_over(uint64_t state) { return !(state & (JOINABLE | NEEDED | INSIDE)); }

void fork_init(struct fork_join *f, double spin) {
    gate_init(&f->begin, spin);
    gate_init(&f->end, spin);
    atomic_init(&f->ended, 0);
    atomic_init(&f->state, 0);
}

void fork_open(struct fork_join *f, int needed, unsigned classes) {
    const uint64_t job = short_of(gate_count(&f->begin) + 1), who = needed ? classes : 0;
    atomic_store_explicit(
        &f->state, job << JOB_SHIFT | who << CLASS_SHIFT | JOINABLE | (uint64_t)needed * NEEDED_ONE,
        memory_order_release);
    gate_open(&f->begin);
}

void fork_close(struct fork_join *f) {
    const unsigned seen = gate_count(&f->end);
    const uint64_t state = atomic_fetch_and(&f->state, ~JOINABLE) & ~JOINABLE;
    if (!is_over(state)) gate_wait(&f->end, seen);
}

/* Enters the latest job; *seen becomes its number. 0: it is closed and does not need the member. */
static int try_enter(struct fork_join *f, unsigned class, unsigned *seen) {
    /* The gate is read first: a state with a later number is that of a job that is just being
     * opened, and the gate is about to move again. */
    *seen = gate_count(&f->begin);
    uint64_t state = atomic_load_explicit(&f->state, memory_order_acquire);
    for (;;) {
        const int needed = (state >> CLASS_SHIFT & class) && (state & NEEDED);
        if (job_of(state) != short_of(*seen) || !(needed || (state & JOINABLE))) return 0;
        if (atomic_compare_exchange_weak_explicit(&f->state, &state,
                                                  state + 1 - (needed ? NEEDED_ONE : 0),
                                                  memory_order_acquire, memory_order_acquire))
            return 1;
    }
}

int fork_enter(struct fork_join *f, unsigned class, unsigned *seen) {
    do {
        gate_wait(&f->begin, *seen);
        if (try_enter(f, class, seen)) return 1;
        /* Read after the gate, which fork_end() opens after it has set `ended`: a member that has
         * seen the gate's last count sees `ended`. */
    } while (!atomic_load(&f->ended));
    return 0;
}

void fork_end(struct fork_join *f) {
    atomic_store(&f->ended, 1);
    gate_open(&f->begin);
}

void fork_leave(struct fork_join *f) {
    if (is_over(atomic_fetch_sub(&f->state, 1) - 1)) gate_open(&f->end);
}
