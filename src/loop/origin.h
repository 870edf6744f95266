/* What a trace asks of a loop besides its bursts. */
#ifndef LOOP_ORIGIN_H
#define LOOP_ORIGIN_H

#include <evener/loop.h>

/* When it was opened, by evn_now(): bursts are counted from there. */
double loop_origin(const evn_loop *loop);

/* NULL: alone. */
evn_cluster *loop_cluster(const evn_loop *loop);

#endif
