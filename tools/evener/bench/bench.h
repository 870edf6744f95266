/* Studies: each prints ratios of things measured side by side in one run. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

int bench_tasks(int argc, char **argv);
int bench_npbmz(int argc, char **argv);
int bench_tdbem(int argc, char **argv);
int bench_links(int argc, char **argv);
int bench_exchange(int argc, char **argv);
int bench_schedules(int argc, char **argv);

/* The middle of n samples, which are sorted in place; a lower half's end for an even n. */
double bench_median(double *sample, int n);

#endif
