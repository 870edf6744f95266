/* For programs. Evener: a loop over tasks of unequal weight on compute units of unequal strength.
 *
 * An evener is the bar that lets draught animals of unequal strength pull one load. This library
 * does that for groups of CPU cores, GPUs and nodes. A program
 *
 *    1. opens machine and units          evn_open()          <evener/open.h>
 *    2. opens its loop, with a schedule  evn_open_loop()     <evener/open.h>
 *    3. runs it, step after step         evn_loop_run()      <evener/loop.h>
 *    4. closes all of it                 evn_close()         <evener/open.h>
 *
 * examples/uneven.c does this in fifty lines; examples/heat.c adds data, devices and exchanges in
 * seventy. Programs that open machine, units and schedules by themselves use <evener/machine.h>,
 * <evener/unit.h> and <evener/schedule.h>.
 *
 * The first line of each header names its readers: programs, plug-ins (code that adds a wire or
 * another kind that the library loads) or tools (code that measures, plans or reads users' text).
 *
 * Conventions. Every function that can fail returns an evn_status; 0 (EVN_OK) is success. After a
 * failure evn_message() says in one line what was wrong, where, and what would be right. Handles
 * are opaque, made by .._open() and released by .._close(), which accepts NULL. The caller that
 * opens a handle closes it, in the reverse order. Times are seconds, sizes are bytes. The library
 * prints nothing and never ends the program. A handle may be used by one thread at a time unless
 * its functions say otherwise. */
#ifndef EVENER_H
#define EVENER_H

#include <evener/version.h>
#include <evener/clock.h>
#include <evener/status.h>
#include <evener/output.h>
#include <evener/number.h>
#include <evener/text.h>
#include <evener/machine.h>
#include <evener/device.h>
#include <evener/unit.h>
#include <evener/cluster.h>
#include <evener/shared.h>
#include <evener/crew.h>
#include <evener/place.h>
#include <evener/schedule.h>
#include <evener/loop.h>
#include <evener/subteam.h>
#include <evener/exchange.h>
#include <evener/change.h>
#include <evener/distributed.h>
#include <evener/recover.h>
#include <evener/model.h>
#include <evener/trace.h>
#include <evener/open.h>

#endif
