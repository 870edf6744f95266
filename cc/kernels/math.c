/* The functions of math.h that kernels have. Some have one right result, which the libraries of
 * cores and devices give alike; of the others the last bits are each library's own. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

/* `type`: of the result and of the arguments, d double, i int, l long. `device`: what it is there;
 * NULL: a call of the same name. `host`: the same for cores; NULL: the compiler's built-in one. */
static const struct row {
    const char *name, *type;
    int exact;
    const char *device, *host;
} rows[] = {
    {"sqrt", "dd", 1, "evn_sqrt(a)", NULL},
    {"fabs", "dd", 1, "evn_abs(a)", NULL},
    {"fma", "dddd", 1, "evn_fma(a, b, c)", NULL},
    {"fmin", "ddd", 1, "a != a || b < a ? b : a", "a != a || b < a ? b : a"},
    {"fmax", "ddd", 1, "a != a || b > a ? b : a", "a != a || b > a ? b : a"},
    {"abs", "ii", 1, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"labs", "ll", 1, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"llabs", "ll", 1, "a < 0 ? -a : a", "a < 0 ? -a : a"},
    {"floor", "dd", 1, NULL, NULL},
    {"ceil", "dd", 1, NULL, NULL},
    {"trunc", "dd", 1, NULL, NULL},
    {"round", "dd", 1, NULL, NULL},
    {"rint", "dd", 1, NULL, NULL},
    {"nearbyint", "dd", 1, "rint(a)", NULL},
    {"lround", "ld", 1, "(evn_cu_int)round(a)", NULL},
    {"lrint", "ld", 1, "(evn_cu_int)rint(a)", NULL},
    {"fmod", "ddd", 1, NULL, NULL},
    {"remainder", "ddd", 1, NULL, NULL},
    {"copysign", "ddd", 1, NULL, NULL},
    {"fdim", "ddd", 1, "a != a || b != b ? a + b : a > b ? a - b : 0",
     "a != a || b != b ? a + b : a > b ? a - b : 0"},
    {"isnan", "id", 1, "a != a", "a != a"},
    {"isfinite", "id", 1, "a - a == 0", "a - a == 0"},
    {"isinf", "id", 1, "a == a && a - a != 0", "a == a && a - a != 0"},
    {"isinf_sign", "id", 1, "a == a && a - a != 0 ? a > 0 ? 1 : -1 : 0",
     "a == a && a - a != 0 ? a > 0 ? 1 : -1 : 0"},
    {"signbit", "id", 1, "copysign(1.0, a) < 0", "__builtin_copysign(1.0, a) < 0"},
    {"inf", "d", 1, "1e300 * 1e300", NULL},
    {"huge_val", "d", 1, "1e300 * 1e300", NULL},
    {"exp", "dd", 0, NULL, NULL},
    {"exp2", "dd", 0, NULL, NULL},
    {"expm1", "dd", 0, NULL, NULL},
    {"log", "dd", 0, NULL, NULL},
    {"log2", "dd", 0, NULL, NULL},
    {"log10", "dd", 0, NULL, NULL},
    {"log1p", "dd", 0, NULL, NULL},
    {"pow", "ddd", 0, NULL, NULL},
    {"cbrt", "dd", 0, NULL, NULL},
    {"hypot", "ddd", 0, NULL, NULL},
    {"sin", "dd", 0, NULL, NULL},
    {"cos", "dd", 0, NULL, NULL},
    {"tan", "dd", 0, NULL, NULL},
    {"asin", "dd", 0, NULL, NULL},
    {"acos", "dd", 0, NULL, NULL},
    {"atan", "dd", 0, NULL, NULL},
    {"atan2", "ddd", 0, NULL, NULL},
    {"sinh", "dd", 0, NULL, NULL},
    {"cosh", "dd", 0, NULL, NULL},
    {"tanh", "dd", 0, NULL, NULL},
    {"asinh", "dd", 0, NULL, NULL},
    {"acosh", "dd", 0, NULL, NULL},
    {"atanh", "dd", 0, NULL, NULL},
    {"erf", "dd", 0, NULL, NULL},
    {"erfc", "dd", 0, NULL, NULL},
    {"tgamma", "dd", 0, NULL, NULL},
    {"lgamma", "dd", 0, NULL, NULL},
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

void math_use(struct body *b, const struct token *t, struct math m) {
    struct source *s = b->s;
    b->functions->math[m.single] |= 1ULL << m.row;
    if (!rows[m.row].exact && !s->inexact[0] && !s->inexact[1]) s->inexact_at = t->begin;
    if (!rows[m.row].exact) s->inexact[m.single] |= 1ULL << m.row;
    put(&b->out, "evn_k_%s%s ", rows[m.row].name, m.single ? "f" : "");
}

static const char *c_type(char letter, int single) {
    return letter == 'd' ? single ? "float" : "double" : letter == 'i' ? "int" : "evn_cu_int";
}

/* One function. Exact ones of float are those of double: their results are floats, or, of sqrt,
 * rounded once for all. */
static void put_function(struct text *out, const struct row *r, int single, int host) {
    static const char letters[] = "abc";
    const char *text = host ? r->host : r->device, *type = r->type;
    const int by_double = single && r->exact && strcmp(r->name, "fma");
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
        put(out, host ? "__builtin_%s%s(" : "%s(", r->name, host && single ? "f" : "");
    for (int i = 1; type[i] && (by_double || !text || single); i++)
        put(out, "%s%c", i > 1 ? ", " : "", letters[i - 1]);
    put(out, by_double || !text || single ? "); }\n" : "; }\n");
}

void math_put(struct text *out, const unsigned long long used[2], const unsigned long long had[2],
              int host) {
    for (int single = 0; single < 2; single++)
        for (int i = 0; i < ROWS; i++) {
            /* exact ones of float need those of double */
            const unsigned long long bit = 1ULL << i, also = single ? 0 : used[1];
            if (!((used[single] | also) & bit) || ((had[single] | (single ? 0 : had[1])) & bit))
                continue;
            put_function(out, &rows[i], single, host);
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
