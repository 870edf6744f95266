/* For tools: run-time calls in code that evener-fc makes from directives in Fortran, beside those
 * of <evener/cu_prelude.h>; reached by way of the module evn_cu (fortran/evn_cu.f90). Programs do
 * not call them. An error in one ends the program, as in the prelude. */
#ifndef EVENER_CU_FORTRAN_H
#define EVENER_CU_FORTRAN_H

#include <evener/cu_prelude.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Initialises a site of zeros with its file, line and kind of schedule; the texts are copied. The
 * first call counts. Any number of threads at a time. */
void evn_cu_site_open(evn_cu_site *site, const char *file, int line, const char *schedule);

/* As evn_cu_option(); the name is copied. */
void evn_cu_option_named(evn_cu_site *site, const char *name, evn_cu_int value);

/* evn_cu_trips() of `do i = from, to, step`. */
evn_cu_int evn_cu_do_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step);

/* Identity, one function for each kind of integer, so that the compiler refuses other types. */
evn_cu_int evn_cu_integer_1(signed char x);
evn_cu_int evn_cu_integer_2(short x);
evn_cu_int evn_cu_integer_4(int x);
evn_cu_int evn_cu_integer_8(long long x);

/* 1, of the kind of x, opaque to the compiler. */
signed char evn_cu_one_1(signed char x);
short evn_cu_one_2(short x);
int evn_cu_one_4(int x);
long long evn_cu_one_8(long long x);

/* Called after an iteration, which is a user's loop that runs once, where its variable is not seen
 * to have gone from `was` to `is` = was + 1. Where it had not its largest value, the body has left
 * the loop or changed the variable, and the program ends. */
void evn_cu_behind(evn_cu_int was, evn_cu_int is);

/* Copies value t of evn_cu_parts(), `bytes` each, from a variable, or into one. */
void evn_cu_part_put(void *part, __SIZE_TYPE__ bytes, evn_cu_int t, const void *variable);
void evn_cu_part_get(const void *part, __SIZE_TYPE__ bytes, evn_cu_int t, void *variable);

/* Ends the program if a variable of reduction (`last` 0) or lastprivate has other bytes after an
 * iteration than before the loop. */
void evn_cu_part_same(__SIZE_TYPE__ before, __SIZE_TYPE__ now, int last, const char *name);

/* Whether there is a variable: 0 for an allocatable one that is not allocated. */
int evn_cu_there(const void *variable);

#ifdef __cplusplus
}
#endif
#endif
