/* A wire that looks at all messages of faces of another one: it counts them, and alters one on
 * request. All ranks of a process share the count. */
#pragma once

#include <evener/wire.h>

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

/* As `inner`, and watched; of one kind at a time. */
evn_wire_kind watched_kind(const evn_wire_kind *inner);

/* Forgets what was counted, and takes an order. While no message is on its way. */
void watched_begin(const struct watched_order *order);

/* Messages that were sent since; *altered: those that were altered. */
int watched_end(int *altered);
