/* The Fortran that stands in the place of a directive and of the head of its loop. The user's
 * expressions are copied, under the numbers of their lines. What is made beside them is called
 * evn_N_.. and calls the module evn_cu (include/evener/fortran/evn_cu.f90) alone.
 *
 *     block
 *         site, bounds, list of units
 *         if (evn_cu_enter(..) /= 0) then
 *     !$omp parallel ..              whose forking the run-time takes over: once on each unit
 *             do                     the next iterations are drawn, and each of them
 *                 do i = i, i, one   once: the compiler sees to it that the body leaves i alone
 *                     the body, as it stands, and the end of its loop
 *                 how the loop was left is looked at, and its values are kept
 *             end do
 *     !$omp end parallel
 *         end if
 *         reductions combined, in the order of iterations
 *     end block
 */
#include "fortran.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A variable in a list: its name there, and its declaration. */
struct listed {
    struct token name;
    struct variable v;
};

struct emit {
    struct fortran *f;
    const struct directive *d;
    const struct do_nest *nest;
    struct text out, line;
    int at;                              /* in raw text: in whose line a statement is */
    int n;                               /* of its names */
    struct listed *part, *last, *hidden; /* last: without the loop's own variables */
    struct token *own, *first, *behind;  /* behind: all of lastprivate */
    int parts, lasts, hiddens, owns, firsts, behinds;
};

/* ---- lines --------------------------------------------------------------------------------- */

/* Where a line may end: behind the last blank or comma that is in no text; `most`, within a word,
 * where there is none. */
static int cut(const char *c, int most, int *within) {
    int found = 0;
    char quote = 0;
    for (int i = 0; i < most; i++) {
        if (quote) {
            if (c[i] == quote) quote = 0;
        } else if (c[i] == '\'' || c[i] == '"') {
            quote = c[i];
        } else if (i && (c[i] == ' ' || c[i] == ',')) {
            found = i + 1;
        }
    }
    *within = !found;
    return found ? found : most;
}

/* The next line is that of raw text's position `at`. */
static void put_mark(struct emit *e, int at) {
    const struct place place = source_place(&e->f->raw, at);
    put(&e->out, "# %d ", place.line);
    put_quoted(&e->out, place.file);
    put(&e->out, "\n");
}

/* e->line as a statement or directive, on as many lines as it takes. */
static void flush(struct emit *e) {
    const int fixed = e->f->fixed, directive = !strncmp(e->line.at, "!$omp", 5);
    const int most = fixed ? 64 : 110;
    const char *c = e->line.at;
    int left = (int)strlen(c);
    put_mark(e, e->at);
    put(&e->out, "%s", fixed && !directive ? "      " : "");
    while (left > most) {
        int within;
        const int n = cut(c, most, &within);
        put_bytes(&e->out, c, (size_t)n);
        put(&e->out, "%s",
            fixed       ? directive ? "\n!$omp&" : "\n     &"
            : directive ? within ? "&\n!$omp&" : " &\n!$omp& "
            : within    ? "&\n&"
                        : " &\n& ");
        c += n;
        left -= n;
    }
    put(&e->out, "%s\n", c);
    e->line.length = 0;
}

/* A statement, or a piece of one, with names of ours (put_named()). */
#define say(e, ...)      say_k(e, -1, __VA_ARGS__)
#define say_k(e, k, ...) (put_k(e, k, __VA_ARGS__), flush(e))
#define put_n(e, ...)    put_k(e, -1, __VA_ARGS__)
#define put_k(e, k, ...) put_named(&(e)->line, (e)->n, k, __VA_ARGS__)

/* The following text is from the line of the flat text's position `at`. */
static void line(struct emit *e, int at) { e->at = fortran_raw(e->f, at); }

/* Puts the generated text in the place of raw text [from, to); the text behind it keeps its line.
 * */
static void put_edit(struct emit *e, int from, int to) {
    struct source *raw = &e->f->raw;
    const int middle = source_line_begin(raw, to) != to;
    struct text before = {0};
    if (from && source_line_begin(raw, from) != from) put(&before, "\n");
    put_mark(e, to);
    put(&before, "%s", e->out.at);
    if (middle && e->f->fixed) put(&before, "      ");
    replace(raw, from, to, before.at);
    free(e->out.at);
    e->out = (struct text){0};
}

/* A text of Fortran, in pieces that fit into a line. */
static void put_characters(struct text *out, const char *text) {
    put(out, "'");
    for (int i = 0; text[i]; i++) {
        if (i && i % 30 == 0) put(out, "' // '");
        put(out, text[i] == '\'' ? "''" : "%c", text[i]);
    }
    put(out, "' // evn_cu_end");
}

static const char *letters(const struct emit *e, struct range r) {
    return e->f->flat.text + r.begin;
}

static int width(struct range r) { return r.end - r.begin; }

/* For "%.*s". */
#define NAME(e, t) token_length(t), token_letters(&(e)->f->flat, (t))

/* evn_N_NAME = the user's integer, in the user's line; the compiler refuses what is none. */
static void integer(struct emit *e, const char *name, int k, struct range r) {
    line(e, r.begin);
    say_k(e, k, "evn_N_%sK = evn_cu_integer(%.*s)", name, width(r), letters(e, r));
    line(e, e->d->begin);
}

/* ---- what is declared ---------------------------------------------------------------------- */

