/* Memory of map(..): of a loop's own clauses, of arrays whose sizes their declarations say, and of
 * target data, enter data, exit data and update, which say where data are. */
#include "text.h"
#include <stdlib.h>
#include <string.h>

static int is(const struct source *s, const struct token *t, const char *letters) {
    return token_is(s, t, letters);
}

#define TEXT(s, r) (r).end - (r).begin, (s)->text + (r).begin

/* An item of a list: a variable, perhaps a member, with the subscripts or sections behind it. */
struct item {
    struct run path;
    struct shape shape;
    int sections;
    struct run low[LEVELS], length[LEVELS];
    int all[LEVELS]; /* [lo:] and [:] */
};

static int read_section(const struct source *s, struct run in, struct item *m) {
    const int k = m->sections, colon = run_find(s, in, 0, ":");
    if (k == LEVELS || !in.count) return 0;
    m->low[k] = colon < 0 ? in : run_of(in, 0, colon);
    m->length[k] = colon < 0 ? run_of(in, 0, 0) : run_of(in, colon + 1, in.count);
    m->all[k] = colon >= 0 && colon + 1 == in.count;
    m->sections++;
    return colon < 0 || run_find(s, m->length[k], 0, ":") < 0;
}

/* Reads an item, which stands before token `before`; 0: it is none. */
static int read_item(const struct source *s, struct run in, int before, struct item *m) {
    *m = (struct item){0};
    int n = 1;
    if (!in.count || in.at[0].kind != T_NAME) return 0;
    m->shape = find_declared(s, before, &in.at[0]).shape;
    for (; n + 1 < in.count && (is(s, &in.at[n], ".") || is(s, &in.at[n], "->")); n += 2) {
        const int arrow = is(s, &in.at[n], "->");
        if (m->shape.levels != arrow || !find_member(s, m->shape.type, &in.at[n + 1], &m->shape))
            m->shape = (struct shape){0};
    }
    m->path = run_of(in, 0, n);
    while (n < in.count) {
        int behind = n + 1;
        if (!is(s, &in.at[n], "[")) return 0;
        while (behind <= in.count && run_open(s, run_of(in, n, behind)) != 0) behind++;
        if (behind > in.count || !read_section(s, run_of(in, n + 1, behind - 1), m)) return 0;
        n = behind;
    }
    return 1;
}

/* &a[0][1] of the first or behind the last element. */
static void put_corner(const struct source *s, struct text *out, const struct item *m, int last) {
    put(out, "&%.*s", TEXT(s, run_range(m->path)));
    for (int k = 0; k < m->sections; k++) {
        put(out, "[");
        if (m->low[k].count)
            put(out, "(%.*s)", TEXT(s, run_range(m->low[k])));
        else
            put(out, "0");
        if (last && m->length[k].count)
            put(out, " + (%.*s) - 1", TEXT(s, run_range(m->length[k])));
        else if (last && m->all[k]) {
            /* up to the end of the array: its elements, less those before */
            struct text row = {0};
            put(&row, "%.*s", TEXT(s, run_range(m->path)));
            for (int i = 0; i < k; i++) put(&row, "[0]");
            put(out, " + (long)(sizeof(%s) / sizeof((%s)[0])) - 1", row.at, row.at);
            if (m->low[k].count) put(out, " - (%.*s)", TEXT(s, run_range(m->low[k])));
            free(row.at);
        }
        put(out, "]");
    }
}

/* Whether no section is empty, as C. */
static void put_some(const struct source *s, struct text *out, const struct item *m) {
    put(out, "1");
    for (int k = 0; k < m->sections; k++)
        if (m->length[k].count) put(out, " && (%.*s) > 0", TEXT(s, run_range(m->length[k])));
}

/* All of an array, whose declaration says how large it is, parameters too. */
static void put_whole(const struct source *s, struct text *out, const char *name,
                      const struct shape *shape) {
    const struct token *open = &s->tokens.at[shape->open[0]];
    const int close = after_bracket(s, &s->tokens, shape->open[0], s->tokens.count) - 1;
    put(out, "{(void *)(%s), (void *)(%s), ", name, name);
    put(out,
        s->cxx ? "evn_cxx_same<decltype(%s), decltype(&(%s)[0])>::evn_is"
               : "__builtin_types_compatible_p(__typeof__(%s), __typeof__(&(%s)[0]))",
        name, name);
    put(out, " ? (unsigned long)(%.*s) * sizeof((%s)[0]) : sizeof(%s), ",
        s->tokens.at[close].begin - open->end, s->text + open->end, name, name);
}

static int is_sized(const struct source *s, const struct shape *shape) {
    const int open = shape->levels ? shape->open[0] : 0;
    return open && !is(s, &s->tokens.at[open + 1], "]") &&
           !is(s, &s->tokens.at[open + 1], "static") && !is_qualifier(s, open + 1);
}

