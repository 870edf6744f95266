/* Options of the command line: one table says what there is, what it takes and what it is for. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

enum option_kind {
    OPTION_FLAG,   /* int: 1 when given */
    OPTION_TEXT,   /* const char *: never empty */
    OPTION_NUMBER, /* long within [least, most] */
};

struct option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* what it takes, for the help; NULL for flags */
    const char *help;
    enum option_kind kind;
    void *to;
    long least, max;
};

/* Reads argv[1..]; `--name value` and `--name=value` are the same. What is no option goes to
 * words[] (at most `room`), *count of them. Returns 0, or an exit status after a message that says
 * what is wrong and what would be right; -1 if --help was asked for. `command` is for messages,
 * "run". */
int options_read(const char *command, const struct option *table, int argc, char **argv,
                 const char **words, int room, int *count);

/* Prints the table as help. */
void options_help(const struct option *table);

#endif