/* Counted names of ours behind `before`: evn_N_part0, evn_N_part1, .. */
static void put_counted(struct emit *e, const char *before, const char *name, int n) {
    for (int k = 0; k < n; k++) put_k(e, k, "%sevn_N_%sK", before, name);
}

/* Groups of units, or that they are what the machine has. */
static int groups_of(const struct emit *e) {
    return e->d->groups || e->f->flat.inner ? e->d->groups : -1;
}

static int options_of(const struct emit *e) {
    const struct clause *c = directive_find(e->d, K_SCHEDULE);
    struct run rest, part;
    int at = 0, n = 0;
    if (!c) return 0;
    schedule_kind(&e->f->flat, c, &rest);
    while (run_part(&e->f->flat, rest, &at, &part)) n++;
    return n;
}

/* Whether variable `k` of lastprivate is kept as Fortran assigns it, not as bytes. In a teams block
 * all units are to have it, and bytes are what they share. */
static int is_typed(const struct emit *e, int k) {
    return e->d->construct == C_TEAMS_LOOP && fortran_is_typed(&e->last[k].v);
}

/* Whether the bytes of a variable may be others behind an iteration. */
static int may_grow(const struct variable *v) { return !v->seen || v->allocatable; }

/* Declares a pointer to values that are kept as bytes, number `which`, and what these are. */
static void put_pointer(struct emit *e, const char *what, int k, int which) {
    say_k(e, k, "type(evn_cu_pointer) :: evn_N_%sK", what);
    say_k(e, which, "integer(evn_cu_size) :: evn_N_bytesK, evn_N_nowK");
}

/* ", allocatable :: NAME(:)", NAME being evn_N_BEFOREk or what `before` says where k is -1. */
static void put_entity(struct emit *e, const struct listed *x, const char *name, int length) {
    put(&e->line, ", %s%s :: %.*s", x->v.pointer ? "pointer" : "allocatable",
        x->v.contiguous && x->v.rank ? ", contiguous" : "", length, name);
    for (int i = 0; i < x->v.rank; i++) put(&e->line, "%s:", i ? ", " : "(");
    put(&e->line, "%s", x->v.rank ? ")" : "");
    flush(e);
}

/* The type of a variable; characters are as long as what they are made of. */
static void put_type(struct emit *e, const struct listed *x) {
    const char first = (char)tolower((unsigned char)*token_letters(&e->f->flat, &x->name));
    if (x->v.type == V_CHARACTER && !x->v.kind)
        put(&e->line, "character(:)");
    else if (width(x->v.text))
        put(&e->line, "%.*s", width(x->v.text), letters(e, x->v.text));
    else
        put(&e->line, "%s", first >= 'i' && first <= 'n' ? "integer" : "real");
}

/* Where a kept variable is: characters are a component, since regions of gfortran forget the
 * length of others that a BLOCK declares. */
static int is_boxed(const struct listed *x) { return x->v.type == V_CHARACTER; }

static const char *it(const struct listed *x) { return is_boxed(x) ? "%it" : ""; }

/* A reference in generated text. */
struct reference {
    char text[96];
};

static struct reference kept(const struct emit *e, const struct listed *x, const char *name,
                             int k) {
    struct reference r;
    snprintf(r.text, sizeof r.text, "evn_%d_%s%d%s", e->n, name, k, it(x));
    return r;
}

/* The program's variable: its name, of 63 letters at most. */
static struct reference own(const struct emit *e, const struct listed *x) {
    struct reference r;
    snprintf(r.text, sizeof r.text, "%.*s", NAME(e, &x->name));
    return r;
}

/* Declares evn_N_NAMEk, or evn_N_NAMEk%it: a variable of the same type. */
static void put_kept_variable(struct emit *e, const struct listed *x, const char *name, int k) {
    char own[48];
    snprintf(own, sizeof own, "evn_%d_%s%d", e->n, name, k);
    line(e, x->name.begin);
    if (is_boxed(x)) say_k(e, k, "type evn_N_%s_typeK", name);
    put_type(e, x);
    put_entity(e, x, is_boxed(x) ? "it" : own, is_boxed(x) ? 2 : (int)strlen(own));
    if (is_boxed(x)) {
        say(e, "end type");
        say_k(e, k, "type(evn_N_%s_typeK) :: %s", name, own);
    }
    line(e, e->d->begin);
}

static void put_variables(struct emit *e) {
    say(e, "logical :: evn_N_there");
    for (int k = 0; k < e->parts; k++) put_pointer(e, "part", k, k);
    for (int k = 0; k < e->lasts; k++) {
        if (is_typed(e, k))
            put_kept_variable(e, &e->last[k], "last", k);
        else
            put_pointer(e, "last", k, e->parts + k);
        if (is_typed(e, k) && e->last[k].v.allocatable) say_k(e, k, "logical :: evn_N_sameK");
    }
    for (int k = 0; k < e->hiddens; k++) put_kept_variable(e, &e->hidden[k], "outer", k);
}

/* References that nothing calls: gfortran does not see in a BLOCK that a name which has nothing but
 * a type is a function. */
static void put_references(struct emit *e, int from, int last) {
    struct range *call;
    const int n = fortran_typed_calls(e->f, from, last, &call);
    for (int i = 0; i < n; i++)
        say(e, "if (.false.) print *, %.*s", width(call[i]), letters(e, call[i]));
    free(call);
}

