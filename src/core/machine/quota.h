/* CPU quota of this process. */
#pragma once

/* Processors that the control groups let this process keep busy, by the files below `root` ("" for
 * the system's): cpu.max of version 2, cpu.cfs_quota_us over cpu.cfs_period_us of version 1, the
 * least of the process's group and all enclosing ones. 0: no limit. */
double quota_processors(const char *root);
