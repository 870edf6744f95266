/* The C that stands in the place of a directive and of the head of its loop. The user's text is
 * copied and never understood: each piece stands in a line of its own, at its own column, under the
 * number it had. What is made beside it is called evn_N_.. and calls evener/cu_prelude.h alone.
 *
 *     {   site, bounds, list of units
 *         if (evn_cu_enter(..))
 *     #pragma omp parallel ..      whose forking the run-time takes over: once on each unit
 *         { for (iterations drawn) { index, copies for reductions; the body; what becomes of them }
 * } reductions combined, in the order of iterations
 *     }
 *
 * In C++ types are told by templates (evener/cu_cxx.h), so that a loop's variable may be an
 * iterator, and an exception that leaves the body is kept and thrown again behind the region. */
#include "emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emit {
    struct source *s;
    const struct directive *d;
    const struct nest *nest;
    struct text out;
    int n; /* of its names */
};

static const char quiet[] = "#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
                            "#pragma GCC diagnostic ignored \"-Wnested-externs\"\n"
                            "#pragma GCC diagnostic ignored \"-Wredundant-decls\"\n"
                            "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"\n"
                            "#pragma GCC diagnostic ignored \"-Wunreachable-code\"\n";
/* The same for C++, where some are unknown. */
static const char quiet_cxx[] = "#pragma GCC diagnostic push\n"
                                "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
                                "#pragma GCC diagnostic ignored \"-Wold-style-cast\"\n"
                                "#pragma GCC diagnostic ignored \"-Wunreachable-code\"\n";
static const char loud[] = "#pragma GCC diagnostic pop\n";
/* Around what is C's own conversion, which warnings may be about. */
static const char converting[] = "#pragma GCC diagnostic push\n"
                                 "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wsign-compare\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wconversion\"\n";

static const char *quiet_of(const struct emit *e) { return e->s->cxx ? quiet_cxx : quiet; }

/* Emits a line directive: the following text is from the line of `at`. */
static void line(struct emit *e, int at) {
    const struct place place = source_place(e->s, at);
    if (e->out.length && e->out.at[e->out.length - 1] != '\n') put(&e->out, "\n");
    put(&e->out, e->s->preprocessed ? "# %d " : "#line %d ", place.line);
    put_quoted(&e->out, place.file);
    put(&e->out, "\n");
}

/* And in its column. */
static void line_and_column(struct emit *e, int at) {
    line(e, at);
    for (int i = source_line_begin(e->s, at); i < at; i++)
        put_bytes(&e->out, e->s->text[i] == '\t' ? "\t" : " ", 1);
}

/* The user's text, in lines of its own; what follows is in the directive's line again. */
static void copy(struct emit *e, struct range r) {
    line_and_column(e, r.begin);
    put_bytes(&e->out, e->s->text + r.begin, (size_t)(r.end - r.begin));
    line(e, e->d->begin);
}

/* _Static_assert( follows, and a message of the compiler's is about text[at]. */
static void assertion(struct emit *e, int at) {
    if (!e->s->cxx) put(&e->out, "__extension__");
    line_and_column(e, at);
    put(&e->out, e->s->cxx ? "static_assert(" : "_Static_assert(");
}

/* const evn_N_NAME_ = the user's integer, in its own type; the compiler refuses what is none. */
static void value(struct emit *e, const char *name, struct range r, const char *what) {
    put(&e->out,
        e->s->cxx ? "const auto evn_%d_%s_ = (" : "__extension__ const __auto_type evn_%d_%s_ = +(",
        e->n, name);
    copy(e, r);
    put(&e->out, ");\n");
    assertion(e, r.begin);
    if (e->s->cxx)
        put(&e->out, "evn_cxx_integer<typename evn_cxx_plain<decltype(evn_%d_%s_)>::type>::is",
            e->n, name);
    else
        put(&e->out, "__builtin_classify_type(evn_%d_%s_) == 1", e->n, name);
    put(&e->out, ", \"%s is no integer\");\n", what);
    line(e, e->d->begin);
}

/* And const evn_cu_int evn_N_NAME. */
static void integer(struct emit *e, const char *name, struct range r, const char *what) {
    value(e, name, r, what);
    put(&e->out, "const evn_cu_int evn_%d_%s = (evn_cu_int)evn_%d_%s_;\n", e->n, name, e->n, name);
}

static void put_schedule(struct emit *e) {
    const struct clause *c = directive_find(e->d, K_SCHEDULE);
    if (!c) {
        put(&e->out, directive_learns(e->d) ? "auto" : "static");
        return;
    }
    struct run rest;
    const struct run kind = schedule_kind(e->s, c, &rest);
    for (int i = 0; i < kind.count; i++)
        put(&e->out, "%.*s", token_length(&kind.at[i]), token_letters(e->s, &kind.at[i]));
}

static void put_site(struct emit *e) {
    const struct place place = source_place(e->s, e->d->begin);
    put(&e->out, "static evn_cu_site evn_%d = {", e->n);
    put_quoted(&e->out, place.file);
    put(&e->out, ", %d, \"", place.line);
    put_schedule(e);
    put(&e->out, "\", 0};\n");
}

