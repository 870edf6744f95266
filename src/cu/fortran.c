/* Run-time calls of directives in Fortran beside those of C: sites without static texts, and
 * untyped copies of values. */
#include "evener/cu_fortran.h"
#include "cu/internal.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Texts that were copied, each once; they stay as long as the program. */
struct kept_text {
    struct kept_text *next;
    char text[];
};

static const char *keep(const evn_cu_site *site, const char *text) {
    static struct kept_text *texts;
    struct kept_text *t = texts;
    while (t && strcmp(t->text, text) != 0) t = t->next;
    if (!t) {
        const size_t size = strlen(text) + 1;
        t = malloc(sizeof *t + size);
        if (!t) cu_die(site, "not enough memory");
        memcpy(t->text, text, size);
        t->next = texts;
        texts = t;
    }
    return t->text;
}

void evn_cu_site_open(evn_cu_site *site, const char *file, int line, const char *schedule) {
    if (__atomic_load_n(&site->file, __ATOMIC_ACQUIRE)) return;
    pthread_mutex_lock(&lock);
    if (!site->file) {
        const evn_cu_site here = {file, line, schedule, NULL};
        site->line = line;
        site->schedule = keep(&here, schedule);
        __atomic_store_n(&site->file, keep(&here, file), __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void evn_cu_option_named(evn_cu_site *site, const char *name, evn_cu_int value) {
    pthread_mutex_lock(&lock);
    name = keep(site, name);
    pthread_mutex_unlock(&lock);
    evn_cu_option(site, name, value);
}

evn_cu_int evn_cu_do_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step) {
    return evn_cu_trips(site, from, to, step, step < 0 ? EVN_CU_MORE_EQUAL : EVN_CU_LESS_EQUAL);
}

evn_cu_int evn_cu_integer_1(signed char x) { return x; }
evn_cu_int evn_cu_integer_2(short x) { return x; }
evn_cu_int evn_cu_integer_4(int x) { return x; }
evn_cu_int evn_cu_integer_8(long long x) { return x; }

signed char evn_cu_one_1(signed char x) { return (void)x, 1; }
short evn_cu_one_2(short x) { return (void)x, 1; }
int evn_cu_one_4(int x) { return (void)x, 1; }
long long evn_cu_one_8(long long x) { return (void)x, 1; }

/* One further, also where a variable of 1, 2, 4 or 8 bytes had its largest value. */
static int is_next(evn_cu_int was, evn_cu_int is) {
    const unsigned long long way = (unsigned long long)is - (unsigned long long)was;
    if (way == 1) return 1;
    for (int bits = 8; bits < 64; bits *= 2)
        if (was == (1LL << (bits - 1)) - 1 && is == -was - 1) return 1;
    return 0;
}

void evn_cu_behind(evn_cu_int was, evn_cu_int is) {
    if (is_next(was, is)) return;
    if (is == was)
        cu_die(NULL, "exit leaves the loop over compute units; its iterations run on several units "
                     "at a time, so none can end the others");
    cu_die(NULL, "the body of the loop over compute units has changed the loop's variable; its "
                 "iterations are counted before they run");
}

void evn_cu_part_put(void *part, __SIZE_TYPE__ bytes, evn_cu_int t, const void *variable) {
    memcpy((char *)part + (size_t)t * bytes, variable, bytes);
}

void evn_cu_part_get(const void *part, __SIZE_TYPE__ bytes, evn_cu_int t, void *variable) {
    memcpy(variable, (const char *)part + (size_t)t * bytes, bytes);
}

void evn_cu_part_same(__SIZE_TYPE__ before, __SIZE_TYPE__ now, int last, const char *name) {
    if (before == now) return;
    cu_die(NULL, "%s: \"%s\" has %zu bytes after an iteration and %zu before the loop; expected %s",
           last ? "lastprivate" : "reduction", name, now, before,
           last ? "the same shape, or its declaration in the same file, where evener-fc sees that "
                  "it is allocatable"
                : "the same shape");
}

int evn_cu_there(const void *variable) { return variable != NULL; }
