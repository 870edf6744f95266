/* A loop of which a kernel is made: its directive, what is made in front of the function that it
 * stands in (the kernel as text for devices, and as C for the emulated one), and what stands in the
 * directive's place: on a GPU unit a launch, elsewhere parallel for.
 *
 *     {   checks of types; the arrays
 *         if (evn_cu_kernel_here(..)) { values; evn_cu_kernel_run(..); }
 *         else
 *     #pragma omp parallel for num_threads(..) ..
 *         the user's loops, unchanged
 *     }
 */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

enum { GROUP = 128, SUMS = 8 };

static const char quiet[] = "\n#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
                            "#pragma GCC diagnostic ignored \"-Wpedantic\"\n"
                            "#pragma GCC diagnostic ignored \"-Wconversion\"\n"
                            "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n"
                            "#pragma GCC diagnostic ignored \"-Wredundant-decls\"\n"
                            "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                            "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
                            "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"\n";
static const char loud[] = "#pragma GCC diagnostic pop\n";

/* What each of the dialect's functions is to the emulated device. */
static const char host_functions[] =
    "static inline double evn_k_sqrt(double a) { return __builtin_sqrt(a); }\n"
    "static inline double evn_k_fabs(double a) { return __builtin_fabs(a); }\n"
    "static inline double evn_k_fma(double a, double b, double c) { return __builtin_fma(a, b, c); "
    "}\n"
    "static inline double evn_k_fmin(double a, double b) { return a != a || b < a ? b : a; }\n"
    "static inline double evn_k_fmax(double a, double b) { return a != a || b > a ? b : a; }\n"
    "static inline int evn_k_abs(int a) { return a < 0 ? -a : a; }\n";
static const char device_functions[] =
    "\ntypedef evn_long evn_cu_int;\n"
    "EVN_DEVICE_FUNCTION double evn_k_sqrt(double a) { return evn_sqrt(a); }\n"
    "EVN_DEVICE_FUNCTION double evn_k_fabs(double a) { return evn_abs(a); }\n"
    "EVN_DEVICE_FUNCTION double evn_k_fma(double a, double b, double c) { return evn_fma(a, b, c); "
    "}\n"
    "EVN_DEVICE_FUNCTION double evn_k_fmin(double a, double b) { return a != a || b < a ? b : a; "
    "}\n"
    "EVN_DEVICE_FUNCTION double evn_k_fmax(double a, double b) { return a != a || b > a ? b : a; "
    "}\n"
    "EVN_DEVICE_FUNCTION int evn_k_abs(int a) { return a < 0 ? -a : a; }\n";

struct kernel {
    struct source *s;
    struct directive *d;
    struct nest nest;
    struct body body;
    int n, sums, buffers;
    struct text out;
};

/* ---- the directive ------------------------------------------------------------------------- */

int kernels_worth(const char *text) {
    const char *c = strstr(text, "target");
    return c && strstr(c, "teams") && strstr(c, "distribute");
}

int kernels_ours(const struct source *s, const struct directive *d) {
    static const char *const words[] = {"target", "teams", "distribute", "parallel", "for"};
    for (int i = 0; i < 5; i++)
        if (d->tokens.count <= i + 2 || !token_is(s, &d->tokens.at[i + 2], words[i])) return 0;
    return 1;
}

static const struct {
    const char *name;
    enum clause_kind kind;
} clauses[] = {{"collapse", K_COLLAPSE},
               {"reduction", K_REDUCTION},
               {"private", K_PRIVATE},
               {"map", K_SHARED}}; /* what is registered is brought; nothing is mapped */

static void add_clause(struct directive *d, struct clause c) {
    d->clause = more(d->clause, (size_t)(d->clauses + 1) * sizeof *d->clause);
    d->clause[d->clauses++] = c;
}

static void read_clauses(struct source *s, struct directive *d) {
    const struct tokens *t = &d->tokens;
    for (int i = 7; i < t->count;) {
        const struct token *name = &t->at[i];
        enum clause_kind kind = K_NONE;
        for (size_t k = 0; k < sizeof clauses / sizeof *clauses; k++)
            if (token_is(s, name, clauses[k].name)) kind = clauses[k].kind;
        const int open = i + 1 < t->count && token_is(s, &t->at[i + 1], "(");
        const int behind = open ? after_bracket(s, t, i + 1, t->count) : i + 1;
        if (behind < 0) {
            error(s, t->at[i + 1].begin, "this parenthesis is not closed");
            return;
        }
        if (kind != K_NONE && behind > i + 3)
            add_clause(d, (struct clause){
                              kind, *name, {&t->at[i + 2], behind - i - 3}, t->at[behind - 1].end});
        else if (!token_is(s, name, ",") && !(token_is(s, name, "simd") && i == 7))
            error(s, name->begin,
                  "a loop that a kernel is made of has collapse(n), reduction(+: s), private(x) "
                  "and map(..), and no other clauses");
        i = behind;
    }
}

