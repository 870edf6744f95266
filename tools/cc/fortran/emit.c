/* The Fortran that stands in the place of a directive and of the head of its loop. The user's
 * expressions are copied, under the numbers of their lines. What is made beside them is called
 * evn_N_.. and calls the module evn_cu (include/evener/fortran/evn_cu.f90) alone.
 *
 *     block
 *         site, bounds, list of units
 *         if (evn_cu_enter(..) /= 0) then
 *     !$omp parallel ..              whose forking the run-time takes over: once on each unit
 *             do                     the next iteration is drawn
 *                 do i = i, i, 1     once: the compiler sees to it that the body leaves i alone
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

struct emit {
    struct fortran *f;
    const struct directive *d;
    const struct do_nest *nest;
    struct text out, line;
    int at; /* in raw text: in whose line a statement is */
    int n;  /* of its names */
    struct token *part, *last, *own, *first;
    int parts, lasts, owns, firsts;
};

/* ---- lines --------------------------------------------------------------------------------- */

/* Where a line may end: behind the last blank or comma that is in no text; `most`: there is none.
 */
static int cut(const char *c, int most) {
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
        const int n = cut(c, most);
        put_bytes(&e->out, c, (size_t)n);
        put(&e->out, "%s",
            fixed       ? directive ? "\n!$omp&" : "\n     &"
            : directive ? " &\n!$omp& "
                        : " &\n& ");
        c += n;
        left -= n;
    }
    put(&e->out, "%s\n", c);
    e->line.length = 0;
}

#define say(e, ...) (put(&(e)->line, __VA_ARGS__), flush(e))

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

static struct range range_of(const struct token *t) { return (struct range){t->begin, t->end}; }

/* evn_N_NAME = the user's integer, in the user's line; the compiler refuses what is none. */
static void integer(struct emit *e, const char *name, struct range r) {
    line(e, r.begin);
    say(e, "evn_%d_%s = evn_cu_integer(%.*s)", e->n, name, width(r), letters(e, r));
    line(e, e->d->begin);
}

/* ---- what is declared ---------------------------------------------------------------------- */

