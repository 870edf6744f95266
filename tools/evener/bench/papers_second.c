/* Papers that contradict themselves: a number of an item as other published numbers of the paper
 * give it once more, by the item's key "second". Where the two lie apart nothing can meet both; a
 * figure that agrees with the second, or lies between, is not wrong by the first. */
#include "bench/papers.h"
#include "common/cli/message.h"
#include <math.h>
#include <stdlib.h>

static int wrong(const struct item *item, const char *what) {
    complain("published.json: item %s: \"second\" %s", item->id, what);
    return EXIT_FAILED;
}

/* One number of an expression. */
static int number(const struct item *item, const struct items *all, struct outputs *outputs,
                  const cJSON *e, double *x) {
    struct numbers value;
    const char *text = cJSON_GetStringValue(e);
    if (!text)
        return wrong(item, "has an entry that is no expression, no pair of them and not null");
    const int code = items_evaluate(all, outputs, item->id, text, &value);
    if (code) return code;
    *x = value.v[0];
    const int n = value.n;
    free(value.v);
    return n == 1 && *x > 0 ? 0 : wrong(item, "has an expression that is not one number above 0");
}

static int second_of(const struct item *item, const struct items *all, struct outputs *outputs,
                     const cJSON *e, struct second *span) {
    const int pair = cJSON_IsArray(e);
    *span = (struct second){NAN, NAN};
    if (cJSON_IsNull(e)) return 0;
    if (pair && cJSON_GetArraySize(e) != 2) return wrong(item, "has a list that is not of two");
    int code = number(item, all, outputs, pair ? e->child : e, &span->least);
    if (!code && pair) code = number(item, all, outputs, e->child->next, &span->most);
    if (!pair) span->most = span->least;
    if (code) return code;
    return span->least <= span->most ? 0 : wrong(item, "has a pair whose least is above its most");
}

int second_do(struct item *item, const struct items *all, struct outputs *outputs) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(item->json, "second"), *e;
    int n = 0, code = 0;
    if (!list) return 0;
    if (!item->published.n || !item->ours.n)
        return wrong(item, "needs numbers, published and ours");
    if (cJSON_GetArraySize(list) != item->published.n)
        return wrong(item, "is not as long as \"value\"");
    item->second = malloc(sizeof *item->second * (size_t)item->published.n);
    if (!item->second) return wrong(item, "finds no memory");
    cJSON_ArrayForEach(e, list) {
        if (!code) code = second_of(item, all, outputs, e, &item->second[n++]);
    }
    return code;
}

/* Within 5 % of the span. */
static int near(double x, struct second s) {
    return x >= s.least * (1 - PAPERS_NEAR) && x <= s.most * (1 + PAPERS_NEAR);
}

static int is_same(const struct item *item, int i) {
    const struct second s = {item->published.v[i], item->published.v[i]};
    return near(item->ours.v[i], s);
}

int second_contradicts(const struct item *item) {
    if (!item->second) return 0;
    for (int i = 0; i < item->published.n; i++) {
        const double published = item->published.v[i], ours = item->ours.v[i];
        const struct second s = item->second[i];
        if (is_same(item, i)) continue;
        if (isnan(s.least) || near(published, s)) return 0;
        const int between = ours >= fmin(published, s.least) && ours <= fmax(published, s.most);
        if (!near(ours, s) && !between) return 0;
    }
    return 1;
}

void second_text(const struct item *item, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (int i = 0; item->second && i < item->published.n && at < size; i++) {
        char first[32], least[32], most[32];
        struct second s = item->second[i];
        if (isnan(s.least) || is_same(item, i)) continue;
        numbers_text(&(struct numbers){1, &item->published.v[i]}, 1, first, sizeof first);
        numbers_text(&(struct numbers){1, &s.least}, 1, least, sizeof least);
        numbers_text(&(struct numbers){1, &s.most}, 1, most, sizeof most);
        at += (size_t)snprintf(text + at, size - at,
                               "%s%s is %s%s%s by other numbers of the paper, and ours %s",
                               at ? "; " : "", first, least, s.most > s.least ? " to " : "",
                               s.most > s.least ? most : "",
                               near(item->ours.v[i], s) ? "agrees with these" : "lies between");
    }
}
