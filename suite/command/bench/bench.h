/* Studies: each prints ratios of things measured side by side in one run. Those of a workload are
 * in its folder. */
#pragma once

#include <evener/device.h>

/* Seconds of one of `count` calls of move(), by the device's own clock where that is virtual, else
 * by the host's. `device` NULL: the host's. */
evn_status bench_timed(evn_device *device, evn_queue *queue,
                       evn_status (*move)(const void *way, size_t bytes), const void *way,
                       size_t bytes, int count, double *seconds);

int bench_tasks(int argc, char **argv);
int bench_links(int argc, char **argv);
int bench_wire(int argc, char **argv);
int bench_pinning(int argc, char **argv);
int bench_papers(int argc, char **argv);
int bench_put(int argc, char **argv);
int bench_cluster(int argc, char **argv);
int bench_units(int argc, char **argv);
int bench_schedules(int argc, char **argv);
