/* The quadtree of blocks: neighbours and changes. */
#include "adaptive/quadtree.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

/* The Morton key of a block of the finest level: the bits of y and x in turn. */
static unsigned long long key_of(unsigned x, unsigned y) {
    unsigned long long key = 0;
    for (int b = 0; b < 31; b++)
        key |= (unsigned long long)(x >> b & 1) << 2 * b | (unsigned long long)(y >> b & 1)
                                                               << (2 * b + 1);
    return key;
}

static unsigned long long key_of_leaf(const struct quadtree *tree, const struct leaf *l) {
    const int up = tree->levels - l->level;
    return key_of((unsigned)l->x << up, (unsigned)l->y << up);
}

static int by_key(const void *a, const void *b) {
    const struct quadtree at = {.levels = LEVELS_MAX};
    const unsigned long long x = key_of_leaf(&at, a), y = key_of_leaf(&at, b);
    return (x > y) - (x < y);
}

int quadtree_open(struct quadtree *tree, int roots, int levels) {
    *tree = (struct quadtree){.roots = roots, .levels = levels, .leaves = roots * roots};
    tree->leaf = malloc((size_t)tree->leaves * sizeof *tree->leaf);
    if (!tree->leaf) return -1;
    for (int i = 0; i < tree->leaves; i++)
        tree->leaf[i] = (struct leaf){.x = i % roots, .y = i / roots};
    qsort(tree->leaf, (size_t)tree->leaves, sizeof *tree->leaf, by_key);
    return 0;
}

void quadtree_close(struct quadtree *tree) {
    free(tree->leaf);
    *tree = (struct quadtree){0};
}

/* The leaf that has a block of the finest level: the last one whose key is not larger. */
static int find(const struct quadtree *tree, int x, int y) {
    const int side = tree->roots << tree->levels;
    const unsigned long long key =
        key_of((unsigned)((x + side) % side), (unsigned)((y + side) % side));
    int lo = 0, hi = tree->leaves - 1;
    while (lo < hi) {
        const int mid = lo + (hi - lo + 1) / 2;
        if (key_of_leaf(tree, &tree->leaf[mid]) <= key)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

int quadtree_beyond(const struct quadtree *tree, int leaf, int side, int beyond[2]) {
    const struct leaf *l = &tree->leaf[leaf];
    const int width = 1 << (tree->levels - l->level), out = side % 2 ? width : -1;
    for (int half = 0; half < 2; half++) {
        const int along = half * (width - 1);
        const int x = l->x * width + (side < 2 ? out : along);
        const int y = l->y * width + (side < 2 ? along : out);
        beyond[half] = find(tree, x, y);
    }
    return beyond[0] == beyond[1] ? 1 : 2;
}

/* Whether leaf t and the three behind it are all of one parent. */
static int are_all_of_one(const struct quadtree *tree, int t) {
    const struct leaf *l = &tree->leaf[t];
    if (!l->level || l->x % 2 || l->y % 2 || t + 4 > tree->leaves) return 0;
    for (int i = 1; i < 4; i++)
        if (l[i].level != l->level || l[i].x / 2 != l->x / 2 || l[i].y / 2 != l->y / 2) return 0;
    return 1;
}

/* Raises levels until neighbours differ by one, and until merges are of four. */
static void settle(const struct quadtree *tree, int *level) {
    for (int again = 1; again;) {
        again = 0;
        for (int t = 0; t < tree->leaves; t++)
            for (int side = 0; side < SIDES; side++) {
                int beyond[2];
                const int n = quadtree_beyond(tree, t, side, beyond);
                for (int i = 0; i < n; i++)
                    if (level[beyond[i]] > level[t] + 1) {
                        level[t] = level[beyond[i]] - 1;
                        again = 1;
                    }
            }
        for (int t = 0; t < tree->leaves;) {
            const int four = are_all_of_one(tree, t), end = t + (four ? 4 : 1);
            int merge = four;
            for (int i = t; i < end; i++) merge = merge && level[i] < tree->leaf[i].level;
            for (; t < end; t++)
                if (!merge && level[t] < tree->leaf[t].level) {
                    level[t] = tree->leaf[t].level;
                    again = 1;
                }
        }
    }
}

static void add(struct change *c, struct leaf leaf, int from, int origins, int kept) {
    struct quadtree *next = &c->next;
    const int t = next->leaves++, first = c->first[t];
    next->leaf[t] = leaf;
    for (int i = 0; i < origins; i++) c->from[first + i] = from + i;
    c->first[t + 1] = first + origins;
    c->kept[t] = (char)kept;
    c->born += !kept;
    c->leaves = next->leaves;
}

static void list(struct change *c, const struct quadtree *tree, const int *level) {
    for (int t = 0; t < tree->leaves;) {
        const struct leaf l = tree->leaf[t];
        if (level[t] > l.level)
            for (int i = 0; i < 4; i++)
                add(c, (struct leaf){l.level + 1, 2 * l.x + i % 2, 2 * l.y + i / 2}, t, 1, 0);
        else if (level[t] < l.level)
            add(c, (struct leaf){l.level - 1, l.x / 2, l.y / 2}, t, 4, 0);
        else
            add(c, l, t, 1, 1);
        t += level[t] < l.level ? 4 : 1;
    }
}

int quadtree_change(struct change *c, const struct quadtree *tree, const signed char *want) {
    const size_t most = 4 * (size_t)tree->leaves;
    int *level = malloc((size_t)tree->leaves * sizeof *level);
    *c = (struct change){.next = {.roots = tree->roots, .levels = tree->levels}};
    c->next.leaf = malloc(most * sizeof *c->next.leaf);
    c->first = calloc(most + 1, sizeof *c->first);
    c->from = malloc(most * sizeof *c->from);
    c->kept = malloc(most);
    if (!level || !c->next.leaf || !c->first || !c->from || !c->kept) {
        free(level);
        quadtree_close(&c->next);
        quadtree_change_close(c);
        return -1;
    }
    for (int t = 0; t < tree->leaves; t++) {
        const int l = tree->leaf[t].level;
        level[t] = want[t] > 0 && l < tree->levels ? l + 1 : want[t] < 0 && l ? l - 1 : l;
    }
    settle(tree, level);
    list(c, tree, level);
    free(level);
    return 0;
}

void quadtree_change_close(struct change *c) {
    free_all(c->first, c->from, c->kept);
    c->first = c->from = NULL;
    c->kept = NULL;
}
