/* JSON's texts and numbers. printf() writes the decimal point of the locale that the program has
 * set, which is a comma in half of the world, so it is put right here. */
#include "trace/json.h"
#include <evener/text.h>
#include <math.h>
#include <string.h>

void json_escaped(FILE *out, const char *text) {
    for (const char *p = text; *p;) {
        const unsigned char byte = (unsigned char)*p;
        const int n = evn_utf8(p);
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < ' ' || byte == 0x7f)
            fprintf(out, "\\u%04x", byte);
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

/* What printf() made of a finite number, with a point where it has the locale's. */
static void put(FILE *out, const char *text) {
    while (*text) {
        size_t n = strspn(text, "0123456789+-e");
        fwrite(text, 1, n, out);
        text += n;
        if (!*text) return;
        fputc('.', out);
        text += strcspn(text, "0123456789"); /* it may have several bytes */
    }
}

void json_number(FILE *out, double value) {
    char text[64];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    put(out, text);
}

void json_fixed(FILE *out, double value, int digits) {
    char text[400]; /* 309 digits before the point */
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    snprintf(text, sizeof text, "%.*f", digits, value);
    put(out, text);
}