/* Names of reduction and private become the body's own. */
static void read_lists(struct kernel *k) {
    struct source *s = k->s;
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        struct run names = c->in, part;
        if (c->kind != K_REDUCTION && c->kind != K_PRIVATE) continue;
        if (c->kind == K_REDUCTION) {
            const struct run op = reduction_operator(s, c, &names);
            if (op.count != 1 || !token_is(s, &op.at[0], "+")) {
                error(s, c->in.at[0].begin, "reduction: of a kernel there is + of doubles only");
                for (int n = 0; n < names.count; n++)
                    body_add(&k->body, &names.at[n], TYPE_DOUBLE, NAME_SUM);
                continue;
            }
        }
        int at = 0;
        while (run_part(s, names, &at, &part)) {
            if (part.count != 1 || part.at[0].kind != T_NAME) {
                error(s, part.count ? part.at[0].begin : c->in.at[0].begin,
                      "expected a variable here");
                continue;
            }
            const struct declared d = find_declared(s, k->body.before, &part.at[0]);
            const int sum = c->kind == K_REDUCTION;
            if (!d.type || (sum && (d.type != TYPE_DOUBLE || k->sums == SUMS)))
                error(s, part.at[0].begin,
                      sum ? "reduction: of a kernel there is + of doubles only, %d at most"
                          : "private: expected a variable that is int, long, float or double",
                      (int)SUMS);
            k->sums += sum;
            body_add(&k->body, &part.at[0], d.type, sum ? NAME_SUM : NAME_LOCAL);
        }
    }
}

static int collapse(struct source *s, const struct directive *d) {
    const struct clause *c = directive_find(d, K_COLLAPSE);
    if (!c) return 1;
    const int n = s->text[c->in.at[0].begin] - '0';
    if (c->in.count == 1 && token_length(&c->in.at[0]) == 1 && n >= 1 && n <= 8) return n;
    error(s, c->in.at[0].begin, "collapse: expected a number from 1 to 8");
    return 1;
}

static void check_loops(struct kernel *k) {
    struct source *s = k->s;
    for (int i = 0; i < k->nest.loops; i++) {
        const struct loop *l = &k->nest.loop[i];
        const int length = l->type.end - l->type.begin;
        if (length != 3 || strncmp(s->text + l->type.begin, "int", 3) || l->down || !l->one ||
            (l->relation != R_LESS && l->relation != R_LESS_EQUAL))
            error(s, l->variable.begin,
                  "expected for (int %.*s = from; %.*s < to; %.*s++); a kernel is made of no other "
                  "loops",
                  token_length(&l->variable), token_letters(s, &l->variable),
                  token_length(&l->variable), token_letters(s, &l->variable),
                  token_length(&l->variable), token_letters(s, &l->variable));
    }
}

/* ---- text of the kernel -------------------------------------------------------------------- */

#define EACH(k, name_)                                                                             \
    for (const struct name *name_ = (k)->body.name; name_ < (k)->body.name + (k)->body.names;      \
         name_++)
#define LETTERS(k, t) token_length(t), token_letters((k)->s, t)

static int uses(const struct kernel *k, enum type type) {
    EACH(k, n) if (n->role == NAME_ARRAY && n->type == type) return 1;
    return 0;
}

/* What the kernel is told beside arrays, larger members first. */
static void put_values(struct kernel *k, struct text *out) {
    put(out, "struct evn_%d_values {\n", k->n);
    EACH(k, n) {
        if (n->role == NAME_ARRAY) put(out, "evn_cu_int at_%.*s;\n", LETTERS(k, &n->token));
        for (int i = 0; n->role == NAME_ARRAY && i + 1 < n->dimensions; i++)
            put(out, "evn_cu_int s%d_%.*s;\n", i, LETTERS(k, &n->token));
    }
    for (int large = 1; large >= 0; large--) {
        EACH(k, n) {
            const int is_large = n->type == TYPE_LONG || n->type == TYPE_DOUBLE;
            if (n->role == NAME_SCALAR && is_large == large)
                put(out, "%s u_%.*s;\n", type_name(n->type), LETTERS(k, &n->token));
        }
    }
    put(out, "int trips");
    for (int i = 0; i < k->nest.loops; i++) put(out, ", from%d, n%d", i, i);
    int fours = 1 + 2 * k->nest.loops;
    EACH(k, n) {
        fours += n->role == NAME_SCALAR && (n->type == TYPE_INT || n->type == TYPE_FLOAT);
    }
    put(out, "%s;\n};\n", fours % 2 ? ", even" : "");
}

