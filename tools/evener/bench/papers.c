/* evener bench papers: figures, tables and headline numbers of the five papers, each beside the
 * figure that this executable gives, with a verdict.
 *
 * Published numbers are data (bench/papers/published.json), with the sentence that each is from and
 * the band that ours has to be in; ours come from commands that this study runs. Virtual time and
 * counts are the same on any machine. */
#include "bench/papers.h"
#include "bench/bench.h"
#include "common/cli/files.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *papers, *items, *published, *json, *report, *page;
    int real, quiet;
};

/* Whether a list (empty: all) has the paper, or the item, or a name that it begins with a dot
 * behind. */
static int chosen(const struct option_list *list, const char *name) {
    for (int i = 0; i < list->count; i++) {
        const size_t n = strlen(list->word[i]);
        if (!strncmp(list->word[i], name, n) && (!name[n] || name[n] == '.')) return 1;
    }
    return !list->count;
}

/* Each word of a list has to be of some item. */
static int check_list(const struct items *all, const struct option_list *list, const char *option) {
    for (int i = 0; i < list->count; i++) {
        const struct option_list one = {.count = 1, .word = {list->word[i]}};
        int there = 0;
        for (int k = 0; k < all->count; k++)
            there |= chosen(&one, *option == 'p' ? all->item[k].paper : all->item[k].id);
        if (there) continue;
        complain("--%s %s: there is no such %s, expected one of published.json, as %s", option,
                 list->word[i], option, *option == 'p' ? all->item[0].paper : all->item[0].id);
        return EXIT_USAGE;
    }
    return 0;
}

static void print_item(const struct item *item, FILE *out) {
    char published[64], ours[64], ratio[32] = "", second[400];
    double least, most;
    numbers_text(&item->published, 3, published, sizeof published);
    numbers_text(&item->ours, 3, ours, sizeof ours);
    item_ratio(item, &least, &most);
    if (isfinite(least) && item->published.n > 1)
        snprintf(ratio, sizeof ratio, "%.2f to %.2f", least, most);
    else if (isfinite(least))
        snprintf(ratio, sizeof ratio, "%.2f", least);
    fprintf(out, "%-24s  %s  %-22s  %-22s  %-12s  %-11s%s\n    %s%s%s%s\n", item->id, item->kind,
            item->published.n      ? published
            : item->published_text ? item->published_text
                                   : "-",
            item->ours.n      ? ours
            : item->ours_text ? item->ours_text
                              : "-",
            *ratio ? ratio : "-", verdict_name[item->verdict],
            item->outside ? "  OUT OF ITS BAND" : "", item->what, item->unit ? ", " : "",
            item->unit ? item->unit : "", "");
    second_text(item, second, sizeof second);
    if (item->verdict == CONTRADICTS) fprintf(out, "    %s\n", second);
    if (item->reason && item->verdict != SAME) fprintf(out, "    %s\n", item->reason);
    fflush(out);
}

static void print_end(const struct items *all, FILE *out) {
    int done = 0, outside = 0;
    char text[160];
    for (int i = 0; i < all->count; i++) {
        done += all->item[i].done;
        outside += all->item[i].done && all->item[i].outside;
    }
    items_count(all, NULL, text, sizeof text);
    fprintf(out, "\n%s", text);
    if (done < all->count) fprintf(out, "; %d not asked for", all->count - done);
    fprintf(out,
            "\nkind: V virtual time, C counted, R ratio of real runs, T text or interface, G needs "
            "a GPU; ratio: ours over published;\nsame: within 5 %%, or the stated order holds; "
            "contradict: the paper has two numbers for the same that lie\nfurther apart, and ours "
            "agrees with the other one, or lies between\n");
    if (outside) fprintf(out, "%d out of their bands\n", outside);
}

static void add_numbers(cJSON *o, const char *key, const struct numbers *numbers) {
    if (numbers->n) cJSON_AddItemToObject(o, key, record_numbers(numbers->v, numbers->n));
}

/* Least and most of each number's second source; null: it has none. */
static cJSON *record_second(const struct item *item) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < item->published.n; i++) {
        const struct second s = item->second[i];
        const double pair[] = {s.least, s.most};
        cJSON_AddItemToArray(list, isnan(s.least) ? cJSON_CreateNull() : record_numbers(pair, 2));
    }
    return list;
}

