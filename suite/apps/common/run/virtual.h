/* A cluster in virtual time: nodes of threads with a core each, a GPU that they share, its bus and
 * a network, as lanes of a timeline. Programs of FT and MG are laid into it by what their folders
 * say; evener model runs it.
 *
 * The figures are those of the node of the paper on FT and MG over one-sided arrays and GPUs (UPC
 * and CUDA), as far as it gives them, else of a node of its time; none is fitted to a result. */
#pragma once

#include "common/run/timeline.h"
#include <stddef.h>

/* Bytes and operations a second, seconds. */
struct virtual_node {
    double cores;
    double core_flops, core_memory, node_memory; /* a core's two; all cores' memory */
    double core_copy;                            /* bytes that a core copies */
    double gpu_flops, gpu_memory;
    double gpu_bytes;               /* memory of a GPU */
    double kernel, context;         /* a launch; from one context to another */
    double beside;                  /* not 0: copies and kernels of several contexts overlap */
    double concurrent;              /* not 0: so do launches of kernels of one */
    double bus, bus_bandwidth;      /* a copy of a pinned buffer, each way */
    double put, put_bandwidth, hop; /* a put at its source; how long it is under way */
    double flag;                    /* a signal within a node */
};

enum { VIRTUAL_LONGEST = 1000000 };

struct virtual_figure {
    const char *name; /* NULL ends the list */
    size_t at;
    double value; /* the paper's node */
    int rate;     /* 1: from 1; else from 0 to VIRTUAL_LONGEST */
    const char *from;
};
extern const struct virtual_figure virtual_figures[];
struct virtual_node virtual_paper(void);

/* Counts of a step, of all threads. Messages are puts, within a node and between nodes. */
struct virtual_counts {
    double messages, bytes, far_messages, far_bytes;
    double device_faces, device_bytes; /* between threads of one GPU, without a put */
    double to_device, to_device_bytes, from_device, from_device_bytes, kernels;
};

struct virtual_cluster {
    struct timeline time;
    struct virtual_node node;
    int threads, per_node;
    int gpu;    /* 0: cores compute */
    int master; /* the first thread of a node alone has a context, and serves the others */
    struct virtual_counts counts;
};

/* 0, or -1 without memory; to be closed in any case. */
int virtual_open(struct virtual_cluster *c, const struct virtual_node *node, int nodes,
                 int per_node);
void virtual_close(struct virtual_cluster *c);

/* Pieces of programs; each returns the operation that completes it. */

/* A thread computes on its core. */
int virtual_compute(struct virtual_cluster *c, int thread, double flops, double bytes);
/* A core copies for a thread: that of the master where `served` and there is one. */
int virtual_copy(struct virtual_cluster *c, int thread, int served, double bytes);
/* An operation that ends when a part of `op`, from 0 to 1, is done. */
int virtual_part(struct virtual_cluster *c, int op, double share);
/* A thread waits for an operation. */
int virtual_wait(struct virtual_cluster *c, int thread, enum timeline_group group, int op);
/* Beside it, after `before` (-1: the thread's last step): on the bus; kernels, one after another.
 */
int virtual_upload(struct virtual_cluster *c, int thread, double bytes, int before);
int virtual_download(struct virtual_cluster *c, int thread, double bytes, int before);
int virtual_kernels(struct virtual_cluster *c, int thread, int launches, double flops, double bytes,
                    int before);
/* A put, after the last step of its thread. When it is at the target; *sent (may be
 * NULL) receives when the source is done with it. */
int virtual_put(struct virtual_cluster *c, int from, int to, double bytes, int *sent);
/* All threads, once each has come. */
void virtual_barrier(struct virtual_cluster *c);

/* Case of a workload for evener model. */
struct virtual_variant {
    const char *name; /* NULL ends the list */
    int master;       /* one context a node: with GPUs only, unless `cores` */
    int cores;        /* 1: it runs on cores, too */
    int transposes;   /* number of transposes by default; 0: it has none */
};
struct virtual_program {
    const struct virtual_variant *variant;
    /* A class on so many threads: 0, or an exit status after a message. */
    int (*check)(char class_, int threads);
    /* Bytes that a GPU has to hold for the threads of its node. */
    double (*gpu_bytes)(char class_, int variant, int threads, int per_node);
    /* Lays a step into the cluster, for a class and threads that were checked. 0, or -1 without
     * memory. */
    int (*lay)(struct virtual_cluster *c, char class_, int variant, int transposes);
};
