/* Items of published.json: read, computed, and judged.
 *
 * The file has the commands once, with $1, $2, .. for the words that an expression gives them, and
 * the items:
 *
 *     "outputs": {"gpus": "plan $1 --class $2 --units $3:GPU:1 --schedule $4 --json - --quiet"},
 *     "items": [
 *      {"paper": "000", "item": "fig12.B", "what": "overall speedup, guided, 4 GPUs",
 *       "kind": "V",                     V virtual time, C counted, R ratio of real runs (--real),
 *                                        T text or interface, G needs a GPU
 *       "value": [2.39, 2.51],           published numbers, or a text; absent where they are lost
 *       "unit": "x", "legible": true, "where": "sentence of the paper",
 *       "ours": ["expression", ..],      values behind one another
 *       "second": ["expression", ["least", "most"], null],
 *                                        by other published numbers, as published{000/fig11.ms}[0]:
 *                                        what "value" is by these, where the paper contradicts
 *                                        itself
 *       "holds": "expression",           an order that the paper states
 *       "band": [0.9, 1.1],              of ours over published; of ours where nothing is published
 *       "wanted": "more",                or "less": the side that is better
 *       "verdict": "better",             only where no numbers are compared
 *       "reason": "why they differ"}]
 */
#include "bench/papers.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_name[VERDICTS] = {"same", "better", "contradicts", "differs", "missing"};

static int wrong(const char *path, const struct item *item, const char *what) {
    complain("%s: item %s: %s", path, *item->id ? item->id : "?", what);
    return EXIT_FAILED;
}

static int is_one_of(const char *word, const char *const *list) {
    while (*list && (!word || strcmp(word, *list) != 0)) list++;
    return *list != NULL;
}

static int read_value(const char *path, struct item *item) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item->json, "value"), *e;
    const int n = cJSON_IsArray(value) ? cJSON_GetArraySize(value) : cJSON_IsNumber(value);
    item->published_text = cJSON_GetStringValue(value);
    if (!n) return 0;
    item->published.v = malloc(sizeof *item->published.v * (size_t)n);
    if (!item->published.v) return wrong(path, item, "not enough memory");
    for (e = cJSON_IsArray(value) ? value->child : value; e && item->published.n < n; e = e->next) {
        if (!cJSON_IsNumber(e) || !(e->valuedouble > 0))
            return wrong(path, item, "\"value\" has an entry that is no number above 0");
        item->published.v[item->published.n++] = e->valuedouble;
    }
    return 0;
}

static int read_band(const char *path, struct item *item) {
    const cJSON *band = cJSON_GetObjectItemCaseSensitive(item->json, "band");
    item->least = item->most = NAN;
    const int counts = *item->kind == 'V' || *item->kind == 'C';
    const int computed = cJSON_GetObjectItemCaseSensitive(item->json, "ours") != NULL;
    if (!band && counts && computed && !json_text(item->json, "holds"))
        return wrong(path, item, "neither \"band\" nor \"holds\", of which V and C need one");
    if (!band) return 0;
    if (cJSON_GetArraySize(band) != 2 || !cJSON_IsNumber(band->child) ||
        !cJSON_IsNumber(band->child->next))
        return wrong(path, item, "\"band\" is not two numbers");
    item->least = band->child->valuedouble;
    item->most = band->child->next->valuedouble;
    return 0;
}

static int read_item(const char *path, const cJSON *json, struct item *item) {
    static const char *const keys[] = {"paper",  "item",    "what",  "kind",   "value",  "unit",
                                       "ours",   "legible", "where", "band",   "wanted", "verdict",
                                       "reason", "holds",   "see",   "second", NULL},
                             *const kinds[] = {"V", "C", "R", "T", "G", NULL};
    item->json = json;
    item->paper = json_text(json, "paper");
    item->name = json_text(json, "item");
    item->what = json_text(json, "what");
    item->kind = json_text(json, "kind");
    item->where = json_text(json, "where");
    item->unit = json_text(json, "unit");
    item->reason = json_text(json, "reason");
    if (!item->paper || !item->name) return wrong(path, item, "no \"paper\" or no \"item\"");
    snprintf(item->id, sizeof item->id, "%s/%s", item->paper, item->name);
    if (!item->what || !item->where) return wrong(path, item, "no \"what\" or no \"where\"");
    if (!is_one_of(item->kind, kinds)) return wrong(path, item, "\"kind\" is none of V C R T G");
    for (const cJSON *k = json->child; k; k = k->next)
        if (!is_one_of(k->string, keys)) {
            char text[80];
            snprintf(text, sizeof text, "there is no key \"%.40s\"", k->string);
            return wrong(path, item, text);
        }
    const char *verdict = json_text(json, "verdict");
    item->verdict = VERDICTS;
    for (int v = 0; verdict && v < VERDICTS; v++)
        if (!strcmp(verdict, verdict_name[v])) item->verdict = v;
    if (verdict && (item->verdict == VERDICTS || item->verdict == CONTRADICTS))
        return wrong(path, item, "\"verdict\" is none of same, better, differs and missing");
    if (!cJSON_GetObjectItemCaseSensitive(json, "ours") && !json_text(json, "holds") && !verdict)
        return wrong(path, item, "none of \"ours\", \"holds\" and \"verdict\"");
    if ((item->verdict == DIFFERS || item->verdict == MISSING) && !item->reason)
        return wrong(path, item, "no \"reason\"");
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(json, "ours");
    item->ours_text = *item->kind == 'T' || *item->kind == 'G' ? cJSON_GetStringValue(ours) : NULL;
    int code = read_value(path, item);
    return code ? code : read_band(path, item);
}