/* Counted names of ours behind `before`: evn_N_part0, evn_N_part1, .. */
static void put_counted(struct emit *e, const char *before, const char *name, int n) {
    for (int k = 0; k < n; k++) put(&e->line, "%sevn_%d_%s%d", before, e->n, name, k);
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

/* Declares pointers to the values of reductions and of lastprivate. */
static void put_pointers(struct emit *e) {
    put(&e->line, "type(evn_cu_pointer) :: ");
    put_counted(e, "", "part", e->parts ? 1 : 0);
    for (int k = 1; k < e->parts; k++) put(&e->line, ", evn_%d_part%d", e->n, k);
    for (int k = 0; k < e->lasts; k++)
        put(&e->line, "%sevn_%d_last%d", k || e->parts ? ", " : "", e->n, k);
    flush(e);
    put(&e->line, "integer(evn_cu_size) :: evn_%d_bytes0", e->n);
    for (int k = 1; k < e->parts + e->lasts; k++) put(&e->line, ", evn_%d_bytes%d", e->n, k);
    flush(e);
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
    say(e, "integer(evn_cu_word), save :: evn_%d(4) = 0_evn_cu_word", e->n);
    if (e->d->construct != C_DISTRIBUTE) {
        say(e, "type(evn_cu_group) :: evn_%d_units(%d)", e->n, e->d->groups ? e->d->groups : 1);
        say(e, "integer(evn_cu_int) :: evn_%d_limit", e->n);
    }
    put(&e->line, "integer(evn_cu_int) :: evn_%d_trips, evn_%d_t", e->n, e->n);
    put_counted(e, ", ", "from", loops);
    put_counted(e, ", ", "to", loops);
    put_counted(e, ", ", "step", loops);
    put_counted(e, ", ", "trips", loops);
    put_counted(e, ", ", "at", loops);
    put_counted(e, ", ", "option", options_of(e));
    put_counted(e, ", ", "count", e->d->groups);
    put_counted(e, ", ", "size", e->d->groups);
    flush(e);
    if (e->parts + e->lasts) put_pointers(e);
    if (directive_find(e->d, K_WEIGHT)) {
        say(e, "type(evn_cu_pointer) :: evn_%d_weights", e->n);
        say(e, "real(evn_cu_double) :: evn_%d_weight", e->n);
    }
    if (directive_find(e->d, K_KEY)) {
        say(e, "type(evn_cu_pointer) :: evn_%d_keys", e->n);
        say(e, "integer(evn_cu_int) :: evn_%d_key", e->n);
    }
}

static void put_site(struct emit *e) {
    const struct place place = source_place(&e->f->raw, fortran_raw(e->f, e->d->begin));
    const struct clause *c = directive_find(e->d, K_SCHEDULE);
    struct text kind = {0};
    put(&kind, "%s", c ? "" : directive_learns(e->d) ? "auto" : "static");
    if (c) {
        struct run rest;
        const struct run words = schedule_kind(&e->f->flat, c, &rest);
        for (int i = 0; i < words.count; i++)
            for (int k = words.at[i].begin; k < words.at[i].end; k++)
                put(&kind, "%c", tolower((unsigned char)e->f->flat.text[k]));
    }
    put(&e->line, "call evn_cu_site_open(evn_%d, ", e->n);
    put_characters(&e->line, place.file);
    put(&e->line, ", %d_evn_cu_c_int, ", place.line);
    put_characters(&e->line, kind.at);
    say(e, ")");
    free(kind.at);
}

static void put_units(struct emit *e) {
    const struct directive *d = e->d;
    char name[32];
    for (int i = 0; i < d->groups; i++) {
        snprintf(name, sizeof name, "count%d", i);
        integer(e, name, d->group[i].count);
        snprintf(name, sizeof name, "size%d", i);
        integer(e, name, d->group[i].size);
        say(e, "evn_%d_units(%d) = evn_cu_group(evn_%d_count%d, %d_evn_cu_c_int, evn_%d_size%d)",
            e->n, i + 1, e->n, i, d->group[i].gpu, e->n, i);
    }
    const struct clause *limit = directive_find(d, K_THREAD_LIMIT);
    if (!limit) {
        say(e, "evn_%d_limit = 0", e->n);
        return;
    }
    integer(e, "limit", run_range(limit->in));
    say(e, "if (evn_%d_limit < 1) evn_%d_limit = -1", e->n, e->n);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void put_bounds(struct emit *e) {
    char name[32];
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        snprintf(name, sizeof name, "from%d", k);
        integer(e, name, c->from);
        snprintf(name, sizeof name, "to%d", k);
        integer(e, name, c->to);
        snprintf(name, sizeof name, "step%d", k);
        if (width(c->step))
            integer(e, name, c->step);
        else
            say(e, "evn_%d_step%d = 1", e->n, k);
        say(e,
            "evn_%d_trips%d = evn_cu_do_trips(evn_%d, evn_%d_from%d, evn_%d_to%d, evn_%d_step%d)",
            e->n, k, e->n, e->n, k, e->n, k, e->n, k);
    }
    say(e, "evn_%d_trips = evn_%d_trips0", e->n, e->n);
    for (int k = 1; k < e->nest->loops; k++)
        say(e,
            "evn_%d_trips = evn_cu_do_trips(evn_%d, 1_evn_cu_int, evn_%d_trips * evn_%d_trips%d, "
            "1_evn_cu_int)",
            e->n, e->n, e->n, e->n, k);
}

/* The loop variables of iteration evn_N_t. */
static void put_indices(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) {
        const struct token *v = &e->nest->loop[k].variable;
        line(e, v->begin);
        put(&e->line, "call evn_cu_index(%.*s, evn_%d_from%d, evn_cu_digit(evn_%d_t",
            token_length(v), token_letters(&e->f->flat, v), e->n, k, e->n);
        for (int under = k + 1; under < e->nest->loops; under++)
            put(&e->line, " / evn_%d_trips%d", e->n, under);
        say(e, ", evn_%d_trips%d), evn_%d_step%d)", e->n, k, e->n, k);
    }
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
        char name[32];
        snprintf(name, sizeof name, "option%d", count);
        integer(e, name, run_range(run_of(part, named ? 2 : 0, part.count)));
        put(&e->line, "call evn_cu_option_named(evn_%d, '", e->n);
        if (named)
            for (int k = part.at[0].begin; k < part.at[0].end; k++)
                put(&e->line, "%c", tolower((unsigned char)flat->text[k]));
        else
            put(&e->line, "chunk");
        say(e, "' // evn_cu_end, evn_%d_option%d)", e->n, count++);
    }
}

