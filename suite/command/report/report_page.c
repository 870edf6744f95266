/* The page: a template (page.html with its style and scripts) with the records in it as JSON. */
#include "report/report.h"
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "report/page_text.h"
#include <evener/text.h>
#include <math.h>
#include <string.h>

/* A text of JSON in an element script: what could end the element, or is not UTF-8, is escaped. */
static void put_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *p = text; *p;) {
        const int n = evn_utf8(p);
        if (!n)
            fputs("\\ufffd", out); /* the character for what is none */
        else if (n == 1 && (*p < ' ' || strchr("\"\\<>&", *p)))
            fprintf(out, "\\u%04x", (unsigned)*p);
        else if (!strncmp(p, "\u2028", 3) || !strncmp(p, "\u2029", 3)) /* lines' ends in scripts */
            fprintf(out, "\\u202%c", p[2] & 1 ? '9' : '8');
        else
            fwrite(p, 1, (size_t)n, out);
        p += n ? n : 1;
    }
    fputc('"', out);
}

/* With all digits of numbers, which cJSON's own printing leaves out. */
static void put_json(FILE *out, const cJSON *v) {
    if (cJSON_IsString(v)) {
        put_text(out, v->valuestring);
    } else if (cJSON_IsNumber(v) && isfinite(v->valuedouble)) {
        fprintf(out, "%.17g", v->valuedouble);
    } else if (cJSON_IsObject(v) || cJSON_IsArray(v)) {
        fputc(cJSON_IsArray(v) ? '[' : '{', out);
        for (const cJSON *o = v->child; o; o = o->next) {
            if (o != v->child) fputc(',', out);
            if (cJSON_IsObject(v)) put_text(out, o->string);
            if (cJSON_IsObject(v)) fputc(':', out);
            put_json(out, o);
        }
        fputc(cJSON_IsArray(v) ? ']' : '}', out);
    } else {
        fputs(cJSON_IsTrue(v) ? "true" : cJSON_IsFalse(v) ? "false" : "null", out);
    }
}

void report_page(FILE *out, int records, const cJSON *const *record, const char *const *file) {
    fputs(page_begin, out);
    for (int i = 0; i < records; i++) {
        fputs(i ? ",\n{\"file\":" : "{\"file\":", out);
        put_text(out, file[i]);
        fputs(",\"record\":", out);
        put_json(out, record[i]);
        fputc('}', out);
    }
    fputs(page_end, out);
}

int report_made(evn_output *output, const char *maker, const char *text) {
    cJSON *record = cJSON_Parse(text);
    int code = report_check(maker, record);
    if (!code) {
        report_page(evn_output_stream(output), 1, (const cJSON *const *)&record, &maker);
        code = output_commit(output, NULL);
    }
    cJSON_Delete(record);
    return code ? EXIT_FAILED : 0;
}
