/* docs/papers.md from the items: a table a paper. */
#include "bench/papers.h"
#include "common/cli/message.h"
#include "common/cli/json_file.h"
#include <math.h>
#include <string.h>

static void cell(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* Published numbers or their text; "lost" where only a picture had them. */
static void published(FILE *out, const struct item *item) {
    char text[256];
    numbers_text(&item->published, 12, text, sizeof text);
    if (item->published.n) {
        fprintf(out, "%s%s%s", text, item->unit ? " " : "", item->unit ? item->unit : "");
        return;
    }
    const cJSON *legible = cJSON_GetObjectItemCaseSensitive(item->json, "legible");
    cell(out, item->published_text     ? item->published_text
              : cJSON_IsFalse(legible) ? "lost"
                                       : "text");
}

static void row(FILE *out, const struct item *item) {
    char text[256], ratio[48] = "", second[400];
    double least, most;
    item_ratio(item, &least, &most);
    numbers_text(&item->ours, 12, text, sizeof text);
    if (isfinite(least) && item->published.n > 1)
        snprintf(ratio, sizeof ratio, "%.2f to %.2f", least, most);
    else if (isfinite(least))
        snprintf(ratio, sizeof ratio, "%.2f", least);
    fprintf(out, "| `%s` %s | ", item->name, item->kind);
    cell(out, item->what);
    fputs(" | ", out);
    published(out, item);
    fputs(" | ", out);
    cell(out, item->ours.n ? text : item->ours_text ? item->ours_text : "");
    if (item->ours.n && item->unit && !item->published.n) fprintf(out, " %s", item->unit);
    fprintf(out, " | %s | **%s** | ", ratio, verdict_name[item->verdict]);
    second_text(item, second, sizeof second);
    if (item->verdict == CONTRADICTS) fprintf(out, "%s%s", second, item->reason ? ": " : "");
    cell(out, item->reason && (item->verdict != SAME || !item->ours.n) ? item->reason : "");
    fputs(" |\n", out);
}

static void counts(FILE *out, const struct items *all, const char *paper) {
    char text[160];
    items_count(all, paper, text, sizeof text);
    fprintf(out, "%s.\n", text);
}

void papers_page(FILE *out, const struct items *all) {
    fputs(
        "# The papers, figure by figure\n\n"
        "Written by `evener bench papers --page docs/papers.md` from "
        "`bench/papers/published.json`, "
        "which has the sentence\nthat each published number is from, the expression that gives "
        "ours, and the band that ours has to stay in; do not\nedit it. `evener bench papers "
        "--report FILE.html` draws it. Letters behind an item: V virtual time, C counted, R\n"
        "ratio of real runs (`--real`), T text or interface, G needs a GPU. Several numbers of an "
        "item stand in the order of\nits description; the ratio is ours over published, least to "
        "greatest. **same**: within 5 %, or the order that the\npaper states holds. \"lost\": only "
        "a "
        "picture has the number, and the text at hand has no pictures.\n\n"
        "**contradicts**: the paper contradicts itself. `\"second\"` of the item has an expression "
        "of other published numbers of\nthe same paper that gives the same quantity once more; the "
        "two lie more than 5 % apart, so that no figure can meet both,\nand ours is within 5 % of "
        "the second or lies between them. Both are computed when the page is written; where ours "
        "agrees with\nneither, or the two agree, the verdict is **differs**. Such an item does not "
        "count as same.\n\n",
        out);
    counts(out, all, NULL);
    const cJSON *papers = cJSON_GetObjectItemCaseSensitive(all->root, "papers"), *p;
    cJSON_ArrayForEach(p, papers) {
        fprintf(out, "\n## %s\n\n%s\n\n", json_text(p, "title"), json_text(p, "about"));
        counts(out, all, json_text(p, "paper"));
        fputs("\n| item | what | published | ours | ratio | verdict | reason |\n"
              "|---|---|---|---|---|---|---|\n",
              out);
        for (int i = 0; i < all->count; i++)
            if (all->item[i].done && !strcmp(all->item[i].paper, json_text(p, "paper")))
                row(out, &all->item[i]);
        const cJSON *errors = cJSON_GetObjectItemCaseSensitive(p, "errors"), *e;
        if (errors)
            fputs("\nErrors and implausible numbers in the paper, by recomputation:\n\n", out);
        cJSON_ArrayForEach(e, errors) fprintf(out, "* %s\n", e->valuestring);
    }
    fputs(
        "\n## Commands\n\nBehind the names in expressions; `$1`, `$2`, .. are the words in braces, "
        "`@FILE` is a file of `bench`.\n\n",
        out);
    cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(all->root, "outputs"))
        fprintf(out, "* `%s`: `evener %s`\n", p->string, p->valuestring);
}