/* Room of the run-time's for numbers, one for each iteration, by the clause's expression. */
static void put_numbers(struct emit *e, enum clause_kind kind, const char *name) {
    const struct clause *c = directive_find(e->d, kind);
    if (!c) return;
    const struct range r = run_range(c->in);
    say(e, "evn_%d_%ss = evn_cu_%ss(evn_%d, evn_%d_trips)", e->n, name, name, e->n, e->n);
    put(&e->line, "!$omp single");
    for (int k = 0; k < e->nest->loops; k++)
        put(&e->line, " private(%.*s)", token_length(&e->nest->loop[k].variable),
            token_letters(&e->f->flat, &e->nest->loop[k].variable));
    flush(e);
    say(e, "do evn_%d_t = 0, evn_%d_trips - 1", e->n, e->n);
    put_indices(e);
    if (kind == K_KEY) {
        integer(e, name, r);
    } else {
        line(e, r.begin);
        say(e, "evn_%d_%s = %.*s", e->n, name, width(r), letters(e, r));
        line(e, e->d->begin);
    }
    say(e, "call evn_cu_part_put(evn_%d_%ss, 8_evn_cu_size, evn_%d_t, evn_%d_%s)", e->n, name, e->n,
        e->n, name);
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
        say(e, "call evn_cu_speed(evn_%d, %d_evn_cu_c_int, (%.*s) * 1.0_evn_cu_double)", e->n,
            family_of(flat, &part.at[0]), width(r), letters(e, r));
    }
    const struct clause *batch = directive_find(e->d, K_BATCH);
    if (batch) {
        const struct range r = run_range(batch->in);
        line(e, r.begin);
        say(e, "call evn_cu_batch(evn_%d, evn_cu_procedure(%.*s))", e->n, width(r), letters(e, r));
    }
    line(e, e->d->begin);
}

/* ---- reductions and what comes from the last iteration -------------------------------------- */

static int among(const struct emit *e, const struct token *name, const struct token *list, int n) {
    for (int i = 0; i < n; i++)
        if (token_same(&e->f->flat, name, &list[i])) return 1;
    return 0;
}

static int is_variable(const struct emit *e, const struct token *name) {
    for (int k = 0; e->nest && k < e->nest->loops; k++)
        if (token_same(&e->f->flat, name, &e->nest->loop[k].variable)) return 1;
    return 0;
}

static const struct operator{
    const char *name, *neutral, *combined; /* @: the variable's copy; $: the variable */
    /* no neutral: copies begin with what the variable was, which lies behind the others' */
}
operators[] = {
    {"+", "0", "$ = $ + @"},
    {"-", "0", "$ = $ + @"},
    {"*", "1", "$ = $ * @"},
    {"max", NULL, "$ = max($, @)"},
    {"min", NULL, "$ = min($, @)"},
    {".and.", ".true.", "$ = $ .and. @"},
    {".or.", ".false.", "$ = $ .or. @"},
    {".eqv.", ".true.", "$ = $ .eqv. @"},
    {".neqv.", ".false.", "$ = $ .neqv. @"},
    {"iand", "-1", "$ = iand($, @)"},
    {"ior", "0", "$ = ior($, @)"},
    {"ieor", "0", "$ = ieor($, @)"},
};

