/* Evener: a loop over tasks of unequal weight on compute units of unequal strength.
 *
 * An evener is the bar that lets draught animals of unequal strength pull one load. This library
 * does that for groups of CPU cores, GPUs and nodes. This header has what a program needs:
 *
 *     failure    evn_message() evn_fail(), version, time
 *     session    evn_open() evn_close(): machine and units, alone or over ranks
 *     loop       evn_open_loop() evn_loop_run(): tasks, a schedule, step after step
 *     body       evn_batch_next() ..: the program's function that computes a batch of tasks
 *     data       evn_place_add() evn_session_place(): regions that go where their tasks are
 *     exchange   evn_exchange_open() evn_exchange_run(): faces between tasks, wherever they are
 *
 *     static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
 *         for (int t; (t = evn_batch_next(batch)) >= 0;) work_on(t);
 *         return EVN_OK;
 *     }
 *     ...
 *     evn_session *session;
 *     evn_loop *loop;
 *     evn_problem tasks = {.tasks = n, .weight = size};
 *
 *     evn_open(&session, NULL, NULL, 0);
 *     evn_open_loop(&loop, session, NULL, &tasks);
 *     for (int step = 0; step < steps; step++) evn_loop_run(loop, body, app);
 *     evn_close(session);
 *
 * examples/uneven.c is such a program in fifty lines; examples/heat.c adds data, devices and
 * exchanges in seventy. Who needs more includes more:
 *
 *     programs   <evener/change.h> tasks that come and go; <evener/recover.h> devices that fail;
 *                <evener/device.h> and <evener/kernel.h> kernels of one's own launches;
 *                <evener/cluster.h> ranks, <evener/shared.h> one-sided arrays,
 *                <evener/distributed.h> tasks of which each rank knows its own
 *     tools      <evener/open.h> <evener/loop.h> <evener/unit.h> <evener/place.h>
 *                <evener/exchange.h> <evener/schedule.h> <evener/machine.h>: all that is opened
 *                here, piece by piece, asked and measured; models, traces, records, files, text
 *     plug-ins   <evener/wire.h> <evener/plugin.h>
 *
 * The environment of such a program:
 *
 *     EVENER_UNITS=4:CPU:4,2:GPU:1   its compute units            (default: auto)
 *     EVENER_DEVICES=emulated        the back end of GPU units    (default: best)
 *     EVENER_OVERSUBSCRIBE=1         allows more cores than there are
 *     EVENER_SCHEDULE=map            schedule of its loops        (default: evn_open_loop())
 *     EVENER_RECORD=FILE             writes the record of its loops, for `evener report FILE`;
 *                                    - is standard output
 *     EVENER_TRACE=FILE              writes each unit's bursts, over ranks those of all, for
 *                                    Perfetto or chrome://tracing; FILE.prv: for Paraver;
 *                                    FILE.otf2: for Vampir
 *     EVENER_LOG=loop,schedule       a line on standard error for each decision, also of
 *                                    `exchange`; without it the library prints nothing but warnings
 *     EVENER_PROCESSES=4             4 forked processes, if it passes EVN_OVER_RANKS
 *
 * In the names of record and trace each %r is the process's rank: processes of a launcher that are
 * runs of their own have files of their own by it. A trace that all of them would write is refused.
 *
 * Explicit arguments win over the environment (EVN_NO_ENVIRONMENT: it says nothing). An empty
 * variable counts as not set. Messages about a variable begin with its name.
 *
 * Conventions. Every function that can fail returns an evn_status; 0 (EVN_OK) is success. After a
 * failure evn_message() says in one line what was wrong, where, and what would be right. Wrong
 * arguments never end the program: NULL for a required pointer is EVN_USAGE, and so are numbers out
 * of range, negative or infinite ones, and calls at the wrong time or by the wrong thread; each
 * function says which. A function without a status returns 0, -1, NULL, "" or NAN, whichever cannot
 * be a right answer, and leaves the message. Handles are opaque, made by .._open() and released by
 * .._close(), which accepts NULL; who opens a handle closes it, in the reverse order, and does not
 * use it afterwards. Times are seconds, sizes are bytes. The library prints nothing and never ends
 * the program. Text that it reads and writes has a decimal point in every locale. A handle may be
 * used by one thread at a time unless its functions say otherwise. */
#ifndef EVENER_H
#define EVENER_H

#include <evener/program.h>

/* All else, for programs written when this header had it; EVENER_SMALL leaves it out, as a later
 * version will. */
#ifndef EVENER_SMALL
#    include <evener/output.h>
#    include <evener/number.h>
#    include <evener/text.h>
#    include <evener/machine.h>
#    include <evener/device.h>
#    include <evener/unit.h>
#    include <evener/cluster.h>
#    include <evener/shared.h>
#    include <evener/crew.h>
#    include <evener/place.h>
#    include <evener/schedule.h>
#    include <evener/loop.h>
#    include <evener/exchange.h>
#    include <evener/change.h>
#    include <evener/distributed.h>
#    include <evener/recover.h>
#    include <evener/model.h>
#    include <evener/trace.h>
#    include <evener/open.h>
#endif

#endif
