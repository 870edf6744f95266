/* Signals in CSV and WAV files. */
#include "tdbem/incident/signal_file.h"
#include "tdbem/mesh/mesh_source.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(const char *path) {
    return evn_fail(EVN_MEMORY, "pulse: %s: not enough memory", path);
}

/* t and p of the line at hand, with a comma, a semicolon or blanks between them; 0: it is not that.
 */
static int read_pair(struct source *s, double pair[2]) {
    const char *at = s->data + s->at;
    for (int i = 0; i < 2; i++) {
        char *end;
        at += strspn(at, " \t\r");
        pair[i] = strtod(at, &end);
        if (end == at || *at == '\n' || !isfinite(pair[i])) return 0;
        at = end + strspn(end, " \t\r");
        if (!i && (*at == ',' || *at == ';')) at++;
    }
    if (*at && *at != '\n') return 0;
    s->at = (size_t)(at - s->data);
    return 1;
}

static int begins_number(const struct source *s) {
    char *end;
    strtod(s->data + s->at, &end);
    return end != s->data + s->at;
}

static evn_status read_csv(struct source *s, double **pairs, int *count) {
    int room = 0, titles = 0;
    while (source_skip(s, '#'), s->at < s->size) {
        if (*count == room) {
            room = room ? 2 * room : 1024;
            double *more = realloc(*pairs, 2 * (size_t)room * sizeof *more);
            if (!more) return no_memory(s->name);
            *pairs = more;
        }
        if (read_pair(s, *pairs + 2 * (size_t)*count)) {
            ++*count;
        } else if (*count || titles++ || begins_number(s)) {
            return source_bad(s, "expected two numbers, t and p");
        } else {
            source_skip_line(s);
        }
    }
    return *count > 1 ? EVN_OK
                      : source_bad(s, "%d samples, expected lines of t and p, two or more", *count);
}

/* Times must be evenly spaced, but may have been rounded. */
static evn_status space_out(const char *path, const double *pairs, int count, double *spacing) {
    *spacing = (pairs[2 * (size_t)(count - 1)] - pairs[0]) / (count - 1);
    if (!(*spacing > 0) || !isfinite(*spacing))
        return evn_fail(EVN_USAGE, "pulse: %s: times go from %g to %g, expected ascending ones",
                        path, pairs[0], pairs[2 * (size_t)(count - 1)]);
    for (int i = 0; i < count; i++) {
        const double even = pairs[0] + i * *spacing, t = pairs[2 * (size_t)i];
        if (!(fabs(t - even) <= 0.01 * *spacing))
            return evn_fail(EVN_USAGE,
                            "pulse: %s: sample %d is at %.9g, expected evenly spaced times, here "
                            "%.9g",
                            path, i + 1, t, even);
    }
    return EVN_OK;
}

static evn_status from_csv(struct source *s, double **sample, int *samples, double *first,
                           double *spacing) {
    evn_status status = read_csv(s, sample, samples);
    if (!status) status = space_out(s->name, *sample, *samples, spacing);
    if (status) return status;
    *first = **sample;
    for (int i = 0; i < *samples; i++) (*sample)[i] = (*sample)[2 * (size_t)i + 1];
    return EVN_OK;
}

static uint32_t word(const char *data, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint32_t)(unsigned char)data[i] << 8 * i;
    return value;
}

struct form {
    int known;
    struct scalar type;
    uint32_t rate;
};

/* The chunk "fmt ": 1 is PCM, 3 floating point; 0xfffe says it 24 bytes further on. */
static evn_status read_form(struct source *s, const char *data, size_t bytes, struct form *f) {
    if (bytes < 16) return source_bad(s, "its format is cut off");
    uint32_t tag = word(data, 2);
    if (tag == 0xfffe && bytes >= 26) tag = word(data + 24, 2);
    const uint32_t channels = word(data + 2, 2), bits = word(data + 14, 2);
    f->rate = word(data + 4, 4);
    if (channels != 1) return source_bad(s, "%u channels, expected one", channels);
    if (!f->rate) return source_bad(s, "a rate of 0, expected samples a second");
    const int pcm = tag == 1 && (bits == 16 || bits == 24 || bits == 32);
    if (!pcm && !(tag == 3 && (bits == 32 || bits == 64)))
        return source_bad(s,
                          "samples of %u bits in format %u, expected PCM (1) of 16, 24 or 32 bits, "
                          "or floating point (3)",
                          bits, tag);
    f->type = (struct scalar){pcm ? 'i' : 'f', (int)bits / 8};
    f->known = 1;
    return EVN_OK;
}

/* The largest integer is 1. */
static double sample_at(const struct source *s, struct scalar type, const char *data) {
    const double value = scalar_value(s, type, data);
    return type.kind == 'f' ? value : ldexp(value, 1 - 8 * type.bytes);
}

static evn_status read_samples(struct source *s, size_t bytes, const struct form *f,
                               double **sample, int *samples) {
    const size_t size = (size_t)f->type.bytes, n = bytes / size;
    if (!f->known) return source_bad(s, "samples before their format");
    if (n < 2) return source_bad(s, "%zu samples, expected two or more", n);
    *sample = malloc(n * sizeof **sample);
    if (!*sample) return no_memory(s->name);
    for (size_t i = 0; i < n; i++) {
        (*sample)[i] = sample_at(s, f->type, s->data + s->at + i * size);
        if (!isfinite((*sample)[i])) return source_bad(s, "sample %zu is no number", i + 1);
    }
    *samples = (int)n;
    return EVN_OK;
}

static evn_status from_wav(struct source *s, double **sample, int *samples, double *first,
                           double *spacing) {
    struct form form = {.type.bytes = 1};
    s->binary = 1;
    if (s->size < 12 || memcmp(s->data, "RIFF", 4) || memcmp(s->data + 8, "WAVE", 4))
        return source_bad(s, "this is no WAV file, expected RIFF and WAVE");
    for (s->at = 12; source_left(s) >= 8;) {
        const char *head = s->data + s->at;
        const size_t bytes = word(head + 4, 4);
        s->at += 8;
        if (bytes > source_left(s))
            return source_bad(s, "a part of %zu bytes, of which %zu are there", bytes,
                              source_left(s));
        evn_status status = EVN_OK;
        if (!memcmp(head, "fmt ", 4)) status = read_form(s, s->data + s->at, bytes, &form);
        if (!memcmp(head, "data", 4)) {
            status = read_samples(s, bytes, &form, sample, samples);
            *first = 0;
            *spacing = 1 / (double)(form.known ? form.rate : 1);
            return status;
        }
        if (status) return status;
        s->at += bytes + bytes % 2;
        if (s->at > s->size) s->at = s->size;
    }
    return source_bad(s, "there are no samples");
}

evn_status signal_read(const char *path, double **sample, int *samples, double *first,
                       double *spacing) {
    struct source s = {.name = path};
    const char *end = strrchr(path, '.');
    *sample = NULL;
    *samples = 0;
    evn_status status = source_load(&s, path);
    if (status == EVN_SYSTEM) status = evn_fail(EVN_USAGE, "%s", evn_message());
    if (!status)
        status = (end && !strcmp(end, ".wav") ? from_wav : from_csv)(&s, sample, samples, first,
                                                                     spacing);
    free(s.data);
    return status;
}