static const struct operator* operator_of(const struct emit *e, const struct token *name) {
    const struct source *s = &e->f->flat;
    for (int i = 0; i < e->d->clauses; i++) {
        const struct clause *c = &e->d->clause[i];
        struct run names;
        if (c->kind != K_REDUCTION) continue;
        const struct run op = reduction_operator(s, c, &names);
        for (int k = 0; k < names.count; k++)
            for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
                if (token_same(s, &names.at[k], name) && token_is(s, &op.at[0], operators[o].name))
                    return &operators[o];
    }
    return &operators[0];
}

/* Memory of the run-time's for `count` values of a variable, number `which`. */
static void put_memory(struct emit *e, const struct token *name, const char *what, int k, int which,
                       const char *count) {
    const struct range r = range_of(name);
    line(e, r.begin);
    say(e, "evn_%d_bytes%d = storage_size(%.*s) / 8 * product(shape(%.*s))", e->n, which, width(r),
        letters(e, r), width(r), letters(e, r));
    say(e, "evn_%d_%s%d = evn_cu_parts(evn_%d, %d_evn_cu_c_int, evn_%d_bytes%d, %s)", e->n, what, k,
        e->n, which, e->n, which, count);
    line(e, e->d->begin);
}

static void put_move(struct emit *e, const char *how, const char *what, int k, int which,
                     const char *t, const struct token *name) {
    say(e, "call evn_cu_part_%s(evn_%d_%s%d, evn_%d_bytes%d, %s, %.*s)", how, e->n, what, k, e->n,
        which, t, token_length(name), token_letters(&e->f->flat, name));
}

static void put_part_memories(struct emit *e) {
    char trips[32], more[40];
    snprintf(trips, sizeof trips, "evn_%d_trips", e->n);
    snprintf(more, sizeof more, "%s + 1", trips);
    for (int k = 0; k < e->parts; k++) {
        const int begun = !operator_of(e, &e->part[k])->neutral;
        put_memory(e, &e->part[k], "part", k, k, begun ? more : trips);
        if (begun) put_move(e, "put", "part", k, k, trips, &e->part[k]);
    }
}

static void put_memories(struct emit *e) {
    put_part_memories(e);
    for (int k = 0; k < e->lasts; k++)
        put_memory(e, &e->last[k], "last", k, e->parts + k, "1_evn_cu_int");
}

/* Takes over the values that iteration evn_N_t has left. */
static void put_kept(struct emit *e) {
    char t[32];
    int lasts = 0;
    snprintf(t, sizeof t, "evn_%d_t", e->n);
    for (int k = 0; k < e->lasts; k++) lasts += !is_variable(e, &e->last[k]);
    for (int k = 0; k < e->parts; k++) put_move(e, "put", "part", k, k, t, &e->part[k]);
    if (!lasts) return;
    say(e, "if (evn_%d_t == evn_%d_trips - 1) then", e->n, e->n);
    for (int k = 0; k < e->lasts; k++)
        if (!is_variable(e, &e->last[k]))
            put_move(e, "put", "last", k, e->parts + k, "0_evn_cu_int", &e->last[k]);
    say(e, "end if");
}

static void put_template(struct emit *e, const char *c, const char *variable, const char *sum) {
    for (; *c; c++) {
        if (*c == '@' || *c == '$')
            put(&e->line, "%s", *c == '@' ? variable : sum);
        else
            put_bytes(&e->line, c, 1);
    }
}

static void put_neutrals(struct emit *e) {
    for (int k = 0; k < e->parts; k++) {
        const struct token *v = &e->part[k];
        const char *neutral = operator_of(e, v)->neutral;
        char trips[32];
        snprintf(trips, sizeof trips, "evn_%d_trips", e->n);
        line(e, v->begin);
        if (neutral)
            say(e, "%.*s = %s", token_length(v), token_letters(&e->f->flat, v), neutral);
        else
            put_move(e, "get", "part", k, k, trips, v);
    }
    line(e, e->d->begin);
}

