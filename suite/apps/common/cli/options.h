/* Options of the command line, described by tables: name, value, purpose, destination. A command
 * may have several tables, its own and those of its workload. */
#pragma once

#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* int: 1 when given */
    OPTION_TEXT,   /* const char *: never empty */
    OPTION_NUMBER, /* long within [least, max] */
    /* texts that are files, of which none is lost by another (common/cli/files.h) */
    OPTION_INPUT,   /* a file that is read */
    OPTION_RESUMED, /* read before anything is written, so that OPTION_KEPT may be the same one */
    OPTION_OUTPUT,  /* written; - is standard output */
    OPTION_KEPT,    /* written to be read again: never standard output */
};

struct option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* name of its value, for the help; NULL for flags */
    const char *help;
    enum option_kind kind;
    size_t at; /* where it goes: offset in what the table is of */
    long least, max;
};

/* The rest of a line: its kind, and where it goes in the type OPTIONS_OF. */
#define OPTION_FLAG(field)               OPTION_FLAG, offsetof(OPTIONS_OF, field), 0, 0
#define OPTION_TEXT(field)               OPTION_TEXT, offsetof(OPTIONS_OF, field), 0, 0
#define OPTION_NUMBER(field, least, max) OPTION_NUMBER, offsetof(OPTIONS_OF, field), least, max
#define OPTION_INPUT(field)              OPTION_INPUT, offsetof(OPTIONS_OF, field), 0, 0
#define OPTION_RESUMED(field)            OPTION_RESUMED, offsetof(OPTIONS_OF, field), 0, 0
#define OPTION_OUTPUT(field)             OPTION_OUTPUT, offsetof(OPTIONS_OF, field), 0, 0
#define OPTION_KEPT(field)               OPTION_KEPT, offsetof(OPTIONS_OF, field), 0, 0

/* Rules of combination: lines beside a table of options. An option without effect is refused, or
 * reported. */
enum option_relation {
    OPTION_NEEDS,    /* one of `others` at least */
    OPTION_EXCLUDES, /* all of `others`: refused */
    OPTION_IGNORES,  /* all of `others`: a warning that they change nothing */
};

struct option_rule {
    const char *given; /* an option; `name=value` where only that value counts; a command, as
                          "evener plan"; NULL ends the list */
    enum option_relation relation;
    const char *others; /* options with a space between two; FILE: words that are no options.
                           Those that a command does not have are never given */
    const char *why;    /* ends the message */
};

/* A table, its destination, and its rules (NULL: none), which may name options of other sets. Of
 * options in several tables the first one's counts. */
struct option_set {
    const struct option *table; /* NULL ends a list of sets */
    void *to;
    const struct option_rule *rules;
};

/* Parses argv[1..]; `--name value` and `--name=value` are the same. Other words go to words[] (at
 * most `room`), *count of them. Of a repeated option the last counts; the rules of all sets and the
 * named files are checked at the end. Returns 0, or an exit status after a message; -1 if --help
 * was given. A value that begins with -- needs an =. `command` is for messages, "run". */
int options_read(const char *command, const struct option_set *sets, int argc, char **argv,
                 const char **words, int room, int *count);

/* Reads the options of a command with one table and no words; prints the help, which begins with
 * `usage`, on request, and returns -1 then. */
int options_read_plain(const char *command, const char *usage, struct option_set set, int argc,
                       char **argv);

/* The words alone, that are no options and no values of one of `sets`: how many of them lie in
 * words[] (at most `room`). Nothing is filled, `to` may be NULL. */
int options_words(const struct option_set *sets, int argc, char **argv, const char **words,
                  int room);

/* Prints set number `i` as help, without what sets before it have and without what the command does
 * not take. */
void options_help(const char *command, const struct option_set *sets, int i);

/* A problem class, one letter of S W A B C D E F: of `text`, S where it is NULL. 0, or an exit
 * status after a message; which classes a workload has it says itself. */
int options_class(const char *workload, const char *text, char *class_);

/* The value of an option that is a list of words, `a,b,c`. */
enum { OPTION_WORDS = 32 };
struct option_list {
    int count;
    const char *word[OPTION_WORDS];
    char copy[256];
};

/* Takes the list apart; none of its words may be empty or there twice. 0, or an exit status after a
 * message. */
int options_list(struct option_list *list, const char *option, const char *text);
