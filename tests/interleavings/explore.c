/* Depth first through all states: each thread's stack, the memory and the store buffers are copied
 * before a step and put back for the next one. */
#include "explore.h"
#include <linux/futex.h>
#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    STACK = 32 << 10, /* of a thread */
    BELOW = 512,      /* bytes of point()'s own frame, and of whom it calls */
    HASHED = 64,      /* of these: the registers of its caller */
    BUFFER = 2,       /* stores of a thread that are late */
    DEPTH = 4000
};

struct store {
    uint64_t value;
    volatile void *at;
    size_t size;
    int releases;
    struct explore_site site;
};

enum state { READY, ASLEEP, ENDED };

/* Of a thread, between its steps. */
struct thread {
    jmp_buf at;
    char *low; /* its stack is in use from here */
    volatile const void *bed;
    struct store late[BUFFER];
    int lates, whims;
    enum state state;
    int may_fail; /* its next step is a compare-and-swap that is weak */
};

enum step { GO, FAIL, STORE_0, STORE_1, WAKE, STEPS };
static const char *const step_text[] = {"", " fails without a reason", " is stored", " is stored",
                                        " wakes without a reason"};

static struct thread thread[EXPLORE_THREADS];
static _Alignas(64) char stack[EXPLORE_THREADS][STACK];
static struct explore_site site[EXPLORE_THREADS]; /* of the point at which each is */
static const struct explore_program *program;
static struct explore_result result;
static jmp_buf scheduler;
static int running, fails;

static struct trace {
    int thread;
    enum step step;
    struct explore_site site;
} trace[DEPTH];
static struct snapshot {
    struct thread thread[EXPLORE_THREADS];
    struct explore_site site[EXPLORE_THREADS];
    char *bytes; /* the memory, then stacks */
} * snapshot[DEPTH];

/* ---- points -------------------------------------------------------------------------------- */

/* The calling thread goes on when the scheduler lets it. */
static __attribute__((noinline)) void point(struct explore_site here) {
    struct thread *me = &thread[running];
    site[running] = here;
    me->low = __builtin_frame_address(0);
    if (!_setjmp(me->at)) _longjmp(scheduler, 1);
}

void explore_check(int holds, const char *fault) {
    if (holds) return;
    result.fault = fault;
    _longjmp(scheduler, 1);
}

static uint64_t read_word(const volatile void *at, size_t size) {
    return size == 8 ? *(const volatile uint64_t *)at : *(const volatile uint32_t *)at;
}

static void write_word(volatile void *at, size_t size, uint64_t value) {
    if (size == 8)
        *(volatile uint64_t *)at = value;
    else
        *(volatile uint32_t *)at = (uint32_t)value;
}

static void store_late(struct thread *t, int which) {
    struct store *s = &t->late[which];
    write_word(s->at, s->size, s->value);
    t->lates--;
    for (int i = which; i < t->lates; i++) t->late[i] = t->late[i + 1];
    t->late[t->lates] = (struct store){0};
}

static void store_all(void) {
    while (thread[running].lates) store_late(&thread[running], 0);
}

/* Whether a late store may come before those that are older. */
static int may_store(const struct thread *t, int which) {
    if (which >= t->lates) return 0;
    for (int i = 0; i < which; i++)
        if (t->late[which].releases || t->late[i].at == t->late[which].at) return 0;
    return 1;
}

uint64_t explore_load(const volatile void *at, size_t size, struct explore_site here) {
    point(here);
    const struct thread *me = &thread[running];
    for (int i = me->lates; i-- > 0;)
        if (me->late[i].at == at) return me->late[i].value;
    return read_word(at, size);
}

void explore_store(volatile void *at, size_t size, uint64_t value, int order,
                   struct explore_site here) {
    struct thread *me = &thread[running];
    if (order == memory_order_seq_cst) {
        point(here);
        store_all();
        write_word(at, size, value);
        return;
    }
    if (me->lates == BUFFER) store_late(me, 0);
    me->late[me->lates++] = (struct store){value, at, size, order == memory_order_release, here};
}

