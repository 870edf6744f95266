/* The C that stands in the place of a directive and of the head of its loop. The user's text is
 * copied and never understood: each piece stands in a line of its own, at its own column, under the
 * number it had. What is made beside it is called evn_N_.. and calls evener/cu_prelude.h alone.
 *
 *     {   site, bounds, list of units
 *         if (evn_cu_enter(..))
 *     #pragma omp parallel ..      whose forking the run-time takes over: once on each unit
 *         { for (ranges drawn) for (iterations) { index, copies for reductions; the body; what
 * becomes of them } } reductions combined, in the order of iterations
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

/* put(), with names of ours (put_named()). */
#define put_n(e, ...)    put_k(e, -1, __VA_ARGS__)
#define put_k(e, k, ...) put_named(&(e)->out, (e)->n, k, __VA_ARGS__)

/* For "%.*s". */
#define NAME(e, t) token_length(t), token_letters((e)->s, (t))

static const char quiet[] = "#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
                            "#pragma GCC diagnostic ignored \"-Wnested-externs\"\n"
                            "#pragma GCC diagnostic ignored \"-Wredundant-decls\"\n"
                            "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"\n"
                            "#pragma GCC diagnostic ignored \"-Wunreachable-code\"\n";
/* What `quiet` is in C++, whose compilers know other warnings. */
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

/* Emits a line directive and blanks, so that the following text is in the line and column of `at`.
 */
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

/* const evn_N_NAMEk_ = the user's integer, in its own type, and const evn_cu_int evn_N_NAMEk; the
 * compiler refuses what is none. k -1: the name has no number. */
static void integer(struct emit *e, const char *name, int k, struct range r, const char *what) {
    put(&e->out, e->s->cxx ? "const auto " : "__extension__ const __auto_type ");
    put_k(e, k, "evn_N_%sK_ = %s(", name, e->s->cxx ? "" : "+");
    copy(e, r);
    put(&e->out, ");\n");
    assertion(e, r.begin);
    if (e->s->cxx)
        put_k(e, k,
              "evn_cxx_integer<typename evn_cxx_plain<decltype(evn_N_%sK_)>::evn_type>::evn_is",
              name);
    else
        put_k(e, k, "__builtin_classify_type(evn_N_%sK_) == 1", name);
    put(&e->out, ", \"%s is no integer\");\n", what);
    line(e, e->d->begin);
    put_k(e, k, "const evn_cu_int evn_N_%sK = (evn_cu_int)evn_N_%sK_;\n", name, name);
}

/* Puts aside macros of the program that words of the next lines are; preprocessed text has none. */
static void put_aside(struct emit *e, const char *const *words, int n) {
    for (int i = 0; i < n && !e->s->preprocessed; i++)
        put(&e->out, "#pragma push_macro(\"%s\")\n#undef %s\n", words[i], words[i]);
}

static void put_back(struct emit *e, const char *const *words, int n) {
    for (int i = 0; i < n && !e->s->preprocessed; i++)
        put(&e->out, "#pragma pop_macro(\"%s\")\n", words[i]);
}

static void put_site(struct emit *e) {
    static const char *const words[] = {"static"}; /* a site that is not would be another one */
    const struct place place = source_place(e->s, e->d->begin);
    put_aside(e, words, 1);
    put_n(e, "static evn_cu_site evn_N = {");
    put_quoted(&e->out, place.file);
    put(&e->out, ", %d, \"", place.line);
    put_schedule(&e->out, e->s, e->d);
    put(&e->out, "\", 0};\n");
    put_back(e, words, 1);
    line(e, e->d->begin);
}

/* The list of units, and how many cores they may have at most. */
static void put_units(struct emit *e) {
    static const char *const families[] = {"EVN_CU_CPU", "EVN_CU_GPU", "EVN_CU_FPGA"};
    const struct directive *d = e->d;
    for (int i = 0; i < d->groups; i++) {
        integer(e, "count", i, d->group[i].count, "num_teams: the number of units");
        integer(e, "size", i, d->group[i].size, "num_teams: the number of cores or devices");
    }
    if (d->groups) put_n(e, "const evn_cu_group evn_N_units[] = {");
    for (int i = 0; i < d->groups; i++)
        put_k(e, i, "%s{evn_N_countK, %s, evn_N_sizeK}", i ? ", " : "", families[d->group[i].gpu]);
    if (d->groups) put(&e->out, "};\n");
    const struct clause *limit = directive_find(d, K_THREAD_LIMIT);
    if (limit) integer(e, "limit", -1, run_range(limit->in), "thread_limit: this");
}

