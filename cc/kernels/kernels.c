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
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char quiet_both[] = "\n#pragma GCC diagnostic push\n"
                                 "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wpedantic\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wconversion\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wredundant-decls\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wcast-qual\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wsizeof-array-argument\"\n"
                                 "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n"
                                 "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n";
static const char quiet_c[] = "#pragma GCC diagnostic ignored \"-Wdeclaration-after-statement\"\n";
const char kernels_loud[] = "#pragma GCC diagnostic pop\n";

const char *kernels_quiet(const struct source *s) {
    static char both[sizeof quiet_both + sizeof quiet_c];
    snprintf(both, sizeof both, "%s%s", quiet_both, s->cxx ? "" : quiet_c);
    return both;
}

/* Types that both sides have. */
static const char host_words[] = "typedef unsigned long long evn_cu_uint;\n";
static const char device_words[] =
    "\ntypedef evn_long evn_cu_int;\ntypedef evn_ulong evn_cu_uint;\n"
    "#ifdef EVN_OPENCL\ntypedef bool evn_cu_bool;\n"
    "typedef char evn_cu_bool_is_a_byte[sizeof(bool) == 1 ? 1 : -1];\n"
    "#else\ntypedef bool evn_cu_bool;\n#endif\n";

static const enum type types[TYPES] = KERNEL_TYPES;

/* ---- the directive ------------------------------------------------------------------------- */

/* Operation of a reduction on numbers of a type; -1: kernels have none. */
static int combine_of(const struct source *s, struct run op, enum type type) {
    static const char *const operators[] = {"+", "*", "min", "max", "&", "|", "^"};
    for (int i = 0; i < 7 && op.count == 1 && type_is_number(type); i++)
        if (token_is(s, &op.at[0], operators[i])) return i > BY_MAX && type_is_real(type) ? -1 : i;
    return -1;
}

static int is_nest_variable(const struct kernel *k, const struct token *name) {
    for (int i = 0; i < k->nest.loops; i++)
        if (token_same(k->s, &k->nest.loop[i].variable, name)) return 1;
    return 0;
}

/* Whether each iteration can have such a variable of its own: a number, a structure, an array of a
 * constant size of them. */
static int can_be_private(const struct source *s, const struct shape *shape) {
    return type_is_plain(s, shape->type) && shape_count(s, shape, 0);
}

/* A variable of a list, which becomes the body's own. */
static void read_listed(struct kernel *k, const struct clause *c, struct run op,
                        const struct token *name) {
    struct source *s = k->s;
    const struct name *known = body_find(&k->body, name);
    if (known && (known->role == NAME_SUM) == (c->kind == K_REDUCTION)) return; /* of two lines */
    struct shape shape = find_declared(s, k->body.before, name).shape;
    const int sum = c->kind == K_REDUCTION, by = sum ? combine_of(s, op, shape.type) : 0,
              first = c->kind == K_FIRSTPRIVATE;
    if (first && shape.levels && !shape.open[0]) return; /* a pointer is the same everywhere */
    if (sum ? !type_is_number(shape.type) || shape.levels
            : !can_be_private(s, &shape) || (first && shape.levels)) {
        error(s, name->begin, "%.*s: expected a variable that is a number%s",
              token_length(&c->name), token_letters(s, &c->name),
              sum     ? ""
              : first ? ", a structure of numbers or a pointer"
                      : ", a structure of numbers or an array of a constant size");
        shape = (struct shape){.type = TYPE_DOUBLE};
    } else if (by < 0 || (sum && k->sums[0] + k->sums[1] == SUMS)) {
        error(s, op.count ? op.at[0].begin : name->begin,
              "reduction: of a kernel there are +, *, min and max of numbers, and &, | and ^ of "
              "integers, %d at most",
              (int)SUMS);
    }
    if (sum) k->sums[!type_is_real(shape.type)]++;
    struct name *n = body_add(&k->body, name, shape, sum ? NAME_SUM : NAME_LOCAL);
    n->by = by < 0 ? BY_SUM : (enum combine)by;
    n->first = first;
}

static int is_list(enum clause_kind kind, int inner) {
    return kind == K_PRIVATE || kind == K_FIRSTPRIVATE || (kind == K_REDUCTION && !inner);
}

/* Names of reduction, private and firstprivate, but for the loops' variables: each iteration has
 * its own. */