static void put_declarations(struct emit *e) {
    const int loops = e->nest ? e->nest->loops : 0;
    say(e, "block");
    say(e, "use evn_cu");
    say(e, "integer(evn_cu_word), save :: evn_N(4) = 0_evn_cu_word");
    if (e->d->construct != C_DISTRIBUTE) {
        say(e, "type(evn_cu_group) :: evn_N_units(%d)", e->d->groups ? e->d->groups : 1);
        say(e, "integer(evn_cu_int) :: evn_N_limit");
    }
    put_n(e, "integer(evn_cu_int) :: evn_N_trips, evn_N_t, evn_N_end");
    put_counted(e, ", ", "from", loops);
    put_counted(e, ", ", "to", loops);
    put_counted(e, ", ", "step", loops);
    put_counted(e, ", ", "trips", loops);
    put_counted(e, ", ", "at", loops);
    put_counted(e, ", ", "option", options_of(e));
    put_counted(e, ", ", "count", e->d->groups);
    put_counted(e, ", ", "size", e->d->groups);
    flush(e);
    put_variables(e);
    if (directive_find(e->d, K_WEIGHT)) {
        say(e, "type(evn_cu_pointer) :: evn_N_weights");
        say(e, "real(evn_cu_double) :: evn_N_weight");
    }
    if (directive_find(e->d, K_KEY)) {
        say(e, "type(evn_cu_pointer) :: evn_N_keys");
        say(e, "integer(evn_cu_int) :: evn_N_key");
    }
}

static void put_site(struct emit *e) {
    const struct place place = source_place(&e->f->raw, fortran_raw(e->f, e->d->begin));
    struct text kind = {0};
    put_schedule(&kind, &e->f->flat, e->d);
    put_n(e, "call evn_cu_site_open(evn_N, ");
    put_characters(&e->line, place.file);
    put(&e->line, ", %d_evn_cu_c_int, ", place.line);
    put_characters(&e->line, kind.at);
    say(e, ")");
    free(kind.at);
}

static void put_units(struct emit *e) {
    const struct directive *d = e->d;
    for (int i = 0; i < d->groups; i++) {
        integer(e, "count", i, d->group[i].count);
        integer(e, "size", i, d->group[i].size);
        say_k(e, i, "evn_N_units(%d) = evn_cu_group(evn_N_countK, %d_evn_cu_c_int, evn_N_sizeK)",
              i + 1, d->group[i].gpu);
    }
    const struct clause *limit = directive_find(d, K_THREAD_LIMIT);
    if (!limit) {
        say(e, "evn_N_limit = 0");
        return;
    }
    integer(e, "limit", -1, run_range(limit->in));
    say(e, "if (evn_N_limit < 1) evn_N_limit = -1");
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void put_bounds(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        integer(e, "from", k, c->from);
        integer(e, "to", k, c->to);
        if (width(c->step))
            integer(e, "step", k, c->step);
        else
            say_k(e, k, "evn_N_stepK = 1");
        say_k(e, k, "evn_N_tripsK = evn_cu_do_trips(evn_N, evn_N_fromK, evn_N_toK, evn_N_stepK)");
    }
    say(e, "evn_N_trips = evn_N_trips0");
    for (int k = 1; k < e->nest->loops; k++)
        say_k(e, k,
              "evn_N_trips = evn_cu_do_trips(evn_N, 1_evn_cu_int, evn_N_trips * evn_N_tripsK, "
              "1_evn_cu_int)");
}

/* The variable of loop `k` of the user's in iteration evn_N_t, or behind the loop, without a call;
 * in a BLOCK in which the functions are Fortran's, whatever the program calls so. */
static void put_index(struct emit *e, int k, int behind) {
    const struct token *v = &e->nest->loop[k].variable;
    line(e, v->begin);
    say_k(e, k, "associate (evn_N_indexK => %.*s)", NAME(e, v));
    say(e, "block");
    say(e, "intrinsic :: int, kind");
    put_k(e, k, "evn_N_indexK = int(evn_N_fromK + ");
    if (behind) {
        put_k(e, k, "evn_N_tripsK");
    } else { /* a digit of the iteration's number */
        put_n(e, "(evn_N_t");
        for (int under = k + 1; under < e->nest->loops; under++) put_k(e, under, " / evn_N_tripsK");
        if (k) {
            put_n(e, " - evn_N_t");
            for (int under = k; under < e->nest->loops; under++) put_k(e, under, " / evn_N_tripsK");
            put_k(e, k, " * evn_N_tripsK");
        }
        put(&e->line, ")");
    }
    say_k(e, k, " * evn_N_stepK, kind(evn_N_indexK))");
    say(e, "end block");
    say(e, "end associate");
}

static void put_indices(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) put_index(e, k, 0);
    line(e, e->d->begin);
}

static void put_options(struct emit *e) {
    const struct source *flat = &e->f->flat;
    const struct clause *c = directive_find(e->d, K_SCHEDULE);
    struct run rest, part;
    int at = 0, count = 0;
    if (!c) return;
    schedule_kind(flat, c, &rest);
    while (run_part(flat, rest, &at, &part)) {
        const int named = part.count > 2 && token_is(flat, &part.at[1], "=");
        integer(e, "option", count, run_range(run_of(part, named ? 2 : 0, part.count)));
        put_n(e, "call evn_cu_option_named(evn_N, '");
        if (named)
            for (int k = part.at[0].begin; k < part.at[0].end; k++)
                put(&e->line, "%c", tolower((unsigned char)flat->text[k]));
        else
            put(&e->line, "chunk");
        say_k(e, count++, "' // evn_cu_end, evn_N_optionK)");
    }
}

