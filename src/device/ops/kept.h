/* Snapshots of single regions, for the recovery of a loop whose tasks come and go: a region that
 * goes leaves its copy, which another region takes over. */
#ifndef PLACE_KEPT_H
#define PLACE_KEPT_H

#include <evener/place.h>

/* The content of a region in a snapshot, without the region. */
struct kept_copy {
    enum { COPY_LOST, COPY_UNWRITTEN, COPY_HERE } is;
    size_t bytes;
    void *memory; /* malloc'ed; only for COPY_HERE */
};

/* Takes a region's part of evn_place_keep()'s snapshot, which then lacks it; lost, if there is no
 * such region or it has none. */
struct kept_copy place_take_kept(evn_place *p, int region);

/* Makes `copy` a region's part of the snapshot. EVN_USAGE: no such region, another size, or the
 * copy is lost; EVN_MEMORY. */
evn_status place_give_kept(evn_place *p, int region, const struct kept_copy *copy);

/* Makes regions that were valid only on a lost device the host's, with undefined contents, so that
 * they can be written and removed. EVN_MEMORY. */
evn_status place_settle_lost(evn_place *p);

/* evn_place_restore(), but regions registered after the snapshot may be anywhere: they stay where
 * they are valid, or are treated as by place_settle_lost(). */
evn_status place_restore_kept(evn_place *p);

#endif