static void read_lists(struct kernel *k, const struct directive *d, int inner) {
    struct source *s = k->s;
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        struct run names = c->in, part, op = {0};
        if (!is_list(c->kind, inner)) continue;
        if (c->kind == K_REDUCTION) op = reduction_operator(s, c, &names);
        int at = 0;
        while (run_part(s, names, &at, &part)) {
            if (part.count != 1 || part.at[0].kind != T_NAME)
                error(s, part.count ? part.at[0].begin : c->in.at[0].begin,
                      "expected a variable here");
            else if (!is_nest_variable(k, &part.at[0]))
                read_listed(k, c, op, &part.at[0]);
        }
    }
}

int loop_is_stepped(const struct loop *l) { return !l->one || l->down; }

static int token_at_or_behind(const struct source *s, int at) {
    int lo = 0, hi = s->tokens.count;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (s->tokens.at[mid].begin < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The type of a loop's variable, an integer's; TYPE_NONE: there can be no kernel of such a loop. */
static enum type loop_type(const struct kernel *k, const struct loop *l) {
    const struct source *s = k->s;
    struct shape shape;
    if (l->ranged) return TYPE_NONE;
    if (l->type.end > l->type.begin) {
        const int at = token_at_or_behind(s, l->type.begin);
        const int name = token_at_or_behind(s, l->variable.begin);
        int behind;
        shape = read_shape(s, at, name, &behind);
        if (behind != name) return TYPE_NONE;
    } else {
        shape = find_declared(s, k->body.before, &l->variable).shape;
    }
    const int fine = !shape.levels && type_is_number(shape.type) && !type_is_real(shape.type) &&
                     shape.type != TYPE_BOOL;
    return fine ? shape.type : TYPE_NONE;
}

static void check_loops(struct kernel *k) {
    struct source *s = k->s;
    for (int i = 0; i < k->nest.loops; i++) {
        const struct loop *l = &k->nest.loop[i];
        const int n = token_length(&l->variable);
        const char *name = token_letters(s, &l->variable);
        k->type[i] = loop_type(k, l);
        if (k->type[i]) continue;
        error(s, l->variable.begin,
              "expected for (int %.*s = from; %.*s < to; %.*s++), with an integer of any size, <=, "
              ">, >= or !=, and any step; a kernel is made of no other loops",
              n, name, n, name, n, name);
        k->type[i] = TYPE_INT;
    }
}

/* Directives between the loops that share the iterations out: hints of compilers, and no others.
 * They are left out, since some compilers refuse them between loops of collapse. */
static void check_between(struct kernel *k, int at) {
    struct source *s = k->s;
    for (int in_nest = 0; at < k->nest.first; at++) {
        const struct token *t = &s->tokens.at[at];
        struct tokens w;
        in_nest |= t->kind == T_NAME;
        if (t->kind != T_DIRECTIVE || (k->has_inner && t->begin == k->inner.begin)) continue;
        lex(s, t->begin + 1, t->end, 0, &w);
        if (w.count > 2 && token_is(s, &w.at[1], "omp") && !token_is(s, &w.at[2], "simd"))
            error(s, t->begin, "no directive but simd may stand between the loops of a kernel");
        else if (in_nest && !is_line_mark(s, t))
            replace(s, t->begin, t->end, copy_of("", 0));
        free(w.at);
    }
}

/* A parallel for that is all of the body, its bounds those of every iteration: its loops belong to
 * the nest. Where they are of another kind, one item does them. */
static void join_inner(struct kernel *k, int at, int to) {
    struct source *s = k->s;
    const int errors = s->errors, complaints = s->complaints, first = k->nest.first;
    int i = first, behind;
    struct nest nest;
    while (i < k->nest.last &&
           (is_line_mark(s, &s->tokens.at[i]) || token_is(s, &s->tokens.at[i], "{")))
        i++;
    if (!kernels_inner(s, i, &k->inner)) return;
    const int loops = k->nest.loops + kernels_collapse(s, &k->inner);
    int fine = s->errors == errors && loops <= 8;
    if (fine) {
        behind = nest_read(s, at, to, loops, &nest);
        fine = behind && nest.end >= k->nest.end;
        for (int n = 0; fine && n < nest.loops; n++)
            fine = loop_type(k, &nest.loop[n]) != TYPE_NONE;
        s->errors = errors;
        s->complaints = complaints;
    }
    if (fine) {
        k->nest = nest;
        k->has_inner = 1;
        kernels_put_inner(s, &k->inner);
    } else {
        directive_close(&k->inner);
    }
}

/* ---- in front of the function -------------------------------------------------------------- */

void kernels_put_line(const struct source *s, struct text *out, int at) {
    const struct place place = source_place(s, at);
    put(out, "\n# %d ", place.line);
    put_quoted(out, place.file);
    put(out, "\n");
}

static void put_line(struct kernel *k, int at) { kernels_put_line(k->s, &k->out, at); }

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
    for (int i = 0; i < TYPES; i++) k->buffers += kernel_uses(k, types[i]);
    for (int i = 0; i < k->buffers; i++) put(&k->out, "0, ");
    put(&k->out, "(int)sizeof(struct evn_%d_values), %s%s-1};\n", k->n, k->sums[0] ? "0, " : "",
        k->sums[1] ? "0, " : "");
}

/* A letter for each reduction, those of real numbers first. */
static void put_combines(struct kernel *k, struct text *out) {
    static const char letters[] = "+*<>&|^", unsigned_letters[] = "+*lg&|^";
    for (int integer = 0; integer < 2; integer++) EACH(k, n) {
            const int is_unsigned = n->shape.type == TYPE_UINT || n->shape.type == TYPE_ULONG;
            if (n->role == NAME_SUM && integer == !type_is_real(n->shape.type))
                put(out, "%c", (is_unsigned ? unsigned_letters : letters)[n->by]);
        }
    if (k->body.asserts) put(out, ">");
}

static void put_definitions(struct kernel *k, int at) {
    struct source *s = k->s;
    const struct place place = source_place(s, k->d->begin);
    struct text device = {0};
    const int begin = outermost(s, at);
    put_bytes(&device, "", 0);
    kernel_put_device(k, &device);
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
        put(&k->out, "%stypedef %s evn_cu_bool;\nstatic const char evn_dialect[] =\n", host_words,
            s->cxx ? "bool" : "_Bool");
        struct text dialect = {0};
        put(&dialect, "%s%s", s->dialect, device_words);
        put_string(&k->out, dialect.at);
        put(&k->out, ";\n");
        free(dialect.at);
    }
    math_put(s, &k->out, k->functions.math, s->math, 1);
    atomic_put(s, &k->out, k->functions.swaps & ~s->swaps, 1);
    s->swaps |= k->functions.swaps;
    for (int i = 0; i < 2; i++) s->math[i] |= k->functions.math[i];
    kernel_put_host(k, &k->out);
    put_parameters(k);
    /* a function: under default(none) a variable would have to be listed */
    put(&k->out, "static evn_cu_kernel *evn_%d_kernel(void) {\nstatic evn_cu_kernel kernel = {",
        k->n);
    put_quoted(&k->out, place.file);
    put(&k->out, ", %d, evn_dialect,\n", place.line);
    put_string(&k->out, device.at);
    put(&k->out, ",\nevn_%d_run, evn_%d_parameters, %d, %d, %d, \"", k->n, k->n, k->buffers,
        k->sums[0], k->sums[1]);
    put_combines(k, &k->out);
    put(&k->out, "\", %d, 0};\nreturn &kernel;\n}\n", s->contract);
    put(&k->out,
        "__attribute__((constructor)) static void evn_%d_announce(void) {\n"
        "evn_cu_kernel_announce(evn_%d_kernel());\n}\n%s",
        k->n, k->n, "#pragma clang diagnostic pop\n");
    put_line(k, begin);
    replace(s, begin, begin, k->out.at);
    k->out = (struct text){0};
    free(device.at);
}