/* Names that the body has for what it is told. */
static void put_known(struct kernel *k, struct text *out) {
    EACH(k, n) {
        for (int i = 0; n->role == NAME_ARRAY && i + 1 < n->dimensions; i++)
            put(out, "const evn_cu_int evn_s%d_%.*s = evn_v.s%d_%.*s;\n", i, LETTERS(k, &n->token),
                i, LETTERS(k, &n->token));
        if (n->role == NAME_SCALAR)
            put(out, "const %s u_%.*s = evn_v.u_%.*s;\n", type_name(n->type), LETTERS(k, &n->token),
                LETTERS(k, &n->token));
    }
}

/* What an item does: iteration number evn_t. */
static void put_item(struct kernel *k, struct text *out) {
    EACH(k, n) if (n->role == NAME_SUM) put(out, "double u_%.*s = 0;\n", LETTERS(k, &n->token));
    put(out, "if (evn_t < evn_v.trips)\n");
    if (k->sums && k->body.continues) put(out, "for (int evn_once = 1; evn_once; evn_once = 0)\n");
    put(out, "{\n");
    for (int i = 0; i < k->nest.loops; i++) {
        put(out, "const int u_%.*s = evn_v.from%d + evn_t", LETTERS(k, &k->nest.loop[i].variable),
            i);
        for (int under = i + 1; under < k->nest.loops; under++) put(out, " / evn_v.n%d", under);
        put(out, i ? " %% evn_v.n%d;\n" : ";\n", i);
    }
    for (int i = 0; i < k->nest.loops; i++)
        put(out, "(void)u_%.*s;\n", LETTERS(k, &k->nest.loop[i].variable));
    EACH(k, n) {
        if (n->role == NAME_LOCAL)
            put(out, "%s u_%.*s;\n", type_name(n->type), LETTERS(k, &n->token));
    }
    put_bytes(out, k->body.out.at, k->body.out.length);
    put(out, "}\n");
    int sum = 0;
    EACH(k, n) {
        if (n->role == NAME_SUM)
            put(out, "evn_part%d[evn_item] = u_%.*s;\n", sum++, LETTERS(k, &n->token));
    }
}

/* The group's sums, item after item. */
static void put_group_sums(struct kernel *k, struct text *out, const char *group) {
    for (int i = 0; i < k->sums; i++)
        put(out,
            "{\ndouble evn_sum = 0;\nfor (int evn_i = 0; evn_i < %d; evn_i++) evn_sum += "
            "evn_part%d[evn_i];\nevn_sums[%d * %s + %d] = evn_sum;\n}\n",
            (int)GROUP, i, k->sums, group, i);
}

static const enum type types[] = {TYPE_DOUBLE, TYPE_FLOAT, TYPE_LONG, TYPE_INT};

static void put_device_text(struct kernel *k, struct text *out) {
    put_values(k, out);
    body_functions(&k->body, "EVN_DEVICE_FUNCTION", out);
    put(out, "\nEVN_KERNEL(evn_loop, %d, (", (int)GROUP);
    for (int i = 0; i < 4; i++)
        if (uses(k, types[i]))
            put(out, "EVN_BUFFER(%s, evn_b%d), ", type_name(types[i]), (int)types[i]);
    put(out, "EVN_VALUE(struct evn_%d_values, evn_v)", k->n);
    if (k->sums) put(out, ", EVN_BUFFER(double, evn_sums)");
    put(out, ")) {\n");
    for (int i = 0; i < k->sums; i++)
        put(out, "EVN_LOCAL_ARRAY(double, evn_part%d, %d);\n", i, (int)GROUP);
    EACH(k, n) {
        if (n->role == NAME_ARRAY)
            put(out, "EVN_GLOBAL %s%s *evn_a_%.*s = evn_b%d + evn_v.at_%.*s;\n",
                n->written ? "" : "const ", type_name(n->type), LETTERS(k, &n->token), (int)n->type,
                LETTERS(k, &n->token));
    }
    put_known(k, out);
    put(out, "EVN_ITEMS(evn_item) {\nconst int evn_t = EVN_GROUP * %d + evn_item;\n", (int)GROUP);
    put_item(k, out);
    put(out, "}\n");
    if (k->sums) {
        put(out, "EVN_BARRIER;\nEVN_FIRST {\n");
        put_group_sums(k, out, "EVN_GROUP");
        put(out, "}\n");
    }
    put(out, "}\n");
}