/* Room of the run-time's for numbers, one for each iteration, by the clause's expression. */
static void put_numbers(struct emit *e, enum clause_kind kind, const char *name) {
    const struct clause *c = directive_find(e->d, kind);
    if (!c) return;
    const struct range r = run_range(c->in);
    say(e, "evn_N_%ss = evn_cu_%ss(evn_N, evn_N_trips)", name, name);
    put(&e->line, "!$omp single");
    for (int k = 0; k < e->nest->loops; k++)
        put(&e->line, " private(%.*s)", NAME(e, &e->nest->loop[k].variable));
    flush(e);
    say(e, "do evn_N_t = 0, evn_N_trips - 1");
    put_indices(e);
    if (kind == K_KEY) {
        integer(e, name, -1, r);
    } else {
        line(e, r.begin);
        say(e, "evn_N_%s = %.*s", name, width(r), letters(e, r));
        line(e, e->d->begin);
    }
    say(e, "call evn_cu_part_put(evn_N_%ss, 8_evn_cu_size, evn_N_t, evn_N_%s)", name, name);
    say(e, "end do");
    say(e, "!$omp end single nowait");
}

/* Clauses that tell the run-time how to share out. */
static void put_advice(struct emit *e) {
    const struct source *flat = &e->f->flat;
    put_options(e);
    put_numbers(e, K_WEIGHT, "weight");
    put_numbers(e, K_KEY, "key");
    const struct clause *speed = directive_find(e->d, K_SPEED);
    struct run part;
    int at = 0;
    while (speed && run_part(flat, speed->in, &at, &part)) {
        const struct range r = run_range(run_of(part, 2, part.count));
        line(e, r.begin);
        say(e, "call evn_cu_speed(evn_N, %d_evn_cu_c_int, (%.*s) * 1.0_evn_cu_double)",
            family_of(flat, &part.at[0]), width(r), letters(e, r));
    }
    const struct clause *batch = directive_find(e->d, K_BATCH);
    if (batch) {
        const struct range r = run_range(batch->in);
        line(e, r.begin);
        say(e, "call evn_cu_batch(evn_N, evn_cu_procedure(%.*s))", width(r), letters(e, r));
    }
    line(e, e->d->begin);
}

/* ---- reductions and what comes from the last iteration -------------------------------------- */

static const struct operator{
    const char *name, *neutral, *combined; /* @: the variable's copy; $: the variable */
    const char *function;                  /* that it calls, or NULL */
    /* no neutral: copies begin with what the variable was, which lies behind the others' */
}
operators[] = {
    {"+", "0", "$ = $ + @", NULL},
    {"-", "0", "$ = $ + @", NULL},
    {"*", "1", "$ = $ * @", NULL},
    {"max", NULL, "$ = max($, @)", "max"},
    {"min", NULL, "$ = min($, @)", "min"},
    {".and.", ".true.", "$ = $ .and. @", NULL},
    {".or.", ".false.", "$ = $ .or. @", NULL},
    {".eqv.", ".true.", "$ = $ .eqv. @", NULL},
    {".neqv.", ".false.", "$ = $ .neqv. @", NULL},
    {"iand", "-1", "$ = iand($, @)", "iand"},
    {"ior", "0", "$ = ior($, @)", "ior"},
    {"ieor", "0", "$ = ieor($, @)", "ieor"},
};

static const struct operator* operator_of(const struct emit *e, const struct token *name) {
    const struct source *s = &e->f->flat;
    const struct token op = directive_operator(s, e->d, name);
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
        if (token_is(s, &op, operators[o].name)) return &operators[o];
    return &operators[0];
}

/* Memory of the run-time's for `count` values of a variable, number `which`. The size is asked for
 * by a statement: the program may have a name of its own for any function. */
static void put_memory(struct emit *e, const struct token *name, const char *what, int k, int which,
                       const char *count) {
    line(e, name->begin);
    say_k(e, which, "inquire (iolength=evn_N_bytesK) %.*s", NAME(e, name));
    say_k(e, which, "evn_N_%s%d = evn_cu_parts(evn_N, %d_evn_cu_c_int, evn_N_bytesK, %s)", what, k,
          which, count);
    line(e, e->d->begin);
}

static void put_move(struct emit *e, const char *how, const char *what, int k, int which,
                     const char *t, const struct token *name) {
    say_k(e, k, "call evn_cu_part_%s(evn_N_%sK, evn_N_bytes%d, %s, %.*s)", how, what, which, t,
          NAME(e, name));
}

/* Copies what an iteration has left, which has to have the size that there is memory for. */
static void put_value(struct emit *e, const char *what, int k, int which, const char *t,
                      const struct listed *x) {
    if (may_grow(&x->v)) {
        line(e, x->name.begin);
        say_k(e, which, "inquire (iolength=evn_N_nowK) %.*s", NAME(e, &x->name));
        say_k(e, which,
              "call evn_cu_part_same(evn_N_bytesK, evn_N_nowK, %d_evn_cu_c_int, '%.*s' // "
              "evn_cu_end)",
              *what == 'l', NAME(e, &x->name));
        line(e, e->d->begin);
    }
    put_move(e, "put", what, k, which, t, &x->name);
}

/* A region that never runs, for the compiler's look at a variable whose declaration is not seen: it
 * refuses pointers. */
