/* A loop's time of opening and its cluster, for traces. */
#pragma once

#include <evener/loop.h>

/* Time of opening, of evn_now(); bursts are relative to it. */
double loop_origin(const evn_loop *loop);

/* The loop's cluster; NULL: no ranks. */
evn_cluster *loop_cluster(const evn_loop *loop);
