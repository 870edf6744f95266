/* Parsing of specifications, and texts made fit for messages. */
#include "base/text.h"
#include <evener/text.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int evn_text_number(const char **p, long max, long *out) {
    const char *c = *p;
    long n = 0;
    if (!isdigit((unsigned char)*c)) return 0;
    for (; isdigit((unsigned char)*c); c++) {
        int digit = *c - '0';
        if (digit > max || n > (max - digit) / 10) return 0;
        n = 10 * n + digit;
    }
    *p = c;
    *out = n;
    return 1;
}

evn_status evn_spec_parse(evn_spec *spec, const char *what, const char *text) {
    if (strlen(text) >= sizeof spec->copy)
        return evn_fail(EVN_USAGE, "%s: \"%.20s..\": longer than %zu characters", what, text,
                        sizeof spec->copy - 1);
    strcpy(spec->copy, text);
    spec->name = spec->copy;
    spec->options = 0;
    char *rest = strchr(spec->copy, ':');
    if (rest) *rest++ = 0;
    while (rest) {
        char *next = strchr(rest, ',');
        if (next) *next++ = 0;
        if (!*rest)
            return evn_fail(EVN_USAGE,
                            "%s: \"%s\": an option is empty, expected name:option,key=value", what,
                            text);
        if (spec->options == EVN_OPTIONS_MAX)
            return evn_fail(EVN_USAGE, "%s: \"%s\": more than %d options", what, text,
                            EVN_OPTIONS_MAX);
        evn_option *option = &spec->option[spec->options++];
        char *equals = strchr(rest, '=');
        if (equals) *equals++ = 0;
        option->key = rest;
        option->value = equals;
        rest = next;
    }
    return EVN_OK;
}

evn_status evn_spec_number(const evn_option *option, const char *what, const char *text, long least,
                           long max, long *out) {
    const char *p = option->value;
    if (p && evn_text_number(&p, max, out) && !*p && *out >= least) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: \"%s\": %s must be a whole number from %ld to %ld, not \"%s\"",
                    what, text, option->key, least, max, option->value ? option->value : "");
}

const evn_scale evn_rates[] = {{"TB/s", 1e12},       {"GB/s", 1e9},     {"MB/s", 1e6},
                               {"kB/s", 1e3},        {"B/s", 1},        {"GiB/s", 1073741824},
                               {"MiB/s", 1048576.0}, {"KiB/s", 1024.0}, {NULL, 0}};
const evn_scale evn_times[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6},
                               {"ms", 1e-3},  {"s", 1},     {NULL, 0}};

evn_status evn_spec_scaled(const evn_option *option, const char *what, const char *text,
                           const evn_scale *scale, evn_bounds bounds, double *out) {
    const char *value = option->value ? option->value : "";
    char why[256];
    if (!evn_read_scaled(value, scale, bounds, out)) return EVN_OK;
    snprintf(why, sizeof why, "%s", evn_message());
    return evn_fail(EVN_USAGE, "%s: \"%s\": %s=%s: %s", what, text, option->key, value, why);
}

/* ---- words from outside ---- */

int evn_utf8(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    int n;
    if (*p < 0x80) return 1;
    if (*p >= 0xc2 && *p <= 0xdf) {
        n = 2;
    } else if (*p >= 0xe0 && *p <= 0xef) {
        n = 3;
        if (*p == 0xe0) low = 0xa0;
        if (*p == 0xed) high = 0x9f;
    } else if (*p >= 0xf0 && *p <= 0xf4) {
        n = 4;
        if (*p == 0xf0) low = 0x90;
        if (*p == 0xf4) high = 0x8f;
    } else {
        return 0;
    }
    if (p[1] < low || p[1] > high) return 0;
    for (int i = 2; i < n; i++)
        if (p[i] < 0x80 || p[i] > 0xbf) return 0; /* this is also true for the text's final 0 */
    return n;
}

/* Words of up to WORD_MAX characters are shown whole, of longer ones the beginning and the end. */
enum { WORD_MAX = 250, WORD_HEAD = 120, WORD_TAIL = 100 };

/* 1 if a terminal acts on the character: C1 controls, and U+2028 to U+202E and U+2066 to U+2069,
 * which end lines or change the direction of writing. */
static int is_obeyed(const char *text, int n) {
    const unsigned char *p = (const unsigned char *)text;
    if (n == 1) return *p < ' ' || *p == 0x7f;
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0;
    if (n != 3 || p[0] != 0xe2) return 0;
    return (p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
           (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* Writes the character or byte at p in printable form, at most 4 bytes, to atom[]; *used: bytes
 * read. */
static size_t show(const char *p, char atom[5], size_t *used) {
    const int n = evn_utf8(p);
    *used = n ? (size_t)n : 1;
    if (n && !is_obeyed(p, n)) {
        memcpy(atom, p, *used);
        return *used;
    }
    *used = 1; /* escapes longer characters byte by byte */
    const char *letter = strchr("n\nr\rt\t", *p);
    if (*p && letter && (unsigned char)*p < ' ') {
        atom[0] = '\\';
        atom[1] = letter[-1];
        return 2;
    }
    snprintf(atom, 5, "\\x%02x", (unsigned char)*p);
    return 4;
}

/* Destination of printable text. Bytes between `head` and `tail` are left out; `put` counts all. */
struct shown {
    char *out; /* NULL: only counted */
    size_t at, put, head, tail;
    int said; /* 1: the mark of the omission is written */
};

static const char gap[] = " .. ";

static void put(struct shown *s, const char *text, size_t n) {
    const size_t begin = s->put;
    s->put += n;
    if (!s->out) return;
    if (s->put > s->head && begin < s->tail) {
        if (s->said) return;
        s->said = 1;
        text = gap;
        n = sizeof gap - 1;
    }
    memcpy(s->out + s->at, text, n);
    s->at += n;
}

static size_t shown_length(const char *word, size_t bytes) {
    size_t length = 0, used;
    char atom[5];
    for (size_t i = 0; i < bytes; i += used) length += show(word + i, atom, &used);
    return length;
}

static void put_word(struct shown *s, const char *word, size_t bytes) {
    const size_t length = shown_length(word, bytes);
    size_t at = 0, used;
    int said = length <= WORD_MAX;
    char atom[5], left_out[48];
    for (size_t i = 0; i < bytes; i += used) {
        const size_t n = show(word + i, atom, &used);
        const int kept = length <= WORD_MAX || at + n <= WORD_HEAD || at >= length - WORD_TAIL;
        if (kept) put(s, atom, n);
        if (!kept && !said) {
            put(s, left_out, (size_t)snprintf(left_out, sizeof left_out, "..(%zu bytes)..", bytes));
            said = 1;
        }
        at += n;
    }
}

static void put_words(struct shown *s, const char *text) {
    while (*text) {
        const size_t n = strcspn(text, " ");
        put_word(s, text, n);
        text += n;
        if (*text) put(s, text++, 1);
    }
}

char *evn_plain(char *out, size_t size, const char *text) {
    struct shown all = {0};
    put_words(&all, text);
    struct shown s = {.out = out, .head = SIZE_MAX};
    if (all.put >= size) {
        const size_t room = size > sizeof gap ? size - sizeof gap : 0;
        s.head = room - room / 3;
        s.tail = all.put - room / 3;
        s.said = !room; /* no room for the mark of the omission: as if written */
    }
    put_words(&s, text);
    out[s.at] = 0;
    return out;
}