static void put_look(struct emit *e, const struct listed *x) {
    const struct operator* o = operator_of(e, &x->name);
    const int plus = o->function || !strcmp(o->name, "-");
    if (x->v.seen) return;
    line(e, x->name.begin);
    say(e, "if (.false.) then");
    say(e, "!$omp parallel reduction(%s: %.*s)", plus ? "+" : o->name, NAME(e, &x->name));
    say(e, "!$omp end parallel");
    say(e, "end if");
    line(e, e->d->begin);
}

static void put_part_memories(struct emit *e) {
    char trips[32], more[40];
    snprintf(trips, sizeof trips, "evn_%d_trips", e->n);
    snprintf(more, sizeof more, "%s + 1", trips);
    for (int k = 0; k < e->parts; k++) {
        const struct token *name = &e->part[k].name;
        const int begun = !operator_of(e, name)->neutral;
        put_look(e, &e->part[k]);
        put_memory(e, name, "part", k, k, begun ? more : trips);
        if (begun) put_move(e, "put", "part", k, k, trips, name);
    }
}

/* evn_N_there = whether an allocatable variable is allocated. The function is Fortran's in a BLOCK
 * of its own, unless the variable has that name. */
static void put_there(struct emit *e, struct reference r) {
    if (!strcasecmp(r.text, "allocated")) {
        say(e, "evn_N_there = evn_cu_there(%s) /= 0", r.text);
        return;
    }
    say(e, "block");
    say(e, "intrinsic :: allocated");
    say(e, "evn_N_there = allocated(%s)", r.text);
    say(e, "end block");
}

/* Allocates `to` as a copy of `from`; `there`: if evn_N_there. */
static void put_copy(struct emit *e, int there, struct reference to, struct reference from) {
    if (there) put_n(e, "if (evn_N_there) ");
    say(e, "allocate (%s, source=%s)", to.text, from.text);
}

/* What hidden variables are outside of the region. */
static void put_outer(struct emit *e) {
    for (int k = 0; k < e->hiddens; k++) {
        const struct listed *x = &e->hidden[k];
        line(e, x->name.begin);
        const struct reference outer = kept(e, x, "outer", k);
        if (x->v.allocatable) put_there(e, own(e, x));
        if (!x->v.pointer)
            put_copy(e, x->v.allocatable, outer, own(e, x));
        else if (token_among(&e->f->flat, &x->name, e->first, e->firsts))
            say(e, "%s => %.*s", outer.text, NAME(e, &x->name));
        else
            say(e, "nullify (%s)", outer.text);
    }
    line(e, e->d->begin);
}

static void put_memories(struct emit *e) {
    put_part_memories(e);
    for (int k = 0; k < e->lasts; k++)
        if (!is_typed(e, k))
            put_memory(e, &e->last[k].name, "last", k, e->parts + k, "1_evn_cu_int");
    put_outer(e);
}

/* Keeps variable `k` of lastprivate, which the last iteration has left. */
static void put_last(struct emit *e, int k) {
    const struct listed *x = &e->last[k];
    if (!is_typed(e, k)) {
        put_value(e, "last", k, e->parts + k, "0_evn_cu_int", x);
        return;
    }
    line(e, x->name.begin);
    if (x->v.pointer) {
        say(e, "%s => %.*s", kept(e, x, "last", k).text, NAME(e, &x->name));
    } else {
        if (x->v.allocatable) put_there(e, own(e, x));
        put_copy(e, x->v.allocatable, kept(e, x, "last", k), own(e, x));
    }
    line(e, e->d->begin);
}

/* Takes over the values that iteration evn_N_t has left. */
static void put_kept(struct emit *e) {
    char t[32];
    snprintf(t, sizeof t, "evn_%d_t", e->n);
    for (int k = 0; k < e->parts; k++) put_value(e, "part", k, k, t, &e->part[k]);
    if (!e->lasts) return;
    say(e, "if (evn_N_t == evn_N_trips - 1) then");
    for (int k = 0; k < e->lasts; k++) put_last(e, k);
    say(e, "end if");
}

static void put_template(struct emit *e, const char *c, const char *variable, const char *sum) {
    for (; *c; c++) {
        if (*c == '@' || *c == '$')
            put(&e->line, "%s", *c == '@' ? variable : sum);
        else
            put_bytes(&e->line, c, 1);
    }
    flush(e);
}

static void put_neutrals(struct emit *e) {
    for (int k = 0; k < e->parts; k++) {
        const struct token *v = &e->part[k].name;
        const char *neutral = operator_of(e, v)->neutral;
        char trips[32];
        snprintf(trips, sizeof trips, "evn_%d_trips", e->n);
        line(e, v->begin);
        if (neutral)
            say(e, "%.*s = %s", NAME(e, v), neutral);
        else
            put_move(e, "get", "part", k, k, trips, v);
    }
    line(e, e->d->begin);
}

/* ASSOCIATE of all variables of reductions, so that these are reached where a private copy has
 * their name. */
static void put_associate(struct emit *e, const char *what) {
    put(&e->line, "associate (");
    for (int k = 0; k < e->parts; k++)
        put_k(e, k, "%sevn_N_%sK => %.*s", k ? ", " : "", what, NAME(e, &e->part[k].name));
    say(e, ")");
}

/* Copy `k` into its variable; in a BLOCK in which the function is Fortran's, whatever the program
 * calls so. */
