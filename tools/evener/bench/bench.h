/* Studies: each prints ratios of things measured side by side in one run. Those of a workload are
 * in its folder. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

int bench_tasks(int argc, char **argv);
int bench_links(int argc, char **argv);
int bench_wire(int argc, char **argv);
int bench_pinning(int argc, char **argv);
int bench_cluster(int argc, char **argv);
int bench_schedules(int argc, char **argv);

#endif