/* "evn_1_units, 2, limit": what takes the units. */
static void put_units_arguments(struct emit *e) {
    if (e->d->groups) {
        put_n(e, "evn_N_units, %d, ", e->d->groups);
    } else {
        put(&e->out, "(const evn_cu_group *)0, %s, ", e->s->inner ? "0" : "EVN_CU_AUTO_CORES");
    }
    if (directive_find(e->d, K_THREAD_LIMIT)) {
        put_n(e, "evn_N_limit > 0 ? evn_N_limit : -1");
    } else {
        put(&e->out, "0");
    }
}

/* The iterations of loop k: its variable and its bound are compared in the type that C compares
 * them in, evn_N_commonK. */
static void put_trips(struct emit *e, int k) {
    put_k(e, k,
          "%stypedef __typeof__(1 ? (evn_N_indexK)0 : evn_N_toK_) evn_N_commonK;\n"
          "evn_cu_int evn_N_tripsK = evn_cu_trips(&evn_N, "
          "(evn_cu_int)(evn_N_commonK)(evn_N_indexK)evn_N_firstK_, "
          "(evn_cu_int)(evn_N_commonK)evn_N_toK_, evn_N_stepK, EVN_CU_%s + ((evn_N_commonK)-1 > "
          "(evn_N_commonK)0 ? EVN_CU_UNSIGNED : 0) + ((evn_N_indexK)-1 > (evn_N_indexK)0 ? "
          "EVN_CU_NATURAL : 0) + EVN_CU_BYTE * (int)sizeof(evn_N_indexK));\n"
          "%s",
          converting, loop_relation(&e->nest->loop[k]), loud);
}

/* C++: evn_N_nameK_ = the user's value, of whatever type. */
static void put_value(struct emit *e, const char *name, int k, struct range r) {
    put_k(e, k, "const auto evn_N_%sK_ = (", name);
    copy(e, r);
    put(&e->out, ");\n");
}

/* What ++ or -- adds to the variable; to a pointer of C, in bytes. */
static void put_one(struct emit *e, int k) {
    put(&e->out, e->nest->loop[k].down ? "-1" : "1");
    if (!e->s->cxx) put_k(e, k, " * evn_N_unitK");
}

/* evn_N_stepK */
static void put_step(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    if (!loop->one) integer(e, "by", k, loop->step, "the loop's step");
    put_k(e, k, "evn_cu_int evn_N_stepK = ");
    put_one(e, k);
    if (!loop->one) put_k(e, k, " * evn_N_byK");
    put(&e->out, ";\n");
}

/* The same of for (type variable : range). */
static void put_cxx_range(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    put_k(e, k, "auto &&evn_N_rangeK =");
    copy(e, loop->to);
    put_k(e, k,
          ";\n"
          "auto evn_N_fromK = evn_cxx_begin(evn_N_rangeK);\n"
          "const auto evn_N_toK_ = evn_cxx_end(evn_N_rangeK);\n"
          "typedef typename evn_cxx_plain<decltype(evn_N_fromK)>::evn_type evn_N_indexK;\n");
    assertion(e, loop->to.begin);
    put_k(e, k,
          "evn_cxx_random<evn_N_indexK>::evn_is, \"the range has no iterators of random access; "
          "expected an array, a vector or the like\");\n");
    line(e, e->d->begin);
    put_k(e, k,
          "evn_cu_int evn_N_stepK = 1;\n"
          "evn_cu_int evn_N_tripsK = evn_cxx_loop_trips<evn_N_indexK>(&evn_N, evn_N_fromK, "
          "evn_N_toK_, evn_N_stepK, EVN_CU_LESS);\n");
}

/* Type and bounds of loop k in C++, where its variable is an integer or an iterator. */
static void put_cxx_bounds(struct emit *e, int k) {
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
        if (loop->deduced)
            put_k(e, k, "evn_N_firstK_");
        else
            copy(e, (struct range){v->begin, v->end});
        put(&e->out, ")>::evn_type");
    }
    put_k(e, k, " evn_N_declaredK;\n");
    put_k(e, k, "typedef typename evn_cxx_plain<evn_N_declaredK>::evn_type evn_N_indexK;\n");
    assertion(e, v->begin);
    put_k(e, k,
          "evn_cxx_loop<evn_N_indexK>::evn_is, \"the loop variable \\\"%.*s\\\" is neither an "
          "integer nor an iterator of random access\");\n",
          NAME(e, v));
    line(e, e->d->begin);
    put_k(e, k, "auto evn_N_fromK = evn_cxx_loop_from<evn_N_indexK>(evn_N_firstK_);\n");
    put_value(e, "to", k, loop->to);
    put_step(e, k);
    put_k(e, k,
          "evn_cu_int evn_N_tripsK = evn_cxx_loop_trips<evn_N_indexK>(&evn_N, evn_N_fromK, "
          "evn_N_toK_, evn_N_stepK, EVN_CU_%s);\n",
          loop_relation(loop));
}

