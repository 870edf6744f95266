/* Expressions over outputs of the command: a parser by descent that computes at once. Values are
 * vectors; a path is a set of JSON nodes until it is used as numbers. */
#include "bench/papers.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64, NAME = 64 };

struct parser {
    const char *begin, *at;
    output_of *find;
    void *arg;
    char *why;
    size_t size;
    int failed, depth;
};

static struct numbers fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct numbers fail(struct parser *p, const char *format, ...) {
    if (!p->failed) {
        char text[200];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        snprintf(p->why, p->size, "at column %d: %s", (int)(p->at - p->begin) + 1, text);
    }
    p->failed = 1;
    return (struct numbers){0};
}

static struct numbers vector(struct parser *p, int n) {
    struct numbers v = {n, malloc(sizeof *v.v * (size_t)(n > 0 ? n : 1))};
    if (!v.v) return fail(p, "not enough memory for %d numbers", n);
    return v;
}

static struct numbers scalar(struct parser *p, double x) {
    struct numbers v = vector(p, 1);
    if (v.v) v.v[0] = x;
    return v;
}

static void blanks(struct parser *p) { p->at += strspn(p->at, " \t\n"); }

/* Takes `text` if it comes next; a word only whole. */
static int next_is(struct parser *p, const char *text) {
    blanks(p);
    const size_t n = strlen(text);
    if (strncmp(p->at, text, n) != 0) return 0;
    if (isalpha((unsigned char)*text) && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_'))
        return 0;
    p->at += n;
    return 1;
}

static void expect(struct parser *p, const char *text) {
    if (!p->failed && !next_is(p, text)) fail(p, "expected %s", text);
}

static int read_name(struct parser *p, char name[NAME]) {
    blanks(p);
    int n = 0;
    while ((isalnum((unsigned char)p->at[n]) || p->at[n] == '_') && n < NAME - 1) n++;
    memcpy(name, p->at, (size_t)n);
    name[n] = '\0';
    p->at += n;
    return n;
}

/* ---- paths ---- */

struct nodes {
    int n;
    const cJSON **node;
};

static void push(struct parser *p, struct nodes *s, const cJSON *node) {
    if (!(s->n & (s->n - 1))) { /* room grows in powers of two */
        const cJSON **more = realloc(s->node, sizeof *more * (size_t)(s->n ? 2 * s->n : 1));
        if (!more) {
            fail(p, "not enough memory for a path");
            return;
        }
        s->node = more;
    }
    s->node[s->n++] = node;
}

/* A number that equal texts share. */
static double text_number(const char *text) {
    unsigned long long h = 1469598103934665603ULL;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211ULL;
    return (double)(h >> 12);
}

static int matches(const cJSON *element, const char *key, const char *word) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(element, key);
    if (cJSON_IsString(value)) return !strcmp(value->valuestring, word);
    if (cJSON_IsBool(value)) return cJSON_IsTrue(value) == !strcmp(word, "true");
    return cJSON_IsNumber(value) && value->valuedouble == strtod(word, NULL);
}

/* Chooses nodes by the text between brackets: *, an index, or key=word. */
static void choose(struct parser *p, const struct nodes *from, struct nodes *to) {
    char inside[NAME], *equals;
    blanks(p);
    const size_t n = strcspn(p->at, "]");
    snprintf(inside, sizeof inside, "%.*s", (int)n, p->at);
    p->at += n;
    equals = strchr(inside, '=');
    if (equals) *equals++ = '\0';
    for (int i = 0; i < from->n && !p->failed; i++) {
        const cJSON *a = from->node[i], *e;
        if (!cJSON_IsArray(a)) {
            /* a further condition on elements that one has chosen */
            if (equals && matches(a, inside, equals)) push(p, to, a);
            if (!equals) fail(p, "[%s] of something that is no list", inside);
        } else if (equals) {
            cJSON_ArrayForEach(e, a) if (matches(e, inside, equals)) push(p, to, e);
        } else if (!strcmp(inside, "*")) {
            cJSON_ArrayForEach(e, a) push(p, to, e);
        } else {
            const int size = cJSON_GetArraySize(a), k = atoi(inside);
            e = cJSON_GetArrayItem(a, k < 0 ? size + k : k);
            if (e)
                push(p, to, e);
            else
                fail(p, "[%s] of a list of %d", inside, size);
        }
    }
    if (equals && !to->n) fail(p, "nothing has %s %s", inside, equals);
    expect(p, "]");
}