/* The list of units, and how many cores they may have at most. */
static void put_units(struct emit *e) {
    static const char *const families[] = {"EVN_CU_CPU", "EVN_CU_GPU", "EVN_CU_FPGA"};
    const struct directive *d = e->d;
    char name[32];
    for (int i = 0; i < d->groups; i++) {
        snprintf(name, sizeof name, "count%d", i);
        integer(e, name, d->group[i].count, "num_teams: the number of units");
        snprintf(name, sizeof name, "size%d", i);
        integer(e, name, d->group[i].size, "num_teams: the number of cores or devices");
    }
    if (d->groups) put(&e->out, "const evn_cu_group evn_%d_units[] = {", e->n);
    for (int i = 0; i < d->groups; i++)
        put(&e->out, "%s{evn_%d_count%d, %s, evn_%d_size%d}", i ? ", " : "", e->n, i,
            families[d->group[i].gpu], e->n, i);
    if (d->groups) put(&e->out, "};\n");
    const struct clause *limit = directive_find(d, K_THREAD_LIMIT);
    if (limit) integer(e, "limit", run_range(limit->in), "thread_limit: this");
}

/* "evn_1_units, 2, limit": what takes the units. */
static void put_units_arguments(struct emit *e) {
    if (e->d->groups) {
        put(&e->out, "evn_%d_units, %d, ", e->n, e->d->groups);
    } else {
        put(&e->out, "(const evn_cu_group *)0, %s, ", e->s->inner ? "0" : "EVN_CU_AUTO_CORES");
    }
    if (directive_find(e->d, K_THREAD_LIMIT)) {
        put(&e->out, "evn_%d_limit > 0 ? evn_%d_limit : -1", e->n, e->n);
    } else {
        put(&e->out, "0");
    }
}

/* The iterations of loop k: its variable and its bound are compared in the type that C compares
 * them in, evn_N_commonK. */
static void put_trips(struct emit *e, int k) {
    static const char *const relations[] = {"LESS", "LESS_EQUAL", "MORE", "MORE_EQUAL"};
    const int n = e->n;
    put(&e->out,
        "%stypedef __typeof__((evn_%d_index%d)0 + evn_%d_to%d_) evn_%d_common%d;\n"
        "evn_cu_int evn_%d_trips%d = evn_cu_trips(&evn_%d, "
        "(evn_cu_int)(evn_%d_common%d)(evn_%d_index%d)evn_%d_first%d_, "
        "(evn_cu_int)(evn_%d_common%d)evn_%d_to%d_, evn_%d_step%d, EVN_CU_%s + "
        "((evn_%d_common%d)-1 > (evn_%d_common%d)0 ? EVN_CU_UNSIGNED : 0) + "
        "((evn_%d_index%d)-1 > (evn_%d_index%d)0 ? EVN_CU_NATURAL : 0) + "
        "EVN_CU_BYTE * (int)sizeof(evn_%d_index%d));\n%s",
        converting, n, k, n, k, n, k, n, k, n, n, k, n, k, n, k, n, k, n, k, n, k,
        relations[e->nest->loop[k].relation], n, k, n, k, n, k, n, k, n, k, loud);
}

/* C++: evn_N_nameK_ = the user's value, of whatever type. */
static void put_value(struct emit *e, const char *name, int k, struct range r) {
    put(&e->out, "const auto evn_%d_%s%d_ = (", e->n, name, k);
    copy(e, r);
    put(&e->out, ");\n");
}

/* evn_N_stepK */
static void put_step(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    char name[32];
    if (!loop->one) {
        snprintf(name, sizeof name, "by%d", k);
        integer(e, name, loop->step, "the loop's step");
        put(&e->out, "evn_cu_int evn_%d_step%d = %sevn_%d_by%d;\n", e->n, k, loop->down ? "-" : "",
            e->n, k);
    } else {
        put(&e->out, "evn_cu_int evn_%d_step%d = %d;\n", e->n, k, loop->down ? -1 : 1);
    }
}

/* The same of for (type variable : range). */
static void put_cxx_range(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    put(&e->out, "auto &&evn_%d_range%d =", e->n, k);
    copy(e, loop->to);
    put(&e->out,
        ";\nauto evn_%d_from%d = evn_cxx_begin(evn_%d_range%d);\n"
        "const auto evn_%d_to%d_ = evn_cxx_end(evn_%d_range%d);\n"
        "typedef typename evn_cxx_plain<decltype(evn_%d_from%d)>::type evn_%d_index%d;\n",
        e->n, k, e->n, k, e->n, k, e->n, k, e->n, k, e->n, k);
    assertion(e, loop->to.begin);
    put(&e->out,
        "evn_cxx_random<evn_%d_index%d>::is, \"the range has no iterators of random access; "
        "expected "
        "an array, a vector or the like\");\n",
        e->n, k);
    line(e, e->d->begin);
    put(&e->out,
        "evn_cu_int evn_%d_step%d = 1;\n"
        "evn_cu_int evn_%d_trips%d = evn_cxx_loop_trips<evn_%d_index%d>(&evn_%d, evn_%d_from%d, "
        "evn_%d_to%d_, evn_%d_step%d, EVN_CU_LESS);\n",
        e->n, k, e->n, k, e->n, k, e->n, e->n, k, e->n, k, e->n, k);
}