/* All copies, in their order: the same bits wherever they were made. */
static void put_sums(struct emit *e) {
    const struct source *flat = &e->f->flat;
    char t[32];
    if (!e->parts) return;
    snprintf(t, sizeof t, "evn_%d_t", e->n);
    put(&e->line, "associate (");
    for (int k = 0; k < e->parts; k++)
        put(&e->line, "%sevn_%d_sum%d => %.*s", k ? ", " : "", e->n, k, token_length(&e->part[k]),
            token_letters(flat, &e->part[k]));
    say(e, ")");
    put(&e->line, "!$omp single");
    for (int k = 0; k < e->parts; k++)
        put(&e->line, " private(%.*s)", token_length(&e->part[k]),
            token_letters(flat, &e->part[k]));
    flush(e);
    say(e, "do evn_%d_t = 0, evn_%d_trips - 1", e->n, e->n);
    for (int k = 0; k < e->parts; k++) {
        char name[80], sum[32];
        snprintf(name, sizeof name, "%.*s", token_length(&e->part[k]),
                 token_letters(flat, &e->part[k]));
        snprintf(sum, sizeof sum, "evn_%d_sum%d", e->n, k);
        put_move(e, "get", "part", k, k, t, &e->part[k]);
        put_template(e, operator_of(e, &e->part[k])->combined, name, sum);
        flush(e);
    }
    say(e, "end do");
    say(e, "!$omp end single nowait");
    say(e, "end associate");
}

/* Variables of lastprivate behind the loop; its own variable has what it has behind any. */
static void put_lasts(struct emit *e) {
    const struct source *flat = &e->f->flat;
    if (!e->lasts) return;
    say(e, "if (evn_%d_trips > 0) then", e->n);
    for (int k = 0; k < e->lasts; k++)
        if (!is_variable(e, &e->last[k]))
            put_move(e, "get", "last", k, e->parts + k, "0_evn_cu_int", &e->last[k]);
    for (int k = 0; k < e->nest->loops; k++) {
        const struct token *v = &e->nest->loop[k].variable;
        if (among(e, v, e->last, e->lasts))
            say(e, "call evn_cu_index(%.*s, evn_%d_from%d, evn_%d_trips%d, evn_%d_step%d)",
                token_length(v), token_letters(flat, v), e->n, k, e->n, k, e->n, k);
    }
    say(e, "end if");
}

/* ---- the region ---------------------------------------------------------------------------- */

static void put_private(struct emit *e, const struct token *name) {
    if (!among(e, name, e->own, e->owns) && !among(e, name, e->first, e->firsts))
        put(&e->line, " private(%.*s)", token_length(name), token_letters(&e->f->flat, name));
}

static void put_region(struct emit *e) {
    const struct directive *d = e->d;
    line(e, d->begin);
    put(&e->line, "!$omp parallel");
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        if (c->kind == K_PRIVATE || c->kind == K_FIRSTPRIVATE || c->kind == K_SHARED ||
            c->kind == K_DEFAULT || c->kind == K_ALLOCATE)
            put(&e->line, " %.*s", c->end - c->name.begin, e->f->flat.text + c->name.begin);
    }
    for (int k = 0; k < e->parts; k++)
        put(&e->line, " private(%.*s)", token_length(&e->part[k]),
            token_letters(&e->f->flat, &e->part[k]));
    for (int k = 0; k < e->lasts; k++)
        if (!is_variable(e, &e->last[k])) put_private(e, &e->last[k]);
    for (int k = 0; e->nest && k < e->nest->loops; k++) put_private(e, &e->nest->loop[k].variable);
    put(&e->line, " private(evn_%d_t", e->n);
    put_counted(e, ", ", "at", e->nest ? e->nest->loops : 0);
    put(&e->line, ")");
    put(&e->line, " firstprivate(evn_%d_trips", e->n);
    put_counted(e, ", ", "from", e->nest ? e->nest->loops : 0);
    put_counted(e, ", ", "step", e->nest ? e->nest->loops : 0);
    put_counted(e, ", ", "trips", e->nest ? e->nest->loops : 0);
    put_counted(e, ", ", "part", e->parts);
    put_counted(e, ", ", "last", e->lasts);
    put_counted(e, ", ", "bytes", e->parts + e->lasts);
    say(e, ")");
}

