/* A file that says which units the ranks of each host have. */
#pragma once

/* The list of units for `host` in *list, to be freed. `words` is a list itself, of which *list is a
 * copy; or a file, as `@FILE` or by the name of one that is there: lines `pattern list`, of which
 * the first counts whose pattern is the host's name. In a pattern * is any letters, ? one, and
 * [01-04,7] a number of these, with as many digits as the first one has at least. # begins a
 * comment. 0, or an exit status after a message. */
int units_file_list(const char *words, const char *host, char **list);
