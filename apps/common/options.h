/* Options of the command line: tables say what there is, what it takes, what it is for and where it
 * goes. A command may have several, its own and those of the workload it is about. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* int: 1 when given */
    OPTION_TEXT,   /* const char *: never empty */
    OPTION_NUMBER, /* long within [least, max] */
    /* texts that are files, of which none is lost by another (common/files.h) */
    OPTION_INPUT,   /* read */
    OPTION_RESUMED, /* read before anything is written, so that OPTION_KEPT may be the same one */
    OPTION_OUTPUT,  /* written; - is standard output */
    OPTION_KEPT,    /* written to be read again: never standard output */
};

struct option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* what it takes, for the help; NULL for flags */
    const char *help;
    enum option_kind kind;
    size_t at; /* where it goes: offset in what the table is of */
    long least, max;
};

/* A table and what it fills. Of options that several tables have, the first one's counts. */
struct option_set {
    const struct option *table; /* NULL ends a list of sets */
    void *to;
};

/* Reads argv[1..]; `--name value` and `--name=value` are the same. What is no option goes to
 * words[] (at most `room`), *count of them. Returns 0, or an exit status after a message that says
 * what is wrong and what would be right; -1 if --help was asked for. A value that begins with --
 * has to be given with an =. `command` is for messages, "run". */
int options_read(const char *command, const struct option_set *sets, int argc, char **argv,
                 const char **words, int room, int *count);

/* The same for a command with one table, without words; prints help that begins with `usage` where
 * it is asked for, and is -1 then. */
int options_read_plain(const char *command, const char *usage, const struct option *table, void *to,
                       int argc, char **argv);

/* The words alone, that are no options and no values of one of `sets`: how many of them lie in
 * words[] (at most `room`). Nothing is filled, `to` may be NULL. */
int options_words(const struct option_set *sets, int argc, char **argv, const char **words,
                  int room);

/* Prints set number `i` as help, without what sets before it have. */
void options_help(const struct option_set *sets, int i);

#endif
