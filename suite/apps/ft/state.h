/* FT's checkpoint (common/checkpoint/state.h): the checksums of the completed steps. The field of
 * frequencies is constant and made again, which is faster than a disk; a step's transform is read
 * by no other step. */
#pragma once

#include "common/checkpoint/state.h"
#include "ft/ft.h"

/* Looks at the files, states_open(): s has cluster, units, files and steps. *checksum is looked at
 * when there is something to keep or to go on from. */
evn_status ft_state_open(struct states *s, const ft *problem, const struct ft_way *way,
                         double (**checksum)[2]);
