/* --waves: incidences from a file. */
#include "common/cli/lines.h"
#include "common/cli/message.h"
#include "tdbem/command/state.h"
#include "common/run/free_all.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64 };

/* A line that has been read. */
struct line {
    char name[NAME];
    tdbem_wave wave;
};

/* "NAME plane|source X Y Z [AMPLITUDE [DELAY]]" */
static int read_line(char *text, struct line *out) {
    char *rest, *name = strtok_r(text, " \t\r,", &rest), *kind = strtok_r(NULL, " \t\r,", &rest);
    double number[5] = {0, 0, 0, 1, 0};
    int count = 0;
    if (!kind || strlen(name) >= NAME || !tdbem_is_name(name)) return 0;
    for (char *word; (word = strtok_r(NULL, " \t\r,", &rest)); count++) {
        char *end;
        if (count == 5) return 0;
        number[count] = strtod(word, &end);
        if (*end || !isfinite(number[count])) return 0;
    }
    out->wave.point = !strcmp(kind, "source");
    if (count < 3 || (!out->wave.point && strcmp(kind, "plane"))) return 0;
    strcpy(out->name, name);
    memcpy(out->wave.at, number, sizeof out->wave.at);
    out->wave.amplitude = number[3];
    out->wave.delay = number[4];
    return 1;
}

static int read_lines(const char *path, struct line **line, int *count) {
    char name[PATH_MAX + 64], *text;
    int code = 0, room = 0;
    snprintf(name, sizeof name, "--waves %s", path);
    struct lines *in = lines_open(name, path);
    if (!in) return EXIT_USAGE;
    while (!code && (text = lines_next(in, name, &code))) {
        text += strspn(text, " \t\r");
        if (!*text || *text == '#') continue;
        if (*count == room) {
            room = 2 * room + 16;
            struct line *more = realloc(*line, (size_t)room * sizeof *more);
            if (more) *line = more;
            if (!more) complain("%s: not enough memory", name);
            if (!more) code = EXIT_USAGE;
        }
        if (!code && !read_line(text, &(*line)[*count]))
            code = complain("%s: line %d: expected NAME plane|source X Y Z [AMPLITUDE [DELAY]], "
                            "the name of letters, digits and _ . -",
                            name, in->number);
        ++*count;
    }
    lines_close(in);
    if (!code && !*count)
        code =
            complain("%s: there is nothing in it, expected lines of NAME plane|source X Y Z", name);
    return code;
}

/* Lines of one name together, in the order in which names come first. */
static int group(struct state *s, const struct line *line, int count) {
    char *seen = calloc((size_t)count, 1);
    s->wave = malloc((size_t)count * sizeof *s->wave);
    s->incidence = calloc((size_t)count, sizeof *s->incidence);
    s->name = malloc((size_t)count * NAME);
    int waves = 0, names = 0;
    for (int i = 0; seen && s->wave && s->incidence && s->name && i < count; i++) {
        tdbem_incidence *of = &s->incidence[names];
        if (seen[i]) continue;
        of->name = strcpy(s->name + (size_t)names++ * NAME, line[i].name);
        of->wave = s->wave + waves;
        for (int j = i; j < count; j++) {
            if (strcmp(line[j].name, line[i].name)) continue;
            seen[j] = 1;
            s->wave[waves++] = line[j].wave;
            of->waves++;
        }
    }
    free(seen);
    s->options.incidence = s->incidence;
    s->options.incidences = names;
    if (!names) complain("--waves: not enough memory");
    return names ? 0 : EXIT_USAGE;
}

int waves_read(struct state *s, const char *path) {
    struct line *line = NULL;
    int count = 0, code = read_lines(path, &line, &count);
    if (!code) code = group(s, line, count);
    free(line);
    return code;
}

int waves_source(struct state *s, const double at[3]) {
    s->wave = malloc(sizeof *s->wave);
    s->incidence = calloc(1, sizeof *s->incidence);
    if (!s->wave || !s->incidence) return complain("--source: not enough memory");
    *s->wave = (tdbem_wave){.point = 1, .at = {at[0], at[1], at[2]}, .amplitude = 1};
    *s->incidence = (tdbem_incidence){.waves = 1, .wave = s->wave};
    s->options.incidence = s->incidence;
    s->options.incidences = 1;
    return 0;
}

void waves_close(struct state *s) { free_all(s->wave, s->incidence, s->name); }
