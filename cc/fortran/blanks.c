/* Blanks of Fortran: none counts in fixed form, where `d o10i=1,9` is a loop, and between words of
 * a directive they are optional. A statement gets one wherever a word ends that evener-cc reads. */
#include "fortran.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A statement in small letters without blanks, and where it gets some. */
struct squeezed {
    char *c;
    int *at;   /* where each of its characters was in the statement */
    char *cut; /* whether a blank belongs before it */
    int n;
};

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static int is_digit(char c) { return isdigit((unsigned char)c) != 0; }

static int begins(const char *c, const char *word) { return !strncmp(c, word, strlen(word)); }

/* The position behind the bracket that closes the one at `at`, or -1. */
static int behind_bracket(const char *c, int at) {
    char quote = 0;
    for (int depth = 0; c[at]; at++) {
        if (quote || c[at] == '\'' || c[at] == '"')
            quote = quote == c[at] ? 0 : quote ? quote : c[at];
        else if (c[at] == ')' && --depth == 0)
            return at + 1;
        else
            depth += c[at] == '(';
    }
    return -1;
}

/* The first sign outside of brackets and texts from `at` on, or -1; an = that assigns. */
static int find(const char *c, int at, char sign) {
    char quote = 0;
    for (int depth = 0, from = at; c[at]; at++) {
        if (quote || c[at] == '\'' || c[at] == '"') {
            quote = quote == c[at] ? 0 : quote ? quote : c[at];
            continue;
        }
        depth += (c[at] == '(') - (c[at] == ')');
        if (depth || c[at] != sign) continue;
        if (sign != '=') return at;
        if (c[at + 1] == '=') {
            at++;
        } else if (c[at + 1] != '>' && (at == from || !strchr("/<>", c[at - 1]))) {
            return at;
        }
    }
    return -1;
}

static void cut(struct squeezed *s, int at) {
    if (at < s->n && is_word(s->c[at])) s->cut[at] = 1;
}

/* `do` at `at`, its label, and what it counts. 0: an assignment to a name that begins so. */
static int cut_do(struct squeezed *s, int at, int equals) {
    const char *c = s->c;
    int behind = at + 2, name;
    while (is_digit(c[behind])) behind++;
    name = behind + (c[behind] == ',');
    if (equals >= 0) {
        int k = name;
        while (is_word(c[k])) k++;
        if (k != equals || is_digit(c[name]) || k == name || find(c, equals, ',') < 0) return 0;
    } else if (c[name] && !begins(c + name, "while(") && !begins(c + name, "concurrent(")) {
        return 0;
    }
    cut(s, at + 2);
    cut(s, behind);
    return 1;
}

/* Behind "real*8", "character(len=3)", "type(zone)" at `at`, or 0. */
static int behind_type(const char *c, int at) {
    static const char *const types[] = {"integer",         "real",          "logical",   "complex",
                                        "doubleprecision", "doublecomplex", "character", "byte",
                                        "type(",           "class("};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!begins(c + at, types[i])) continue;
        int k = at + (int)strlen(types[i]);
        if (c[k - 1] == '(') return behind_bracket(c, k - 1);
        if (c[k] == '*')
            for (k++; is_digit(c[k]);) k++;
        return c[k] == '(' ? behind_bracket(c, k) : k;
    }
    return 0;
}

/* Statements that begin with a word and go on with a name. */
static void cut_keyword(struct squeezed *s, int at) {
    static const char *const prefixes[] = {"recursive", "nonrecursive", "impure", "pure",
                                           "elemental"};
    /* clang-format off */
    static const char *const words[] = {
        "enddo", "endif", "endblock", "endassociate", "endselect", "endsubroutine", "endfunction",
        "endprogram", "endmodule", "endprocedure", "endsubmodule", "endinterface", "endtype", "goto",
        "exit", "cycle", "return", "moduleprocedure", "modulesubroutine", "modulefunction",
        "submodule", "subroutine", "program", "module", "function", "abstractinterface", "interface",
        "blockdata", "selecttype", "selectcase", "implicit", "common", "dimension", "allocatable",
        "contiguous", "pointer", "target", "save", "call", "external", "use", "type",
    };
    /* clang-format on */
    const char *c = s->c;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(c + at, prefixes[i])) {
            cut(s, at + (int)strlen(prefixes[i]));
            cut_keyword(s, at + (int)strlen(prefixes[i]));
            return;
        }
    const int type = behind_type(c, at);
    if (type > 0) {
        cut(s, type);
        if (begins(c + type, "function") && strchr(c + type, '(')) cut(s, type + 8);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(c + at, words[i])) {
            if (begins(words[i], "module") && words[i][6]) cut(s, at + 6);
            if (begins(words[i], "abstract")) cut(s, at + 8);
            cut(s, at + (int)strlen(words[i]));
            return;
        }
}