/* Type and bounds of loop k in C++, where its variable is an integer or an iterator. */
static void put_cxx_bounds(struct emit *e, int k) {
    static const char *const relations[] = {"LESS", "LESS_EQUAL", "MORE", "MORE_EQUAL",
                                            "NOT_EQUAL"};
    const struct loop *loop = &e->nest->loop[k];
    const struct token *v = &loop->variable;
    if (loop->ranged) {
        put_cxx_range(e, k);
        return;
    }
    put_value(e, "first", k, loop->from);
    put(&e->out, "typedef");
    if (!loop->deduced && loop->type.end > loop->type.begin) {
        copy(e, loop->type);
    } else {
        put(&e->out, " typename evn_cxx_plain<decltype(");
        copy(e, loop->deduced ? loop->from : (struct range){v->begin, v->end});
        put(&e->out, ")>::type");
    }
    put(&e->out, " evn_%d_declared%d;\n", e->n, k);
    put(&e->out, "typedef typename evn_cxx_plain<evn_%d_declared%d>::type evn_%d_index%d;\n", e->n,
        k, e->n, k);
    assertion(e, v->begin);
    put(&e->out,
        "evn_cxx_loop<evn_%d_index%d>::is, \"the loop variable \\\"%.*s\\\" is neither an integer "
        "nor "
        "an iterator of random access\");\n",
        e->n, k, token_length(v), token_letters(e->s, v));
    if (loop->relation == R_NOT_EQUAL) {
        assertion(e, loop->to.begin);
        put(&e->out,
            "!evn_cxx_loop<evn_%d_index%d>::counts, \"the loop's second part must compare an "
            "integer "
            "with <, <=, > or >=\");\n",
            e->n, k);
    }
    line(e, e->d->begin);
    put(&e->out, "auto evn_%d_from%d = evn_cxx_loop_from<evn_%d_index%d>(evn_%d_first%d_);\n", e->n,
        k, e->n, k, e->n, k);
    put_value(e, "to", k, loop->to);
    put_step(e, k);
    put(&e->out,
        "evn_cu_int evn_%d_trips%d = evn_cxx_loop_trips<evn_%d_index%d>(&evn_%d, evn_%d_from%d, "
        "evn_%d_to%d_, evn_%d_step%d, EVN_CU_%s);\n",
        e->n, k, e->n, k, e->n, e->n, k, e->n, k, e->n, k, relations[loop->relation]);
}

/* Type and bounds of loop k. */
static void put_bounds(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    const struct token *v = &loop->variable;
    char name[32];
    if (e->s->cxx) {
        put_cxx_bounds(e, k);
        return;
    }
    if (loop->type.end > loop->type.begin) {
        put(&e->out, "typedef");
        copy(e, loop->type);
        put(&e->out, "evn_%d_index%d;\n", e->n, k);
    } else {
        put(&e->out, "typedef __typeof__(");
        copy(e, (struct range){v->begin, v->end});
        put(&e->out, ") evn_%d_index%d;\n", e->n, k);
    }
    assertion(e, v->begin);
    put(&e->out,
        "__builtin_classify_type((evn_%d_index%d)0) == 1, \"the loop "
        "variable \\\"%.*s\\\" is no integer\");\n",
        e->n, k, token_length(v), token_letters(e->s, v));
    line(e, e->d->begin);
    snprintf(name, sizeof name, "first%d", k);
    value(e, name, loop->from, "the loop's first value");
    put(&e->out, "evn_cu_int evn_%d_from%d = (evn_cu_int)(evn_%d_index%d)evn_%d_first%d_;\n", e->n,
        k, e->n, k, e->n, k);
    snprintf(name, sizeof name, "to%d", k);
    value(e, name, loop->to, "the loop's bound");
    put_step(e, k);
    put_trips(e, k);
}

static void put_loops(struct emit *e) {
    const int n = e->nest->loops;
    for (int k = 0; k < n; k++) put_bounds(e, k);
    put(&e->out, "evn_cu_int evn_%d_trips = evn_%d_trips0;\n", e->n, e->n);
    for (int k = 1; k < n; k++)
        put(&e->out,
            "evn_%d_trips = evn_cu_trips(&evn_%d, 0, evn_%d_trips * evn_%d_trips%d, 1, "
            "EVN_CU_LESS);\n",
            e->n, e->n, e->n, e->n, k);
}

/* "evn_N_t / evn_N_trips1 % evn_N_trips0": the number of loop k's iteration. */
static void put_number(struct emit *e, int k) {
    put(&e->out, "evn_%d_t", e->n);
    for (int under = k + 1; under < e->nest->loops; under++)
        put(&e->out, " / evn_%d_trips%d", e->n, under);
    if (k) put(&e->out, " %% evn_%d_trips%d", e->n, k);
}

