/* How much of the processors' time this process may have. */
#ifndef MACHINE_QUOTA_H
#define MACHINE_QUOTA_H

/* Processors that the control groups of this process allow it to keep busy, as the files below the
 * folder `root` say ("" for the system's own): cpu.max of version 2, cpu.cfs_quota_us over
 * cpu.cfs_period_us of version 1, the least of the process's own group and all around it. 0: no
 * limit. */
double quota_processors(const char *root);

#endif