static void put_sum(struct emit *e, int k) {
    const struct operator* o = operator_of(e, &e->part[k].name);
    char own[32], sum[32];
    snprintf(own, sizeof own, "evn_%d_own%d", e->n, k);
    snprintf(sum, sizeof sum, "evn_%d_sum%d", e->n, k);
    if (o->function) {
        say(e, "block");
        say(e, "intrinsic :: %s", o->function);
    }
    put_template(e, o->combined, own, sum);
    if (o->function) say(e, "end block");
}

/* All copies, in their order: the same bits wherever they were made. */
static void put_sums(struct emit *e) {
    char t[32];
    if (!e->parts) return;
    snprintf(t, sizeof t, "evn_%d_t", e->n);
    put_associate(e, "sum");
    put(&e->line, "!$omp single");
    for (int k = 0; k < e->parts; k++) put(&e->line, " private(%.*s)", NAME(e, &e->part[k].name));
    flush(e);
    put_associate(e, "own");
    say(e, "do evn_N_t = 0, evn_N_trips - 1");
    for (int k = 0; k < e->parts; k++) {
        put_move(e, "get", "part", k, k, t, &e->part[k].name);
        put_sum(e, k);
    }
    say(e, "end do");
    say(e, "end associate");
    say(e, "!$omp end single nowait");
    say(e, "end associate");
}

/* Asks whether a variable that is associated and what is kept have the same bounds, by the name of
 * the function, or NULL: the same dynamic type; in a BLOCK of its own, where it is Fortran's. */
static void put_same(struct emit *e, int k, const char *bounds) {
    const struct reference last = kept(e, &e->last[k], "last", k);
    say(e, "block");
    say(e, "intrinsic :: %s", bounds ? bounds : "same_type_as");
    if (bounds) say(e, "intrinsic :: all");
    put_k(e, k, "if (evn_N_sameK) evn_N_sameK = ");
    if (bounds)
        say_k(e, k, "all(%s(evn_N_wasK) == %s(%s))", bounds, bounds, last.text);
    else
        say_k(e, k, "same_type_as(evn_N_wasK, %s)", last.text);
    say(e, "end block");
}

/* An allocatable variable has the bounds that the last iteration gave it. Where these are the
 * variable's it is assigned to: pointers to it stay right. */
static void put_allocatable(struct emit *e, int k) {
    const struct listed *x = &e->last[k];
    const struct reference last = kept(e, x, "last", k);
    put_there(e, last);
    say_k(e, k, "evn_N_sameK = evn_N_there");
    put_there(e, own(e, x));
    say(e, "if (evn_N_there) then");
    if (x->v.rank || x->v.polymorphic) {
        say_k(e, k, "associate (evn_N_wasK => %.*s)", NAME(e, &x->name));
        if (x->v.rank) put_same(e, k, "lbound");
        if (x->v.rank) put_same(e, k, "ubound");
        if (x->v.polymorphic) put_same(e, k, NULL);
        say(e, "end associate");
    }
    say_k(e, k, "if (.not. evn_N_sameK) deallocate (%.*s)", NAME(e, &x->name));
    say(e, "end if");
    say_k(e, k, "evn_N_sameK = evn_N_sameK .and. evn_N_there");
    say_k(e, k, "if (evn_N_sameK) then");
    say(e, "%.*s = %s", NAME(e, &x->name), last.text);
    say(e, "else");
    put_there(e, last);
    put_copy(e, 1, own(e, x), last);
    say(e, "end if");
}

/* Variables of lastprivate behind the loop; its own variable has what it has behind any. */
static void put_lasts(struct emit *e) {
    if (!e->behinds) return;
    say(e, "if (evn_N_trips > 0) then");
    for (int k = 0; k < e->lasts; k++) {
        const struct listed *x = &e->last[k];
        line(e, x->name.begin);
        if (!is_typed(e, k))
            put_move(e, "get", "last", k, e->parts + k, "0_evn_cu_int", &x->name);
        else if (x->v.allocatable)
            put_allocatable(e, k);
        else
            say(e, "%.*s =%s %s", NAME(e, &x->name), x->v.pointer ? ">" : "",
                kept(e, x, "last", k).text);
    }
    for (int k = 0; k < e->nest->loops; k++) {
        const struct token *v = &e->nest->loop[k].variable;
        if (token_among(&e->f->flat, v, e->behind, e->behinds)) put_index(e, k, 1);
    }
    line(e, e->d->begin);
    say(e, "end if");
}

/* ---- the region ---------------------------------------------------------------------------- */

static int is_hidden_name(const struct emit *e, const struct token *name) {
    for (int k = 0; k < e->hiddens; k++)
        if (token_same(&e->f->flat, name, &e->hidden[k].name)) return 1;
    return 0;
}

static void put_private(struct emit *e, const struct token *name) {
    if (!token_among(&e->f->flat, name, e->own, e->owns) &&
        !token_among(&e->f->flat, name, e->first, e->firsts) && !is_hidden_name(e, name))
        put(&e->line, " private(%.*s)", NAME(e, name));
}

/* A list of the user's, without variables that a BLOCK hides. */
static void put_list(struct emit *e, const char *clause, const struct token *name, int n) {
    for (int k = 0; k < n; k++)
        if (!is_hidden_name(e, &name[k])) put(&e->line, " %s(%.*s)", clause, NAME(e, &name[k]));
}

