/* The ranks of a run of the command: joined first, one process that prints for all, and the same
 * options on all of them. Without ranks the functions do nothing. */
#pragma once

#include <evener/cluster.h>

/* Options about ranks. */
struct rank_words {
    const char *wire;    /* evn_cluster_open()'s text; NULL: auto */
    long processes;      /* 0: as `wire` says */
    const char *on_loss; /* of a rank: end, restart, restart:same; NULL: end */
};

/* Checks the options about lost ranks. 0, or an exit status after a message. */
int ranks_check(const struct rank_words *words);

/* Number of restarts after lost ranks; 0 before ranks_join() and without ranks. */
int ranks_restarts(void);

/* Around all of a command that joins ranks. What is wrong before it has joined them, as with its
 * arguments, is agreed on by all that a launcher has started, and said once; where they cannot
 * meet, by the first of each host. Returns what the process is to return. */
void ranks_begin(void);
int ranks_end(int code);

/* Opens the cluster; *out NULL where this process is alone. From then on this rank's complaints are
 * kept for ranks_agree(), interrupts are asked for by all ranks alike, and only rank 0 prints. 0,
 * or an exit status after a message. */
int ranks_join(evn_cluster **out, const struct rank_words *words);

/* The worst of all ranks' exit statuses, after one message that names the ranks. */
int ranks_agree(evn_cluster *cluster, int code);

/* Checks that all ranks have the same arguments except those of their own units. As ranks_agree().
 */
int ranks_compare(evn_cluster *cluster, int argc, char **argv);

/* 1 if this rank prints: it is alone, or rank 0. */
int ranks_speak(const evn_cluster *cluster);
/* evn_cluster_launched()'s `speaks`. */
int ranks_speak_alone(void);

/* Ends it; what this rank's process returns. */
int ranks_leave(evn_cluster *cluster, int code);