/* const evn_N_NAMEk_ = a bound of C, in its own type, which can be compared with the variable: both
 * are integers or both are pointers, and of pointers to different things compilers warn. */
static void put_bound(struct emit *e, const char *name, int k, struct range r, const char *what) {
    put_k(e, k, "__extension__ const __auto_type evn_N_%sK_ = 1 ? (", name);
    copy(e, r);
    put(&e->out, ") : 0;\n%s", converting);
    assertion(e, r.begin);
    put_k(e, k,
          "__builtin_classify_type(evn_N_%sK_) == __builtin_classify_type((evn_N_indexK)0) && "
          "sizeof(evn_N_%sK_ == *(evn_N_indexK *)0) > 0, \"%s is of another kind than its "
          "variable, an "
          "integer or a pointer\");\n%s",
          name, name, what, loud);
    line(e, e->d->begin);
}

/* Type and bounds of loop k. */
static void put_bounds(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    const struct token *v = &loop->variable;
    if (e->s->cxx) {
        put_cxx_bounds(e, k);
        return;
    }
    if (loop->type.end > loop->type.begin) {
        put(&e->out, "typedef");
        copy(e, loop->type);
        put_k(e, k, "evn_N_indexK;\n");
    } else {
        put(&e->out, "typedef __typeof__(");
        copy(e, (struct range){v->begin, v->end});
        put_k(e, k, ") evn_N_indexK;\n");
    }
    assertion(e, v->begin);
    put_k(
        e, k,
        "(%d >> __builtin_classify_type((evn_N_indexK)0)) & 1, \"the loop variable \\\"%.*s\\\" is "
        "neither an integer nor a pointer\");\n",
        1 << 1 | 1 << 5, NAME(e, v));
    line(e, e->d->begin);
    put_k(e, k,
          "enum { evn_N_unitK = sizeof(*__builtin_choose_expr(__builtin_classify_type("
          "(evn_N_indexK)0) == 5, (evn_N_indexK)0, (char *)0)) };\n");
    put_bound(e, "first", k, loop->from, "the loop's first value");
    put_k(e, k, "evn_cu_int evn_N_fromK = (evn_cu_int)(evn_N_indexK)evn_N_firstK_;\n");
    put_bound(e, "to", k, loop->to, "the loop's bound");
    put_step(e, k);
    put_trips(e, k);
}

static void put_loops(struct emit *e) {
    const int n = e->nest->loops;
    for (int k = 0; k < n; k++) put_bounds(e, k);
    put_n(e, "evn_cu_int evn_N_trips = evn_N_trips0;\n");
    for (int k = 1; k < n; k++)
        put_k(
            e, k,
            "evn_N_trips = evn_cu_trips(&evn_N, 0, evn_N_trips * evn_N_tripsK, 1, EVN_CU_LESS);\n");
}

/* "evn_N_t / evn_N_trips1 % evn_N_trips0": the number of loop k's iteration. */
static void put_number(struct emit *e, int k) {
    put_n(e, directive_find(e->d, K_AFFINITY) ? "evn_N_here[evn_N_t]" : "evn_N_t");
    for (int under = k + 1; under < e->nest->loops; under++) put_k(e, under, " / evn_N_tripsK");
    if (k) put_k(e, k, " %% evn_N_tripsK");
}

/* ", 1": the step, as a number where the loop says it by ++ or --, so that compilers see it. */
static void put_by(struct emit *e, int k, const char *before) {
    const struct loop *loop = &e->nest->loop[k];
    put(&e->out, "%s", before);
    if (loop->one || loop->ranged)
        put_one(e, k);
    else
        put_k(e, k, "evn_N_stepK");
}

