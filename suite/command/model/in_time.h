/* evener model of workloads whose steps are laid into virtual time (common/run/virtual.h). */
#pragma once

#include "common/run/workload.h"

/* The whole command; an exit status. */
int in_time_model(const struct workload *is, int argc, char **argv);