static void put_cxx_index(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    if (loop->ranged)
        copy(e, loop->type);
    else
        put(&e->out, "evn_%d_index%d %.*s __attribute__((unused))", e->n, k,
            token_length(&loop->variable), token_letters(e->s, &loop->variable));
    put(&e->out, " = %sevn_cxx_loop_at<evn_%d_index%d>(evn_%d_from%d, ", loop->ranged ? "*" : "",
        e->n, k, e->n, k);
    put_number(e, k);
    put(&e->out, ", evn_%d_step%d);\n", e->n, k);
}

/* The loop variables of iteration evn_N_t. */
static void put_indices(struct emit *e) {
    const int n = e->nest->loops;
    for (int k = 0; k < n; k++) {
        if (e->s->cxx) {
            put_cxx_index(e, k);
            continue;
        }
        const struct token *v = &e->nest->loop[k].variable;
        put(&e->out,
            "evn_%d_index%d %.*s __attribute__((unused)) = (evn_%d_index%d)((unsigned long "
            "long)evn_%d_from%d + (unsigned long long)(",
            e->n, k, token_length(v), token_letters(e->s, v), e->n, k, e->n, k);
        put_number(e, k);
        put(&e->out, ") * (unsigned long long)evn_%d_step%d);\n", e->n, k);
    }
}

/* dist_schedule(dynamic, 2, memorize = 3): what the next run of this site takes. */
static void put_options(struct emit *e) {
    const struct clause *c = directive_find(e->d, K_SCHEDULE);
    if (!c) return;
    struct run rest, part;
    schedule_kind(e->s, c, &rest);
    int at = 0, count = 0;
    while (run_part(e->s, rest, &at, &part)) {
        const int named = part.count > 2 && token_is(e->s, &part.at[1], "=");
        char name[32];
        snprintf(name, sizeof name, "option%d", count);
        integer(e, name, run_range(run_of(part, named ? 2 : 0, part.count)), "dist_schedule: this");
        put(&e->out, "evn_cu_option(&evn_%d, \"", e->n);
        if (named) {
            put(&e->out, "%.*s", token_length(&part.at[0]), token_letters(e->s, &part.at[0]));
        } else {
            put(&e->out, "chunk");
        }
        put(&e->out, "\", evn_%d_option%d);\n", e->n, count++);
    }
}

/* Room of the run-time's for numbers of a type, one for each iteration, by the clause's expression.
 */
static void put_numbers(struct emit *e, enum clause_kind kind, const char *type, const char *name) {
    const struct clause *c = directive_find(e->d, kind);
    if (!c) return;
    put(&e->out,
        "%s *evn_%d_%s = evn_cu_%ss(&evn_%d, evn_%d_trips);\n"
        "for (evn_cu_int evn_%d_t = 0; evn_%d_t < evn_%d_trips; evn_%d_t++) {\n",
        type, e->n, name, name, e->n, e->n, e->n, e->n, e->n, e->n);
    put_indices(e);
    if (kind == K_KEY) {
        integer(e, "this_key", run_range(c->in), "key: this");
        put(&e->out, "evn_%d_%s[evn_%d_t] = evn_%d_this_key;\n}\n", e->n, name, e->n, e->n);
        return;
    }
    put(&e->out, "evn_%d_%s[evn_%d_t] = (%s)(", e->n, name, e->n, type);
    copy(e, run_range(c->in));
    put(&e->out, ");\n}\n");
}

/* Clauses that tell the run-time how to share out. */
static void put_advice(struct emit *e) {
    put_options(e);
    put_numbers(e, K_WEIGHT, "double", "weight");
    put_numbers(e, K_KEY, "evn_cu_int", "key");
    const struct clause *speed = directive_find(e->d, K_SPEED);
    int at = 0;
    struct run part;
    while (speed && run_part(e->s, speed->in, &at, &part)) {
        put(&e->out, "evn_cu_speed(&evn_%d, EVN_CU_%s, (double)(", e->n,
            family_of(e->s, &part.at[0]) ? "GPU" : "CPU");
        copy(e, run_range(run_of(part, 2, part.count)));
        put(&e->out, "));\n");
    }
    const struct clause *batch = directive_find(e->d, K_BATCH);
    if (batch) {
        assertion(e, batch->in.at[0].begin);
        if (e->s->cxx) {
            put(&e->out, "evn_cxx_batch_of<decltype(+(");
            copy(e, run_range(batch->in));
            put(&e->out, "))>::is");
        } else {
            put(&e->out, "__builtin_types_compatible_p(__typeof__(1 ? (");
            copy(e, run_range(batch->in));
            put(&e->out, ") : (");
            copy(e, run_range(batch->in));
            put(&e->out, ")), void (*)(const evn_cu_int *, int))");
        }
        put(&e->out,
            ", \"batch: expected a function void "
            "%.*s(const long long *iteration, int count)\");\n",
            token_length(&batch->in.at[0]), token_letters(e->s, &batch->in.at[0]));
        put(&e->out, "evn_cu_batch(&evn_%d,", e->n);
        copy(e, run_range(batch->in));
        put(&e->out, ");\n");
    }
}