static void put_cxx_index(struct emit *e, int k) {
    const struct loop *loop = &e->nest->loop[k];
    if (loop->ranged)
        copy(e, loop->type);
    else
        put_k(e, k, "evn_N_indexK %.*s __attribute__((__unused__))", NAME(e, &loop->variable));
    put_k(e, k, " = %sevn_cxx_loop_at<evn_N_indexK>(evn_N_fromK, ", loop->ranged ? "*" : "");
    put_number(e, k);
    put_by(e, k, ", ");
    put(&e->out, ");\n");
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
        put_k(e, k,
              "evn_N_indexK %.*s __attribute__((__unused__)) = (evn_N_indexK)((unsigned long "
              "long)evn_N_fromK + (unsigned long long)(",
              NAME(e, v));
        put_number(e, k);
        put_by(e, k, ") * (unsigned long long)");
        put(&e->out, ");\n");
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
        integer(e, "option", count, run_range(run_of(part, named ? 2 : 0, part.count)),
                "dist_schedule: this");
        put_n(e, "evn_cu_option(&evn_N, \"");
        if (named) {
            put(&e->out, "%.*s", NAME(e, &part.at[0]));
        } else {
            put(&e->out, "chunk");
        }
        put_k(e, count++, "\", evn_N_optionK);\n");
    }
}

/* Room of the run-time's for numbers of a type, one for each iteration, by the clause's expression.
 */
static void put_numbers(struct emit *e, enum clause_kind kind, const char *type, const char *name) {
    const struct clause *c = directive_find(e->d, kind);
    if (!c) return;
    put_n(e,
          "%s *evn_N_%s = evn_cu_%ss(&evn_N, evn_N_trips);\n"
          "for (evn_cu_int evn_N_t = 0; evn_N_t < evn_N_trips; evn_N_t++) {\n",
          type, name, name);
    put_indices(e);
    if (kind == K_KEY) {
        integer(e, "this_key", -1, run_range(c->in), "key: this");
        put_n(e,
              "evn_N_%s[evn_N_t] = evn_N_this_key;\n"
              "}\n",
              name);
        return;
    }
    put_n(e, "evn_N_%s[evn_N_t] = (%s)(", name, type);
    copy(e, run_range(c->in));
    put(&e->out, ");\n}\n");
}

/* Keeps the iterations whose element is this rank's: evn_N_here has their numbers. */
static void put_affinity(struct emit *e) {
    const struct clause *c = directive_find(e->d, K_AFFINITY);
    struct run array, element;
    int at = 0;
    if (!c || !run_part(e->s, c->in, &at, &array) || !run_part(e->s, c->in, &at, &element)) return;
    put_n(e, "const evn_cu_int evn_N_all = evn_N_trips;\n"
             "evn_cu_int *evn_N_here = evn_cu_here(&evn_N, evn_N_all);\n"
             "evn_N_trips = 0;\n"
             "for (evn_cu_int evn_N_each = 0; evn_N_each < evn_N_all; evn_N_each++) {\n"
             "const evn_cu_int evn_N_t = evn_N_trips;\n"
             "evn_N_here[evn_N_t] = evn_N_each;\n");
    put_indices(e);
    integer(e, "element", -1, run_range(element), "affinity: the element");
    put_n(e, "evn_N_trips += evn_cu_is_here(&evn_N, evn_shared_is_here(");
    copy(e, run_range(array));
    put_n(e, ", evn_N_element));\n}\n");
}

/* Clauses that tell the run-time how to share out. */
static void put_advice(struct emit *e) {
    put_options(e);
    put_numbers(e, K_WEIGHT, "evn_cu_real", "weight");
    put_numbers(e, K_KEY, "evn_cu_int", "key");
    const struct clause *speed = directive_find(e->d, K_SPEED);
    int at = 0;
    struct run part;
    while (speed && run_part(e->s, speed->in, &at, &part)) {
        put_n(e, "evn_cu_speed(&evn_N, EVN_CU_%s, (evn_cu_real)(",
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
            put(&e->out, "))>::evn_is");
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
            batch->in.at[batch->in.count - 1].end - batch->in.at[0].begin,
            token_letters(e->s, &batch->in.at[0]));
        put_n(e, "evn_cu_batch(&evn_N,");
        copy(e, run_range(batch->in));
        put(&e->out, ");\n");
    }
}

/* Name k of a list of variables, as a declaration that says of what type it is. */
static void put_type(struct emit *e, const char *what, int k, const struct token *name) {
    put(&e->out, "typedef __typeof__(");
    copy(e, (struct range){name->begin, name->end});
    put_k(e, k, ") evn_N_%s_typeK;\n", what);
}