/* ---- in the directive's place -------------------------------------------------------------- */

static void put_element(struct text *out, const struct name *n, int subscripts) {
    put(out, "%s", n->text);
    for (int i = 0; i < subscripts; i++) put(out, "[0]");
}

/* The compiler says whether a name is what its declaration was read as. */
static void put_check(struct kernel *k, const struct name *n) {
    const int element = n->shape.levels;
    struct text one = {0};
    put_element(&one, n, element);
    put_line(k, n->token.begin);
    put(&k->out, k->s->cxx ? "static_assert(" : "__extension__ _Static_assert(");
    if (n->shape.type >= TYPE_STRUCTURE)
        put_layout_checks(k->s, &k->out, n->shape.type, one.at);
    else
        put_same_type(k->s, &k->out, n->shape.type, "%s", one.at);
    put(&k->out, ", \"\\\"%s\\\" is not of the type that its nearest declaration says\");\n",
        n->text);
    for (int i = 1; i < element; i++) {
        put_line(k, n->token.begin);
        put(&k->out, k->s->cxx ? "static_assert(!evn_cxx_same<decltype("
                               : "__extension__ _Static_assert(!__builtin_types_compatible_p("
                                 "__typeof__(");
        put_element(&k->out, n, i);
        put(&k->out, k->s->cxx ? "), decltype(&" : "), __typeof__(&");
        put_element(&k->out, n, i + 1);
        put(&k->out,
            "%s, \"\\\"%s\\\" is made of pointers; a kernel knows arrays in one piece\");\n",
            k->s->cxx ? ")>::evn_is" : "))", n->text);
    }
    free(one.at);
}