/* One item as an initialiser of evn_cu_map; 0: it has no memory to map. */
static int put_item(struct source *s, struct text *out, const struct item *m, const char *how) {
    const struct range path = run_range(m->path);
    char *name = copy_of(s->text + path.begin, (size_t)(path.end - path.begin));
    int fine = 1;
    if (m->sections) {
        put(out, "{(void *)(%s), (void *)(", name);
        put_corner(s, out, m, 0);
        put(out, "), (");
        put_some(s, out, m);
        put(out, ") ? (unsigned long)((char *)(");
        put_corner(s, out, m, 1);
        put(out, " + 1) - (char *)(");
        put_corner(s, out, m, 0);
        put(out, ")) : 0, ");
    } else if (is_sized(s, &m->shape)) {
        put_whole(s, out, name, &m->shape);
    } else {
        fine = 0; /* numbers go along with a kernel; of a pointer alone nothing is known */
    }
    if (fine) {
        put_quoted(out, name);
        put(out, ", EVN_CU_MAP_%s, 0},\n", how);
    }
    free(name);
    return fine;
}

/* The kind of a map clause, whose list is then *names; NULL and a message: it has none. */
static const char *map_kind(struct source *s, const struct clause *c, struct run *names) {
    static const struct {
        const char *word, *how;
    } kinds[] = {{"to", "TO"},         {"tofrom", "TO"},     {"from", "FROM"},
                 {"alloc", "ALLOC"},   {"release", "ALLOC"}, {"delete", "DELETE"},
                 {"present", "ALLOC"}, {"storage", "ALLOC"}};
    static const char *const modifiers[] = {"always", "close", ","};
    const int colon = run_find(s, c->in, 0, ":");
    const char *how = "TO";
    *names = c->in;
    for (int i = 0; i < colon; i++) {
        size_t k = 0, n = 0;
        while (k < sizeof kinds / sizeof *kinds && !is(s, &c->in.at[i], kinds[k].word)) k++;
        while (n < 3 && !is(s, &c->in.at[i], modifiers[n])) n++;
        if (k == sizeof kinds / sizeof *kinds && n == 3) {
            error(s, c->in.at[i].begin,
                  "map: expected to, from, tofrom, alloc, release or delete before the colon");
            return NULL;
        }
        if (n == 3) how = kinds[k].how;
    }
    if (colon >= 0) *names = run_of(c->in, colon + 1, c->in.count);
    return how;
}

/* The items of a list; how many have memory. */
static int put_list(struct source *s, struct text *out, struct run names, int before,
                    const char *how) {
    struct run part;
    int at = 0, count = 0;
    while (run_part(s, names, &at, &part)) {
        struct item m;
        if (read_item(s, part, before, &m))
            count += put_item(s, out, &m, how);
        else
            error(s, part.count ? part.at[0].begin : names.at[0].begin,
                  "expected a variable, or a section NAME[first:length] of one");
    }
    return count;
}

/* ---- loops --------------------------------------------------------------------------------- */

/* Whether a clause map(..) of the loop has sections of this array. */
static int is_mapped(struct kernel *k, const struct name *n) {
    struct source *s = k->s;
    for (int i = 0; i < k->d->clauses; i++) {
        const struct clause *c = &k->d->clause[i];
        struct run names, part;
        int at = 0;
        if (c->kind != K_MAP || !map_kind(s, c, &names)) continue;
        while (run_part(s, names, &at, &part)) {
            struct item m;
            if (!read_item(s, part, k->body.before, &m) || !m.sections) continue;
            const struct range r = run_range(m.path);
            if (strlen(n->text) == (size_t)(r.end - r.begin) &&
                !memcmp(n->text, s->text + r.begin, strlen(n->text)))
                return 1;
        }
    }
    return 0;
}

int map_put_loop(struct kernel *k) {
    struct source *s = k->s;
    struct text list = {0};
    int count = 0;
    for (int i = 0; i < k->d->clauses; i++) {
        struct run names;
        const char *how = k->d->clause[i].kind == K_MAP ? map_kind(s, &k->d->clause[i], &names) : 0;
        if (how) count += put_list(s, &list, names, k->body.before, how);
    }
    EACH(k, n) {
        if (!kernel_is_array(k, n) || !is_sized(s, &n->shape) || is_mapped(k, n)) continue;
        put_whole(s, &list, n->text, &n->shape);
        put_quoted(&list, n->text);
        put(&list, ", EVN_CU_MAP_TO, 0},\n");
        count++;
    }
    if (count)
        put(&k->out,
            "evn_cu_map evn_%d_map[] = {\n%s};\nevn_cu_map_loop(evn_%d_kernel(), evn_%d_map, "
            "%d);\n",
            k->n, list.at, k->n, k->n, count);
    free(list.at);
    return count;
}

/* ---- data directives ----------------------------------------------------------------------- */

enum data_kind { DATA_NONE, DATA_BLOCK, DATA_ENTER, DATA_EXIT, DATA_UPDATE };

static enum data_kind kind_of(const struct source *s, const struct directive *d, int *first) {
    const struct tokens *t = &d->tokens;
    if (t->count < 4 || !is(s, &t->at[2], "target")) return DATA_NONE;
    const int two = t->count > 4 && is(s, &t->at[4], "data");
    *first = 4 + two;
    if (is(s, &t->at[3], "data")) return *first = 4, DATA_BLOCK;
    if (is(s, &t->at[3], "enter") && two) return DATA_ENTER;
    if (is(s, &t->at[3], "exit") && two) return DATA_EXIT;
    if (is(s, &t->at[3], "update")) return *first = 4, DATA_UPDATE;
    return DATA_NONE;
}

