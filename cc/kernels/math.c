/* The functions of math.h that kernels have. Some have one right result, which the libraries of
 * cores and devices give alike; of the others the last bits are each library's own, or with
 * --kernels-math=same those of evener/kernel_math.h. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

enum bits { OTHER, SAME, EXACT };

/* `type`: of the result and of the arguments, d double, i int, l long. `bits`: OTHER where there is
 * none of our own, SAME where there is. `device`: what it is there; NULL: a call of the same name.
 * `host`: the same for cores; NULL: the compiler's built-in one. */
static const struct row {
    const char *name, *type;
    enum bits bits;
    const char *device, *host;
} rows[] = {
    {"sqrt", "dd", EXACT, "evn_sqrt(a)", NULL},
    {"fabs", "dd", EXACT, "evn_abs(a)", NULL},
    {"fma", "dddd", EXACT, "evn_fma(a, b, c)", NULL},
    {"fmin", "ddd", EXACT, "a != a || b < a ? b : a", "a != a || b < a ? b : a"},
    {"fmax", "ddd", EXACT, "a != a || b > a ? b : a", "a != a || b > a ? b : a"},
    {"abs", "ii", EXACT, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"labs", "ll", EXACT, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"llabs", "ll", EXACT, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"floor", "dd", EXACT, NULL, NULL},
    {"ceil", "dd", EXACT, NULL, NULL},
    {"trunc", "dd", EXACT, NULL, NULL},
    {"round", "dd", EXACT, NULL, NULL},
    {"rint", "dd", EXACT, NULL, NULL},
    {"nearbyint", "dd", EXACT, "rint(a)", NULL},
    {"lround", "ld", EXACT, "(evn_cu_int)round(a)", NULL},
    {"lrint", "ld", EXACT, "(evn_cu_int)rint(a)", NULL},
    {"fmod", "ddd", EXACT, NULL, NULL},
    {"remainder", "ddd", EXACT, NULL, NULL},
    {"copysign", "ddd", EXACT, NULL, NULL},
    {"fdim", "ddd", EXACT, "a != a || b != b ? a + b : a > b ? a - b : 0",
     "a != a || b != b ? a + b : a > b ? a - b : 0"},
    {"isnan", "id", EXACT, "a != a", "a != a"},
    {"isfinite", "id", EXACT, "a - a == 0", "a - a == 0"},
    {"isinf", "id", EXACT, "a == a && a - a != 0", "a == a && a - a != 0"},
    {"isinf_sign", "id", EXACT, "a == a && a - a != 0 ? a > 0 ? 1 : -1 : 0",
     "a == a && a - a != 0 ? a > 0 ? 1 : -1 : 0"},
    {"signbit", "id", EXACT, "copysign(1.0, a) < 0", "__builtin_copysign(1.0, a) < 0"},
    {"inf", "d", EXACT, "1e300 * 1e300", NULL},
    {"huge_val", "d", EXACT, "1e300 * 1e300", NULL},
    {"exp", "dd", SAME, NULL, NULL},
    {"exp2", "dd", SAME, NULL, NULL},
    {"expm1", "dd", SAME, NULL, NULL},
    {"log", "dd", SAME, NULL, NULL},
    {"log2", "dd", SAME, NULL, NULL},
    {"log10", "dd", SAME, NULL, NULL},
    {"log1p", "dd", SAME, NULL, NULL},
    {"pow", "ddd", SAME, NULL, NULL},
    {"cbrt", "dd", SAME, NULL, NULL},
    {"hypot", "ddd", SAME, NULL, NULL},
    {"sin", "dd", SAME, NULL, NULL},
    {"cos", "dd", SAME, NULL, NULL},
    {"tan", "dd", SAME, NULL, NULL},
    {"asin", "dd", SAME, NULL, NULL},
    {"acos", "dd", SAME, NULL, NULL},
    {"atan", "dd", SAME, NULL, NULL},
    {"atan2", "ddd", SAME, NULL, NULL},
    {"sinh", "dd", SAME, NULL, NULL},
    {"cosh", "dd", SAME, NULL, NULL},
    {"tanh", "dd", SAME, NULL, NULL},
    {"asinh", "dd", SAME, NULL, NULL},
    {"acosh", "dd", SAME, NULL, NULL},
    {"atanh", "dd", SAME, NULL, NULL},
    {"erf", "dd", SAME, NULL, NULL},
    {"erfc", "dd", SAME, NULL, NULL},
    {"tgamma", "dd", OTHER, NULL, NULL},
    {"lgamma", "dd", OTHER, NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(ROWS <= 64, "one bit each");

static int is_name(const char *name, const char *letters, size_t count) {
    return strlen(name) == count && !memcmp(name, letters, count);
}

/* The row's name, or that with an f where the row is of double. */
struct math math_find(const struct source *s, const struct token *t) {
    static const char builtin[] = "__builtin_";
    const char *c = token_letters(s, t);
    size_t n = (size_t)token_length(t);
    if (n > sizeof builtin && !memcmp(c, builtin, sizeof builtin - 1)) {
        c += sizeof builtin - 1;
        n -= sizeof builtin - 1;
    }
    for (int i = 0; i < ROWS; i++)
        for (int single = 0; single < 1 + (rows[i].type[0] == 'd'); single++)
            if ((!single || c[n - 1] == 'f') && is_name(rows[i].name, c, n - (size_t)single))
                return (struct math){i, single};
    return (struct math){-1, 0};
}

struct math math_named(const char *name, int single) {
    int i = 0;
    while (strcmp(rows[i].name, name)) i++;
    return (struct math){i, single};
}

int math_is_of_double(struct math m) { return rows[m.row].type[0] == 'd'; }

int math_is_named(struct math m, const char *name) { return !strcmp(rows[m.row].name, name); }

/* The call on cores, in the program's text: with its namespace in C++. */
static void use_same(struct source *s, const struct token *t, struct math m) {
    const struct token *first = t;
    struct text name = {0};
    while (token_is(s, first - 1, ":") || token_is(s, first - 1, "::")) first--;
    if (first < t && token_is(s, first - 1, "std")) first--;
    for (int i = 0; i < s->edits; i++)
        if (s->edit[i].begin == first->begin && s->edit[i].end == t->end) return;
    put(&name, "evn_cu_%s%s", rows[m.row].name, m.single ? "f" : "");
    replace(s, first->begin, t->end, name.at);
}

void math_use(struct body *b, const struct token *t, struct math m) {
    struct source *s = b->s;
    const enum bits bits = rows[m.row].bits;
    b->functions->math[m.single] |= 1ULL << m.row;
    if (bits == OTHER && s->same_math)
        error(s, t->begin,
              "--kernels-math=same has no %s; of the functions of math.h whose last bits differ it "
              "has all but tgamma and lgamma",
              rows[m.row].name);
    else if (bits == SAME && s->same_math)
        use_same(s, t, m);
    else if (bits != EXACT) {
        if (!s->inexact[0] && !s->inexact[1]) s->inexact_at = t->begin;
        s->inexact[m.single] |= 1ULL << m.row;
    }
    put(&b->out, "evn_k_%s%s ", rows[m.row].name, m.single ? "f" : "");
}

static const char *c_type(char letter, int single) {
    return letter == 'd' ? single ? "float" : "double" : letter == 'i' ? "int" : "evn_cu_int";
}

/* One function. Those of float are by double where they are exact, since their results are floats,
 * or, of sqrt, rounded once for all; and where they are ours. */
static void put_function(const struct source *s, struct text *out, const struct row *r, int single,
                         int host) {
    static const char letters[] = "abc";
    const char *text = host ? r->host : r->device, *type = r->type;
    const int ours = s->same_math && r->bits != EXACT;
    const int by_double = single && (r->bits == EXACT || ours) && strcmp(r->name, "fma");
    const char *word = ours ? host ? "evn_cu_" : "evn_" : host ? "__builtin_" : "";
    put(out, "%s %s evn_k_%s%s(", host ? "static inline" : "EVN_DEVICE_FUNCTION",
        c_type(type[0], single), r->name, single ? "f" : "");
    for (int i = 1; type[i]; i++)
        put(out, "%s%s %c", i > 1 ? ", " : "", c_type(type[i], single), letters[i - 1]);
    put(out, type[1] ? ") { return " : "void) { return ");
    if (by_double)
        put(out, "(float)evn_k_%s(", r->name);
    else if (text && !single)
        put(out, "%s", text);
    else
        put(out, "%s%s%s(", word, r->name, host && single ? "f" : "");
    for (int i = 1; type[i] && (by_double || !text || single); i++)
        put(out, "%s%c", i > 1 ? ", " : "", letters[i - 1]);
    put(out, by_double || !text || single ? "); }\n" : "; }\n");
}

void math_put(const struct source *s, struct text *out, const unsigned long long used[2],
              const unsigned long long had[2], int host) {
    for (int single = 0; single < 2; single++)
        for (int i = 0; i < ROWS; i++) {
            /* those of float may need those of double */
            const unsigned long long bit = 1ULL << i, also = single ? 0 : used[1];
            if (!((used[single] | also) & bit) || ((had[single] | (single ? 0 : had[1])) & bit))
                continue;
            put_function(s, out, &rows[i], single, host);
        }
}

void math_warn(struct source *s) {
    struct text names = {0};
    if (!s->inexact[0] && !s->inexact[1]) return;
    for (int single = 0; single < 2; single++)
        for (int i = 0; i < ROWS; i++)
            if (s->inexact[single] >> i & 1)
                put(&names, "%s%s%s", names.length ? ", " : "", rows[i].name, single ? "f" : "");
    complain(s, s->inexact_at, "warning",
             "kernels of this file call %s: in the last bits they are each device's own, and not "
             "those of cores",
             names.at);
    free(names.at);
}
