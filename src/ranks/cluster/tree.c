/* Records up and down a binomial tree. */
#include "cluster/tree.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Largest message: a record goes in pieces of this size, the first with the record's length in
 * front. */
enum { PIECE = 16 << 10, CHILDREN = 31 };

struct link {
    evn_channel *up, *down;
};

struct tree {
    const evn_wire_kind *kind;
    int children;
    struct link parent, child[CHILDREN];
    struct record theirs; /* memory for a child's record, reused */
    int is_root;
    struct tree_sums sent;
};

/* ---- records ---- */

evn_status record_reserve(struct record *r, size_t bytes) {
    if (bytes <= r->room) return EVN_OK;
    size_t room = r->room ? r->room : 256;
    while (room < bytes) room += room / 2;
    unsigned char *data = realloc(r->data, room);
    if (!data) return evn_fail(EVN_MEMORY, "wire: no memory for a record of %zu bytes", bytes);
    r->data = data;
    r->room = room;
    return EVN_OK;
}

evn_status record_add(struct record *r, const void *data, size_t bytes) {
    evn_status status = record_reserve(r, r->bytes + bytes);
    if (status || !bytes) return status;
    memcpy(r->data + r->bytes, data, bytes);
    r->bytes += bytes;
    return EVN_OK;
}

void record_free(struct record *r) {
    free(r->data);
    *r = (struct record){0};
}

/* ---- the tree ---- */

static evn_status link_open(struct link *l, struct tree *t, evn_wire *wire, int peer, int is_parent,
                            int tag) {
    evn_status status = t->kind->channel_open(&l->up, wire, peer, tag, is_parent, PIECE);
    if (!status) status = t->kind->channel_open(&l->down, wire, peer, tag, !is_parent, PIECE);
    return status;
}

static void link_close(struct link *l, const evn_wire_kind *kind) {
    if (l->up) kind->channel_close(l->up);
    if (l->down) kind->channel_close(l->down);
}

evn_status tree_open(struct tree **out, const evn_wire_kind *kind, evn_wire *wire, int tag) {
    struct tree *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t) return evn_fail(EVN_MEMORY, "wire: not enough memory");
    const int rank = kind->rank(wire), size = kind->size(wire);
    evn_status status = EVN_OK;
    int step = 1;
    t->kind = kind;
    t->is_root = rank == 0;
    for (; !status && step < size && rank % (2 * step) == 0; step *= 2)
        if (rank + step < size)
            status = link_open(&t->child[t->children++], t, wire, rank + step, 0, tag);
    if (!status && !t->is_root) status = link_open(&t->parent, t, wire, rank - step, 1, tag);
    if (status)
        tree_close(t);
    else
        *out = t;
    return status;
}

void tree_close(struct tree *t) {
    if (!t) return;
    link_close(&t->parent, t->kind);
    for (int i = 0; i < t->children; i++) link_close(&t->child[i], t->kind);
    record_free(&t->theirs);
    free(t);
}

struct tree_sums tree_sent(const struct tree *t) {
    return t->sent;
}

evn_status tree_reserve(struct tree *t, size_t bytes) { return record_reserve(&t->theirs, bytes); }

static evn_status send(struct tree *t, evn_channel *channel, size_t bytes) {
    t->sent.messages++;
    t->sent.bytes += bytes;
    return t->kind->send(channel, bytes);
}

static evn_status send_piece(struct tree *t, evn_channel *channel, const void *data, size_t bytes) {
    void *room;
    evn_status status = t->kind->take(channel, &room);
    if (status) return status;
    memcpy(room, data, bytes);
    return send(t, channel, bytes);
}

static evn_status send_record(struct tree *t, evn_channel *channel, const struct record *r) {
    const uint64_t bytes = r->bytes;
    unsigned char *room;
    size_t sent = r->bytes < PIECE - sizeof bytes ? r->bytes : PIECE - sizeof bytes;
    evn_status status = t->kind->take(channel, (void **)&room);
    if (status) return status;
    memcpy(room, &bytes, sizeof bytes);
    if (sent) memcpy(room + sizeof bytes, r->data, sent);
    status = send(t, channel, sizeof bytes + sent);
    while (!status && sent < r->bytes) {
        const size_t piece = r->bytes - sent < PIECE ? r->bytes - sent : PIECE;
        status = send_piece(t, channel, r->data + sent, piece);
        sent += piece;
    }
    return status;
}

/* Appends the next message, without its first `skip` bytes, which go to `head`. */
static evn_status receive_piece(struct tree *t, evn_channel *channel, struct record *r, void *head,
                                size_t skip) {
    const void *data;
    size_t bytes;
    evn_status status = t->kind->wait(channel, &data, &bytes);
    if (status) return status;
    if (bytes < skip) {
        status = evn_fail(EVN_SYSTEM, "wire: a record of %zu bytes without its length", bytes);
    } else {
        if (skip) memcpy(head, data, skip);
        status = record_add(r, (const unsigned char *)data + skip, bytes - skip);
    }
    t->kind->release(channel);
    return status;
}

/* Receives the next record into *r, over its old content. */
static evn_status receive_record(struct tree *t, evn_channel *channel, struct record *r) {
    uint64_t bytes = 0;
    r->bytes = 0;
    evn_status status = receive_piece(t, channel, r, &bytes, sizeof bytes);
    if (!status) status = record_reserve(r, bytes);
    while (!status && r->bytes < bytes) {
        status = t->kind->expect(channel);
        if (!status) status = receive_piece(t, channel, r, NULL, 0);
    }
    return status;
}

evn_status tree_up(struct tree *t, struct record *mine) {
    struct record *theirs = &t->theirs;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < t->children; i++) status = t->kind->expect(t->child[i].up);
    for (int i = 0; !status && i < t->children; i++) {
        status = receive_record(t, t->child[i].up, theirs);
        if (!status) status = record_add(mine, theirs->data, theirs->bytes);
    }
    if (!status && !t->is_root) status = send_record(t, t->parent.up, mine);
    return status;
}

evn_status tree_down(struct tree *t, struct record *r) {
    evn_status status = EVN_OK;
    if (!t->is_root) {
        status = t->kind->expect(t->parent.down);
        if (!status) status = receive_record(t, t->parent.down, r);
    }
    /* children with the most descendants first */
    for (int i = t->children; !status && i-- > 0;) status = send_record(t, t->child[i].down, r);
    return status;
}
