/* Reading lists of units by nodes. */
#include "machine/nodes.h"
#include "common/cli/message.h"
#include <evener/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 4096, PARTS = 64 };

int nodes_are_in(const char *text) { return strchr(text, '*') != NULL; }

static int wrong(const char *text, const char *what) {
    complain("--units %s: %s; expected nodes as 64*1:CPU:16, or several as 4*NAME+2*1:GPU:1", text,
             what);
    return EXIT_USAGE;
}

/* One N*LIST or N*NAME, which ends with the text. */
struct part {
    long count;
    char *list; /* of a node's units */
    int entry;
};

static int read_part(struct part *part, char *word, const char *text,
                     const struct machine_file *machine) {
    char *star = strchr(word, '*');
    if (!star) return wrong(text, "a part has no number of nodes");
    *star = 0;
    if (evn_read_whole(word, 1, NODES_MAX, &part->count))
        return wrong(text, "a number of nodes is not from 1 to 4096");
    part->list = star + 1;
    part->entry = machine ? machine_file_node(machine, part->list) : -1;
    if (part->entry >= 0 && !strchr(part->list, ':'))
        part->list = (char *)machine_file_node_units(machine, part->entry);
    if (!strchr(part->list, ':')) return wrong(text, "there is no node of that name");
    return 0;
}

/* Room for more units. */
static int grow(struct nodes *n, int units) {
    int *node = realloc(n->node, (size_t)units * sizeof *node);
    if (node) n->node = node;
    int *entry = realloc(n->entry, (size_t)units * sizeof *entry);
    if (entry) n->entry = entry;
    return node && entry ? 0
                         : give_up(evn_fail(EVN_MEMORY, "not enough memory for %d units", units));
}

/* Appends one group of each node's units, "2:GPU:1", for all nodes of the part. */
static int add_group(struct nodes *n, const struct part *part, const char *group, size_t length,
                     const char *text) {
    const char *colon = memchr(group, ':', length);
    char number[16] = "";
    long each;
    if (colon && (size_t)(colon - group) < sizeof number)
        snprintf(number, sizeof number, "%.*s", (int)(colon - group), group);
    if (evn_read_whole(number, 1, NODES_MAX, &each))
        return wrong(text, "a node's units are not N:CPU:M or N:GPU:M");
    const int first = n->units_count;
    if (first + part->count * each > NODES_MAX)
        return wrong(text, "there are more than 4096 units");
    n->units_count += (int)(part->count * each);
    int code = grow(n, n->units_count);
    for (int u = first; !code && u < n->units_count; u++) {
        n->node[u] = n->count + (u - first) / (int)each;
        n->entry[u] = part->entry;
    }
    const size_t at = strlen(n->units);
    const int more = snprintf(n->units + at, sizeof n->units - at, "%s%ld%.*s", at ? "," : "",
                              part->count * each, (int)(length - (size_t)(colon - group)), colon);
    return code ? code : (size_t)more >= sizeof n->units - at ? wrong(text, "it is too long") : 0;
}

static int add_part(struct nodes *n, char *word, const char *text,
                    const struct machine_file *machine) {
    struct part part;
    int code = read_part(&part, word, text, machine);
    for (const char *p = code ? "" : part.list; !code && *p;) {
        const size_t length = strcspn(p, ",");
        code = add_group(n, &part, p, length, text);
        p += length;
        p += *p == ',';
    }
    if (!code) n->count += (int)part.count;
    return code;
}

int nodes_read(struct nodes *n, const char *text, const struct machine_file *machine) {
    *n = (struct nodes){0};
    char *copy = strdup(text), *rest = NULL;
    int code = copy ? 0 : give_up(evn_fail(EVN_MEMORY, "not enough memory for a list of nodes"));
    for (char *word = code ? NULL : strtok_r(copy, "+", &rest); !code && word;
         word = strtok_r(NULL, "+", &rest))
        code = add_part(n, word, text, machine);
    free(copy);
    return code;
}

void nodes_close(struct nodes *n) {
    free(n->node);
    free(n->entry);
    *n = (struct nodes){0};
}