int items_read(struct items *all, const char *path) {
    *all = (struct items){0};
    int code = json_file_read(&all->root, path);
    if (code) return code;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(all->root, "items"), *e;
    const int n = cJSON_GetArraySize(list);
    all->item = n ? calloc((size_t)n, sizeof *all->item) : NULL;
    if (!all->item) {
        complain("%s: there are no \"items\"", path);
        return EXIT_FAILED;
    }
    cJSON_ArrayForEach(e, list) {
        struct item *item = &all->item[all->count++];
        if ((code = read_item(path, e, item))) return code;
        for (int i = 0; i < all->count - 1; i++)
            if (!strcmp(all->item[i].id, item->id)) return wrong(path, item, "it is there twice");
    }
    return 0;
}

void items_close(struct items *all) {
    for (int i = 0; i < all->count; i++) {
        free(all->item[i].published.v);
        free(all->item[i].ours.v);
        free(all->item[i].second);
    }
    free(all->item);
    cJSON_Delete(all->root);
    *all = (struct items){0};
}

/* ---- figures ---- */

struct finder {
    const struct items *all;
    const cJSON *commands;
    struct outputs *outputs;
    const char *id;
    struct output published; /* of the last item that was asked for */
};

/* The command with its words in their places. */
static int fill(char *line, size_t size, const char *command, const char *words) {
    char copy[128], *word[9] = {0};
    int n = 0;
    size_t at = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *save = NULL, *w = strtok_r(copy, " ", &save); w && n < 9;
         w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    for (const char *c = command; *c && at + 1 < size; c++) {
        if (*c != '$' || c[1] < '1' || c[1] > '9') {
            line[at++] = *c;
            continue;
        }
        const char *w = word[*++c - '1'];
        if (!w) return -1;
        at += (size_t)snprintf(line + at, size - at, "%s", w);
    }
    if (at >= size) return -1;
    line[at] = '\0';
    return 0;
}

/* The published numbers of an item. */
static const struct output *find_published(struct finder *f, const char *id) {
    for (int i = 0; i < f->all->count; i++)
        if (!strcmp(f->all->item[i].id, id) && f->all->item[i].published.n) {
            f->published.json = cJSON_GetObjectItemCaseSensitive(f->all->item[i].json, "value");
            return &f->published;
        }
    complain("published.json: item %s: published{%s} is no item with numbers, expected one, as %s",
             f->id, id, f->all->item[0].id);
    return NULL;
}

static const struct output *find(void *arg, const char *name, const char *words) {
    struct finder *f = arg;
    if (!strcmp(name, "published")) return find_published(f, words);
    const char *command = json_text(f->commands, name);
    char line[1024];
    if (!command || fill(line, sizeof line, command, words)) {
        complain("published.json: item %s: %s{%s} is none of \"outputs\", or lacks a word", f->id,
                 name, words);
        return NULL;
    }
    return outputs_get(f->outputs, line);
}

static int evaluate(const char *expression, struct finder *f, struct numbers *value) {
    char why[256] = "";
    if (!papers_evaluate(expression, find, f, value, why, sizeof why)) return 0;
    if (*why) complain("published.json: item %s: %s, in %s", f->id, why, expression);
    return EXIT_FAILED;
}

static struct finder finder_of(const struct items *all, struct outputs *outputs, const char *id) {
    return (struct finder){.all = all,
                           .commands = cJSON_GetObjectItemCaseSensitive(all->root, "outputs"),
                           .outputs = outputs,
                           .id = id};
}

int items_evaluate(const struct items *all, struct outputs *outputs, const char *id,
                   const char *expression, struct numbers *value) {
    struct finder f = finder_of(all, outputs, id);
    return evaluate(expression, &f, value);
}

