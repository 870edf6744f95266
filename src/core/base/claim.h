/* Claims: locks by which programs of a host tell each other on which cores they keep their threads.
 *
 * A claim is a POSIX record lock on the core's byte of one shared file. The kernel releases it when
 * the process ends, for whatever reason, and children do not inherit it, so a child that outlives
 * its parent keeps no core. (A lock of an open file description, or a socket's address, would last
 * until the last child closes it.) The file stays empty, and nothing is read from it. Claims are
 * advice; no program is forced to respect them.
 *
 * Programs that cannot share the file (another user has made it unusable, containers have files of
 * their own) see no claims of each other, and all functions then behave as if there were none.
 *
 * The file: EVENER_CLAIMS; else /dev/shm/evener-cores; else /tmp/evener-cores. EVENER_CLAIMS set
 * but empty: claims are neither made nor seen. Any thread may call. */
#pragma once

enum { CLAIM_CORES = 1024 }; /* cores by the system's numbers, 0 to 1023; others are always free */

/* Claims all of these cores or none. 1: this process holds them, with one more count for cores that
 * it held before; 0: another program holds one of them. */
int claim_take(const int *core, int count);

/* Undoes one claim_take(); the last one of a core releases it. */
void claim_give(const int *core, int count);

/* 1 if another program claims the core; if this process does. */
int claim_is_taken(int core);
int claim_is_mine(int core);

/* Brackets a choice of several cores, so that programs choose one after another. Waits at most
 * about 1 ms, so that a stopped program blocks nobody; the choice is then still safe, but may not
 * be the best. Do not nest. */
void claim_choose(void);
void claim_chosen(void);
