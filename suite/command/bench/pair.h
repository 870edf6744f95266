/* Common part of studies of messages and puts: a run of ranks of which the first two do something
 * by size, timed in turn, for a page and a record. */
#pragma once

#include "common/cli/options.h"
#include <cjson/cJSON.h>
#include <evener.h>
#include <evener/wire.h>
#include <stdio.h>

enum { PAIR_SAMPLES_MAX = 1000 };

/* A rank's ends of a way to another rank and of the one back. */
struct pair_ends {
    const evn_wire_kind *kind;
    evn_channel *out, *in;
};

evn_status pair_ends_open(struct pair_ends *ends, evn_cluster *cluster, int to, int from, int tag,
                          size_t max);
void pair_ends_close(struct pair_ends *ends);
/* `from` NULL: the buffer is sent as it is. */
evn_status pair_send(struct pair_ends *ends, const void *from, size_t bytes);
/* `to` NULL: the message is left in place. */
evn_status pair_receive(struct pair_ends *ends, void *to);

/* A rank of the study. Of what ranks 0 and 1 have for each other others have nothing. */
struct pair {
    const struct pair_study *study;
    evn_cluster *cluster;
    int rank, repeat;
    size_t max;
    struct pair_ends ends;
    char *here, *there; /* `max` bytes each, written to */
    FILE *page;         /* NULL: this rank prints nothing */
    cJSON *record;      /* rank 0's results; those of other ranks are discarded */
};

/* A study that is a command: beside its own options it has --wire, --max, --repeat, --json and
 * --quiet. */
struct pair_study {
    const char *name;         /* begins messages: "bench put" */
    const char *usage;        /* begins the help */
    const struct option *own; /* NULL: it has none of its own; fills `request` */
    void *request;
    evn_status (*run)(struct pair *p); /* in each rank; its own status */
};

/* Reads the options, has ranks, opens the record's file, ends and memory, and runs it. The exit
 * status. */
int pair_command(const struct pair_study *study, int argc, char **argv);

/* From 8 bytes on in factors of eight, and the longest. */
size_t pair_next_size(size_t bytes, size_t max);
/* Repetitions in a sample, for some milliseconds at most. */
int pair_times(size_t bytes);

/* Something that is timed, as often as pair_times() says, by both ranks. */
struct pair_timed {
    const char *key;                                          /* in the record */
    evn_status (*run)(struct pair *p, int way, size_t bytes); /* NULL: it is not there, NaN */
    int way;                                                  /* of the study's */
    int parts; /* messages of one measured time: 2 of a ping-pong */
};

/* Such are messages between both, left in place or, with `copies`, copied in and out; and one way,
 * always copied, with one short answer at the end. */
evn_status pair_ping_pong(struct pair *p, int copies, size_t bytes);
evn_status pair_flood(struct pair *p, int way, size_t bytes);

/* Median seconds of one of each over all samples, taken in turn. */
enum { PAIR_TIMED_MAX = 16 };
evn_status pair_measure(struct pair *p, const struct pair_timed *of, int count, size_t bytes,
                        double *seconds);

/* Adds to a list of the record what of `seconds` is a number, with the size. */
void pair_record(cJSON *list, const struct pair_timed *of, int count, size_t bytes,
                 const double *seconds);