static struct numbers as_numbers(struct parser *p, const struct nodes *s) {
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += cJSON_IsArray(s->node[i]) ? cJSON_GetArraySize(s->node[i]) : 1;
    struct numbers v = vector(p, n);
    n = 0;
    for (int i = 0; i < s->n && !p->failed; i++) {
        const cJSON *a = s->node[i], *e = cJSON_IsArray(a) ? a->child : a;
        for (; e && !p->failed; e = e == a ? NULL : e->next) {
            if (cJSON_IsNumber(e))
                v.v[n++] = e->valuedouble;
            else if (cJSON_IsString(e))
                v.v[n++] = text_number(e->valuestring);
            else if (cJSON_IsBool(e))
                v.v[n++] = cJSON_IsTrue(e);
            else
                fail(p, "a value that is no number");
        }
    }
    return v;
}

/* Numbers behind a word in the line that it begins. */
static struct numbers in_text(struct parser *p, const char *text) {
    expect(p, "\"");
    char word[NAME];
    const size_t n = strcspn(p->at, "\"");
    snprintf(word, sizeof word, "%.*s", (int)n, p->at);
    p->at += n;
    expect(p, "\"");
    expect(p, "[");
    if (p->failed) return (struct numbers){0};
    char *end;
    const long wanted = strtol(p->at, &end, 10);
    p->at = end;
    expect(p, "]");
    const size_t length = strlen(word);
    for (const char *line = text; line && !p->failed; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *x = line + strspn(line, " *+");
        if (strncmp(x, word, length) != 0) continue;
        long found = 0;
        for (x += length; *x && *x != '\n';) {
            const int whole = isdigit((unsigned char)*x) && !isalnum((unsigned char)x[-1]);
            if (!whole && !(*x == '-' && isdigit((unsigned char)x[1]))) {
                x++;
                continue;
            }
            const double value = strtod(x, &end);
            if (found++ == wanted) return scalar(p, value);
            x = end;
        }
    }
    return fail(p, "the output has no line with \"%s\" and %ld numbers", word, wanted + 1);
}

static struct numbers path(struct parser *p, const char *name) {
    char words[128] = "";
    if (*p->at == '{') {
        const size_t n = strcspn(++p->at, "}");
        snprintf(words, sizeof words, "%.*s", (int)n, p->at);
        p->at += n;
        expect(p, "}");
    }
    const struct output *output = p->failed ? NULL : p->find(p->arg, name, words);
    if (!output) {
        if (!p->failed) *p->why = '\0'; /* a message was printed */
        p->failed = 1;
        return (struct numbers){0};
    }
    if (next_is(p, "~")) return in_text(p, output->text);
    if (!output->json) return fail(p, "the output of %s is no JSON", name);
    struct nodes set = {0};
    push(p, &set, output->json);
    while (!p->failed) {
        struct nodes next = {0};
        char key[NAME];
        if (next_is(p, "[")) {
            choose(p, &set, &next);
        } else if (next_is(p, ".")) {
            read_name(p, key);
            for (int i = 0; i < set.n && !p->failed; i++) {
                const cJSON *o = cJSON_GetObjectItemCaseSensitive(set.node[i], key);
                if (o)
                    push(p, &next, o);
                else
                    fail(p, "there is no key \"%s\"", key);
            }
        } else {
            break;
        }
        free(set.node);
        set = next;
    }
    struct numbers v = p->failed ? (struct numbers){0} : as_numbers(p, &set);
    free(set.node);
    return v;
}

/* ---- functions ---- */

static struct numbers whole(struct parser *p);

static struct numbers join(struct parser *p, struct numbers a, struct numbers b) {
    struct numbers v = vector(p, a.n + b.n);
    if (v.v && a.n) memcpy(v.v, a.v, sizeof *v.v * (size_t)a.n);
    if (v.v && b.n) memcpy(v.v + a.n, b.v, sizeof *v.v * (size_t)b.n);
    free(a.v);
    free(b.v);
    return v;
}

/* All arguments in one vector; `last` is how many the last one has. */
static struct numbers arguments(struct parser *p, int *last) {
    struct numbers all = {0};
    do {
        struct numbers one = whole(p);
        *last = one.n;
        all = join(p, all, one);
    } while (!p->failed && next_is(p, ","));
    expect(p, ")");
    return all;
}