/* Clauses for variables of our own. */
static void put_own_clauses(struct emit *e) {
    const int loops = e->nest ? e->nest->loops : 0;
    put_n(e, " private(evn_N_t, evn_N_end, evn_N_there");
    put_counted(e, ", ", "at", loops);
    for (int k = 0; k < e->parts + e->lasts; k++)
        if (k < e->parts || !is_typed(e, k - e->parts)) put_k(e, k, ", evn_N_nowK");
    put_n(e, ") firstprivate(evn_N_trips");
    put_counted(e, ", ", "from", loops);
    put_counted(e, ", ", "step", loops);
    put_counted(e, ", ", "trips", loops);
    put_counted(e, ", ", "part", e->parts);
    put_counted(e, ", ", "bytes", e->parts);
    for (int k = 0; k < e->lasts; k++)
        if (!is_typed(e, k)) put_k(e, k, ", evn_N_lastK, evn_N_bytes%d", e->parts + k);
    put(&e->line, ")");
    for (int k = 0; k < e->lasts; k++)
        if (is_typed(e, k)) put_k(e, k, " shared(evn_N_lastK)");
    for (int k = 0; k < e->hiddens; k++) put_k(e, k, " shared(evn_N_outerK)");
}

/* Variables of a BLOCK that hide those of the program in the region, each with what it is there. */
static void put_hiding(struct emit *e) {
    if (!e->hiddens) return;
    say(e, "block");
    for (int k = 0; k < e->hiddens; k++) {
        const struct listed *x = &e->hidden[k];
        line(e, x->name.begin);
        put_type(e, x);
        put_entity(e, x, token_letters(&e->f->flat, &x->name), token_length(&x->name));
    }
    for (int k = 0; k < e->hiddens; k++) {
        const struct listed *x = &e->hidden[k];
        const struct reference outer = kept(e, x, "outer", k);
        line(e, x->name.begin);
        if (x->v.allocatable) put_there(e, outer);
        if (x->v.pointer)
            say(e, "%.*s => %s", NAME(e, &x->name), outer.text);
        else
            put_copy(e, x->v.allocatable, own(e, x), outer);
    }
    line(e, e->d->begin);
}

static void put_region(struct emit *e) {
    const struct directive *d = e->d;
    line(e, d->begin);
    put(&e->line, "!$omp parallel");
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        if (c->kind == K_SHARED || c->kind == K_DEFAULT || c->kind == K_ALLOCATE)
            put(&e->line, " %.*s", c->end - c->name.begin, e->f->flat.text + c->name.begin);
    }
    put_list(e, "private", e->own, e->owns);
    put_list(e, "firstprivate", e->first, e->firsts);
    for (int k = 0; k < e->parts; k++) put(&e->line, " private(%.*s)", NAME(e, &e->part[k].name));
    for (int k = 0; k < e->lasts; k++) put_private(e, &e->last[k].name);
    for (int k = 0; e->nest && k < e->nest->loops; k++) put_private(e, &e->nest->loop[k].variable);
    put_own_clauses(e);
    flush(e);
    put_hiding(e);
}

static void put_region_end(struct emit *e) {
    if (e->hiddens) say(e, "end block");
    say(e, "!$omp end parallel");
}

/* Steps of the user's loops, of their variables' kinds. They are no constants, so that iterations
 * are counted before. */
static void put_ones(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) {
        const struct token *v = &e->nest->loop[k].variable;
        line(e, v->begin);
        say(e, "%.*s = 0", NAME(e, v));
        say_k(e, k, "associate (evn_N_oneK => evn_cu_one(%.*s))", NAME(e, v));
    }
    line(e, e->d->begin);
}

/* The user's loops, each of which runs once, with the value that its variable has. */
static void put_heads(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        const int n = token_length(&c->variable);
        const char *v = token_letters(&e->f->flat, &c->variable);
        say_k(e, k, "evn_N_atK = %.*s", n, v);
    }
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        const int n = token_length(&c->variable);
        const char *v = token_letters(&e->f->flat, &c->variable);
        line(e, e->f->at[c->statement].begin);
        if (width(c->name)) put(&e->line, "%.*s: ", width(c->name), letters(e, c->name));
        put(&e->line, "do");
        if (c->label) put(&e->line, " %d", c->label);
        say_k(e, k, " %.*s = %.*s, %.*s, evn_N_oneK", n, v, n, v, n, v);
    }
}

/* What stands behind the loops of one iteration: each variable must be one further, else the body
 * has changed it or left its loop. */
static void put_behind(struct emit *e) {
    for (int k = e->nest->loops - 1; k >= 0; k--) {
        const struct token *v = &e->nest->loop[k].variable;
        say_k(e, k,
              "if (%.*s /= evn_N_atK + 1) call evn_cu_behind(evn_N_atK, evn_cu_integer(%.*s))",
              NAME(e, v), NAME(e, v));
    }
}

/* Whether the text has names that begin with evn_N_. */
static int is_taken(const struct source *s, int n) {
    char name[32];
    const int length = snprintf(name, sizeof name, "evn_%d_", n);
    for (const char *c = s->text; (c = strchr(c, '_')); c++)
        if (c - s->text >= 3 && same_letters(s, c - 3, name, (size_t)length)) return 1;
    return 0;
}

static void add(struct listed **list, int *n, const struct token *name, const struct variable *v) {
    *list = more(*list, (size_t)(*n + 1) * sizeof **list);
    (*list)[(*n)++] = (struct listed){*name, *v};
}

