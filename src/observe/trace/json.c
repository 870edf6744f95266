/* JSON's texts and numbers, and changes of tasks. */
#include "trace/json.h"
#include <evener/text.h>
#include "base/number.h"
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

void json_change(FILE *out, const evn_changed *c) {
    fprintf(out,
            "\"instance\": %d, \"tasks\": %d, \"kept\": %d, \"born\": %d, \"gone\": %d, "
            "\"moved\": %d, \"moved_bytes\": ",
            c->instance, c->tasks, c->kept, c->born, c->gone, c->moved);
    json_number(out, c->moved_bytes);
    fprintf(out, ", \"faces_added\": %d, \"faces_gone\": %d, \"seconds\": ", c->faces_added,
            c->faces_gone);
    json_number(out, c->seconds);
    fputs(", \"imbalance\": ", out);
    json_number(out, c->imbalance);
}
