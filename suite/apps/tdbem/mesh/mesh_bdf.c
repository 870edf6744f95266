/* Nastran's bulk data: cards of fields of 8 columns, of 16 where a * follows the card's name, or
 * with commas between them; a line whose first field is empty, or begins with + or *, goes on.
 * Read are GRID, CTRIA3, CTRIA6, CTRIAR, CQUAD4, CQUAD8 and CQUADR. */
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_lines.h"
#include <errno.h>
#include <stdlib.h>

enum { FIELDS = 32, WIDTH = 24, LINE = 512 };

struct card {
    char field[FIELDS][WIDTH];
    int fields;
    int large, free; /* how its first line is written */
};

static void put(struct card *c, const char *from, size_t n) {
    if (c->fields == FIELDS) return;
    if (n >= WIDTH) n = WIDTH - 1;
    memcpy(c->field[c->fields], from, n);
    c->field[c->fields][n] = 0;
    char *word = trim(c->field[c->fields]);
    memmove(c->field[c->fields], word, strlen(word) + 1);
    c->fields++;
}

/* A line's fields; the first one is the card's name, or a mark that it goes on. */
static void split(struct card *c, char *line, int first) {
    const size_t length = strlen(line), begin = length < 8 ? length : 8;
    if (memchr(line, ',', length < 9 ? length : 9)) {
        int n = 0;
        for (char *at = line; at; n++) {
            char *comma = strchr(at, ',');
            if (n < 9 && (first || n)) put(c, at, comma ? (size_t)(comma - at) : strlen(at));
            at = comma ? comma + 1 : NULL;
        }
        for (n = n > 9 ? 9 : n; n < 9; n++) put(c, "", 0);
        return;
    }
    if (first) put(c, line, begin);
    const int large = memchr(line, '*', begin) != NULL;
    const size_t width = large ? 16 : 8;
    for (size_t f = 0; f < (large ? 4 : 8); f++) {
        const size_t at = 8 + f * width;
        put(c, at < length ? line + at : "",
            at < length ? (length - at < width ? length - at : width) : 0);
    }
}

static int goes_on(const char *line) {
    if (*line == '+' || *line == '*' || *line == ',') return 1;
    return line[strspn(line, " ")] && strspn(line, " ") >= 8;
}

/* Comments begin with $, tabs go to the next 8th column. */
static int bdf_line(struct source *s, char *line) {
    char raw[LINE];
    if (!line_next(s, raw, sizeof raw)) return 0;
    raw[strcspn(raw, "$")] = 0;
    size_t n = 0;
    for (const char *c = raw; *c && n + 9 < LINE; c++) {
        if (*c != '\t') line[n++] = *c;
        for (int i = *c == '\t'; i && (i == 1 || n % 8); i++) line[n++] = ' ';
    }
    line[n] = 0;
    return 1;
}

/* The next card with all of its lines; 0 at the end. */
static int next_card(struct source *s, struct card *c, size_t *at) {
    char line[LINE];
    c->fields = 0;
    do {
        *at = s->at;
        if (!bdf_line(s, line)) return 0;
    } while (!*trim(line) || goes_on(line));
    split(c, line, 1);
    for (size_t back; (back = s->at) < s->size;) {
        if (!bdf_line(s, line)) break;
        if (*line && !goes_on(line)) {
            s->at = back;
            break;
        }
        if (*line) split(c, line, 0);
    }
    return 1;
}

static const char *field(const struct card *c, int f) { return f < c->fields ? c->field[f] : ""; }

static int get_integer(const char *word, long long *value) {
    char *end;
    errno = 0;
    *value = strtoll(word, &end, 10);
    return !errno && end > word && !*end;
}