/* The same for the emulated device, without macros. */
static void put_host_text(struct kernel *k, struct text *out) {
    put_values(k, out);
    body_functions(&k->body, "static inline", out);
    put(out,
        "static void evn_%d_run(const void *const *evn_argument, int evn_groups, int evn_group, "
        "int evn_items) {\n(void)evn_groups, (void)evn_items;\n",
        k->n);
    int at = 0;
    for (int i = 0; i < 4; i++)
        if (uses(k, types[i]))
            put(out, "%s *const evn_b%d = (%s *)evn_argument[%d];\n", type_name(types[i]),
                (int)types[i], type_name(types[i]), at++);
    put(out,
        "const struct evn_%d_values evn_v = *(const struct evn_%d_values *)evn_argument[%d];\n",
        k->n, k->n, at);
    if (k->sums) put(out, "double *const evn_sums = (double *)evn_argument[%d];\n", at + 1);
    for (int i = 0; i < k->sums; i++) put(out, "double evn_part%d[%d];\n", i, (int)GROUP);
    EACH(k, n) {
        if (n->role == NAME_ARRAY)
            put(out, "%s%s *const evn_a_%.*s = evn_b%d + evn_v.at_%.*s;\n",
                n->written ? "" : "const ", type_name(n->type), LETTERS(k, &n->token), (int)n->type,
                LETTERS(k, &n->token));
    }
    put_known(k, out);
    put(out,
        "#pragma omp simd\nfor (int evn_item = 0; evn_item < %d; evn_item++) {\nconst int "
        "evn_t = evn_group * %d + evn_item;\n",
        (int)GROUP, (int)GROUP);
    put_item(k, out);
    put(out, "}\n");
    put_group_sums(k, out, "evn_group");
    put(out, "}\n");
}

/* ---- in front of the function -------------------------------------------------------------- */

static void put_line(struct kernel *k, int at) {
    const struct place place = source_place(k->s, at);
    put(&k->out, "\n# %d ", place.line);
    put_quoted(&k->out, place.file);
    put(&k->out, "\n");
}

/* Where the outermost declaration begins that token `at` is in. */
static int outermost(const struct source *s, int at) {
    int level = 0, begin = 0;
    for (int i = 0; i < at; i++) {
        level += token_is(s, &s->tokens.at[i], "{") - token_is(s, &s->tokens.at[i], "}");
        if (!level && (token_is(s, &s->tokens.at[i], ";") || token_is(s, &s->tokens.at[i], "}")))
            begin = s->tokens.at[i].end;
    }
    return begin;
}

static void put_parameters(struct kernel *k) {
    put(&k->out, "static const int evn_%d_parameters[] = {", k->n);
    k->buffers = 0;
    for (int i = 0; i < 4; i++) k->buffers += uses(k, types[i]);
    for (int i = 0; i < k->buffers; i++) put(&k->out, "0, ");
    put(&k->out, "(int)sizeof(struct evn_%d_values), %s-1};\n", k->n, k->sums ? "0, " : "");
}

static void put_definitions(struct kernel *k, int at) {
    struct source *s = k->s;
    const struct place place = source_place(s, k->d->begin);
    struct text device = {0};
    const int begin = outermost(s, at);
    put_bytes(&device, "", 0);
    put_device_text(k, &device);
    if (s->errors) {
        free(device.at);
        return;
    }
    /* 3: as in a header of the system, nothing is warned of twice; clang, that it cannot vectorise
     */
    put(&k->out,
        "\n# 1 \"<kernel of line %d>\" 3\n#pragma clang diagnostic push\n#pragma clang diagnostic "
        "ignored \"-Wpass-failed\"\n",
        place.line);
    if (!s->kernels_made++) {
        put(&k->out, "%sstatic const char evn_dialect[] =\n", host_functions);
        struct text dialect = {0};
        put(&dialect, "%s%s", s->dialect, device_functions);
        put_string(&k->out, dialect.at);
        put(&k->out, ";\n");
        free(dialect.at);
    }
    put_host_text(k, &k->out);
    put_parameters(k);
    /* a function: under default(none) a variable would have to be listed */
    put(&k->out, "static evn_cu_kernel *evn_%d_kernel(void) {\nstatic evn_cu_kernel kernel = {",
        k->n);
    put_quoted(&k->out, place.file);
    put(&k->out, ", %d, evn_dialect,\n", place.line);
    put_string(&k->out, device.at);
    put(&k->out, ",\nevn_%d_run, evn_%d_parameters, %d, %d, %d, 0};\nreturn &kernel;\n}\n%s", k->n,
        k->n, k->buffers, k->sums, s->contract, "#pragma clang diagnostic pop\n");
    put_line(k, begin);
    replace(s, begin, begin, k->out.at);
    k->out = (struct text){0};
    free(device.at);
}