/* One clause from token i on; the token behind it, or -1 and a message. */
static int data_clause(struct source *s, const struct directive *d, int i, enum data_kind kind,
                       int before, struct text *list, int *count, struct text *condition) {
    static const char *const over[] = {"nowait", "depend", "device", ","};
    const struct tokens *t = &d->tokens;
    const struct token *name = &t->at[i];
    const int open = i + 1 < t->count && is(s, &t->at[i + 1], "(");
    const int behind = open ? after_bracket(s, t, i + 1, t->count) : i + 1;
    if (behind < 0) {
        error(s, t->at[i + 1].begin, "this parenthesis is not closed");
        return -1;
    }
    struct clause c = {.kind = K_MAP, .name = *name, .in = {&t->at[i + 2], behind - i - 3}};
    struct run names = c.in;
    const int to = is(s, name, "to"), from = is(s, name, "from");
    const char *how = NULL;
    if (open && c.in.count > 0 && is(s, name, "map") && kind != DATA_UPDATE) {
        if (!(how = map_kind(s, &c, &names))) return -1;
    } else if (open && c.in.count > 0 && kind == DATA_UPDATE && (to || from)) {
        how = to ? "TO" : "FROM";
    } else if (open && is(s, name, "if")) {
        const int colon = run_find(s, c.in, 0, ":");
        put(condition, " && (%.*s)", TEXT(s, run_range(run_of(c.in, colon + 1, c.in.count))));
    } else {
        for (int k = 0; k < 4; k++)
            if (is(s, name, over[k])) return behind;
        error(s, name->begin,
              kind == DATA_UPDATE
                  ? "\"%.*s\" is no clause of target update here; there are to, from, if, device, "
                    "nowait and depend"
                  : "\"%.*s\" is no clause of target data here; there are map, if, device, nowait "
                    "and depend",
              token_length(name), token_letters(s, name));
        return -1;
    }
    if (how) *count += put_list(s, list, names, before, how);
    return behind;
}

/* return and goto cannot leave the block: its memory would stay mapped. */
static void look_for_exits(struct source *s, int at, int behind) {
    for (int i = at; i < behind; i++)
        if (is(s, &s->tokens.at[i], "return") || is(s, &s->tokens.at[i], "goto"))
            error(s, s->tokens.at[i].begin, "%.*s cannot leave target data",
                  token_length(&s->tokens.at[i]), token_letters(s, &s->tokens.at[i]));
}

int kernels_data(struct source *s, const struct directive *d, int at, int to) {
    static const char *const calls[] = {"", "begin", "enter", "exit", "update"};
    struct text list = {0}, condition = {0}, out = {0};
    int first = 0, count = 0, behind = at;
    const enum data_kind kind = kind_of(s, d, &first);
    if (!kind) return 0;
    const int errors = s->errors, n = s->sites + 1;
    put_bytes(&list, "", 0);
    put_bytes(&condition, "", 0);
    layouts_open(s, n);
    for (int i = first; i >= 0 && i < d->tokens.count;)
        i = data_clause(s, d, i, kind, at, &list, &count, &condition);
    layouts_close(s);
    if (kind == DATA_BLOCK) {
        behind = statement_end(s, at, to, 1);
        if (behind < 0)
            error(s, d->begin, "the end of this block cannot be found");
        else if (!s->cxx)
            look_for_exits(s, at, behind);
    }
    if (s->errors == errors) {
        const struct place place = source_place(s, d->begin);
        s->sites++;
        put(&out, "{%s", kernels_quiet(s));
        put(&out, "static const evn_cu_site evn_%d = {", n);
        put_quoted(&out, place.file);
        put(&out, ", %d, \"\", 0};\n", place.line);
        put(&out, "evn_cu_map evn_%d_map[] = {\n%s{0, 0, 0, 0, 0, 0}};\n", n, list.at);
        put(&out, "const int evn_%d_maps = 1%s ? %d : 0;\n", n, condition.at, count);
        put(&out, "evn_cu_map_%s(&evn_%d, evn_%d_map, evn_%d_maps);\n%s", calls[kind], n, n, n,
            kernels_loud);
        if (kind != DATA_BLOCK) put(&out, "}");
        kernels_put_line(s, &out, kind == DATA_BLOCK ? s->tokens.at[at].begin : d->end);
        replace(s, d->begin, d->end, out.at);
    }
    free(list.at);
    free(condition.at);
    return s->errors == errors && kind == DATA_BLOCK ? n : -1;
}

void kernels_data_end(struct source *s, int number, int behind) {
    struct text out = {0};
    put(&out, "\nevn_cu_map_end(evn_%d_map, evn_%d_maps);\n}", number, number);
    kernels_put_line(s, &out, s->tokens.at[behind - 1].end);
    replace(s, s->tokens.at[behind - 1].end, s->tokens.at[behind - 1].end, out.at);
}
