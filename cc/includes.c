/* Files that a source of C or C++ includes: looked for where its compiler would look for them, but
 * not in the folders of the system, whose files have no directives of ours. */
#include "includes.h"
#include "c/rewrite.h"
#include "source.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 4000 }; /* read at most of one source */

struct search {
    const struct options *o;
    struct words seen;
};

/* FOLDER/NAME, if there is such a file, or NULL. */
static char *in_folder(const char *folder, size_t length, const char *name) {
    struct text path = {0};
    put_bytes(&path, folder, length);
    put(&path, "%s%s", length && folder[length - 1] != '/' ? "/" : "", name);
    if (access(path.at, R_OK) == 0) return path.at;
    free(path.at);
    return NULL;
}

/* The folder that option i names, if it is one where files are looked for, or NULL. */
static const char *folder_of(const struct options *o, int i, int quoted) {
    static const char *const words[] = {"-I", "-iquote"};
    const char *word = o->words.at[i];
    const int valued = i + 1 < o->words.count && o->kind[i + 1] == W_VALUE;
    for (int k = 0; k < 1 + quoted && o->kind[i] == W_OPTION; k++) {
        const size_t n = strlen(words[k]);
        if (strncmp(word, words[k], n) != 0) continue;
        if (word[n]) return word + n;
        return valued ? o->words.at[i + 1] : NULL;
    }
    return NULL;
}

/* The file that is included, beside `from` or in a folder of the command line; NULL: another one.
 */
static char *find(const struct options *o, const char *from, const char *name, int quoted) {
    if (*name == '/') return in_folder("", 0, name);
    const char *slash = strrchr(from, '/');
    char *path = quoted ? in_folder(from, slash ? (size_t)(slash + 1 - from) : 0, name) : NULL;
    for (int i = 0; i < o->words.count && !path; i++) {
        const char *folder = folder_of(o, i, quoted);
        if (folder) path = in_folder(folder, strlen(folder), name);
    }
    return path;
}

/* The name of the include that the line at `c`, behind its #, is; NULL: it is none. */
static char *included(const char *c, int *quoted) {
    c += strspn(c, " \t");
    if (!strncmp(c, "include_next", 12) || strncmp(c, "include", 7) != 0) return NULL;
    c += 7 + strspn(c + 7, " \t");
    *quoted = *c == '"';
    if (*c != '"' && *c != '<') return NULL;
    const size_t n = strcspn(c + 1, *quoted ? "\"\n" : ">\n");
    return c[1 + n] == '\n' || !c[1 + n] ? NULL : copy_of(c + 1, n);
}

static int is_new(struct search *w, const char *path) {
    for (int i = 0; i < w->seen.count; i++)
        if (!strcmp(w->seen.at[i], path)) return 0;
    if (w->seen.count == FILES) return 0;
    words_add(&w->seen, path);
    return 1;
}

static int look_into(struct search *w, const char *path, int depth);

/* Whether files that the text of `from` includes have directives. */
static int look_behind(struct search *w, const char *from, const char *text, int depth) {
    int found = 0;
    for (const char *line = text; line && !found; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *c = line + strspn(line, " \t");
        int quoted;
        char *name = *c == '#' ? included(c + 1, &quoted) : NULL;
        char *path = name ? find(w->o, from, name, quoted) : NULL;
        if (path && is_new(w, path)) found = look_into(w, path, depth + 1);
        free(path);
        free(name);
    }
    return found;
}

static int look_into(struct search *w, const char *path, int depth) {
    char *text = depth < 100 ? read_source(path) : NULL;
    const int found = text && (rewrite_ours(text) || look_behind(w, path, text, depth));
    free(text);
    return found;
}

/* The file that option i includes, or NULL. */
static const char *included_by(const struct options *o, int i) {
    const char *word = o->words.at[i];
    const int values = i + 1 < o->words.count && o->kind[i + 1] == W_VALUE;
    const int is = !strcmp(word, "-include") || !strcmp(word, "-imacros");
    return o->kind[i] == W_OPTION && is && values ? o->words.at[i + 1] : NULL;
}

int includes_ours(const struct options *o, const char *name, const char *text) {
    struct search w = {o, {0}};
    int found = look_behind(&w, name, text, 0);
    for (int i = 0; i < o->words.count && !found; i++) {
        const char *file = included_by(o, i);
        char *path = file ? find(o, "", file, 1) : NULL;
        if (path && is_new(&w, path)) found = look_into(&w, path, 1);
        free(path);
    }
    words_free(&w.seen);
    return found;
}

int behind_first_include(const char *text) {
    const char *c = text;
    for (;;) {
        c += strspn(c, " \t\r\n\f\v");
        if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
        } else if (c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            if (!end) return 0;
            c = end + 2;
        } else {
            break;
        }
    }
    int quoted;
    char *name = *c == '#' ? included(c + 1, &quoted) : NULL;
    const char *end = strchr(c, '\n');
    const int comment = end && memchr(c, '*', (size_t)(end - c)) != NULL;
    const int behind = name && end && !comment && end[-1] != '\\' ? (int)(end + 1 - text) : 0;
    free(name);
    return behind;
}

/* Whether a file's compiled form is there. */
static int is_precompiled(const struct options *o, const char *from, const char *name, int quoted) {
    static const char *const ends[] = {".gch", ".pch"};
    int found = 0;
    for (int i = 0; i < 2 && !found; i++) {
        char *compiled = joined(name, ends[i]), *path = find(o, from, compiled, quoted);
        found = path != NULL;
        free(path);
        free(compiled);
    }
    return found;
}

int includes_precompiled(const struct options *o, const char *name, const char *text) {
    for (int i = 0; i < o->words.count; i++) {
        const char *file = included_by(o, i);
        if (file && is_precompiled(o, "", file, 1)) return 1;
        if (!strcmp(o->words.at[i], "-include-pch")) return 1; /* behind -Xclang, too */
    }
    const int behind = behind_first_include(text);
    if (!behind) return 0;
    const char *line = text + behind - 1;
    while (line > text && line[-1] != '\n') line--;
    int quoted;
    char *first = included(strchr(line, '#') + 1, &quoted);
    const int found = first && is_precompiled(o, name, first, quoted);
    free(first);
    return found;
}