uint64_t explore_change(volatile void *at, size_t size, enum explore_change change, uint64_t value,
                        struct explore_site here) {
    point(here);
    store_all();
    const uint64_t old = read_word(at, size);
    write_word(at, size,
               change == EXPLORE_ADD   ? old + value
               : change == EXPLORE_AND ? old & value
               : change == EXPLORE_OR  ? old | value
                                       : value);
    return old;
}

int explore_swap_if(volatile void *at, size_t size, void *expected, uint64_t value, int weak,
                    struct explore_site here) {
    thread[running].may_fail = weak;
    point(here);
    thread[running].may_fail = 0;
    store_all();
    const uint64_t old = read_word(at, size);
    const int same = !fails && old == read_word(expected, size);
    if (same) write_word(at, size, value);
    if (!same) write_word(expected, size, old);
    return same;
}

long explore_futex(struct explore_site here, volatile void *at, int operation, unsigned value,
                   ...) {
    point(here);
    store_all();
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE) {
        for (int t = 0; t < program->threads && value; t++)
            if (thread[t].state == ASLEEP && thread[t].bed == at) thread[t].state = READY, value--;
        return 0;
    }
    if (read_word(at, 4) != value) return -EAGAIN;
    thread[running].state = ASLEEP;
    thread[running].bed = at;
    point(here);
    thread[running].bed = NULL;
    return 0;
}

/* ---- threads ------------------------------------------------------------------------------- */

static void run_thread(void) {
    program->thread(running);
    thread[running].state = ENDED;
    thread[running].low = stack[running] + STACK; /* nothing of its stack is wanted again */
    memset(thread[running].at, 0, sizeof thread[running].at);
    _longjmp(scheduler, 1);
}

static void start(int t) {
    static ucontext_t context; /* the address of which must not depend on the state */
    running = t;
    thread[t].whims = program->whims;
    if (_setjmp(scheduler)) return;
    getcontext(&context);
    context.uc_stack.ss_sp = stack[t];
    context.uc_stack.ss_size = STACK;
    makecontext(&context, run_thread, 0);
    setcontext(&context);
}

static int may_step(int t, enum step step) {
    const struct thread *of = &thread[t];
    switch (step) {
    case GO: return of->state == READY;
    case FAIL: return of->state == READY && of->may_fail && of->whims;
    case STORE_0: return may_store(of, 0);
    case STORE_1: return may_store(of, 1);
    case WAKE: return of->state == ASLEEP && of->whims;
    default: return 0;
    }
}

static void do_step(int t, enum step step) {
    running = t;
    fails = step == FAIL;
    if (step == FAIL || step == WAKE) thread[t].whims--;
    if (step == STORE_0 || step == STORE_1) {
        store_late(&thread[t], step - STORE_0);
    } else if (step == WAKE) {
        thread[t].state = READY;
    } else if (!_setjmp(scheduler)) {
        _longjmp(thread[t].at, 1);
    }
}

/* ---- states -------------------------------------------------------------------------------- */

static size_t used(const struct thread *t, int number, size_t below) {
    const char *top = stack[number] + STACK;
    return t->low == top ? 0 : (size_t)(top - t->low) + below;
}

static void copy_stacks(char *bytes, int back) {
    for (int t = 0; t < program->threads; t++) {
        const size_t n = used(&thread[t], t, BELOW);
        char *at = stack[t] + STACK - n;
        memcpy(back ? at : bytes, back ? bytes : at, n);
        bytes += n;
    }
}

static void save(int depth) {
    if (!snapshot[depth]) {
        snapshot[depth] = calloc(1, sizeof *snapshot[depth]);
        snapshot[depth]->bytes = malloc(program->bytes + (size_t)EXPLORE_THREADS * STACK);
    }
    struct snapshot *s = snapshot[depth];
    memcpy(s->thread, thread, sizeof thread);
    memcpy(s->site, site, sizeof site);
    memcpy(s->bytes, program->memory, program->bytes);
    copy_stacks(s->bytes + program->bytes, 0);
}

