/* Snapshots and lost devices, for recovery. Of a loop whose tasks come and go single regions: one
 * that goes leaves its copy, which another region takes over. */
#pragma once

#include <evener/place.h>

/* Takes a snapshot of all regions except absent ones. After a failure the earlier snapshot is still
 * there. EVN_USAGE: a region is held; EVN_MEMORY; EVN_DEVICE. */
evn_status place_keep(evn_place *place);

/* Restores the snapshot, valid on the host, and releases all held regions. A region added (or
 * arrived) since the snapshot stays as it is. EVN_USAGE: there is no snapshot; or such a region is
 * not valid on the host: the message names it, and nothing has changed. EVN_MEMORY. */
evn_status place_restore(evn_place *place);

/* Declares the device of a space lost: its resources are closed, its copies are invalid, and
 * nothing is held there. Then call place_restore(). Numbers of other spaces stay. For the
 * host's space it only leaves a message. */
void place_lose(evn_place *place, int space);

/* The content of a region in a snapshot, without the region. */
struct kept_copy {
    enum { COPY_LOST, COPY_UNWRITTEN, COPY_HERE } is;
    size_t bytes;
    void *memory; /* malloc'ed; only for COPY_HERE */
};

/* Takes a region's part of place_keep()'s snapshot, which then lacks it; lost, if there is no
 * such region or it has none. */
struct kept_copy place_take_kept(evn_place *p, int region);

/* Makes `copy` a region's part of the snapshot. EVN_USAGE: no such region, another size, or the
 * copy is lost; EVN_MEMORY. */
evn_status place_give_kept(evn_place *p, int region, const struct kept_copy *copy);

/* Makes regions that were valid only on a lost device the host's, with undefined contents, so that
 * they can be written and removed. EVN_MEMORY. */
evn_status place_settle_lost(evn_place *p);

/* place_restore(), but regions registered after the snapshot may be anywhere: they stay where
 * they are valid, or are treated as by place_settle_lost(). */
evn_status place_restore_kept(evn_place *p);
