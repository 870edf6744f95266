/* Directives: which of them are about compute units, and what their clauses say. */
#pragma once

#include "source.h"

enum construct {
    C_OTHER,      /* not ours, whatever it is */
    C_TEAMS,      /* teams */
    C_TEAMS_LOOP, /* teams distribute, teams loop */
    C_DISTRIBUTE, /* distribute; loop that binds to teams */
    C_VARIANT,    /* declare variant(..) match(device={kind(gpu)}) */
};

enum clause_kind {
    K_NUM_TEAMS,
    K_THREAD_LIMIT,
    K_PRIVATE,
    K_FIRSTPRIVATE,
    K_LASTPRIVATE,
    K_SHARED,
    K_DEFAULT,
    K_ALLOCATE,
    K_REDUCTION,
    K_COLLAPSE,
    K_ORDER,
    K_BIND,
    K_SCHEDULE,
    K_WEIGHT,
    K_KEY,
    K_AFFINITY,
    K_SPEED,
    K_BATCH,
    K_OMP_CU,
    K_MAP,
    K_IF,   /* if, device: evaluated */
    K_OVER, /* read over */
    K_NONE,
};

/* Text of the user's. */
struct range {
    int begin, end;
};

/* Tokens in a row. */
struct run {
    const struct token *at;
    int count;
};

struct clause {
    enum clause_kind kind;
    struct token name;
    struct run in; /* what is in its parentheses */
    int end;       /* behind its parenthesis */
};

/* COUNT:FAMILY:SIZE */
struct group {
    struct range count, size;
    int gpu;
};

struct directive {
    enum construct construct;
    int begin, end;          /* of the line, continued lines included */
    int by_loop;             /* it says loop, not distribute */
    int list;                /* it has a list of units, or auto */
    const struct token *odd; /* parallel or simd behind distribute, or NULL */
    struct tokens tokens,
        more_tokens; /* behind "pragma omp"; of a second line, of the split form */
    int first;       /* where its clauses begin in tokens */
    struct clause *clause;
    int clauses;
    struct group *group; /* none: auto */
    int groups;
};

/* Reads construct and clauses of the directive that token `at` is; 0: not one of OpenMP's. */
int directive_read(struct source *s, int at, struct directive *d);
/* A distribute in the line after its teams: d becomes a teams distribute of both. */
void directive_join(struct directive *d, struct directive *second);
/* Looks at all clauses of one that is ours, with messages; reads the list of units. */
void directive_check(struct source *s, struct directive *d);
void directive_close(struct directive *d);
/* An error where a directive that is not about units has a list of them. */
void look_for_list(struct source *s, const struct directive *d);

/* The clause, or NULL. */
const struct clause *directive_find(const struct directive *d, enum clause_kind kind);
/* Whether a loop without a schedule is to learn: it says more of its iterations than how many. */
int directive_learns(const struct directive *d);
/* Whether there is a clause that only we know. */
int directive_extended(const struct source *s, const struct directive *d);

/* Whether a part is one name, in C++ with those of its namespaces and template arguments: *name. */
int run_name(const struct source *s, struct run in, struct token *name);
/* Without the parentheses around all of it. */
struct run run_bare(const struct source *s, struct run in);
/* The bracket that the last token closes, or -1. */
int run_open(const struct source *s, struct run in);
/* The next part of `in` that ends with a comma, from token *at on; 0: no more. Commas in brackets,
 * of C++'s templates too, separate nothing. */
int run_part(const struct source *s, struct run in, int *at, struct run *part);
/* The first sign `letters` outside of brackets, of ?: and of ::, from token `from` on, or -1. */
int run_find(const struct source *s, struct run in, int from, const char *letters);
struct run run_of(struct run in, int from, int to);
struct range run_range(struct run in);
/* The lists of variables in clauses of a kind, one after another: each name once. *n of them. */
struct token *directive_names(const struct source *s, const struct directive *d,
                              enum clause_kind kind, int *n);
/* An item of a reduction in C: NAME, an element NAME[first], or a section NAME[first:length]. */
struct section {
    struct token name;
    int is;                   /* 0: NAME alone */
    struct run first, length; /* empty: 0 and 1 */
};
/* Whether a part is one; in Fortran a name alone is. */
int run_section(const struct source *s, struct run in, struct section *item);
/* The item of a reduction of the directive with this name. */
struct section directive_section(const struct source *s, const struct directive *d,
                                 const struct token *name);
/* Of a reduction: its operator, and the rest in *names. */
struct run reduction_operator(const struct source *s, const struct clause *c, struct run *names);
/* Of dist_schedule: "guided:size"; its other parts in *rest. */
struct run schedule_kind(const struct source *s, const struct clause *c, struct run *rest);
/* The schedule's letters, small ones in Fortran; of a directive without dist_schedule the default.
 */
void put_schedule(struct text *out, const struct source *s, const struct directive *d);
/* The operator of the reduction that a variable stands in. */
struct token directive_operator(const struct source *s, const struct directive *d,
                                const struct token *name);
/* Whether its list of units is one unit, 1:.. */
int directive_one_unit(const struct source *s, const struct directive *d);
/* 1 for GPU, 0 for CPU, 2 for FPGA, -1 for no family. */
int family_of(const struct source *s, const struct token *t);
/* c/forgotten.c: the warning of a number that all units change; `by`: the reduction that it would
 * be, or "". */
void warn_of_forgotten(struct source *s, const struct token *name, const char *by);
/* Edit distance of two words: letters added, left out or changed. */
int word_distance(const char *a, const char *b);