static void put_back(int depth) {
    struct snapshot *s = snapshot[depth];
    memcpy(thread, s->thread, sizeof thread);
    memcpy(site, s->site, sizeof site);
    memcpy(program->memory, s->bytes, program->bytes);
    copy_stacks(s->bytes + program->bytes, 1);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const char *at = data;
    for (uint64_t word; bytes; at += sizeof word) {
        const size_t n = bytes < sizeof word ? bytes : sizeof word;
        word = 0;
        memcpy(&word, at, n);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
        bytes -= n;
    }
    return hash;
}

static uint64_t hash_state(void) {
    uint64_t hash = mix(1, program->memory, program->bytes);
    hash = mix(hash, thread, sizeof thread[0] * (size_t)program->threads);
    for (int t = 0; t < program->threads; t++) {
        const size_t n = used(&thread[t], t, HASHED);
        hash = mix(hash, stack[t] + STACK - n, n);
    }
    return hash | 1;
}

/* The states that were visited, by their hashes. */
static uint64_t *seen;
static size_t room;

static int insert(uint64_t hash) {
    size_t at = hash >> 3 & (room - 1);
    while (seen[at] && seen[at] != hash) at = (at + 1) & (room - 1);
    if (seen[at]) return 0;
    seen[at] = hash;
    return 1;
}

static void grow(void) {
    uint64_t *old = seen;
    const size_t count = room;
    room = room ? room * 2 : 1 << 16;
    seen = calloc(room, sizeof *seen);
    for (size_t i = 0; i < count; i++)
        if (old[i]) insert(old[i]);
    free(old);
}

static int is_new(void) {
    if ((size_t)result.states * 2 >= room) grow();
    if (!insert(hash_state())) return 0;
    result.states++;
    return 1;
}

/* ---- the search ---------------------------------------------------------------------------- */

static int all_ended(void) {
    for (int t = 0; t < program->threads; t++)
        if (thread[t].state != ENDED || thread[t].lates) return 0;
    return 1;
}

static void check_end(void) {
    if (program->end && !_setjmp(scheduler)) program->end();
}

static int visit(int depth);

/* The step, and all that may follow it; the length of the way to a fault, or 0. */
static int try(int depth, int t, enum step step) {
    const int late = step == STORE_0 || step == STORE_1;
    trace[depth] = (struct trace){t, step, late ? thread[t].late[step - STORE_0].site : site[t]};
    result.steps++;
    do_step(t, step);
    return result.fault ? depth + 1 : visit(depth + 1);
}

static int visit(int depth) {
    if (!is_new()) return 0;
    if (depth == DEPTH - 1) result.fault = "the search is too deep";
    int steps = 0;
    save(depth);
    for (int t = 0; t < program->threads; t++)
        for (enum step step = GO; step < STEPS && !result.fault; step++) {
            if (!may_step(t, step)) continue;
            steps += step != WAKE; /* which nobody may count on */
            const int length = try(depth, t, step);
            if (length) return length;
            put_back(depth);
        }
    if (!result.fault && !steps && !all_ended()) result.fault = "all threads wait";
    if (!result.fault && !steps) check_end();
    return result.fault ? depth : 0;
}

static void tell(int length) {
    printf("%s, after:\n", result.fault);
    for (int i = 0; i < length; i++)
        printf("  thread %d: %s (line %d)%s\n", trace[i].thread, trace[i].site.text,
               trace[i].site.line, step_text[trace[i].step]);
}

struct explore_result explore(const struct explore_program *p, int tells) {
    program = p;
    result = (struct explore_result){0};
    memset(thread, 0, sizeof thread);
    memset(stack, 0, sizeof stack);
    free(seen);
    seen = NULL;
    room = 0;
    p->begin();
    for (int t = 0; t < p->threads && !result.fault; t++) start(t);
    const int length = result.fault ? 0 : visit(0);
    if (result.fault && tells) tell(length);
    return result;
}