static int is_variable(const struct emit *e, const struct token *name) {
    for (int k = 0; k < e->nest->loops; k++)
        if (token_same(e->s, name, &e->nest->loop[k].variable)) return 1;
    return 0;
}

static int is_extreme(const struct emit *e, const struct token *op) {
    return token_is(e->s, op, "min") || token_is(e->s, op, "max");
}

static int is_section(const struct emit *e, const struct token *name) {
    return directive_section(e->s, e->d, name).is;
}

/* The loop over the elements of a section, numbered evn_N_i; of a variable nothing. */
static void put_each(struct emit *e, int k, const struct token *name) {
    if (is_section(e, name))
        put_k(e, k, "for (evn_cu_int evn_N_i = 0; evn_N_i < evn_N_lengthK; evn_N_i++) ");
}

/* The variable, or element evn_N_i of its section. */
static void put_element(struct emit *e, int k, const struct token *name) {
    put(&e->out, "%.*s", NAME(e, name));
    if (is_section(e, name)) put_k(e, k, "[evn_N_atK + evn_N_i]");
}

/* Copy evn_N_NUMBER of the same. */
static void put_slot(struct emit *e, int k, const struct token *name, const char *number) {
    if (is_section(e, name))
        put_k(e, k, "evn_N_partK[evn_N_%s * evn_N_lengthK + evn_N_i]", number);
    else
        put_k(e, k, "evn_N_partK[evn_N_%s]", number);
}

/* The variable's value, or its section's, becomes copy evn_N_NUMBER. */
static void put_stored(struct emit *e, int k, const struct token *name, const char *number) {
    put_each(e, k, name);
    put_slot(e, k, name, number);
    put(&e->out, " = ");
    put_element(e, k, name);
    put(&e->out, ";\n");
}

/* The initial value of a copy for a reduction. For min and max it is the variable's own value,
 * which lies behind the copies: right for infinities, and for any type. */
static void put_neutral(struct emit *e, const struct token *op, int k, const struct token *name,
                        const char *count) {
    if (is_extreme(e, op))
        put_slot(e, k, name, count);
    else if (token_is(e->s, op, "&"))
        put_k(e, k, "(evn_N_part_typeK)~(evn_N_part_typeK)0");
    else
        put_k(e, k, "(evn_N_part_typeK)%d", token_is(e->s, op, "*") || token_is(e->s, op, "&&"));
}

/* v = v OPERATOR copy evn_N_t; */
static void put_combined(struct emit *e, const struct token *op, int k, const struct token *v) {
    const int extreme = is_extreme(e, op);
    if (extreme) {
        put(&e->out, "if (");
        put_slot(e, k, v, "t");
        put(&e->out, token_is(e->s, op, "min") ? " < " : " > ");
        put_element(e, k, v);
        put(&e->out, ") ");
    }
    put_element(e, k, v);
    put_k(e, k, " = (evn_N_part_typeK)(");
    if (!extreme) {
        put_element(e, k, v);
        put(&e->out, " %.*s ", token_is(e->s, op, "-") ? 1 : token_length(op),
            token_is(e->s, op, "-") ? "+" : token_letters(e->s, op));
    }
    put_slot(e, k, v, "t");
    put(&e->out, ");\n");
}

/* Words of the directive of ours, in which compilers replace macros. */
static const char *const pragma_words[] = {"omp", "parallel", "private", "firstprivate"};

/* The end of the line that put_clauses() begins. */
static void end_clauses(struct emit *e) {
    put(&e->out, ")\n");
    put_back(e, pragma_words, 4);
}

/* `kind` lists of the user's in #pragma omp parallel, in their own lines and columns. */
static void put_clauses(struct emit *e) {
    const struct directive *d = e->d;
    put_aside(e, pragma_words, 4);
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
    for (int k = 0; k < n; k++) put_k(e, k, ", evn_N_%sK", name);
}

/* Of sections, where they begin and how long they are, in the same list. */
static void put_bounds_of_sections(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++)
        if (is_section(e, &names[k])) put_k(e, k, ", evn_N_atK, evn_N_lengthK");
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
    put_n(e, "%sfor (;; __extension__({ goto evn_N_next; }))", loud);
}