static cJSON *record(const struct items *all) {
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "items");
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    for (int i = 0; i < all->count; i++) {
        const struct item *item = &all->item[i];
        if (!item->done) continue;
        double least, most;
        cJSON *o = cJSON_CreateObject();
        item_ratio(item, &least, &most);
        cJSON_AddStringToObject(o, "paper", item->paper);
        cJSON_AddStringToObject(o, "item", item->name);
        cJSON_AddStringToObject(o, "kind", item->kind);
        cJSON_AddStringToObject(o, "what", item->what);
        if (item->unit) cJSON_AddStringToObject(o, "unit", item->unit);
        add_numbers(o, "published", &item->published);
        add_numbers(o, "ours", &item->ours);
        record_number(o, "ratio_least", least);
        record_number(o, "ratio_most", most);
        if (item->second) cJSON_AddItemToObject(o, "second", record_second(item));
        cJSON_AddStringToObject(o, "verdict", verdict_name[item->verdict]);
        cJSON_AddBoolToObject(o, "outside", item->outside);
        cJSON_AddStringToObject(o, "reason", item->reason ? item->reason : "");
        cJSON_AddItemToArray(list, o);
    }
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

/* All that are asked for, each printed when it is done; one that fails does not hide the others. */
static int study(struct items *all, const struct request *request, struct outputs *outputs) {
    struct option_list papers = {0}, names = {0};
    int code = 0;
    if (request->papers) code = options_list(&papers, "paper", request->papers);
    if (!code && request->items) code = options_list(&names, "item", request->items);
    if (!code) code = check_list(all, &papers, "paper");
    if (!code) code = check_list(all, &names, "item");
    FILE *out = request->quiet ? NULL : files_page();
    const int sound = !code;
    for (int i = 0; sound && i < all->count; i++) {
        struct item *item = &all->item[i];
        const int real = *item->kind == 'R' && cJSON_HasObjectItem(item->json, "ours");
        if (!chosen(&papers, item->paper) || !chosen(&names, item->id)) continue;
        if (real && !request->real) continue;
        const int failed = item_do(item, all, outputs);
        if (failed) complain("bench papers: item %s has no figure", item->id);
        if (failed) code = failed;
        if (!failed && out) print_item(item, out);
    }
    if (sound && out) print_end(all, out);
    return code;
}

static int write_record(const struct items *all, const char *path) {
    evn_output *output;
    int code = output_open(&output, path);
    char *text = !code && output ? record_text(record(all)) : NULL;
    if (text) code = output_commit(output, text);
    free(text);
    evn_output_close(output);
    return code;
}

static int write_page(const struct items *all, const char *path) {
    evn_output *output;
    int code = output_open(&output, path);
    if (!code && output) {
        papers_page(evn_output_stream(output), all);
        code = output_commit(output, NULL);
    }
    evn_output_close(output);
    return code;
}

static int write_report(const struct items *all, struct outputs *outputs, const char *path) {
    evn_output *output;
    int code = output_open(&output, path);
    if (!code && output) code = papers_report(evn_output_stream(output), all, outputs);
    if (!code) code = output_commit(output, NULL);
    evn_output_close(output);
    return code;
}

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"paper", "LIST", "of these papers only, as 000,003 (default: all)", OPTION_TEXT, AT(papers), 0,
     0},
    {"item", "LIST", "these items only, as 000/fig12 or 000/fig12.B", OPTION_TEXT, AT(items), 0, 0},
    {"real", NULL, "ratios of real runs, too; they need a quiet machine", OPTION_FLAG, AT(real), 0,
     0},
    {"published", "FILE", "published numbers (default: those that are installed)", OPTION_INPUT,
     AT(published), 0, 0},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT, AT(json), 0, 0},
    {"page", "FILE", "the table as Markdown, docs/papers.md", OPTION_OUTPUT, AT(page), 0, 0},
    {"report", "FILE", "a page with pictures, published points beside ours", OPTION_OUTPUT,
     AT(report), 0, 0},
    {"quiet", NULL, "no table", OPTION_FLAG, AT(quiet), 0, 0},
    {0},
};
#undef AT

int bench_papers(int argc, char **argv) {
    struct request request = {0};
    const int code_read = options_read_plain(
        "bench papers",
        "usage: evener bench papers [options]\n\n"
        "Figures, tables and headline numbers of the five papers beside those of this executable.\n"
        "Exit status 1: a figure in virtual time or a count is outside the band that the file of\n"
        "published numbers has for it.\n\n",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code_read) return code_read < 0 ? EXIT_DONE : code_read;
    char path[1024];
    int code = 0;
    if (request.published)
        snprintf(path, sizeof path, "%s", request.published);
    else
        code = papers_find("papers/published.json", path, sizeof path);
    struct items all = {0};
    struct outputs *outputs = outputs_open();
    if (!code) code = items_read(&all, path);
    if (!code && !outputs) code = EXIT_FAILED;
    if (!code) code = study(&all, &request, outputs);
    if (!code) code = write_record(&all, request.json);
    if (!code) code = write_page(&all, request.page);
    if (!code) code = write_report(&all, outputs, request.report);
    for (int i = 0; !code && i < all.count; i++)
        if (all.item[i].outside) code = EXIT_UNVERIFIED;
    outputs_close(outputs);
    items_close(&all);
    return code;
}