/* ---- in the directive's place -------------------------------------------------------------- */

static void put_element(struct kernel *k, const struct name *n, int subscripts) {
    put(&k->out, "%.*s", LETTERS(k, &n->token));
    for (int i = 0; i < subscripts; i++) put(&k->out, "[0]");
}

/* The compiler says whether a name is what its declaration was read as. */
static void put_check(struct kernel *k, const struct name *n) {
    const int element = n->role == NAME_ARRAY ? n->dimensions : 0;
    put_line(k, n->token.begin);
    put(&k->out, "__extension__ _Static_assert(");
    for (int i = 0; i < (n->type == TYPE_LONG ? 2 : 1); i++) {
        put(&k->out, "%s__builtin_types_compatible_p(__typeof__(", i ? " || " : "");
        put_element(k, n, element);
        put(&k->out, "), %s)",
            n->type != TYPE_LONG ? type_name(n->type)
            : i                  ? "long long"
                                 : "long");
    }
    put(&k->out, ", \"\\\"%.*s\\\" is not of the type that its nearest declaration says\");\n",
        LETTERS(k, &n->token));
    for (int i = 1; i < element; i++) {
        put_line(k, n->token.begin);
        put(&k->out, "__extension__ _Static_assert(!__builtin_types_compatible_p(__typeof__(");
        put_element(k, n, i);
        put(&k->out, "), __typeof__(&");
        put_element(k, n, i + 1);
        put(&k->out,
            ")), \"\\\"%.*s\\\" is made of pointers; a kernel knows arrays in one piece\");\n",
            LETTERS(k, &n->token));
    }
}

/* The arrays, in the order of names. */
static int put_arrays(struct kernel *k) {
    int arrays = 0;
    EACH(k, n) {
        if (n->role != NAME_ARRAY) continue;
        if (!arrays++) put(&k->out, "evn_cu_array evn_%d_array[] = {", k->n);
        put(&k->out, "{(const void *)%.*s, \"%.*s\", %d, (int)sizeof(%s), 0},\n",
            LETTERS(k, &n->token), LETTERS(k, &n->token), n->written, type_name(n->type));
    }
    if (arrays) put(&k->out, "};\n");
    return arrays;
}

static void put_bounds(struct kernel *k) {
    for (int i = 0; i < k->nest.loops; i++) {
        const struct loop *l = &k->nest.loop[i];
        put_line(k, l->from.begin);
        put(&k->out, "const evn_cu_int evn_%d_from%d = (%.*s);", k->n, i,
            l->from.end - l->from.begin, k->s->text + l->from.begin);
        put_line(k, l->to.begin);
        put(&k->out, "const evn_cu_int evn_%d_n%d = evn_cu_kernel_span(evn_%d_from%d, (%.*s), %d);",
            k->n, i, k->n, i, l->to.end - l->to.begin, k->s->text + l->to.begin,
            l->relation == R_LESS_EQUAL);
    }
    put_line(k, k->d->begin);
}

static void put_filled(struct kernel *k) {
    int array = 0;
    put(&k->out,
        "struct evn_%d_values evn_%d_v;\n__builtin_memset(&evn_%d_v, 0, sizeof evn_%d_v);\n", k->n,
        k->n, k->n, k->n);
    EACH(k, n) {
        const struct token *t = &n->token;
        if (n->role == NAME_ARRAY) {
            put(&k->out, "evn_%d_v.at_%.*s = evn_%d_array[%d].at;\n", k->n, LETTERS(k, t), k->n,
                array++);
            for (int i = 0; i + 1 < n->dimensions; i++) {
                put(&k->out, "evn_%d_v.s%d_%.*s = (evn_cu_int)(sizeof ", k->n, i, LETTERS(k, t));
                put_element(k, n, i + 1);
                put(&k->out, " / sizeof(%s));\n", type_name(n->type));
            }
        } else if (n->role == NAME_SCALAR) {
            put(&k->out, "evn_%d_v.u_%.*s = %.*s;\n", k->n, LETTERS(k, t), LETTERS(k, t));
        }
    }
    for (int i = 0; i < k->nest.loops; i++)
        put(&k->out, "evn_%d_v.from%d = (int)evn_%d_from%d;\nevn_%d_v.n%d = (int)evn_%d_n%d;\n",
            k->n, i, k->n, i, k->n, i, k->n, i);
}

