/* A cluster in virtual time. Lanes: the core of each thread; then of each node the GPU, its bus in
 * both directions, the network in both. */
#include "common/run/virtual.h"
#include <math.h>

enum { GPU, BUS_TO, BUS_FROM, NET_OUT, NET_IN, NODE_LANES };

#define AT(field) offsetof(struct virtual_node, field)
const struct virtual_figure virtual_figures[] = {
    {"cores", AT(cores), 8, 1, "assumed: two sockets of four cores, as nodes of 2011 had"},
    {"core_flops", AT(core_flops), 2.4e9, 1,
     "assumed: one operation a cycle of 2.4 GHz, a quarter of the peak of such a core"},
    {"core_memory", AT(core_memory), 1e10, 1, "assumed: what one core draws alone"},
    {"node_memory", AT(node_memory), 3.6e10, 1,
     "data sheets: six channels of DDR3-1066, 51.2e9, of which 70 % are assumed to be reached"},
    {"core_copy", AT(core_copy), 6e9, 1,
     "the paper: the copy between pinned and shared memory halves what the bus has"},
    {"gpu_flops", AT(gpu_flops), 1.29e11, 1,
     "data sheet of the Tesla C2050: 515e9, of which a quarter is assumed, as of a core"},
    {"gpu_memory", AT(gpu_memory), 1e11, 1,
     "data sheet of the Tesla C2050: 144e9, of which 70 % are assumed to be reached"},
    {"gpu_bytes", AT(gpu_bytes), 6e9, 1,
     "data sheet of the Tesla C2070, which is a C2050 with twice its memory"},
    {"kernel", AT(kernel), 7e-6, 0, "assumed: a launch and the shortest kernel"},
    {"context", AT(context), 2.5e-5, 0,
     "NVIDIA on Fermi: from one application to another in less than 25 microseconds"},
    {"beside", AT(beside), 0, 0,
     "NVIDIA on MPS: what several processes do overlaps with it only, and it came after this GPU"},
    {"concurrent", AT(concurrent), 1, 0,
     "data sheet: up to 16 kernels of an application at a time"},
    {"bus", AT(bus), 1e-5, 0, "the paper: 8 bytes to the device"},
    {"bus_bandwidth", AT(bus_bandwidth), 6e9, 1,
     "data sheet: PCI Express 2.0 x16, 8e9, of which three quarters; the paper: twice a put's"},
    {"put", AT(put), 4e-7, 0, "the paper: 8 bytes"},
    {"put_bandwidth", AT(put_bandwidth), 3e9, 1,
     "the paper: half of a pinned copy's; data sheet: QDR InfiniBand has 4e9"},
    {"hop", AT(hop), 1.3e-6, 0, "assumed: latency of messages of QDR clusters of the time"},
    {"flag", AT(flag), 2e-7, 0, "assumed: a line of cache from core to core"},
    {0},
};
#undef AT

struct virtual_node virtual_paper(void) {
    struct virtual_node node;
    for (const struct virtual_figure *f = virtual_figures; f->name; f++)
        *(double *)((char *)&node + f->at) = f->value;
    return node;
}

static int lane(const struct virtual_cluster *c, int thread, int which) {
    return c->threads + thread / c->per_node * NODE_LANES + which;
}

int virtual_open(struct virtual_cluster *c, const struct virtual_node *node, int nodes,
                 int per_node) {
    *c = (struct virtual_cluster){.node = *node, .threads = nodes * per_node, .per_node = per_node};
    const int failed = timeline_open(&c->time, c->threads + nodes * NODE_LANES, c->threads);
    if (failed) return failed;
    c->time.switch_s = node->context;
    for (int t = 0; t < c->threads && node->beside == 0; t += per_node)
        for (int bus = BUS_TO; bus <= BUS_FROM; bus++)
            c->time.set[lane(c, t, bus)] = lane(c, t, GPU);
    return 0;
}

void virtual_close(struct virtual_cluster *c) { timeline_close(&c->time); }

/* The first thread of a node. */
static int first(const struct virtual_cluster *c, int thread) {
    return thread - thread % c->per_node;
}

/* The context in which a thread's operations on the GPU are. */
static int of_whom(const struct virtual_cluster *c, int thread) {
    return c->master ? first(c, thread) : thread;
}

