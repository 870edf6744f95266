/* The unit with the smallest or largest value, updated by a tournament tree: node i holds the
 * better of 2i and 2i+1; the leaves are the units. */
#pragma once

#include <stdlib.h>

struct tournament {
    int leaves;
    int *winner;
    const double *value;
    double sign; /* 1: the smallest wins; -1: the largest. Of equals the lowest number */
};

static inline int tournament_beats(const struct tournament *c, int a, int b) {
    if (a < 0 || b < 0) return b < 0;
    double x = c->sign * c->value[a], y = c->sign * c->value[b];
    return x < y || (x == y && a < b);
}

static inline void tournament_play(struct tournament *c, int i) {
    int a = c->winner[2 * i], b = c->winner[2 * i + 1];
    c->winner[i] = tournament_beats(c, a, b) ? a : b;
}

static inline void tournament_start(struct tournament *c, int units) {
    for (int i = 0; i < c->leaves; i++) c->winner[c->leaves + i] = i < units ? i : -1;
    for (int i = c->leaves - 1; i > 0; i--) tournament_play(c, i);
}

static inline int tournament_open(struct tournament *c, const double *value, int units,
                                  double sign) {
    *c = (struct tournament){.leaves = 1, .value = value, .sign = sign};
    while (c->leaves < units) c->leaves *= 2;
    c->winner = malloc(2 * (size_t)c->leaves * sizeof *c->winner);
    if (!c->winner) return 1;
    tournament_start(c, units);
    return 0;
}

static inline void tournament_changed(struct tournament *c, int unit) {
    for (int i = (c->leaves + unit) / 2; i > 0; i /= 2) tournament_play(c, i);
}

static inline int tournament_winner(const struct tournament *c) { return c->winner[1]; }