static void put_body_end(struct emit *e) {
    put(&e->out, "\n%s", quiet_of(e));
    line_and_column(e, e->nest->loop[0].variable.begin);
    put(&e->out, "evn_cu_left();\n");
    line(e, e->d->begin);
    if (e->s->throws) put(&e->out, "} catch (...) { evn_cu_keep(); break; }\n");
    put_n(e, "%sevn_N_next:;\n", loud);
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
        put_k(e, k, "evn_cxx_%s<evn_N_part_typeK>::evn_is", integer ? "integer" : "number");
    else
        put_k(e, k, "(%d >> __builtin_classify_type(*(evn_N_part_typeK *)0)) & 1",
              integer             ? WHOLE
              : is_extreme(e, op) ? WHOLE | REAL
                                  : WHOLE | REAL | COMPLEX);
    put(&e->out, ", \"reduction: \\\"%.*s\\\" is no %s\");\n", NAME(e, name),
        integer ? "integer" : "number; arrays, structures and pointers are not supported");
    line(e, e->d->begin);
}

/* Of a section: its bounds, the type of its elements, and that of what has its name in the body: a
 * pointer to a copy of the section where it is a pointer, else an array. */
static void put_section(struct emit *e, const struct section *item, int k) {
    const struct range name = {item->name.begin, item->name.end};
    const char *const parts[] = {"at", "length"};
    const struct run given[] = {item->first, item->length};
    for (int i = 0; i < 2; i++) {
        if (given[i].count)
            integer(e, parts[i], k, run_range(given[i]), "reduction: the section's bound");
        else
            put_k(e, k, "const evn_cu_int evn_N_%sK = %d;\n", parts[i], i);
    }
    put(&e->out, "typedef __typeof__((");
    copy(e, name);
    put_k(e, k, ")[0]) evn_N_part_typeK;\n");
    if (e->s->cxx) {
        put(&e->out, "typedef evn_cxx_section<decltype(");
        copy(e, name);
        put_k(e, k, ")> evn_N_sectionK;\n");
        assertion(e, name.begin);
        put_k(e, k, "evn_N_sectionK::evn_is");
        put(&e->out, ", \"reduction: \\\"%.*s\\\" is neither an array nor a pointer\");\n",
            NAME(e, &item->name));
        put_k(e, k,
              "enum { evn_N_pointerK = evn_N_sectionK::evn_pointer };\n"
              "typedef typename evn_N_sectionK::evn_type evn_N_own_typeK;\n");
    } else {
        put(&e->out, "typedef __typeof__(");
        copy(e, name);
        put_k(e, k,
              ") evn_N_whole_typeK;\n"
              "enum { evn_N_pointerK = __builtin_types_compatible_p(evn_N_whole_typeK, "
              "evn_N_part_typeK *) };\n"
              "typedef __typeof__(__builtin_choose_expr(evn_N_pointerK, (evn_N_part_typeK "
              "*)0, *(evn_N_whole_typeK *)0)) evn_N_own_typeK;\n");
    }
    put_k(e, k, "evn_cu_section(&evn_N, evn_N_lengthK, sizeof(evn_N_own_typeK));\n");
    line(e, e->d->begin);
}

/* Copies of a reduction: where each iteration leaves its own. */
static void put_part(struct emit *e, const struct token *name, int k, const char *count) {
    const struct token op = directive_operator(e->s, e->d, name);
    const struct section item = directive_section(e->s, e->d, name);
    if (item.is)
        put_section(e, &item, k);
    else
        put_type(e, "part", k, name);
    put_check(e, &op, k, name);
    put_k(e, k,
          "evn_N_part_typeK *evn_N_partK = (evn_N_part_typeK *)evn_cu_parts(&evn_N, %d, "
          "sizeof(evn_N_part_typeK)",
          k);
    if (item.is) put_k(e, k, " * (unsigned long)evn_N_lengthK");
    put_n(e, ", evn_N_%s%s);\n", count, is_extreme(e, &op) ? " + 1" : "");
    if (is_extreme(e, &op)) put_stored(e, k, name, count);
}

static void put_parts(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) put_part(e, &names[k], k, "trips");
}

/* Whether it is a name of a namespace or class, which no declaration in a body can hide: the
 * region's private variable is its copy there. */
static int is_qualified(const struct source *s, const struct token *name) {
    return memchr(token_letters(s, name), ':', (size_t)token_length(name)) ||
           memchr(token_letters(s, name), '<', (size_t)token_length(name));
}

static void put_private_copies(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++)
        if (is_qualified(e->s, &names[k])) put(&e->out, " private(%.*s)", NAME(e, &names[k]));
}