/* The arrays, in the order of names. */
static int put_arrays(struct kernel *k) {
    int arrays = 0;
    EACH(k, n) {
        if (!kernel_is_array(k, n)) continue;
        if (!arrays++) put(&k->out, "evn_cu_array evn_%d_array[] = {", k->n);
        put(&k->out, "{(const void *)%s, \"%s\", %d, (int)sizeof(%s), 0},\n", n->text, n->text,
            n->written, type_name(k->s, kernel_unit(k, n)));
    }
    if (arrays) put(&k->out, "};\n");
    return arrays;
}

/* Checks, before the loop, that members read by way of a pointer are on the host. */
static void put_members(struct kernel *k) {
    EACH(k, n) {
        if (n->by_arrow && !kernel_is_array(k, n))
            put(&k->out, "evn_cu_kernel_member(evn_%d_kernel(), (const void *)&(%s), \"%s\");\n",
                k->n, n->text, n->text);
    }
}

/* Bounds are read on the host: what they have by way of pointers, as members are. */
static void put_bound_members(struct kernel *k, struct range bound) {
    const struct source *s = k->s;
    struct tokens t;
    lex(s, bound.begin, bound.end, 0, &t);
    for (int i = 0; i < t.count; i++) {
        int at = i + 1, far = 0;
        if (t.at[i].kind != T_NAME) continue;
        while (at < t.count) {
            const int open = token_is(s, &t.at[at], "[");
            const int arrow = token_is(s, &t.at[at], "->");
            if (!open && !arrow && !token_is(s, &t.at[at], ".")) break;
            at = open ? after_bracket(s, &t, at, t.count) : at + 2;
            if (at < 0) break;
            far |= open || arrow;
        }
        if (at < 0) break;
        if (far && at <= t.count && !(at < t.count && token_is(s, &t.at[at], "("))) {
            const int length = t.at[at - 1].end - t.at[i].begin;
            put(&k->out, "evn_cu_kernel_member(evn_%d_kernel(), (const void *)&(%.*s), ", k->n,
                length, s->text + t.at[i].begin);
            char *text = copy_of(s->text + t.at[i].begin, (size_t)length);
            put_quoted(&k->out, text);
            put(&k->out, ");\n");
            free(text);
        }
        i = at - 1;
    }
    free(t.at);
}

/* evn_3_from0 = (..); as what C takes it for in the comparison. */
static void put_bound(struct kernel *k, int i, const char *what, const char *type,
                      struct range text) {
    put_line(k, text.begin);
    put(&k->out, "const evn_cu_int evn_%d_%s%d = (evn_cu_int)(evn_%d_common%d)%s(%.*s);", k->n,
        what, i, k->n, i, type, text.end - text.begin, k->s->text + text.begin);
}

