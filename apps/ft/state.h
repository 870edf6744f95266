/* FT's state on disk (common/state.h): the checksums of the steps that are done. The field of
 * frequencies never changes, so that it is made anew, which is faster than a disk; and what a step
 * makes of it no other step reads. */
#ifndef FT_STATE_H
#define FT_STATE_H

#include "common/state.h"
#include "ft/ft.h"

/* Looks at the files, states_open(): s has cluster, units, files and steps. *checksum is looked at
 * when there is something to keep or to go on from. */
evn_status ft_state_open(struct states *s, const ft *problem, const struct ft_way *way,
                         double (**checksum)[2]);

#endif