/* Name k of a list of variables, as a declaration that says of what type it is. */
static void put_type(struct emit *e, const char *what, int k, const struct token *name) {
    put(&e->out, "typedef __typeof__(");
    copy(e, (struct range){name->begin, name->end});
    put(&e->out, ") evn_%d_%s_type%d;\n", e->n, what, k);
}

static int among(const struct source *s, const struct token *name, const struct token *list,
                 int n) {
    for (int i = 0; i < n; i++)
        if (token_same(s, name, &list[i])) return 1;
    return 0;
}

static int is_variable(const struct emit *e, const struct token *name) {
    for (int k = 0; k < e->nest->loops; k++)
        if (token_same(e->s, name, &e->nest->loop[k].variable)) return 1;
    return 0;
}

/* The operator of the reduction that a variable stands in. */
static struct token operator_of(const struct source *s, const struct directive *d,
                                const struct token *name) {
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        struct run names;
        if (c->kind != K_REDUCTION) continue;
        const struct run op = reduction_operator(s, c, &names);
        for (int k = 0; k < names.count; k++)
            if (token_same(s, &names.at[k], name)) return op.at[0];
    }
    return *name;
}

static int is_extreme(const struct emit *e, const struct token *op) {
    return token_is(e->s, op, "min") || token_is(e->s, op, "max");
}

/* The initial value of copy k for a reduction. For min and max it is the variable's own value,
 * which lies behind the copies: right for infinities, and for any type. */
static void put_neutral(struct emit *e, const struct token *op, const char *type, int k,
                        const char *count) {
    const int ones = token_is(e->s, op, "&");
    if (is_extreme(e, op)) {
        put(&e->out, "evn_%d_part%d[evn_%d_%s]", e->n, k, e->n, count);
    } else if (ones) {
        put(&e->out, "(%s)~(%s)0", type, type);
    } else {
        put(&e->out, "(%s)%d", type, token_is(e->s, op, "*") || token_is(e->s, op, "&&"));
    }
}

/* into = into OPERATOR from; */
static void put_combined(struct emit *e, const struct token *op, const char *type, const char *into,
                         const char *from) {
    if (is_extreme(e, op)) {
        put(&e->out, "if (%s %s %s) %s = %s;\n", from, token_is(e->s, op, "min") ? "<" : ">", into,
            into, from);
    } else if (token_is(e->s, op, "-")) {
        put(&e->out, "%s = (%s)(%s + %s);\n", into, type, into, from);
    } else {
        put(&e->out, "%s = (%s)(%s %.*s %s);\n", into, type, into, token_length(op),
            token_letters(e->s, op), from);
    }
}

/* `kind` lists of the user's in #pragma omp parallel, in their own lines and columns. */
static void put_clauses(struct emit *e) {
    const struct directive *d = e->d;
    line(e, d->begin);
    put(&e->out, "#pragma omp parallel");
    size_t begin = e->out.length - strlen("#pragma omp parallel");
    int at = source_place(e->s, d->begin).line;
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        if (c->kind != K_PRIVATE && c->kind != K_FIRSTPRIVATE && c->kind != K_SHARED &&
            c->kind != K_DEFAULT && c->kind != K_ALLOCATE)
            continue;
        const struct place place = source_place(e->s, c->name.begin);
        for (; at < place.line && !e->s->preprocessed; at++) {
            put(&e->out, " \\\n");
            begin = e->out.length;
        }
        put(&e->out, " ");
        while (e->out.length - begin + 1 < (size_t)place.column) put_bytes(&e->out, " ", 1);
        put_bytes(&e->out, e->s->text + c->name.begin, (size_t)(c->end - c->name.begin));
        at = source_place(e->s, c->end).line;
    }
}

/* Counted names of ours: evn_N_part0, evn_N_part1, .. */
static void put_counted(struct emit *e, const char *name, int n) {
    for (int k = 0; k < n; k++) put(&e->out, ", evn_%d_%s%d", e->n, name, k);
}

/* Begins a directive: a block of its own, without warnings in the text that is ours. */
static void begin(struct emit *e, struct source *s, const struct directive *d,
                  const struct nest *nest, int n) {
    *e = (struct emit){s, d, nest, {0}, n};
    put(&e->out, "{\n%s", quiet_of(e));
    line(e, d->begin);
    put_site(e);
}

/* The loop around the body, that of one iteration: continue and the body's end leave it from its
 * head. So nothing leads behind it but a break, which the rewriter may not have seen, in a macro of
 * a header; and then the compiler finds that there is a call of what must not be called. */
static void put_once(struct emit *e) {
    if (e->s->throws) put(&e->out, "try {\n");
    put(&e->out, "%sfor (;; __extension__({ goto evn_%d_next; }))", loud, e->n);
}