static void cut_statement(struct squeezed *s, int at) {
    const char *c = s->c;
    int k = at;
    while (is_word(c[k])) k++;
    if (k > at && c[k] == ':' && c[k + 1] != ':') {
        cut_statement(s, k + 1);
        return;
    }
    if (begins(c + at, "if(")) {
        const int behind = behind_bracket(c, at + 2);
        if (behind > 0 && c[behind] != '=') cut_statement(s, behind);
        return;
    }
    const int equals = find(c, at, '='), colons = find(c, at, ':');
    if (begins(c + at, "do") && cut_do(s, at, equals)) return;
    if (equals < 0 || (colons >= 0 && colons < equals)) cut_keyword(s, at);
}

/* ---- directives ---- */

/* Cuts [at, end) before each of the known words that it is made of; 0: it is not. */
static int cut_run(struct squeezed *s, int at, int end) {
    static const char *const words[] = {
        "teams",         "distribute",   "loop",          "end",
        "num_teams",     "thread_limit", "private",       "firstprivate",
        "lastprivate",   "shared",       "default",       "allocate",
        "reduction",     "collapse",     "order",         "bind",
        "dist_schedule", "weight",       "key",           "speed",
        "batch",         "omp_cu",       "parallel",      "do",
        "simd",          "sections",     "section",       "single",
        "master",        "masked",       "critical",      "atomic",
        "barrier",       "flush",        "ordered",       "task",
        "taskloop",      "taskwait",     "taskyield",     "taskgroup",
        "target",        "declare",      "threadprivate", "workshare",
        "nowait",        "schedule",     "num_threads",   "if",
        "copyin",        "copyprivate",  "linear",        "safelen",
        "simdlen",       "final",        "untied"};
    if (at == end) return 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int n = (int)strlen(words[i]);
        if (at + n > end || !begins(s->c + at, words[i]) || !cut_run(s, at + n, end)) continue;
        cut(s, at);
        return 1;
    }
    return 0;
}

/* Cuts the words outside of brackets from `at` on; 0: one of them is not known. */
static int cut_directive(struct squeezed *s, int at) {
    while (s->c[at]) {
        int end = at;
        if (s->c[at] == '(') {
            at = behind_bracket(s->c, at);
            if (at < 0) return 0;
            continue;
        }
        while (is_word(s->c[end])) end++;
        if (end > at && !cut_run(s, at, end)) return 0;
        at = end > at ? end : at + 1;
    }
    return 1;
}

/* ---- the statement at hand ---- */

/* flat[begin, end), with `all` without its blanks outside of texts. */
static struct squeezed squeeze(const struct fortran *f, int begin, int end, int all) {
    const size_t room = (size_t)(end - begin) + 1;
    struct squeezed s = {more(NULL, room), more(NULL, room * sizeof *s.at), more(NULL, room), 0};
    char quote = 0;
    memset(s.cut, 0, room);
    for (int i = begin; i < end; i++) {
        const char c = f->text.at[i];
        if (!quote && all && isspace((unsigned char)c)) continue;
        if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? 0 : c;
        s.at[s.n] = i - begin;
        s.c[s.n++] = (char)tolower((unsigned char)c);
    }
    s.c[s.n] = 0;
    return s;
}

enum blank *fortran_blanks(const struct fortran *f, const struct statement *s, int end) {
    static const int pragma = (int)sizeof "#pragma omp " - 1;
    const int from = s->directive ? pragma : 0, n = end - s->begin;
    if (n <= from || (!f->fixed && !s->directive)) return NULL;
    struct squeezed q = squeeze(f, s->begin + from, end, f->fixed);
    int known = 1;
    if (s->directive)
        known = cut_directive(&q, 0);
    else
        cut_statement(&q, 0);
    enum blank *blank = known ? more(NULL, (size_t)n * sizeof *blank) : NULL;
    for (int i = 0; known && i < n; i++) blank[i] = i < from ? B_KEEP : B_DROP;
    for (int i = 0; known && i < q.n; i++) blank[from + q.at[i]] = q.cut[i] ? B_BEFORE : B_KEEP;
    free(q.c);
    free(q.at);
    free(q.cut);
    return blank;
}