/* The user's loops, each of which runs once, with the value that its variable has. The step is no
 * constant, so that the number of iterations is counted before. */
static void put_heads(struct emit *e) {
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        const int n = token_length(&c->variable);
        const char *v = token_letters(&e->f->flat, &c->variable);
        say(e, "evn_%d_at%d = evn_cu_integer(%.*s)", e->n, k, n, v);
    }
    for (int k = 0; k < e->nest->loops; k++) {
        const struct counted *c = &e->nest->loop[k];
        const int n = token_length(&c->variable);
        const char *v = token_letters(&e->f->flat, &c->variable);
        line(e, e->f->at[c->statement].begin);
        if (width(c->name)) put(&e->line, "%.*s: ", width(c->name), letters(e, c->name));
        put(&e->line, "do");
        if (c->label) put(&e->line, " %d", c->label);
        say(e, " %.*s = %.*s, %.*s, evn_cu_one(%.*s)", n, v, n, v, n, v, n, v);
    }
}

/* Behind them: a variable that is not one further was changed, or the loop was left. */
static void put_behind(struct emit *e) {
    for (int k = e->nest->loops - 1; k >= 0; k--) {
        const struct token *v = &e->nest->loop[k].variable;
        say(e, "call evn_cu_behind(evn_%d_at%d, evn_cu_integer(%.*s))", e->n, k, token_length(v),
            token_letters(&e->f->flat, v));
    }
}

static void begin(struct emit *e, struct fortran *f, const struct directive *d,
                  const struct do_nest *nest) {
    const struct source *s = &f->flat;
    *e = (struct emit){.f = f, .d = d, .nest = nest, .n = ++f->raw.sites};
    e->part = directive_names(s, d, K_REDUCTION, &e->parts);
    e->last = directive_names(s, d, K_LASTPRIVATE, &e->lasts);
    e->own = directive_names(s, d, K_PRIVATE, &e->owns);
    e->first = directive_names(s, d, K_FIRSTPRIVATE, &e->firsts);
    line(e, d->begin);
}

static void end(struct emit *e) {
    free(e->part);
    free(e->last);
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
    begin(&e, f, d, nest);
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
            "if (evn_cu_enter(evn_%d, evn_%d_units, %d_evn_cu_c_int, evn_%d_limit, evn_%d_trips) "
            "/= 0) "
            "then",
            e.n, e.n, groups_of(&e), e.n, e.n);
    else
        say(&e, "if (evn_cu_distribute(evn_%d, evn_%d_trips) /= 0) then", e.n, e.n);
    put_region(&e);
    say(&e, "do");
    say(&e, "evn_%d_t = evn_cu_next()", e.n);
    say(&e, "if (evn_%d_t < 0) exit", e.n);
    put_neutrals(&e);
    put_indices(&e);
    put_heads(&e);
    put_edit(&e, line_begin(f, from), fortran_behind(f, nest->loop[nest->loops - 1].statement));

    line(&e, d->begin);
    put_behind(&e);
    put_kept(&e);
    say(&e, "end do");
    say(&e, "!$omp end parallel");
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
    begin(&e, f, d, NULL);
    put_references(&e, from, last);
    put_declarations(&e);
    put_site(&e);
    put_units(&e);
    say(&e, "evn_%d_trips = evn_cu_teams(evn_%d, evn_%d_units, %d_evn_cu_c_int, evn_%d_limit)", e.n,
        e.n, e.n, groups_of(&e), e.n);
    put_part_memories(&e);
    put_region(&e);
    say(&e, "evn_%d_t = evn_cu_team()", e.n);
    put_neutrals(&e);
    put_edit(&e, line_begin(f, from), fortran_behind(f, from));

    line(&e, d->begin);
    snprintf(teams, sizeof teams, "evn_%d_t", e.n);
    for (int k = 0; k < e.parts; k++) put_move(&e, "put", "part", k, k, teams, &e.part[k]);
    say(&e, "!$omp end parallel");
    put_sums(&e);
    say(&e, "end block");
    put_edit(&e, line_begin(f, last), fortran_behind(f, last));
    end(&e);
}
