/* Abaqus' input: lines of keywords that begin with *, and lines of data with commas. Read are *NODE
 * and *ELEMENT, of one part in its own coordinates. */
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_lines.h"
#include <errno.h>
#include <stdlib.h>

enum { LINE = 1024, NODES = 64 };

enum data { PASSED, NODE, SURFACE, SOLID, PLACED };

/* The value of an option of a keyword's line, in capitals: `TYPE=S3`; "" if it is not there. */
static const char *option(const char *line, const char *name, char value[32]) {
    *value = 0;
    for (const char *at = strchr(line, ','); at; at = strchr(at, ',')) {
        at += 1 + strspn(at + 1, " \t");
        const size_t n = strlen(name);
        if (strncasecmp(at, name, n)) continue;
        at += n + strspn(at + n, " \t");
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, " \t");
        for (size_t i = 0; i < 31 && *at && !strchr(", \t", *at); i++, at++) {
            value[i] = (char)toupper((unsigned char)*at);
            value[i + 1] = 0;
        }
        break;
    }
    return value;
}

static int begins(const char *text, const char *with) {
    return !strncasecmp(text, with, strlen(with));
}

static enum data data_of_type(const char *type) {
    static const char *const surfaces[] = {"STRI", "S3",   "S4",    "S6",  "S8",   "S9",
                                           "R3D3", "R3D4", "SFM3D", "M3D", "CPS",  "CPE",
                                           "DS3",  "DS4",  "DS6",   "DS8", "AC2D", "DC2D"},
                             *const solids[] = {"C3D", "AC3D", "DC3D", "SC6", "SC8", "CSS8"};
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++)
        if (begins(type, surfaces[i])) return SURFACE;
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++)
        if (begins(type, solids[i])) return SOLID;
    return PASSED; /* springs, beams, masses */
}

static evn_status keyword(struct source *s, const char *line, int *parts, enum data *data) {
    char word[32], type[32];
    size_t n = 0;
    for (const char *c = line + 1; *c && *c != ',' && n < 31; c++)
        if (!isspace((unsigned char)*c)) word[n++] = (char)toupper((unsigned char)*c);
    word[n] = 0;
    *data = PASSED;
    static const char *const unread[] = {"INCLUDE", "NGEN",   "NFILL", "NCOPY",
                                         "ELGEN",   "ELCOPY", "SYSTEM"};
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (!strcmp(word, unread[i]))
            return source_bad(s, "*%s is not read; write all nodes and elements into one file",
                              word);
    if (!strcmp(word, "PART") && ++*parts > 1)
        return source_bad(s, "a second *PART; expected one: merge the parts, or mesh the assembly");
    if (!strcmp(word, "INSTANCE")) *data = PLACED;
    if (!strcmp(word, "NODE")) *data = NODE;
    if (!strcmp(word, "ELEMENT")) *data = data_of_type(option(line, "TYPE", type));
    if ((*data == NODE || !strcmp(word, "ELEMENT")) && *option(line, "INPUT", type))
        return source_bad(s, "INPUT= of *%s is not followed; put the files into one", word);
    return EVN_OK;
}

/* Numbers of a line; those of an element whose line ends with a comma go on. How many; -1: one is
 * none, and `*bad` is it. */
static int numbers(struct source *s, char *line, double *to, int most, int goes_on, char **bad) {
    int n = 0;
    for (;;) {
        char *at = line;
        for (char *comma; at; at = comma ? comma + 1 : NULL) {
            comma = strchr(at, ',');
            if (comma) *comma = 0;
            char *word = trim(at), *end;
            if (!*word && !comma) break; /* behind the last comma */
            if (n == most) return n;
            to[n] = *word ? strtod(word, &end) : 0;
            if (*word && *end) {
                *bad = word;
                return -1;
            }
            n++;
        }
        if (!at || !goes_on || !line_next(s, line, LINE)) return n;
    }
}

static evn_status node(struct source *s, char *line) {
    double v[8], x[3];
    char *bad = NULL;
    const int n = numbers(s, line, v, 8, 0, &bad);
    if (n < 2 || v[0] != (double)(long long)v[0])
        return source_bad(s, "*NODE: \"%s\": expected a number and coordinates", bad ? bad : line);
    for (int k = 0; k < 3; k++) x[k] = 1 + k < n ? v[1 + k] : 0;
    return source_node(s, (long long)v[0], x);
}

static evn_status element(struct source *s, char *line, size_t at) {
    double v[NODES];
    long long tag[NODES];
    char *bad = NULL;
    const int n = numbers(s, line, v, NODES, 1, &bad);
    const size_t next = s->at;
    s->at = at;
    for (int i = 0; i < n; i++) {
        if (!(v[i] > -1e15 && v[i] < 1e15) || v[i] != (double)(long long)v[i]) bad = line;
        tag[i] = bad ? 0 : (long long)v[i];
    }
    if (n < 1 || bad)
        return source_bad(s, "*ELEMENT: \"%s\": expected its number and nodes", bad ? bad : line);
    const int nodes = n - 1;
    if (nodes != 3 && nodes != 4 && nodes != 6 && nodes != 7 && nodes != 8 && nodes != 9)
        return source_bad(s, "element %lld: %d nodes, expected 3, 4, 6, 8 or 9", tag[0], nodes);
    evn_status status = source_element(s, tag[0], nodes, tag + 1);
    s->at = next;
    return status;
}

evn_status read_inp(struct source *s) {
    char line[LINE];
    int parts = 0;
    enum data data = PASSED;
    evn_status status = EVN_OK;
    s->noun = "element";
    while (!status) {
        const size_t at = s->at;
        if (!line_next(s, line, sizeof line)) break;
        const size_t next = s->at;
        char *word = trim(line);
        if (!*word || begins(word, "**")) continue;
        s->at = at;
        if (*word == '*')
            status = keyword(s, word, &parts, &data);
        else if (data == NODE)
            status = node(s, word);
        else if (data == PLACED)
            status = source_bad(s, "*INSTANCE is moved; expected a part where it is");
        s->solids += data == SOLID && *word != '*';
        if (status) break;
        s->at = next;
        if (data == SURFACE && *word != '*') status = element(s, word, at);
    }
    if (!status && !s->points) return evn_fail(EVN_USAGE, "%s: no *NODE", s->name);
    return status;
}