static int is_variable(const struct emit *e, const struct token *name) {
    for (int k = 0; e->nest && k < e->nest->loops; k++)
        if (token_same(&e->f->flat, name, &e->nest->loop[k].variable)) return 1;
    return 0;
}

/* Adds variables to those that a BLOCK has to hide. */
static void find_hidden(struct emit *e, int from, const struct token *name, int n) {
    struct variable v;
    for (int k = 0; k < n; k++) {
        fortran_variable(e->f, from, &name[k], &v);
        if (fortran_is_hidden(&v) && !is_hidden_name(e, &name[k]))
            add(&e->hidden, &e->hiddens, &name[k], &v);
    }
}

/* The variables of the directive at statement `from` that are more than names in a list. */
static void find_listed(struct emit *e, int from) {
    struct variable v;
    int n;
    struct token *part = directive_names(&e->f->flat, e->d, K_REDUCTION, &n);
    for (int k = 0; k < n; k++) {
        fortran_variable(e->f, from, &part[k], &v);
        add(&e->part, &e->parts, &part[k], &v);
    }
    free(part);
    for (int k = 0; k < e->behinds; k++) {
        fortran_variable(e->f, from, &e->behind[k], &v);
        if (!is_variable(e, &e->behind[k])) add(&e->last, &e->lasts, &e->behind[k], &v);
    }
    find_hidden(e, from, e->own, e->owns);
    find_hidden(e, from, e->first, e->firsts);
    find_hidden(e, from, e->behind, e->behinds);
}

static void begin(struct emit *e, struct fortran *f, const struct directive *d,
                  const struct do_nest *nest, int from) {
    const struct source *s = &f->flat;
    do f->raw.sites++;
    while (is_taken(s, f->raw.sites));
    *e = (struct emit){.f = f, .d = d, .nest = nest, .n = f->raw.sites};
    e->behind = directive_names(s, d, K_LASTPRIVATE, &e->behinds);
    e->own = directive_names(s, d, K_PRIVATE, &e->owns);
    e->first = directive_names(s, d, K_FIRSTPRIVATE, &e->firsts);
    find_listed(e, from);
    line(e, d->begin);
}

static void end(struct emit *e) {
    free(e->part);
    free(e->last);
    free(e->hidden);
    free(e->behind);
    free(e->own);
    free(e->first);
    free(e->line.at);
    free(e->out.at);
}

/* Begin of the line of a statement or directive in the user's text, its label included. */
static int line_begin(const struct fortran *f, int statement) {
    return source_line_begin(&f->raw, fortran_raw(f, f->at[statement].begin));
}

void fortran_emit_loop(struct fortran *f, const struct directive *d, const struct do_nest *nest,
                       int from, int last) {
    struct emit e;
    const int teams = d->construct == C_TEAMS_LOOP;
    begin(&e, f, d, nest, from);
    if (f->at[nest->loop[0].statement].label)
        put(&e.out, "%-5d continue\n", f->at[nest->loop[0].statement].label);
    put_references(&e, from, last);
    put_declarations(&e);
    put_site(&e);
    if (teams) put_units(&e);
    put_bounds(&e);
    put_advice(&e);
    put_memories(&e);
    if (teams)
        say(&e,
            "if (evn_cu_enter(evn_N, evn_N_units, %d_evn_cu_c_int, evn_N_limit, evn_N_trips) /= 0) "
            "then",
            groups_of(&e));
    else
        say(&e, "if (evn_cu_distribute(evn_N, evn_N_trips) /= 0) then");
    put_region(&e);
    put_ones(&e);
    say(&e, "do");
    say(&e, "evn_N_t = evn_cu_range(evn_N_end)");
    say(&e, "if (evn_N_t < 0) exit");
    say(&e, "do evn_N_t = evn_N_t, evn_N_end - 1");
    put_neutrals(&e);
    put_indices(&e);
    put_heads(&e);
    put_edit(&e, line_begin(f, from), fortran_behind(f, nest->loop[nest->loops - 1].statement));

    line(&e, d->begin);
    put_behind(&e);
    put_kept(&e);
    say(&e, "end do");
    say(&e, "end do");
    for (int k = 0; k < nest->loops; k++) say(&e, "end associate");
    put_region_end(&e);
    say(&e, "end if");
    put_sums(&e);
    put_lasts(&e);
    say(&e, "end block");
    put_edit(&e, fortran_behind(f, nest->last), fortran_behind(f, last));
    end(&e);
}

void fortran_emit_teams(struct fortran *f, const struct directive *d, int from, int last) {
    struct emit e;
    char teams[32];
    begin(&e, f, d, NULL, from);
    put_references(&e, from, last);
    put_declarations(&e);
    put_site(&e);
    put_units(&e);
    say(&e, "evn_N_trips = evn_cu_teams(evn_N, evn_N_units, %d_evn_cu_c_int, evn_N_limit)",
        groups_of(&e));
    put_memories(&e);
    put_region(&e);
    say(&e, "evn_N_t = evn_cu_team()");
    put_neutrals(&e);
    put_edit(&e, line_begin(f, from), fortran_behind(f, from));

    line(&e, d->begin);
    snprintf(teams, sizeof teams, "evn_%d_t", e.n);
    for (int k = 0; k < e.parts; k++) put_value(&e, "part", k, k, teams, &e.part[k]);
    put_region_end(&e);
    put_sums(&e);
    say(&e, "end block");
    put_edit(&e, line_begin(f, last), fortran_behind(f, last));
    end(&e);
}
