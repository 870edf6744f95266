/* Reading and writing checkpoints. */
#include "tdbem/files/checkpoint.h"
#include "common/run/hash.h"
#include "common/checkpoint/checkpoint_io.h"
#include <errno.h>
#include <evener/output.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "EVNTDB\0\1";

void checkpoint_put(struct checkpoint *c, const void *data, size_t bytes) {
    if (c->failed) return;
    if (c->bytes + bytes > c->room) {
        const size_t room = 2 * c->room + bytes + 4096;
        unsigned char *more = realloc(c->data, room);
        if (!more) {
            c->failed = 1;
            return;
        }
        c->data = more;
        c->room = room;
    }
    if (bytes) memcpy(c->data + c->bytes, data, bytes);
    c->bytes += bytes;
}

void checkpoint_get(struct checkpoint *c, void *data, size_t bytes) {
    if (c->failed || bytes > c->bytes - c->at) {
        c->failed = 1;
        memset(data, 0, bytes);
        return;
    }
    if (bytes) memcpy(data, c->data + c->at, bytes);
    c->at += bytes;
}

void checkpoint_free(struct checkpoint *c) {
    free(c->data);
    *c = (struct checkpoint){0};
}

evn_status checkpoint_write(const char *path, const char *identity, const struct checkpoint *c) {
    if (c->failed) return evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
    evn_output *output;
    evn_status status = evn_output_open(&output, NULL, path);
    if (status) return status;
    FILE *out = evn_output_stream(output);
    const uint64_t size[2] = {strlen(identity), c->bytes};
    uint64_t sum = kept_sum(HASH_SEED, size, sizeof size);
    sum = kept_sum(sum, identity, size[0]);
    sum = kept_sum(sum, c->data, c->bytes);
    fwrite(magic, 1, sizeof magic, out);
    fwrite(size, 1, sizeof size, out);
    fwrite(identity, 1, size[0], out);
    fwrite(c->data, 1, c->bytes, out);
    fwrite(&sum, 1, sizeof sum, out);
    status = evn_output_commit(output);
    evn_output_close(output);
    return status;
}

static evn_status damaged(FILE *in, char *identity, struct checkpoint *c, const char *path,
                          const char *what) {
    if (in) fclose(in);
    free(identity);
    checkpoint_free(c);
    return evn_fail(EVN_USAGE, "%s: %s", path, what);
}

evn_status checkpoint_read(const char *path, const char *identity, struct checkpoint *c) {
    *c = (struct checkpoint){0};
    char head[sizeof magic];
    uint64_t size[2], sum;
    FILE *in = fopen(path, "rb");
    if (!in) return evn_fail(EVN_USAGE, "%s cannot be read: %s", path, strerror(errno));
    if (fread(head, 1, sizeof head, in) != sizeof head || memcmp(head, magic, sizeof magic) != 0)
        return damaged(in, NULL, c, path, "this is no checkpoint of td-bem of this version");
    if (fseek(in, 0, SEEK_END)) return damaged(in, NULL, c, path, "it cannot be read");
    const long whole = ftell(in);
    if (fseek(in, sizeof magic, SEEK_SET) || fread(size, 1, sizeof size, in) != sizeof size ||
        size[0] > (uint64_t)whole || size[1] > (uint64_t)whole ||
        size[0] + size[1] + sizeof magic + sizeof size + sizeof sum != (uint64_t)whole)
        return damaged(in, NULL, c, path, "this checkpoint is cut off or damaged");
    char *name = malloc(size[0] + 1);
    c->data = malloc(size[1] + 1);
    if (!name || !c->data) return damaged(in, name, c, path, "not enough memory to read it");
    c->bytes = c->room = size[1];
    if (fread(name, 1, size[0], in) != size[0] || fread(c->data, 1, c->bytes, in) != c->bytes ||
        fread(&sum, 1, sizeof sum, in) != sizeof sum ||
        sum != kept_sum(kept_sum(kept_sum(HASH_SEED, size, sizeof size), name, size[0]), c->data,
                        c->bytes))
        return damaged(in, name, c, path, "this checkpoint is damaged: its checksum is wrong");
    fclose(in);
    name[size[0]] = 0;
    evn_status status = identity ? kept_compare(path, name, identity) : EVN_OK;
    free(name);
    if (status) checkpoint_free(c);
    return status;
}
