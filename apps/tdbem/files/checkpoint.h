/* Checkpoints: the state of a march on disk, whole or not at all.
 *
 * Whatever happens there is either the earlier checkpoint or the new one (<evener/output.h>). It
 * names the run it belongs to, word by word
 * ("key=value"), and ends with a checksum.
 */
#ifndef TDBEM_CHECKPOINT_H
#define TDBEM_CHECKPOINT_H

#include <evener/status.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to be kept, gathered one after another. */
struct checkpoint {
    unsigned char *data;
    size_t bytes, room, at; /* at: how far it has been read */
    int failed;             /* no memory, or read beyond the end */
};
void checkpoint_put(struct checkpoint *c, const void *data, size_t bytes);
void checkpoint_get(struct checkpoint *c, void *data, size_t bytes);
void checkpoint_free(struct checkpoint *c);

/* EVN_SYSTEM: could not be written; an earlier one is still there. EVN_MEMORY. */
evn_status checkpoint_write(const char *path, const char *identity, const struct checkpoint *c);

/* EVN_USAGE: cannot be read, is no checkpoint, is damaged, or of another run (the message says what
 * is different). identity NULL: of any run. */
evn_status checkpoint_read(const char *path, const char *identity, struct checkpoint *c);

#endif