const struct output *items_output(const struct items *all, struct outputs *outputs,
                                  const char *name) {
    struct finder f = finder_of(all, outputs, name);
    char head[64], words[128] = "";
    snprintf(head, sizeof head, "%.*s", (int)strcspn(name, "{"), name);
    const char *open = strchr(name, '{');
    if (open) snprintf(words, sizeof words, "%.*s", (int)strcspn(open + 1, "}"), open + 1);
    return find(&f, head, words);
}

static int do_ours(struct item *item, struct finder *f) {
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(item->json, "ours");
    if (item->ours_text) return 0;
    const cJSON *e = cJSON_IsArray(ours) ? ours->child : ours;
    for (int code; e; e = e == ours ? NULL : e->next) {
        struct numbers value;
        const char *text = cJSON_GetStringValue(e);
        if ((code = evaluate(text ? text : "", f, &value))) return code;
        double *more = realloc(item->ours.v, sizeof *more * (size_t)(item->ours.n + value.n + 1));
        if (more) {
            item->ours.v = more;
            memcpy(more + item->ours.n, value.v, sizeof *more * (size_t)value.n);
            item->ours.n += value.n;
        }
        free(value.v);
        if (!more) return wrong("published.json", item, "not enough memory");
    }
    if (item->published.n && item->ours.n && item->published.n != item->ours.n) {
        complain("published.json: item %s: %d numbers published and %d here", item->id,
                 item->published.n, item->ours.n);
        return EXIT_FAILED;
    }
    return 0;
}

void item_ratio(const struct item *item, double *least, double *most) {
    *least = *most = NAN;
    for (int i = 0; item->ours.n && i < item->published.n; i++) {
        const double ratio = item->ours.v[i] / item->published.v[i];
        *least = fmin(*least, ratio);
        *most = fmax(*most, ratio);
    }
}

static void judge(struct item *item, int holds) {
    double least, most;
    item_ratio(item, &least, &most);
    if (isfinite(least)) {
        const char *wanted = json_text(item->json, "wanted");
        if (least >= 1 - PAPERS_NEAR && most <= 1 + PAPERS_NEAR)
            item->verdict = SAME;
        else if (wanted && (*wanted == 'm' ? least >= 1 - PAPERS_NEAR : most <= 1 + PAPERS_NEAR))
            item->verdict = BETTER;
        else if (holds > 0)
            item->verdict = SAME;
        else
            item->verdict = second_contradicts(item) ? CONTRADICTS : DIFFERS;
    } else {
        if (item->verdict == VERDICTS) item->verdict = holds ? SAME : DIFFERS;
        for (int i = 0; i < item->ours.n; i++) {
            least = fmin(least, item->ours.v[i]);
            most = fmax(most, item->ours.v[i]);
        }
    }
    if (!holds) {
        item->verdict = DIFFERS;
        item->outside = 1;
    }
    if (isfinite(item->least) && isfinite(least))
        item->outside |= !(least >= item->least && most <= item->most);
}

int item_do(struct item *item, const struct items *all, struct outputs *outputs) {
    struct finder f = finder_of(all, outputs, item->id);
    const char *order = json_text(item->json, "holds");
    struct numbers value;
    int holds = -1; /* nothing is stated */
    int code = do_ours(item, &f);
    if (!code && order && !(code = evaluate(order, &f, &value))) {
        holds = 1;
        for (int i = 0; i < value.n; i++) holds &= value.v[i] != 0;
        free(value.v);
    }
    if (!code) code = second_do(item, all, outputs);
    if (code) return code;
    judge(item, holds);
    item->done = 1;
    return 0;
}

void items_count(const struct items *all, const char *paper, char *text, size_t size) {
    int count[VERDICTS] = {0}, n = 0;
    for (int i = 0; i < all->count; i++)
        if (all->item[i].done && (!paper || !strcmp(paper, all->item[i].paper))) {
            n++;
            count[all->item[i].verdict]++;
        }
    snprintf(text, size, "%d items: %d same, %d better, %d contradict, %d differ, %d missing", n,
             count[SAME], count[BETTER], count[CONTRADICTS], count[DIFFERS], count[MISSING]);
}

void numbers_text(const struct numbers *numbers, int most, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (int i = 0; i < numbers->n && i < most && at < size; i++) {
        const double x = numbers->v[i];
        const int decimals = fabs(x) >= 100 || x == floor(x) ? 0 : fabs(x) >= 10 ? 1 : 2;
        const char *comma = i ? ", " : "";
        if (x != 0 && (fabs(x) < 0.1 || fabs(x) >= 1e6))
            at += (size_t)snprintf(text + at, size - at, "%s%.3g", comma, x);
        else
            at += (size_t)snprintf(text + at, size - at, "%s%.*f", comma, decimals, x);
    }
    if (numbers->n > most && at < size) snprintf(text + at, size - at, ", .. (%d)", numbers->n);
}