static void put_bounds(struct kernel *k) {
    for (int i = 0; i < k->nest.loops; i++) {
        const struct loop *l = &k->nest.loop[i];
        char type[40];
        snprintf(type, sizeof type, "(%s)", type_name(k->s, k->type[i]));
        put_bound_members(k, l->from);
        put_bound_members(k, l->to);
        if (!l->one) put_bound_members(k, l->step);
        put_line(k, l->to.begin);
        put(&k->out, "typedef %s(%s0 + (%.*s)) evn_%d_common%d;",
            k->s->cxx ? "decltype" : "__typeof__", type, l->to.end - l->to.begin,
            k->s->text + l->to.begin, k->n, i);
        put_bound(k, i, "from", type, l->from);
        put_bound(k, i, "to", "", l->to);
        put_line(k, (l->one ? l->to : l->step).begin);
        put(&k->out, "const evn_cu_int evn_%d_step%d = %s", k->n, i, l->down ? "-" : "");
        if (l->one)
            put(&k->out, "1;\n");
        else
            put(&k->out, "(evn_cu_int)(%.*s);\n", l->step.end - l->step.begin,
                k->s->text + l->step.begin);
        put(&k->out,
            "const evn_cu_int evn_%d_n%d = evn_cu_kernel_count(evn_%d_kernel(), evn_%d_from%d, "
            "evn_%d_to%d, evn_%d_step%d, EVN_CU_%s + ((evn_%d_common%d)-1 > (evn_%d_common%d)0 ? "
            "EVN_CU_UNSIGNED : 0) + (%s-1 > %s0 ? EVN_CU_NATURAL : 0) + EVN_CU_BYTE * "
            "(int)sizeof%s);\n",
            k->n, i, k->n, k->n, i, k->n, i, k->n, i, loop_relation(l), k->n, i, k->n, i, type,
            type, type);
    }
    put_line(k, k->d->begin);
}

static void put_filled(struct kernel *k) {
    int array = 0;
    put(&k->out,
        "struct evn_%d_values evn_%d_v;\n__builtin_memset(&evn_%d_v, 0, sizeof evn_%d_v);\n", k->n,
        k->n, k->n, k->n);
    EACH(k, n) {
        if (kernel_is_array(k, n))
            put(&k->out, "evn_%d_v.at_%s = evn_%d_array[%d].at;\n", k->n, n->id, k->n, array++);
        for (int i = 0; n->role == NAME_ARRAY && i + 1 < n->dimensions; i++) {
            put(&k->out, "evn_%d_v.s%d_%s = (evn_cu_int)(sizeof ", k->n, i, n->id);
            put_element(&k->out, n, i + 1);
            put(&k->out, " / sizeof ");
            put_element(&k->out, n, n->dimensions);
            put(&k->out, ");\n");
        }
        if (!kernel_is_told(k, n)) continue;
        if (n->role == NAME_ARRAY || n->shape.type >= TYPE_STRUCTURE)
            put(&k->out, "__builtin_memcpy(&evn_%d_v.u_%s, &(%s), sizeof evn_%d_v.u_%s);\n", k->n,
                n->id, n->text, k->n, n->id);
        else
            put(&k->out, "evn_%d_v.u_%s = %s;\n", k->n, n->id, n->text);
    }
    for (int i = 0; i < k->nest.loops; i++) {
        const enum type type = k->type[i] < TYPE_INT ? TYPE_INT : k->type[i];
        put(&k->out, "evn_%d_v.from%d = (%s)evn_%d_from%d;\nevn_%d_v.n%d = (int)evn_%d_n%d;\n",
            k->n, i, type_name(k->s, type), k->n, i, k->n, i, k->n, i);
        if (loop_is_stepped(&k->nest.loop[i]))
            put(&k->out, "evn_%d_v.step%d = evn_%d_step%d;\n", k->n, i, k->n, i);
    }
}

/* Room for the reductions, with what each begins with. */
static void put_sums_before(struct kernel *k) {
    static const char *const types_of[] = {"double", "evn_cu_int"}, *const rooms[] = {"sum",
                                                                                      "count"};
    for (int integer = 0; integer < 2; integer++) {
        if (!k->sums[integer]) continue;
        put(&k->out, "%s evn_%d_%s[] = {", types_of[integer], k->n, rooms[integer]);
        EACH(k, n) {
            if (n->role != NAME_SUM || integer == type_is_real(n->shape.type)) continue;
            if (kernel_begins_with_itself(n))
                put(&k->out, "(%s)%s, ", types_of[integer], n->text);
            else
                put(&k->out, "%d, ", n->by == BY_PRODUCT);
        }
        put(&k->out, integer && k->body.asserts ? "0};\n" : "};\n");
    }
}