static void put_body_end(struct emit *e) {
    put(&e->out, "\n%s", quiet_of(e));
    line_and_column(e, e->nest->loop[0].variable.begin);
    put(&e->out, "evn_cu_left();\n");
    line(e, e->d->begin);
    if (e->s->throws) put(&e->out, "} catch (...) { evn_cu_keep(); continue; }\n");
    put(&e->out, "%sevn_%d_next:;\n", loud, e->n);
}

/* Puts the generated text in the place of text[from, to); the text behind it keeps line and column.
 * */
static void put_edit(struct emit *e, int from, int to) {
    line_and_column(e, to);
    replace(e->s, from, to, e->out.at);
    e->out = (struct text){0};
}

/* Classes of __builtin_classify_type(): char, int, enum, bool; real; complex. */
enum { WHOLE = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, REAL = 1 << 8, COMPLEX = 1 << 9 };

/* Emits an assertion about a variable's type. */
static void put_check(struct emit *e, const struct token *op, int k, const struct token *name) {
    const char *const integers[] = {"&", "|", "^"};
    int integer = 0;
    for (int i = 0; i < 3; i++) integer |= token_is(e->s, op, integers[i]);
    assertion(e, name->begin);
    if (e->s->cxx)
        put(&e->out, "evn_cxx_%s<evn_%d_part_type%d>::is", integer ? "integer" : "number", e->n, k);
    else
        put(&e->out, "(%d >> __builtin_classify_type(*(evn_%d_part_type%d *)0)) & 1",
            integer             ? WHOLE
            : is_extreme(e, op) ? WHOLE | REAL
                                : WHOLE | REAL | COMPLEX,
            e->n, k);
    put(&e->out, ", \"reduction: \\\"%.*s\\\" is no %s\");\n", token_length(name),
        token_letters(e->s, name),
        integer ? "integer" : "number; arrays, structures and pointers are not supported");
    line(e, e->d->begin);
}

/* Copies of a reduction: where each iteration leaves its own. */
static void put_part(struct emit *e, const struct token *name, int k, const char *count) {
    const struct token op = operator_of(e->s, e->d, name);
    put_type(e, "part", k, name);
    put_check(e, &op, k, name);
    put(&e->out,
        "evn_%d_part_type%d *evn_%d_part%d = (evn_%d_part_type%d *)evn_cu_parts(&evn_%d, %d, "
        "sizeof(evn_%d_part_type%d), evn_%d_%s%s);\n",
        e->n, k, e->n, k, e->n, k, e->n, k, e->n, k, e->n, count, is_extreme(e, &op) ? " + 1" : "");
    if (is_extreme(e, &op))
        put(&e->out, "evn_%d_part%d[evn_%d_%s] = %.*s;\n", e->n, k, e->n, count, token_length(name),
            token_letters(e->s, name));
}

static void put_parts(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) put_part(e, &names[k], k, "trips");
}

static void put_copies(struct emit *e, const struct token *names, int n, const char *count) {
    for (int k = 0; k < n; k++) {
        const struct token op = operator_of(e->s, e->d, &names[k]);
        char type[48];
        snprintf(type, sizeof type, "evn_%d_part_type%d", e->n, k);
        line(e, names[k].begin);
        put(&e->out, "%s %.*s = ", type, token_length(&names[k]), token_letters(e->s, &names[k]));
        put_neutral(e, &op, type, k, count);
        put(&e->out, ";\n");
    }
    if (n) line(e, e->d->begin);
}

/* All copies, in their order: the same bits wherever they were made. */
static void put_sums(struct emit *e, const struct token *names, int n, const char *count) {
    for (int k = 0; k < n; k++) {
        const struct token op = operator_of(e->s, e->d, &names[k]);
        char type[48], part[64], name[256];
        snprintf(type, sizeof type, "evn_%d_part_type%d", e->n, k);
        snprintf(part, sizeof part, "evn_%d_part%d[evn_%d_t]", e->n, k, e->n);
        snprintf(name, sizeof name, "%.*s", token_length(&names[k]),
                 token_letters(e->s, &names[k]));
        line(e, names[k].begin);
        put(&e->out, "for (evn_cu_int evn_%d_t = 0; evn_%d_t < evn_%d_%s; evn_%d_t++) ", e->n, e->n,
            e->n, count, e->n);
        put_combined(e, &op, type, name, part);
    }
    if (n) line(e, e->d->begin);
}

/* Addresses of the variables of lastprivate, which their own copies hide. */
static void put_lasts(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) {
        put_type(e, "last", k, &names[k]);
        line(e, names[k].begin);
        put(&e->out, "evn_%d_last_type%d *evn_%d_last%d __attribute__((unused)) = &%.*s;\n", e->n,
            k, e->n, k, token_length(&names[k]), token_letters(e->s, &names[k]));
        line(e, e->d->begin);
    }
}

