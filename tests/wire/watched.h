/* A wire that looks at all messages of another one: it counts them by what they are for, sees what
 * is still expected when a rank tells the others of itself, and alters one message on request. All
 * ranks of a process share the counts. */
#ifndef TEST_WIRE_WATCHED_H
#define TEST_WIRE_WATCHED_H

#include <evener/wire.h>

/* What a message is for, by its tag. */
enum watched_use { WATCHED_CONTROL, WATCHED_MOVES, WATCHED_PARCELS, WATCHED_FACES, WATCHED_USES };

struct watched_counts {
    long messages[WATCHED_USES]; /* sent */
    double bytes[WATCHED_USES];  /* without what faces have before their values */
    /* Messages of faces that a rank expected and had not let go when it sent a record of control,
     * which it does when a step is over. */
    long late;
    /* How often MPI had more requests then than the two last messages of each way and what is
     * expected; and the most that it had. */
    long excess, requests_max;
};

/* What is done to a message of faces between being written and being sent: a bit of a value; two
 * faces exchanged; the values of the message before; the whole message before; words of its header;
 * the last byte is missing; it says that its sender has failed. */
enum watched_change {
    WATCHED_NOTHING,
    WATCHED_VALUE,
    WATCHED_FACE,
    WATCHED_OLD,
    WATCHED_BEFORE, /* from here on it is to be refused */
    WATCHED_PLAN,
    WATCHED_RUN,
    WATCHED_BYTES,
    WATCHED_SHORT,
    WATCHED_STATUS,
    WATCHED_CHANGES
};
extern const char *const watched_change_name[WATCHED_CHANGES];

/* A face of the message that is altered has so many bytes; it is the first that can be, in run
 * number `run` of an exchange (from 1). */
struct watched_order {
    enum watched_change change;
    long long run;
    size_t face;
};

/* As `inner`, and watched; of one kind at a time. `requests`: what MPI has of ours; NULL. */
evn_wire_kind watched_kind(const evn_wire_kind *inner, int (*requests)(void));

/* Forgets what was counted, and takes an order. While no message is on its way. */
void watched_begin(const struct watched_order *order);

/* What was counted since; *altered: how many messages were. */
struct watched_counts watched_end(int *altered);

#endif
