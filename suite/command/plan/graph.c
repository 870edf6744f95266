/* Graphs in the formats of METIS and Chaco: a line with the numbers of vertices and edges, a format
 * and a number of weights; then a line for each vertex, with its weights and its neighbours,
 * counted from 1. A vertex is a task; an edge's weight are bytes of a link.
 *
 * The format's digits say, from the right, whether edges have weights, whether vertices have, and
 * whether something is before these: in METIS a vertex's size, which is taken as bytes of its data;
 * in Chaco its number. Where the lines begin with 1, 2, 3 and so on, they are numbers. */
#include "plan/foreign.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include <evener/number.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES_MOST = 1 << 28, WEIGHTS_MOST = 100 };

struct graph {
    const char *path;
    char *next;                                  /* the text that is left */
    int line;                                    /* number of the present one, from 1 */
    int vertices, edges, first, weights, weighs; /* weighs: edges have weights */
    int numbered;                                /* 1: `first` is the vertex's number */
    struct foreign *to;
    evn_link *end; /* each edge twice, from each of its vertices, with the line in `line_of` */
    int *line_of, ends;
};

static int wrong(const struct graph *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int wrong(const struct graph *g, const char *format, ...) {
    char what[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    complain("%s: line %d: %s", g->path, g->line, what);
    return EXIT_USAGE;
}

/* The next line that is no comment; NULL: there is none. */
static char *next_line(struct graph *g) {
    while (*g->next) {
        char *line = g->next;
        const size_t length = strcspn(line, "\n");
        g->next += length + (line[length] == '\n');
        line[length] = '\0';
        g->line++;
        line += strspn(line, " \t\r");
        if (*line != '%' && *line != '#') return line;
    }
    return NULL;
}

/* The next word of a line; NULL: there is none. */
static char *next_word(char **line) {
    char *word = *line + strspn(*line, " \t\r");
    if (!*word) return NULL;
    *line = word + strcspn(word, " \t\r");
    if (**line) *(*line)++ = '\0';
    return word;
}

static int read_whole(const struct graph *g, const char *word, const char *what, int least,
                      int most, int *out) {
    long value;
    if (!word) return wrong(g, "there is no %s", what);
    if (evn_read_whole(word, least, most, &value))
        return wrong(g, "%s \"%.40s\": %s", what, word, evn_message());
    *out = (int)value;
    return 0;
}

static int read_weight(const struct graph *g, const char *word, const char *what, double *out) {
    const evn_bounds bounds = {0, INFINITY, 0};
    if (!word) return wrong(g, "there is no %s", what);
    if (evn_read_real(word, bounds, out))
        return wrong(g, "%s \"%.40s\": %s", what, word, evn_message());
    return 0;
}

/* The first line. */
static int read_head(struct graph *g) {
    char *line;
    do line = next_line(g);
    while (line && !*line);
    g->line += !line;
    if (!line) return wrong(g, "the graph is empty, expected its numbers of vertices and edges");
    int code =
        read_whole(g, next_word(&line), "number of vertices", 1, VERTICES_MOST, &g->vertices);
    if (!code) code = read_whole(g, next_word(&line), "number of edges", 0, INT_MAX / 4, &g->edges);
    const char *format = next_word(&line), *weights = next_word(&line);
    if (code) return code;
    if (format && (strlen(format) > 3 || strspn(format, "01") != strlen(format)))
        return wrong(g, "format \"%.40s\", expected up to three digits 0 or 1, as 011", format);
    const size_t digits = format ? strlen(format) : 0;
    g->weighs = digits > 0 && format[digits - 1] == '1';
    g->weights = digits > 1 && format[digits - 2] == '1';
    g->first = digits > 2 && format[0] == '1';
    if (weights && !g->weights)
        return wrong(g, "a number of weights, and format %s has none of vertices", format);
    if (weights) code = read_whole(g, weights, "number of weights", 1, WEIGHTS_MOST, &g->weights);
    if (!code && next_word(&line)) return wrong(g, "there are more than four numbers");
    if (!code && g->weights > 1)
        complain("warning: %s: of %d weights a vertex the first one counts", g->path, g->weights);
    return code;
}

/* Memory for the tasks. No wrong number takes more of it than the text's length is worth: a vertex
 * has a line, an edge several characters. */
static int make_room(struct graph *g, size_t length) {
    struct foreign *f = g->to;
    if ((size_t)g->vertices > length + 1 || (size_t)g->edges > length)
        return wrong(g, "%d vertices and %d edges are more than the file has", g->vertices,
                     g->edges);
    const size_t n = (size_t)g->vertices, m = 2 * (size_t)g->edges + 1;
    f->tasks = g->vertices;
    if (g->weights) f->weight = malloc(n * sizeof *f->weight);
    if (g->first) f->bytes = malloc(n * sizeof *f->bytes);
    g->end = malloc(m * sizeof *g->end);
    g->line_of = malloc(n * sizeof *g->line_of);
    if (g->end && g->line_of && (f->weight || !g->weights) && (f->bytes || !g->first)) return 0;
    complain("not enough memory for %d vertices and %d edges", g->vertices, g->edges);
    return EXIT_USAGE;
}

static int read_edges(struct graph *g, int vertex, char *line) {
    for (char *word; (word = next_word(&line));) {
        evn_link edge = {.task = {vertex}, .bytes = 1};
        int code = read_whole(g, word, "neighbour", 1, g->vertices, &edge.task[1]);
        if (!code && --edge.task[1] == vertex)
            return wrong(g, "vertex %d is its own neighbour; expected none of these", vertex + 1);
        if (!code && g->weighs)
            code = read_weight(g, next_word(&line), "weight of an edge", &edge.bytes);
        if (code) return code;
        if (g->ends == 2 * g->edges)
            return wrong(g, "there are more than the %d edges that the first line says", g->edges);
        g->end[g->ends++] = edge;
    }
    return 0;
}

static int read_vertices(struct graph *g) {
    struct foreign *f = g->to;
    g->numbered = g->first;
    for (int v = 0; v < g->vertices; v++) {
        char *line = next_line(g);
        int code = 0;
        if (!line)
            return wrong(g, "the file ends after %d of %d vertices; expected a line for each", v,
                         g->vertices);
        g->line_of[v] = g->line;
        if (g->first) code = read_weight(g, next_word(&line), "size", &f->bytes[v]);
        if (!code && g->first) g->numbered &= f->bytes[v] == v + 1;
        for (int w = 0; !code && w < g->weights; w++) {
            double weight = 0;
            code = read_weight(g, next_word(&line), "weight of the vertex", &weight);
            if (!w) f->weight[v] = weight;
        }
        if (!code) code = read_edges(g, v, line);
        if (code) return code;
    }
    for (char *line; (line = next_line(g));)
        if (*line)
            return wrong(g, "there are more lines than the %d vertices of the first line",
                         g->vertices);
    return 0;
}

/* By the two vertices, the smaller first; of both ends of an edge, that of the smaller one. */
static int by_edge(const void *a, const void *b) {
    const evn_link *x = a, *y = b;
    const int i = x->task[0] > x->task[1], j = y->task[0] > y->task[1];
    const int less[] = {x->task[i], x->task[1 - i], i}, more[] = {y->task[j], y->task[1 - j], j};
    for (int k = 0; k < 3; k++)
        if (less[k] != more[k]) return less[k] < more[k] ? -1 : 1;
    return 0;
}

static int same_edge(const evn_link *a, const evn_link *b) {
    return a->task[0] == b->task[1] && a->task[1] == b->task[0];
}

/* Edges from both of their ends: each there once, with one weight. */
static int join_ends(struct graph *g) {
    struct foreign *f = g->to;
    qsort(g->end, (size_t)g->ends, sizeof *g->end, by_edge);
    for (int i = 0; i < g->ends; i += 2) {
        const evn_link *a = &g->end[i], *b = i + 1 < g->ends ? a + 1 : NULL;
        g->line = g->line_of[a->task[0]];
        if (i && a[-1].task[0] == a->task[0] && a[-1].task[1] == a->task[1]) b = a--;
        if (b && a->task[0] == b->task[0] && a->task[1] == b->task[1])
            return wrong(g, "vertex %d has the neighbour %d twice", a->task[0] + 1, a->task[1] + 1);
        if (!b || !same_edge(a, b))
            return wrong(g,
                         "vertex %d has the neighbour %d, which does not have it; expected "
                         "both",
                         a->task[0] + 1, a->task[1] + 1);
        if (a->bytes < b->bytes || a->bytes > b->bytes)
            return wrong(g, "the edge to %d weighs %g, and %g on line %d; expected the same",
                         a->task[1] + 1, a->bytes, b->bytes, g->line_of[b->task[0]]);
        f->link[f->links++] = *a;
    }
    if (f->links == g->edges) return 0;
    g->line = 1;
    return wrong(g, "%d edges, and there are %d", g->edges, f->links);
}

int graph_read(struct foreign *f) {
    char why[256], *text = file_text(f->path, why, sizeof why);
    struct graph g = {.path = f->path, .next = text, .to = f};
    if (!text) {
        complain("%s %s", f->path, why);
        return EXIT_USAGE;
    }
    const size_t length = strlen(text);
    int code = read_head(&g);
    if (!code) code = make_room(&g, length);
    if (!code) code = read_vertices(&g);
    if (!code && !(f->link = malloc((size_t)g.ends * sizeof *f->link + 1))) {
        complain("not enough memory for %d edges", g.edges);
        code = EXIT_USAGE;
    }
    if (!code) code = join_ends(&g);
    if (g.numbered) { /* Chaco's, which say nothing of data */
        free(f->bytes);
        f->bytes = NULL;
    }
    free(g.end);
    free(g.line_of);
    free(text);
    return code;
}