static void put_copies(struct emit *e, const struct token *names, int n, const char *count) {
    for (int k = 0; k < n; k++) {
        const struct token op = directive_operator(e->s, e->d, &names[k]);
        line(e, names[k].begin);
        if (is_section(e, &names[k])) {
            put_k(e, k, "evn_N_own_typeK %.*s;\n", NAME(e, &names[k]));
            put_k(e, k,
                  "evn_N_part_typeK *evn_N_ownK = evn_N_partK + evn_N_t * evn_N_lengthK - "
                  "evn_N_atK;\n");
            put_k(e, k,
                  "__builtin_memcpy((void *)&%.*s, (void *)&evn_N_ownK, evn_N_pointerK ? sizeof "
                  "evn_N_ownK : 0);\n",
                  NAME(e, &names[k]));
            put_each(e, k, &names[k]);
        } else if (!is_qualified(e->s, &names[k])) {
            put_k(e, k, "evn_N_part_typeK ");
        }
        put_element(e, k, &names[k]);
        put(&e->out, " = ");
        put_neutral(e, &op, k, &names[k], count);
        put(&e->out, ";\n");
    }
    if (n) line(e, e->d->begin);
}

/* What the copies have become, for evn_N_t. */
static void put_results(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) {
        line(e, names[k].begin);
        if (is_section(e, &names[k])) put_k(e, k, "if (!evn_N_pointerK) ");
        put_stored(e, k, &names[k], "t");
    }
    line(e, e->d->begin);
}

/* All copies, in their order: the same bits wherever they were made. */
static void put_sums(struct emit *e, const struct token *names, int n, const char *count) {
    for (int k = 0; k < n; k++) {
        const struct token op = directive_operator(e->s, e->d, &names[k]);
        line(e, names[k].begin);
        put_n(e, "for (evn_cu_int evn_N_t = 0; evn_N_t < evn_N_%s; evn_N_t++) ", count);
        put_each(e, k, &names[k]);
        put_combined(e, &op, k, &names[k]);
    }
    if (n) line(e, e->d->begin);
}

/* Addresses of the variables of lastprivate, which their own copies hide. */
static void put_lasts(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) {
        put_type(e, "last", k, &names[k]);
        line(e, names[k].begin);
        put_k(e, k, "evn_N_last_typeK *evn_N_lastK __attribute__((__unused__)) = &%.*s;\n",
              NAME(e, &names[k]));
        line(e, e->d->begin);
    }
}

/* The loop variable has behind the loop what it has behind any. */
static void put_last_values(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n; k++) {
        const struct token *v = &names[k];
        if (is_variable(e, v)) continue;
        put_n(e, "if (evn_N_t == evn_N_trips - 1) {\n");
        if (e->s->cxx)
            put_k(e, k, "evn_cxx_assign(*evn_N_lastK, %.*s);\n", NAME(e, v));
        else
            put_k(e, k,
                  "__builtin_memcpy((void *)evn_N_lastK, (void *)&%.*s, "
                  "sizeof(evn_N_last_typeK));\n",
                  NAME(e, v));
        if (e->d->construct == C_DISTRIBUTE)
            put_k(e, k,
                  "evn_cu_last_put(&evn_N, K, (void *)evn_N_lastK, sizeof(evn_N_last_typeK));\n");
        put(&e->out, "}\n");
    }
}

/* Within a teams block a unit may have a variable of its own, which gets what the last iteration
 * has left in another unit's. */
static void put_last_of_teams(struct emit *e, const struct token *names, int n) {
    for (int k = 0; k < n && e->d->construct == C_DISTRIBUTE; k++)
        if (!is_variable(e, &names[k]))
            put_k(e, k,
                  e->s->cxx ? "if (evn_N_trips) evn_cu_last_get(&evn_N, K, (void *)evn_N_lastK, "
                              "sizeof(evn_N_last_typeK), "
                              "__is_trivially_copyable(evn_N_last_typeK));\n"
                            : "if (evn_N_trips) evn_cu_last_get(&evn_N, K, (void *)evn_N_lastK, "
                              "sizeof(evn_N_last_typeK), 1);\n");
}

static void put_last_variables(struct emit *e, const struct token *names, int n) {
    for (int i = 0; i < e->nest->loops; i++) {
        const struct token *v = &e->nest->loop[i].variable;
        if (token_among(e->s, v, names, n) && e->s->cxx)
            put_k(e, i,
                  "if (evn_N_trips) %.*s = evn_cxx_loop_at<evn_N_indexK>(evn_N_fromK, "
                  "evn_N_tripsK, evn_N_stepK);\n",
                  NAME(e, v));
        else if (token_among(e->s, v, names, n))
            put_k(e, i,
                  "if (evn_N_trips) %.*s = (evn_N_indexK)((unsigned long long)evn_N_fromK + "
                  "(unsigned long long)evn_N_tripsK * (unsigned long long)evn_N_stepK);\n",
                  NAME(e, v));
    }
}

