/* Uses: one acquire of many regions that stay in place.
 *
 * A loop whose regions are in place acquires the same regions every step, with no effect but counts
 * of users. So it compares the place's version: if no other call has changed the place, one call
 * takes all regions, at no cost for each. A call to the place during a use finds the regions held,
 * since the use is first recorded in each region. */
#pragma once

#include <evener/place.h>

struct place_use {
    size_t count;
    const int *region;        /* region numbers; -1: none */
    const evn_access *access; /* access to region i: access[i % period] */
    size_t period;
    int written_down;
    struct place_use *next;
};

/* The place's version: counts changes other than acquires and releases by loops and exchanges;
 * those count if regions have moved. Never 0. Any thread. */
unsigned long place_version(evn_place *p);

/* One more than the largest number that a region of the place has had. Any thread. */
int place_numbers(const evn_place *p);

/* Takes the regions in the host's space if the version is still `version`: 1, else 0. Each region
 * must have been acquired in that version, with at least this access, and be in the list once. The
 * arrays must stay until the use ends. EVN_USAGE at the end: another caller has released one of
 * them. */
int place_use_begin(evn_place *p, struct place_use *use, unsigned long version);
evn_status place_use_end(evn_place *p, struct place_use *use);

/* As evn_place_acquire(), .._each() and .._release(), for loops and exchanges: acquiring regions
 * that are in place does not change the version. */
evn_status place_acquire(evn_place *p, int count, const int *region, int space, evn_access access);
evn_status place_acquire_each(evn_place *p, int count, const int *region, int space,
                              const evn_access *access);
evn_status place_release(evn_place *p, int count, const int *region, int space);

/* Bytes that regions may take on the device of a space other than the host's; 0: it was lost. */
size_t place_room(evn_place *p, int space);

/* 1 if the region is one of evn_place_add() without memory here. */
int place_is_absent(evn_place *p, int region);

/* 1 if the region's memory here is the place's: it is one of evn_place_make(), or was taken over.
 */
int place_is_made(evn_place *p, int region);

/* ---- travel.c: regions of tasks that are in other processes for a time ---- */

/* Makes an absent region one of evn_place_make(), never written; others stay. */
void place_take_over(evn_place *p, int region);

/* Makes a region whose memory is the place's absent, and frees that memory; others stay, and so
 * does one that is held. */
void place_send_away(evn_place *p, int region);

/* Makes a region whose memory is the place's valid on the host, with its content, or undefined
 * content if it was never written. As evn_place_acquire(). */
evn_status place_bring_home(evn_place *p, int region);
