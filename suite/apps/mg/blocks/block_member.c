/* The communication of a block that another rank computes. */
#include "mg/blocks/block_member.h"
#include "mg/blocks/blocks.h"
#include <evener/clock.h>
#include <string.h>

void block_member_open(struct block_member *m, struct faces *faces, const int *master, int rank,
                       int n, int ranks) {
    *m = (struct block_member){.faces = faces,
                               .master = master[rank],
                               .finest = __builtin_ctz((unsigned)n),
                               .whole = blocks_whole(n, ranks),
                               .n = n,
                               .ranks = ranks};
    for (int axis = 0; axis < 3; axis++) {
        m->l[axis] = n / faces->ranks[axis];
        for (int side = 0; side < 2; side++)
            m->far[axis][side] = master[faces->neighbour[axis][side]] != m->master;
    }
}

static double *aside(const struct block_member *m) {
    return (double *)evn_shared_memory(m->faces->shared) + m->faces->out;
}

static evn_status hear(struct block_member *m) {
    return faces_hear(m->faces, m->master, FACES_OUT, ++m->heard);
}

/* The faces of a phase, one behind the other as the master has left them. */
static evn_status put_faces(struct block_member *m, const int l[3], int axis) {
    const double *face = aside(m);
    evn_status status = EVN_OK;
    for (int side = 0; !status && side < 2; side++) {
        if (!m->far[axis][side]) continue;
        status = faces_put(m->faces, m->exchanges, l, axis, side, face);
        face += faces_points(l, axis);
    }
    for (int side = 0; !status && side < 2; side++)
        if (m->far[axis][side]) status = faces_raise(m->faces, axis, side);
    for (int side = 0; !status && side < 2; side++)
        if (m->far[axis][side]) status = faces_wait(m->faces, m->exchanges, axis, side);
    return status;
}

static evn_status exchange(struct block_member *m, int level) {
    const double begin = evn_now();
    const int down = m->finest - level;
    const int l[3] = {m->l[0] >> down, m->l[1] >> down, m->l[2] >> down};
    evn_status status = EVN_OK;
    if (level <= m->whole) return EVN_OK;
    for (int axis = 0; !status && axis < 3; axis++) {
        if (!m->far[axis][0] && !m->far[axis][1]) continue;
        status = hear(m);
        if (!status) status = put_faces(m, l, axis);
        if (!status) status = faces_tell(m->faces, m->master, FACES_IN);
    }
    m->exchanges++;
    m->faces->seconds += evn_now() - begin;
    return status;
}

static evn_status gather(struct block_member *m) {
    const int n = 1 << m->whole, *grid = m->faces->ranks;
    const struct block_field part = {.l = {n / grid[0], n / grid[1], n / grid[2]}, .at = aside(m)},
                             whole = {.l = {n, n, n}, .at = aside(m) + m->faces->aside / 2};
    evn_status status = hear(m);
    memset(whole.at, 0, m->faces->aside / 2 * sizeof *whole.at);
    if (!status) status = faces_gather(m->faces, &part, &whole);
    return status ? status : faces_tell(m->faces, m->master, FACES_IN);
}

static evn_status down(void *arg, int l) {
    struct block_member *m = arg;
    evn_status status = m->whole && l - 1 == m->whole ? gather(m) : EVN_OK;
    return status ? status : exchange(m, l - 1);
}

static evn_status up(void *arg, int l) {
    (void)arg;
    (void)l;
    return EVN_OK;
}

static evn_status around(void *arg, int l) { return exchange(arg, l); }

evn_status block_member_residual(struct block_member *m) { return exchange(m, m->finest); }

evn_status block_member_cycle(struct block_member *m) {
    static const struct blocks_steps steps = {down, up, around, around};
    return blocks_cycle_of(&steps, m, m->finest);
}

evn_status block_member_word(struct block_member *m, void *word) {
    evn_status status = hear(m);
    if (!status) memcpy(word, aside(m), sizeof(double));
    return status;
}