/* The loop variable has behind the loop what it has behind any. */
static void put_last_values(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) {
        const struct token *v = &names[k];
        if (is_variable(e, v)) continue;
        if (e->s->cxx) {
            put(&e->out,
                "if (evn_%d_t == evn_%d_trips - 1) evn_cxx_assign(*evn_%d_last%d, %.*s);\n", e->n,
                e->n, e->n, k, token_length(v), token_letters(e->s, v));
            continue;
        }
        put(&e->out,
            "if (evn_%d_t == evn_%d_trips - 1) __builtin_memcpy((void *)evn_%d_last%d, (void "
            "*)&%.*s, "
            "sizeof(evn_%d_last_type%d));\n",
            e->n, e->n, e->n, k, token_length(v), token_letters(e->s, v), e->n, k);
    }
}

static void put_last_variables(struct emit *e, const struct token *names, int n) {
    for (int i = 0; i < e->nest->loops; i++) {
        const struct token *v = &e->nest->loop[i].variable;
        if (among(e->s, v, names, n) && e->s->cxx)
            put(&e->out,
                "if (evn_%d_trips) %.*s = evn_cxx_loop_at<evn_%d_index%d>(evn_%d_from%d, "
                "evn_%d_trips%d, evn_%d_step%d);\n",
                e->n, token_length(v), token_letters(e->s, v), e->n, i, e->n, i, e->n, i, e->n, i);
        else if (among(e->s, v, names, n))
            put(&e->out,
                "if (evn_%d_trips) %.*s = (evn_%d_index%d)((unsigned long long)evn_%d_from%d + "
                "(unsigned long long)evn_%d_trips%d * (unsigned long long)evn_%d_step%d);\n",
                e->n, token_length(v), token_letters(e->s, v), e->n, i, e->n, i, e->n, i, e->n, i);
    }
}

/* The variables that parallel makes anew for the sake of lastprivate. */
static void put_last_private(struct emit *e, const struct token *names, int n) {
    int firsts, privates;
    struct token *first = directive_names(e->s, e->d, K_FIRSTPRIVATE, &firsts);
    struct token *own = directive_names(e->s, e->d, K_PRIVATE, &privates);
    for (int k = 0; k < n; k++)
        if (!among(e->s, &names[k], first, firsts) && !among(e->s, &names[k], own, privates))
            put(&e->out, " private(%.*s)", token_length(&names[k]), token_letters(e->s, &names[k]));
    free(first);
    free(own);
}

/* "if (evn_cu_enter(..))", or evn_cu_distribute() within teams: the region behind it is taken. */
static void put_entry(struct emit *e) {
    if (e->d->construct == C_TEAMS_LOOP) {
        put(&e->out, "if (evn_cu_enter(&evn_%d, ", e->n);
        put_units_arguments(e);
        put(&e->out, ", evn_%d_trips))\n", e->n);
    } else {
        put(&e->out, "if (evn_cu_distribute(&evn_%d, evn_%d_trips))\n", e->n, e->n);
    }
}

void emit_loop(struct source *s, const struct directive *d, const struct nest *nest) {
    struct emit e;
    int parts, lasts;
    struct token *part = directive_names(s, d, K_REDUCTION, &parts);
    struct token *last = directive_names(s, d, K_LASTPRIVATE, &lasts);
    begin(&e, s, d, nest, ++s->sites);
    if (d->construct == C_TEAMS_LOOP) put_units(&e);
    put_loops(&e);
    put_advice(&e);
    put_parts(&e, part, parts);
    put_lasts(&e, last, lasts);
    put_entry(&e);
    put_clauses(&e);
    put_last_private(&e, last, lasts);
    put(&e.out, " firstprivate(evn_%d_trips", e.n);
    put_counted(&e, "from", nest->loops);
    put_counted(&e, "step", nest->loops);
    put_counted(&e, "trips", nest->loops);
    put_counted(&e, "part", parts);
    put_counted(&e, "last", lasts);
    put(&e.out, ")\nfor (evn_cu_int evn_%d_t; (evn_%d_t = evn_cu_next()) >= 0;) {\n", e.n, e.n);
    put_indices(&e);
    put_copies(&e, part, parts, "trips");
    put_once(&e);
    put_edit(&e, d->begin, nest->body);

    put_body_end(&e);
    for (int k = 0; k < parts; k++) {
        line(&e, part[k].begin);
        put(&e.out, "evn_%d_part%d[evn_%d_t] = %.*s;\n", e.n, k, e.n, token_length(&part[k]),
            token_letters(s, &part[k]));
    }
    line(&e, d->begin);
    put_last_values(&e, last, lasts);
    put(&e.out, "}\n");
    if (s->throws) put(&e.out, "evn_cu_rethrow();\n");
    put_sums(&e, part, parts, "trips");
    put_last_variables(&e, last, lasts);
    put(&e.out, "}\n");
    put_edit(&e, nest->body_end, nest->end);
    free(part);
    free(last);
}