/* Adds the kernel's sums to the variables of reductions. */
static void put_sums_behind(struct kernel *k) {
    static const char *const operators[] = {"+", "*", "", "", "", "", "^"};
    int number[2] = {0};
    EACH(k, n) {
        if (n->role != NAME_SUM) continue;
        const int integer = !type_is_real(n->shape.type);
        put(&k->out, "%s = ", n->text);
        if (!kernel_begins_with_itself(n)) put(&k->out, "%s %s ", n->text, operators[n->by]);
        put(&k->out, "(%s)evn_%d_%s[%d];\n", type_name(k->s, n->shape.type), k->n,
            integer ? "count" : "sum", number[integer]++);
    }
    if (!k->body.asserts) return;
    put(&k->out, "const char *const evn_%d_said[] = {", k->n);
    for (int i = 0; i < k->body.asserts; i++) {
        const struct token *t = &k->s->tokens.at[k->body.assertion[i]];
        struct text one = {0};
        const struct place place = source_place(k->s, t->begin);
        put(&one, "%s:%d: assertion ", place.file, place.line);
        put_quoted(&k->out, one.at);
        put(&k->out, " %.*s, ", LETTERS(k, t));
        free(one.at);
    }
    put(&k->out, "};\nevn_cu_kernel_asserted(evn_%d_count[%d], evn_%d_said);\n", k->n, number[1],
        k->n);
}

static void put_launch(struct kernel *k) {
    put_filled(k);
    put(&k->out, "const evn_cu_int evn_%d_counts[] = {", k->n);
    for (int i = 0; i < k->nest.loops; i++) put(&k->out, "%sevn_%d_n%d", i ? ", " : "", k->n, i);
    put(&k->out,
        "};\nconst evn_cu_int evn_%d_trips = evn_cu_kernel_trips(evn_%d_kernel(), %d, "
        "evn_%d_counts);\nevn_%d_v.trips = (int)evn_%d_trips;\n",
        k->n, k->n, k->nest.loops, k->n, k->n, k->n);
    put_sums_before(k);
    put(&k->out, "evn_cu_kernel_run(evn_%d_kernel(), evn_%d_trips, &evn_%d_v, sizeof evn_%d_v, ",
        k->n, k->n, k->n, k->n);
    put(&k->out, k->sums[0] ? "evn_%d_sum, " : "0, ", k->n);
    put(&k->out, k->sums[1] ? "evn_%d_count);\n" : "0);\n", k->n);
    put_sums_behind(k);
}

/* Whether the same kind of list has the name before this one, too. */
static int is_named_before(const struct kernel *k, enum clause_kind kind,
                           const struct token *name) {
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        if (c->kind != kind) continue;
        for (int n = 0; n < c->in.count; n++) {
            if (c->in.at[n].begin == name->begin) return 0;
            if (token_same(k->s, &c->in.at[n], name)) return 1;
        }
    }
    return 0;
}

/* Each name once: a region of several lines may have it in several clauses. */
static void put_clauses(struct kernel *k) {
    static const char *const operators[] = {"+", "*", "min", "max", "&", "|", "^"};
    put_line(k, k->d->begin);
    put(&k->out, "#pragma omp parallel for num_threads(evn_cu_kernel_threads())");
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        if (c->kind == K_COLLAPSE && k->triangular)
            put(&k->out, " collapse(%d)", k->nest.loops);
        else if (c->kind == K_COLLAPSE)
            put(&k->out, " %.*s", c->end - c->name.begin, k->s->text + c->name.begin);
        const char *list = c->kind == K_PRIVATE        ? "private"
                           : c->kind == K_FIRSTPRIVATE ? "firstprivate"
                                                       : NULL;
        for (int n = 0; list && n < c->in.count; n++)
            if (c->in.at[n].kind == T_NAME && !is_named_before(k, c->kind, &c->in.at[n]) &&
                !(c->kind == K_FIRSTPRIVATE && is_nest_variable(k, &c->in.at[n])))
                put(&k->out, " %s(%.*s)", list, LETTERS(k, &c->in.at[n]));
    }
    EACH(k, n) {
        if (n->role == NAME_SUM) put(&k->out, " reduction(%s: %s)", operators[n->by], n->text);
    }
    put_line(k, k->s->tokens.at[k->nest.first].begin);
}

/* if(..) and device(..), which say where: that is the unit's to say. They are evaluated. */
static void put_asides(struct kernel *k) {
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        if (c->kind != K_IF) continue;
        const int colon = run_find(k->s, c->in, 0, ":");
        const struct range r = run_range(run_of(c->in, colon + 1, c->in.count));
        put_line(k, r.begin);
        put(&k->out, "(void)(%.*s);\n", r.end - r.begin, k->s->text + r.begin);
    }
}

