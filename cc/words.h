/* Lists of words: command lines, and running them. */
#pragma once

/* Ends with NULL; owns its words. */
struct words {
    char **at;
    int count;
};

void words_add(struct words *w, const char *word);
void words_add_all(struct words *w, const struct words *others);
/* The words of a text: blanks separate, quotes and backslashes keep together. */
void words_split(struct words *w, const char *text);
void words_free(struct words *w);
/* As a shell would have to be told, in one line. */
void words_print(const struct words *w);
/* Runs it; its exit status, 127 where it cannot be started. Its output goes into the file `out`,
 * if that is not NULL. */
int words_run(const struct words *w, const char *out);
/* words_run() without messages: neither the command's, nor that it cannot be started. */
int words_run_quietly(const struct words *w, const char *out);
/* From now on signals that end a command end the one that runs, and no other begins; this command
 * then cleans up. The signal that came, or 0. */
void words_guard(void);
int words_stopped(void);

/* All of a file, ended with 0; NULL: cannot be read (errno), or it has a zero byte. */
char *read_file(const char *name);
/* read_file() of a source, in which a zero byte is a blank, as compilers have it. */
char *read_source(const char *name);
int write_file(const char *name, const char *text);
/* Two texts as one, of the caller. */
char *joined(const char *a, const char *b);
