/* Parts of the study of the papers: published items as read, their figures here, verdicts. */
#ifndef TOOL_BENCH_PAPERS_H
#define TOOL_BENCH_PAPERS_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* -- outputs of the command (papers_output.c) -- */

/* Outputs of the command by its words, each produced once by a process of this executable. */
struct outputs;

struct output {
    char *words; /* "plan bt-mz --class B --json -" */
    char *text;  /* standard output */
    cJSON *json; /* the same, NULL where it is none */
};

/* NULL: no memory. */
struct outputs *outputs_open(void);
void outputs_close(struct outputs *all);

/* The output of `evener WORDS`; a word @FILE is an installed file, as @machines/power9-4v100.json.
 * Valid until the close. NULL after a message: it failed, and the message has its command line and
 * what it said.
 */
const struct output *outputs_get(struct outputs *all, const char *words);

/* Writes the path of an installed file, as papers/published.json; 0, or an exit status after a
 * message that names the places. */
int papers_find(const char *name, char *path, size_t size);

/* -- expressions over outputs (papers_expression.c) -- */

/* A vector of numbers; a scalar is a vector of one. */
struct numbers {
    int n;
    double *v;
};

/* The output that a name stands for, with the words in its braces; NULL after a message. */
typedef const struct output *output_of(void *arg, const char *name, const char *words);

/* The value of an expression, to be freed. 0, or -1 with the reason in `why` (empty: a message was
 * printed).
 *
 *     gpus{bt-mz B 1 static}.iterations[-1].step_s     a record of the output `gpus` of these words
 *     max(a.load) / min(a.load)
 *     m.rows[variant=slabs][nodes=8].step_s            elements whose key has that text or number
 *     sum(a.iterations[*].migrations)                  of all elements
 *     a~"guided"[2]                                    the third number behind that word in a line
 *     a.hash == b.hash and a.verified
 *
 * Names are outputs; operators work by element, and a scalar with all of a vector. A text counts
 * as a number that equal texts share; true is 1, false 0. Functions: sum mean min max count abs
 * sqrt, list(a, b, ..), at(v, i), and cuts(v), how often neighbours in v differ.
 */
int papers_evaluate(const char *expression, output_of *find, void *arg, struct numbers *value,
                    char *why, size_t size);

/* -- items (papers_items.c) -- */

/* CONTRADICTS: numbers of the paper for the same quantity lie apart, and ours agrees with another
 * one than it is compared with, or lies between (papers_second.c). It is never given by the file.
 */
enum verdict { SAME, BETTER, CONTRADICTS, DIFFERS, MISSING, VERDICTS };
extern const char *const verdict_name[VERDICTS];

#define PAPERS_NEAR 0.05 /* same: within that much of the published number */

/* From least to most; NaN: there is none. */
struct second {
    double least, most;
};

/* An item of published.json; texts belong to the file. */
struct item {
    const cJSON *json;
    const char *paper, *name, *what, *kind, *where, *unit, *reason;
    char id[64];              /* 000/fig12.guided */
    struct numbers published; /* n 0: nothing legible, or a text */
    struct numbers ours;      /* n 0: none */
    struct second
        *second; /* of each published number, the same by others of its paper; NULL: none */
    const char *published_text, *ours_text; /* instead of numbers; NULL */
    double least, most; /* of the ratios, or of ours where nothing is published; NaN: none */
    int done, outside;  /* outside: it has left its band, or its order does not hold */
    enum verdict verdict;
};

struct items {
    cJSON *root;
    int count;
    struct item *item;
};

/* Reads and checks the file; 0, or an exit status after a message. Close it in any case. */
int items_read(struct items *all, const char *path);
void items_close(struct items *all);

/* Figures and verdict of an item by commands. 0, or an exit status after a message. */
int item_do(struct item *item, const struct items *all, struct outputs *outputs);

/* The value of any expression, to be freed, and the output of `name{words}`; `id` is for messages.
 * 0 or an exit status, or NULL, after a message. */
int items_evaluate(const struct items *all, struct outputs *outputs, const char *id,
                   const char *expression, struct numbers *value);
const struct output *items_output(const struct items *all, struct outputs *outputs,
                                  const char *name);

/* The least and the greatest of ours over published; NaN without both. */
void item_ratio(const struct item *item, double *least, double *most);

/* "162 items: 113 same, ..", of those that were done; of one paper, or of all (NULL). */
void items_count(const struct items *all, const char *paper, char *text, size_t size);

/* Numbers as people read them, "2.39, 2.51"; at most `most` of them. */
void numbers_text(const struct numbers *numbers, int most, char *text, size_t size);

/* -- papers that contradict themselves (papers_second.c) -- */

/* Computes item->second by its key "second"; 0, or an exit status after a message. */
int second_do(struct item *item, const struct items *all, struct outputs *outputs);

/* 1 if each number of ours that is not near the published one is near the second value, or lies
 * between the two, and these are not near each other. */
int second_contradicts(const struct item *item);

/* Says it of each such number: "16.0 is 12.0 by other numbers of the paper, and ours lies between".
 */
void second_text(const struct item *item, char *text, size_t size);

/* -- pages (papers_page.c, papers_report.c) -- */

/* docs/papers.md. */
void papers_page(FILE *out, const struct items *all);
/* The pictures as HTML; 0, or an exit status after a message. */
int papers_report(FILE *out, const struct items *all, struct outputs *outputs);

#endif