/* A number may lack the letter of its exponent: 1.5-3 is 0.0015; an empty one is 0. */
static int get_real(const char *word, double *value) {
    char text[2 * WIDTH], *end;
    size_t n = 0;
    for (const char *c = word; *c; c++) {
        const int sign = *c == '+' || *c == '-';
        if (sign && c > word && (isdigit((unsigned char)c[-1]) || c[-1] == '.')) text[n++] = 'e';
        text[n++] = *c == 'd' || *c == 'D' ? 'e' : *c;
    }
    text[n] = 0;
    *value = n ? strtod(text, &end) : 0;
    return !n || (end > text && !*end);
}

static evn_status grid(struct source *s, const struct card *c) {
    long long tag, system;
    double x[3];
    if (!get_integer(field(c, 1), &tag))
        return source_bad(s, "GRID: \"%s\" is no number of one", field(c, 1));
    if (*field(c, 2) && (!get_integer(field(c, 2), &system) || system))
        return source_bad(
            s, "GRID %lld: in coordinate system %s; expected the basic one: write the file so", tag,
            field(c, 2));
    for (int k = 0; k < 3; k++)
        if (!get_real(field(c, 3 + k), &x[k]))
            return source_bad(s, "GRID %lld: \"%s\" is no coordinate", tag, field(c, 3 + k));
    return source_node(s, tag, x);
}

static evn_status element(struct source *s, const struct card *c, const char *name, int corners,
                          int nodes) {
    long long label, node[9];
    if (!get_integer(field(c, 1), &label))
        return source_bad(s, "%s: \"%s\" is no number of one", name, field(c, 1));
    for (int n = 0; n < nodes; n++)
        if (n >= corners && (!*field(c, 3 + n) || !strcmp(field(c, 3 + n), "0")))
            nodes = corners; /* middle nodes may be left out */
        else if (!get_integer(field(c, 3 + n), &node[n]))
            return source_bad(s, "%s %lld: \"%s\" is no grid point", name, label, field(c, 3 + n));
    return source_element(s, label, nodes, node);
}

static evn_status one_card(struct source *s, struct card *c, int *end) {
    static const struct {
        const char *name;
        int corners, nodes;
    } elements[] = {{"CTRIA3", 3, 3}, {"CTRIAR", 3, 3}, {"CTRIA6", 3, 6},
                    {"CQUAD4", 4, 4}, {"CQUADR", 4, 4}, {"CQUAD8", 4, 8}};
    static const char *const solids[] = {"CTETRA", "CHEXA", "CPENTA", "CPYRAM", "CPYRA"};
    char *name = c->field[0], *star = strchr(name, '*');
    if (star) *star = 0;
    *end = !strcasecmp(name, "ENDDATA");
    if (!strcasecmp(name, "GRID")) return grid(s, c);
    if (!strncasecmp(name, "INCLUDE", 7))
        return source_bad(s, "INCLUDE is not followed; put the files into one");
    if (!strcasecmp(name, "GRDSET"))
        return source_bad(s, "GRDSET is not read; write a full GRID for each point");
    for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
        if (!strcasecmp(name, elements[e].name))
            return element(s, c, elements[e].name, elements[e].corners, elements[e].nodes);
    for (size_t e = 0; e < sizeof solids / sizeof *solids; e++)
        s->solids += !strcasecmp(name, solids[e]);
    return EVN_OK;
}

evn_status read_bdf(struct source *s) {
    char line[LINE];
    struct card card;
    size_t begin = 0;
    s->noun = "element";
    while (!begin && bdf_line(s, line)) /* what is before that is for the solver */
        if (!strncasecmp(trim(line), "BEGIN", 5) && strcasestr(line, "BULK")) begin = s->at;
    s->at = begin;
    evn_status status = EVN_OK;
    int end = 0;
    while (!status && !end) {
        size_t at;
        if (!next_card(s, &card, &at)) break;
        const size_t next = s->at;
        s->at = at; /* messages tell of the card's line */
        status = one_card(s, &card, &end);
        if (!status) s->at = next;
    }
    if (!status && !s->points) return evn_fail(EVN_USAGE, "%s: no GRID cards", s->name);
    if (!status && !end)
        return evn_fail(EVN_USAGE, "%s: the file has no end, expected ENDDATA", s->name);
    return status;
}
