/* The far field of a march: the first device's of this process where it has room beside blocks of
 * slices, else all cores', with the same bits where host and device round alike. The other devices
 * sum blocks meanwhile alone, so no task's weight has anything of it. */
#pragma once

#include "tdbem/march/march.h"

/* Before the devices' room for blocks is shared out; m->far_gpu stays NULL where cores do it, and
 * the result says why. EVN_DEVICE, EVN_SYSTEM. */
evn_status march_far_open(struct march *m);
void march_far_close(struct march *m);

/* Once the states of all incidences are what the march begins with; and those for a checkpoint, on
 * all ranks. */
evn_status march_far_take(struct march *m);
evn_status march_far_home(struct march *m);

/* far_begin() and far_note() of an incidence. */
evn_status march_far_begin(struct march *m, int n);
evn_status march_far_note(struct march *m, int n, const double *a);
