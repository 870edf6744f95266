/* What Fortran needs beside <evener/cu_prelude.h>: the calls of the code that evener-cc makes from
 * directives in Fortran, by way of the module evn_cu (fortran/evn_cu.f90). Programs do not call
 * these. As in the prelude, what goes wrong in them ends the program. */
#ifndef EVENER_CU_FORTRAN_H
#define EVENER_CU_FORTRAN_H

#include <evener/cu_prelude.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A site that was all zero gets its file, line and kind of schedule; the texts are copied. By any
 * thread, also by several at a time; the first call counts. */
void evn_cu_site_open(evn_cu_site *site, const char *file, int line, const char *schedule);

/* evn_cu_option() with a name that need not last. */
void evn_cu_option_named(evn_cu_site *site, const char *name, evn_cu_int value);

/* evn_cu_trips() of `do i = from, to, step`. */
evn_cu_int evn_cu_do_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step);

/* The integer itself: there is one for each kind, so that the compiler refuses what is none. */
evn_cu_int evn_cu_integer_1(signed char x);
evn_cu_int evn_cu_integer_2(short x);
evn_cu_int evn_cu_integer_4(int x);
evn_cu_int evn_cu_integer_8(long long x);

/* A loop variable of each kind: from + t * step. */
void evn_cu_index_1(signed char *x, evn_cu_int from, evn_cu_int t, evn_cu_int step);
void evn_cu_index_2(short *x, evn_cu_int from, evn_cu_int t, evn_cu_int step);
void evn_cu_index_4(int *x, evn_cu_int from, evn_cu_int t, evn_cu_int step);
void evn_cu_index_8(long long *x, evn_cu_int from, evn_cu_int t, evn_cu_int step);

/* t modulo trips: which iteration of one of several loops `t` is. */
evn_cu_int evn_cu_digit(evn_cu_int t, evn_cu_int trips);

/* Value t of evn_cu_parts(), `bytes` each, from a variable; and into one. */
void evn_cu_part_put(void *part, __SIZE_TYPE__ bytes, evn_cu_int t, const void *variable);
void evn_cu_part_get(const void *part, __SIZE_TYPE__ bytes, evn_cu_int t, void *variable);

#ifdef __cplusplus
}
#endif
#endif