static void put_launch(struct kernel *k) {
    put_filled(k);
    put(&k->out,
        "const evn_cu_int evn_%d_trips = evn_cu_kernel_trips(evn_%d_kernel(), %d, (const "
        "evn_cu_int[]){",
        k->n, k->n, k->nest.loops);
    for (int i = 0; i < k->nest.loops; i++) put(&k->out, "%sevn_%d_n%d", i ? ", " : "", k->n, i);
    put(&k->out, "});\nevn_%d_v.trips = (int)evn_%d_trips;\n", k->n, k->n);
    if (k->sums) put(&k->out, "double evn_%d_sum[%d];\n", k->n, k->sums);
    put(&k->out, "evn_cu_kernel_run(evn_%d_kernel(), evn_%d_trips, &evn_%d_v, sizeof evn_%d_v, ",
        k->n, k->n, k->n, k->n);
    put(&k->out, k->sums ? "evn_%d_sum);\n" : "0);\n", k->n);
    int sum = 0;
    EACH(k, n) {
        if (n->role == NAME_SUM)
            put(&k->out, "%.*s = %.*s + evn_%d_sum[%d];\n", LETTERS(k, &n->token),
                LETTERS(k, &n->token), k->n, sum++);
    }
}

static void put_clauses(struct kernel *k) {
    put_line(k, k->d->begin);
    put(&k->out, "#pragma omp parallel for num_threads(evn_cu_kernel_threads())");
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        if (c->kind != K_SHARED)
            put(&k->out, " %.*s", c->end - c->name.begin, k->s->text + c->name.begin);
    }
    put_line(k, k->s->tokens.at[k->nest.first].begin);
}

static void put_site(struct kernel *k, int first) {
    put(&k->out, "{%s", quiet);
    EACH(k, n) if (n->role != NAME_LOOP) put_check(k, n);
    put_line(k, k->d->begin);
    const int arrays = put_arrays(k);
    put_bounds(k);
    put(&k->out, "if (evn_cu_kernel_here(evn_%d_kernel(), ", k->n);
    put(&k->out, arrays ? "evn_%d_array, %d)) {\n" : "(evn_cu_array *)0, 0)) {\n", k->n, arrays);
    put_launch(k);
    put(&k->out, "} else {\n%s", loud);
    put_clauses(k);
    struct source *s = k->s;
    const int begin = s->tokens.at[first].begin;
    put_line(k, begin);
    for (int i = source_line_begin(s, begin); i < begin; i++) put_bytes(&k->out, " ", 1);
    replace(s, k->d->begin, begin, k->out.at);
    k->out = (struct text){0};
    put(&k->out, "\n}\n}");
    put_line(k, k->nest.end);
    replace(s, k->nest.end, k->nest.end, k->out.at);
}

int kernels_loop(struct source *s, struct directive *d, int at, int to) {
    struct kernel k = {.s = s, .d = d};
    const int errors = s->errors;
    read_clauses(s, d);
    while (at < to && is_line_mark(s, &s->tokens.at[at])) at++;
    k.body = (struct body){.s = s, .number = k.n = s->sites + 1, .before = at};
    const int behind = nest_read(s, at, to, collapse(s, d), &k.nest);
    if (!behind) return at;
    check_loops(&k);
    read_lists(&k);
    struct body *b = &k.body;
    for (int i = 0; i < k.nest.loops; i++)
        body_add(b, &k.nest.loop[i].variable, TYPE_INT, NAME_LOOP);
    put_bytes(&b->out, "", 0);
    body_statement(b, k.nest.first, k.nest.last);
    if (s->errors == errors) {
        s->sites++;
        put_definitions(&k, at);
        if (s->errors == errors) put_site(&k, at);
    }
    free(b->out.at);
    free(b->name);
    free(b->function);
    return behind;
}