int virtual_compute(struct virtual_cluster *c, int thread, double flops, double bytes) {
    const double memory = fmin(c->node.core_memory, c->node.node_memory / c->per_node);
    return timeline_step(&c->time, thread, thread, TIME_COMPUTE,
                         fmax(flops / c->node.core_flops, bytes / memory));
}

int virtual_copy(struct virtual_cluster *c, int thread, int served, double bytes) {
    const int master = served && c->master;
    const int copying = master ? 1 : c->per_node;
    const double rate = fmin(c->node.core_copy, c->node.node_memory / 2 / copying);
    const int core = master ? first(c, thread) : thread;
    /* a member that is served says so, and is told */
    const double told = master && core != thread ? c->node.flag : 0;
    return timeline_step(&c->time, thread, core, TIME_COPIES, told + bytes / rate);
}

int virtual_part(struct virtual_cluster *c, int op, double share) {
    const int part = timeline_add(&c->time, -1, -1, 0);
    if (part >= 0) timeline_after(&c->time, part, op, (share - 1) * c->time.op[op].seconds);
    return part;
}

int virtual_wait(struct virtual_cluster *c, int thread, enum timeline_group group, int op) {
    const int wait = timeline_step(&c->time, thread, -1, group, 0);
    timeline_after(&c->time, wait, op, 0);
    return wait;
}

static int beside(struct virtual_cluster *c, int thread, int which, int context, double seconds,
                  int before) {
    const int op =
        timeline_add(&c->time, which < 0 ? -1 : lane(c, thread, which), context, seconds);
    timeline_after(&c->time, op, before < 0 ? c->time.last[thread] : before, 0);
    return op;
}

int virtual_upload(struct virtual_cluster *c, int thread, double bytes, int before) {
    c->counts.to_device++;
    c->counts.to_device_bytes += bytes;
    return beside(c, thread, BUS_TO, of_whom(c, thread),
                  c->node.bus + bytes / c->node.bus_bandwidth, before);
}

int virtual_download(struct virtual_cluster *c, int thread, double bytes, int before) {
    c->counts.from_device++;
    c->counts.from_device_bytes += bytes;
    return beside(c, thread, BUS_FROM, of_whom(c, thread),
                  c->node.bus + bytes / c->node.bus_bandwidth, before);
}

/* Launches of one context may lie side by side, those of several contexts do not. */
int virtual_kernels(struct virtual_cluster *c, int thread, int launches, double flops, double bytes,
                    int before) {
    const double work = fmax(flops / c->node.gpu_flops, bytes / c->node.gpu_memory);
    const double launch = launches * c->node.kernel;
    c->counts.kernels += launches;
    if (!c->master || c->node.concurrent == 0)
        return beside(c, thread, GPU, of_whom(c, thread), launch + work, before);
    const int launched = beside(c, thread, -1, -1, launch, before);
    return beside(c, thread, GPU, of_whom(c, thread), work, launched);
}

/* Within a node the thread copies itself. The network has a message as long at its source as at its
 * target, where it comes a hop later. */
int virtual_put(struct virtual_cluster *c, int from, int to, double bytes, int *sent) {
    c->counts.messages++;
    c->counts.bytes += bytes;
    if (first(c, from) == first(c, to)) {
        const double rate = fmin(c->node.core_copy, c->node.node_memory / 2 / c->per_node);
        const int op = timeline_step(&c->time, from, from, TIME_PUTS, c->node.flag + bytes / rate);
        if (sent) *sent = op;
        return op;
    }
    c->counts.far_messages++;
    c->counts.far_bytes += bytes;
    timeline_step(&c->time, from, from, TIME_PUTS, c->node.put);
    const double wire = c->node.put + bytes / c->node.put_bandwidth;
    const int out = beside(c, from, NET_OUT, -1, wire, -1);
    const int in = timeline_add(&c->time, lane(c, to, NET_IN), -1, wire);
    timeline_after(&c->time, in, out, c->node.hop - wire);
    if (sent) *sent = out;
    return in;
}

void virtual_barrier(struct virtual_cluster *c) {
    int hops = 0;
    for (int n = 1; n < c->threads; n *= 2) hops++;
    const int all = timeline_add(&c->time, -1, -1,
                                 hops * (c->threads > c->per_node ? c->node.hop : c->node.flag));
    for (int t = 0; t < c->threads; t++) timeline_after(&c->time, all, c->time.last[t], 0);
    for (int t = 0; t < c->threads; t++) virtual_wait(c, t, TIME_BARRIERS, all);
}