void emit_teams_begin(struct source *s, const struct directive *d, int first, int number) {
    struct emit e;
    int parts;
    struct token *part = directive_names(s, d, K_REDUCTION, &parts);
    begin(&e, s, d, NULL, number);
    put_units(&e);
    put(&e.out, "evn_cu_int evn_%d_teams = evn_cu_teams(&evn_%d, ", e.n, e.n);
    put_units_arguments(&e);
    put(&e.out, ");\n");
    for (int k = 0; k < parts; k++) put_part(&e, &part[k], k, "teams");
    put(&e.out, "if (evn_%d_teams)\n", e.n);
    put_clauses(&e);
    put(&e.out, " firstprivate(evn_%d_teams", e.n);
    put_counted(&e, "part", parts);
    put(&e.out,
        ")\n{\n__asm__ volatile(\"\");\n"); /* else some of these are forked by other calls */
    put_copies(&e, part, parts, "teams");
    if (s->throws) put(&e.out, "try {\n");
    put(&e.out, "%s", loud);
    put_edit(&e, d->begin, s->tokens.at[first].begin);
    free(part);
}

void emit_teams_end(struct source *s, const struct directive *d, int last, int number) {
    struct emit e = {s, d, NULL, {0}, number};
    const int at = s->tokens.at[last - 1].end;
    int parts;
    struct token *part = directive_names(s, d, K_REDUCTION, &parts);
    put(&e.out, "\n");
    line(&e, d->begin);
    if (s->throws) put(&e.out, "} catch (...) { evn_cu_keep_teams(); }\n");
    for (int k = 0; k < parts; k++) {
        line(&e, part[k].begin);
        put(&e.out, "evn_%d_part%d[evn_cu_team()] = %.*s;\n", e.n, k, token_length(&part[k]),
            token_letters(s, &part[k]));
    }
    line(&e, d->begin);
    put(&e.out, "}\n");
    if (s->throws) put(&e.out, "evn_cu_rethrow();\n");
    put_sums(&e, part, parts, "teams");
    put(&e.out, "}\n");
    put_edit(&e, at, at);
    free(part);
}

/* The name that a parameter's declaration declares, or NULL. */
static const struct token *declared(const struct source *s, struct run in) {
    const struct token *name = NULL;
    for (int i = 0; i < in.count; i++) {
        if (token_is(s, &in.at[i], "[") || (name && token_is(s, &in.at[i], ")"))) break;
        if (token_is(s, &in.at[i], "(") && i + 1 < in.count && token_is(s, &in.at[i + 1], "*"))
            name = NULL;
        if (in.at[i].kind == T_NAME) name = &in.at[i];
    }
    return name;
}

/* The definition at token `at`: its name, its parameters' parenthesis, its brace. */
static int find_definition(struct source *s, int at, int *open, int *brace) {
    const struct tokens *t = &s->tokens;
    int i = at;
    while (i < t->count && !token_is(s, &t->at[i], "(") && !token_is(s, &t->at[i], ";") &&
           !token_is(s, &t->at[i], "{"))
        i++;
    if (i >= t->count || i == at || !token_is(s, &t->at[i], "(")) return 0;
    const int behind = after_bracket(s, t, i, t->count);
    if (behind < 0 || behind >= t->count || !token_is(s, &t->at[behind], "{")) return 0;
    *open = i;
    *brace = behind;
    return 1;
}

void emit_variant(struct source *s, const struct directive *d, int at) {
    const struct tokens *t = &d->tokens;
    int open, brace, at_name = d->first;
    if (at_name + 2 >= t->count || !token_is(s, &t->at[at_name], "(") ||
        t->at[at_name + 1].kind != T_NAME || !token_is(s, &t->at[at_name + 2], ")")) {
        error(s, t->at[0].begin, "declare variant: expected (NAME) and match(device={kind(gpu)})");
        return;
    }
    while (s->tokens.at[at].kind == T_DIRECTIVE) at++;
    if (!find_definition(s, at, &open, &brace)) {
        error(s, t->at[2].begin,
              "declare variant: must stand before the definition of the function");
        return;
    }
    struct emit e = {s, d, NULL, {0}, ++s->sites};
    int is_void = 0;
    for (int i = at; i < open; i++) {
        if (token_is(s, &s->tokens.at[i], "void")) is_void = 1;
        if (token_is(s, &s->tokens.at[i], "*")) is_void = 0;
    }
    put(&e.out, "\n%s{ %sif (evn_cu_is_gpu()) {%s", quiet_of(&e),
        s->cxx ? "" : "extern int evn_cu_is_gpu(void); ", is_void ? "" : " return");
    copy(&e, (struct range){t->at[at_name + 1].begin, t->at[at_name + 1].end});
    put(&e.out, "(");
    const struct run in = {&s->tokens.at[open + 1], brace - open - 2};
    int next = 0, count = 0;
    struct run part;
    while (run_part(s, in, &next, &part)) {
        const struct token *name = declared(s, part);
        if (!name || (part.count == 1 && token_is(s, name, "void"))) continue;
        put(&e.out, "%s%.*s", count++ ? ", " : "", token_length(name), token_letters(s, name));
    }
    put(&e.out, ");%s } }\n%s", is_void ? " return;" : "", loud);
    const int behind = s->tokens.at[brace].end;
    replace(s, d->begin, d->end, copy_of("", 0));
    put_edit(&e, behind, behind);
}