static void put_site(struct kernel *k, int first) {
    put(&k->out, "{%s", kernels_quiet(k->s));
    put_asides(k);
    EACH(k, n) if (n->role != NAME_LOOP) put_check(k, n);
    put_line(k, k->d->begin);
    const int arrays = put_arrays(k);
    put_members(k);
    put_bounds(k);
    const int maps = map_put_loop(k);
    put(&k->out, "if (evn_cu_kernel_here(evn_%d_kernel(), ", k->n);
    put(&k->out, arrays ? "evn_%d_array, %d)) {\n" : "(evn_cu_array *)0, 0)) {\n", k->n, arrays);
    put_launch(k);
    if (maps) put(&k->out, "evn_cu_map_end(evn_%d_map, %d);\n", k->n, maps);
    put(&k->out, "} else {\n%s", kernels_loud);
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
    s->edit[s->edits - 1].order = -s->edits; /* before what closes a loop around it there */
}

/* Behind the statement of a region that no kernel is made of. */
static int behind_region(struct source *s, int at, int to) {
    const int behind = statement_end(s, at, to, 0);
    return behind > at ? behind : at;
}

static void read_body(struct kernel *k) {
    struct body *b = &k->body;
    read_lists(k, k->d, 0);
    if (k->has_inner) read_lists(k, &k->inner, 1);
    for (int i = 0; i < k->nest.loops; i++)
        body_add(b, &k->nest.loop[i].variable, (struct shape){.type = k->type[i]}, NAME_LOOP);
    b->end = k->nest.last;
    put_bytes(&b->out, "", 0);
    body_statement(b, k->nest.first, k->nest.last);
    body_settle(b);
    k->sums[1] += b->asserts > 0;
}

/* Variables of the loops of collapse that are not shared out, where they are declared outside: each
 * iteration has its own. */
static void keep_variables(struct kernel *k, int loops) {
    struct source *s = k->s;
    int at = k->nest.first;
    for (; loops > 0; loops--) {
        while (s->tokens.at[at].kind == T_DIRECTIVE || token_is(s, &s->tokens.at[at], "{")) at++;
        if (!token_is(s, &s->tokens.at[at], "for")) return;
        const struct token *name = &s->tokens.at[at + 2];
        if (name->kind == T_NAME && token_is(s, &s->tokens.at[at + 3], "="))
            kernels_add_clause(k->d, (struct clause){K_PRIVATE, *name, {name, 1}, name->end});
        at = after_bracket(s, &s->tokens, at + 1, s->tokens.count);
        if (at < 0) return;
    }
}

/* The loops, of which those of collapse whose bounds use outer variables are not shared out: each
 * iteration of the others does them. */
static int read_nest(struct kernel *k, int at, int to) {
    struct source *s = k->s;
    const int loops = kernels_collapse(s, k->d), errors = s->errors, complaints = s->complaints;
    int behind = nest_read(s, at, to, loops, &k->nest);
    if (behind || !k->nest.dependent) return behind;
    const int outer = k->nest.loops;
    s->errors = errors;
    s->complaints = complaints;
    behind = nest_read(s, at, to, outer, &k->nest);
    if (behind) keep_variables(k, loops - outer);
    k->triangular = behind > 0;
    return behind;
}

/* The loop behind a directive whose clauses are read, which stands before token `at`. */
int kernels_shared_loop(struct source *s, struct directive *d, int at, int to) {
    struct kernel k = {.s = s, .d = d};
    const int errors = s->errors, behind_lines = at;
    while (at < to && s->tokens.at[at].kind == T_DIRECTIVE) at++; /* marks of lines, hints */
    k.body = (struct body){
        .s = s, .number = k.n = s->sites + 1, .before = at, .functions = &k.functions};
    int behind = read_nest(&k, at, to);
    if (!behind) return behind_region(s, at, to);
    layouts_open(s, k.n);
    join_inner(&k, at, to);
    check_between(&k, behind_lines);
    check_loops(&k);
    read_body(&k);
    if (s->errors == errors) {
        s->sites++;
        put_definitions(&k, at);
        if (s->errors == errors) put_site(&k, at);
    }
    if (k.has_inner) directive_close(&k.inner);
    layouts_close(s);
    functions_close(&k.functions);
    free(k.body.assertion);
    body_close(&k.body);
    return behind;
}

int kernels_loop(struct source *s, struct directive *d, int at, int to) {
    if (kernels_region_here(s, d, at, to)) return kernels_region(s, d, at, to);
    if (!kernels_read(s, d, &at, to)) return behind_region(s, at, to);
    return kernels_shared_loop(s, d, at, to);
}
