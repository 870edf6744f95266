/* The ranks of a run of the command: joined first of all, one voice for what they complain of, and
 * the same options on all of them. Alone there are none, and all of it is nothing. */
#ifndef TOOL_RANKS_H
#define TOOL_RANKS_H

#include <evener/cluster.h>

/* How ranks are asked for. */
struct rank_words {
    const char *wire;    /* evn_cluster_open()'s text; NULL: auto */
    long processes;      /* 0: as `wire` says */
    const char *on_loss; /* of a rank: end, restart, restart:same; NULL: end */
};

/* Whether `words` say something of lost ranks that can be done. 0, or an exit status after a
 * message. */
int ranks_check(const struct rank_words *words);

/* How often a rank was lost before the ranks that this one is of were begun; before ranks_join()
 * and alone 0. */
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

/* What each rank has come to, its exit status so far: the worst of all, after one message that
 * names the ranks. */
int ranks_agree(evn_cluster *cluster, int code);

/* Whether all were given the same arguments but for those of their own units. As ranks_agree(). */
int ranks_compare(evn_cluster *cluster, int argc, char **argv);

/* Whether this rank speaks: it is alone, or rank 0. */
int ranks_speak(const evn_cluster *cluster);

/* Ends it; what this rank's process returns. */
int ranks_leave(evn_cluster *cluster, int code);

#endif