static struct numbers call(struct parser *p, const char *name) {
    int last = 0;
    struct numbers a = arguments(p, &last);
    if (p->failed || !a.n) {
        free(a.v);
        return fail(p, "%s() of nothing", name);
    }
    double x = a.v[0];
    const double end = a.v[a.n - 1];
    if (!strcmp(name, "list")) return a;
    if (!strcmp(name, "abs") || !strcmp(name, "sqrt")) {
        for (int i = 0; i < a.n; i++) a.v[i] = *name == 'a' ? fabs(a.v[i]) : sqrt(a.v[i]);
        return a;
    }
    if (!strcmp(name, "count")) {
        x = a.n;
    } else if (!strcmp(name, "cuts")) {
        x = 0;
        for (int i = 1; i < a.n; i++) x += a.v[i] != a.v[i - 1];
    } else if (!strcmp(name, "sum") || !strcmp(name, "mean")) {
        for (int i = 1; i < a.n; i++) x += a.v[i];
        if (*name == 'm') x /= a.n;
    } else if (!strcmp(name, "min") || !strcmp(name, "max")) {
        for (int i = 1; i < a.n; i++) x = name[1] == 'i' ? fmin(x, a.v[i]) : fmax(x, a.v[i]);
    } else if (!strcmp(name, "at") && last == 1 && end >= 0 && end < a.n - 1) {
        x = a.v[(int)end];
    } else {
        fail(p, "%s() is no function, or not of these", name);
    }
    free(a.v);
    return p->failed ? (struct numbers){0} : scalar(p, x);
}

/* ---- operators ---- */

static double apply(char op, double a, double b) {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case '<': return a < b;
    case '>': return a > b;
    case 'l': return a <= b;
    case 'g': return a >= b;
    case '=': return a == b;
    default: return a != 0 && b != 0;
    }
}

static struct numbers both(struct parser *p, char op, struct numbers a, struct numbers b) {
    struct numbers v = {0};
    if (!p->failed && a.n != b.n && a.n != 1 && b.n != 1)
        fail(p, "%d numbers and %d do not go together", a.n, b.n);
    if (!p->failed) v = vector(p, a.n > b.n ? a.n : b.n);
    for (int i = 0; i < v.n; i++) v.v[i] = apply(op, a.v[a.n == 1 ? 0 : i], b.v[b.n == 1 ? 0 : i]);
    free(a.v);
    free(b.v);
    return v;
}

static struct numbers primary(struct parser *p) {
    char name[NAME], *end;
    blanks(p);
    if (next_is(p, "-")) return both(p, '-', scalar(p, 0), primary(p));
    if (next_is(p, "(")) {
        struct numbers v = whole(p);
        expect(p, ")");
        return v;
    }
    if (isdigit((unsigned char)*p->at)) {
        const double x = strtod(p->at, &end);
        p->at = end;
        return scalar(p, x);
    }
    if (!read_name(p, name)) return fail(p, "expected a number or a name");
    return next_is(p, "(") ? call(p, name) : path(p, name);
}

static struct numbers product(struct parser *p) {
    struct numbers v = primary(p);
    while (!p->failed) {
        if (next_is(p, "*"))
            v = both(p, '*', v, primary(p));
        else if (next_is(p, "/"))
            v = both(p, '/', v, primary(p));
        else
            break;
    }
    return v;
}

static struct numbers total(struct parser *p) {
    struct numbers v = product(p);
    while (!p->failed) {
        if (next_is(p, "+"))
            v = both(p, '+', v, product(p));
        else if (next_is(p, "-"))
            v = both(p, '-', v, product(p));
        else
            break;
    }
    return v;
}

static struct numbers comparison(struct parser *p) {
    struct numbers v = total(p);
    static const char *const word[] = {"<=", ">=", "==", "<", ">"};
    static const char op[] = {'l', 'g', '=', '<', '>'};
    for (int i = 0; i < 5 && !p->failed; i++)
        if (next_is(p, word[i])) return both(p, op[i], v, total(p));
    return v;
}

static struct numbers whole(struct parser *p) {
    if (++p->depth > DEPTH) return fail(p, "more than %d brackets in one another", DEPTH);
    struct numbers v = comparison(p);
    while (!p->failed && next_is(p, "and")) v = both(p, '&', v, comparison(p));
    p->depth--;
    return v;
}

int papers_evaluate(const char *expression, output_of *find, void *arg, struct numbers *value,
                    char *why, size_t size) {
    struct parser p = {
        .begin = expression, .at = expression, .find = find, .arg = arg, .why = why, .size = size};
    *value = whole(&p);
    blanks(&p);
    if (!p.failed && *p.at) fail(&p, "\"%.20s\" is too much", p.at);
    for (int i = 0; !p.failed && i < value->n; i++)
        if (!isfinite(value->v[i])) fail(&p, "value %d is not finite", i + 1);
    if (!p.failed) return 0;
    free(value->v);
    *value = (struct numbers){0};
    return -1;
}
