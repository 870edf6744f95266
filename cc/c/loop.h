/* The loop behind a directive: its head, and where its body ends. */
#pragma once

#include "directive.h"

/* R_NOT_EQUAL stands only while a head is read. */
enum relation { R_LESS, R_LESS_EQUAL, R_MORE, R_MORE_EQUAL, R_NOT_EQUAL };

struct loop {
    struct token variable;
    struct range type; /* empty: the variable is declared elsewhere */
    struct range from, to, step;
    enum relation relation;
    int down;    /* step is subtracted */
    int one;     /* step is 1, and there is no text of it */
    int deduced; /* C++: the type is auto */
    int ranged;  /* C++: for (type : to); the variable is for messages, and there is no bound */
};

/* Its relation, as EVN_CU_LESS without EVN_CU_. */
const char *loop_relation(const struct loop *loop);

/* Loops with nothing between them. */
struct nest {
    struct loop loop[8];
    int loops;
    int dependent;   /* reading has ended at loop number `loops`, whose bounds use an outer variable
                      */
    int body;        /* where the body begins: behind the parenthesis of the last head */
    int body_end;    /* behind it */
    int end;         /* behind the braces that were opened between the loops */
    int first, last; /* tokens of the body, [first, last) */
};

/* Reads `loops` loops that begin at token `at`. 0 and messages: there are none, or not such. */
int nest_read(struct source *s, int at, int end, int loops, struct nest *nest);

/* The token behind the statement that begins at token `at`, or -1: its end cannot be found. With
 * `ours`, a break that would end the loop around the statement is an error. */
int statement_end(struct source *s, int at, int end, int ours);

/* An error where the body writes the variable of one of its loops. */
void look_for_writes(struct source *s, const struct nest *nest, const struct token *variable);

/* A warning where the body of a loop over units, in `teams` or NULL, adds to a variable of outside
 * that no clause names. */
void look_for_forgotten(struct source *s, const struct directive *d, const struct directive *teams,
                        const struct nest *nest);