/* The variables that parallel makes anew for the sake of lastprivate. */
static void put_last_private(struct emit *e, const struct token *names, int n) {
    int firsts, privates;
    struct token *first = directive_names(e->s, e->d, K_FIRSTPRIVATE, &firsts);
    struct token *own = directive_names(e->s, e->d, K_PRIVATE, &privates);
    for (int k = 0; k < n; k++)
        if (!token_among(e->s, &names[k], first, firsts) &&
            !token_among(e->s, &names[k], own, privates))
            put(&e->out, " private(%.*s)", NAME(e, &names[k]));
    free(first);
    free(own);
}

/* "if (evn_cu_enter(..))", or evn_cu_distribute() within teams: the region behind it is taken. */
static void put_entry(struct emit *e) {
    if (e->d->construct == C_TEAMS_LOOP) {
        put_n(e, "if (evn_cu_enter(&evn_N, ");
        put_units_arguments(e);
        put_n(e, ", evn_N_trips))\n");
    } else {
        put_n(e, "if (evn_cu_distribute(&evn_N, evn_N_trips))\n");
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
    put_affinity(&e);
    put_advice(&e);
    put_parts(&e, part, parts);
    put_lasts(&e, last, lasts);
    put_entry(&e);
    put_clauses(&e);
    put_last_private(&e, last, lasts);
    put_private_copies(&e, part, parts);
    put_n(&e, " firstprivate(evn_N_trips");
    if (directive_find(d, K_AFFINITY)) put_n(&e, ", evn_N_here");
    put_counted(&e, "from", nest->loops);
    put_counted(&e, "step", nest->loops);
    put_counted(&e, "trips", nest->loops);
    put_counted(&e, "part", parts);
    put_bounds_of_sections(&e, part, parts);
    put_counted(&e, "last", lasts);
    end_clauses(&e);
    line(&e, d->begin);
    put_n(&e, "for (evn_cu_int evn_N_t, evn_N_end; (evn_N_t = evn_cu_range(&evn_N_end)) >= 0;)\n"
              "for (const evn_cu_int evn_N_stop = evn_N_end; evn_N_t < evn_N_stop; evn_N_t++) {\n");
    put_indices(&e);
    put_copies(&e, part, parts, "trips");
    put_once(&e);
    put_edit(&e, d->begin, nest->body);

    put_body_end(&e);
    put_results(&e, part, parts);
    put_last_values(&e, last, lasts);
    put(&e.out, "}\n");
    if (directive_find(d, K_AFFINITY)) put_n(&e, "evn_cu_here_end(evn_N_here);\n");
    if (s->throws) put(&e.out, "evn_cu_rethrow();\n");
    put_sums(&e, part, parts, "trips");
    put_last_variables(&e, last, lasts);
    put_last_of_teams(&e, last, lasts);
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
    put_n(&e, "evn_cu_int evn_N_teams = evn_cu_teams(&evn_N, ");
    put_units_arguments(&e);
    put(&e.out, ");\n");
    for (int k = 0; k < parts; k++) put_part(&e, &part[k], k, "teams");
    put_n(&e, "if (evn_N_teams)\n");
    put_clauses(&e);
    put_private_copies(&e, part, parts);
    put_n(&e, " firstprivate(evn_N_teams");
    put_counted(&e, "part", parts);
    put_bounds_of_sections(&e, part, parts);
    end_clauses(&e);
    line(&e, d->begin);
    put(&e.out, "{\n__asm__ __volatile__(\"\");\n"); /* else some are forked by other calls */
    if (parts) put_n(&e, "const evn_cu_int evn_N_t = evn_cu_team();\n");
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
    put_results(&e, part, parts);
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
    for (; s->tokens.at[at].kind == T_DIRECTIVE; at++)
        if (token_branch(s, &s->tokens.at[at])) {
            unseen(s, d->begin,
                   "declare variant: must stand before the definition of the function");
            return;
        }
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
        put(&e.out, "%s%.*s", count++ ? ", " : "", NAME(&e, name));
    }
    put(&e.out, ");%s } }\n%s", is_void ? " return;" : "", loud);
    const int behind = s->tokens.at[brace].end;
    replace(s, d->begin, d->end, copy_of("", 0));
    put_edit(&e, behind, behind);
}
