/* JSON's texts and numbers. */
#include "trace/json.h"
#include "base/number.h"
#include <math.h>
#include <string.h>

/* Bytes of the character at p if it is well-formed UTF-8 (RFC 3629: nothing overlong, no
 * surrogates, nothing above U+10FFFF), else 0. */
static int utf8_length(const unsigned char *p) {
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
        if (p[i] < 0x80 || p[i] > 0xbf) return 0; /* also the text's end */
    return n;
}

void json_escaped(FILE *out, const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int n = utf8_length(p);
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < ' ' || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else if (n)
            fwrite(p, 1, (size_t)n, out);
        else
            fputs("\\ufffd", out);
        p += n ? n : 1;
    }
}

void json_text(FILE *out, const char *text) {
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    json_escaped(out, text);
    fputc('"', out);
}

void json_number(FILE *out, double value) {
    char text[64];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    number_print(text, sizeof text, "%.17g", value);
    fputs(text, out);
}

void json_fixed(FILE *out, double value, int digits) {
    char text[400]; /* 309 digits before the point */
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    number_print(text, sizeof text, "%.*f", digits, value);
    fputs(text, out);
}
