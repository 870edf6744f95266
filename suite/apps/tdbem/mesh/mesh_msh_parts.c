/* Lists, in the order of the file. */
#include "tdbem/mesh/mesh_msh_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msh_parts_close(struct msh_parts *p) {
    free(p->name);
    free(p->surface);
    *p = (struct msh_parts){0};
}

/* Room for one more, at powers of two. */
static evn_status grow(void *list, size_t size, size_t count, const struct source *s) {
    if (count & (count - 1)) return EVN_OK;
    void *more = realloc(*(void **)list, size * (2 * count + 1));
    if (!more) return evn_fail(EVN_MEMORY, "%s: no memory for physical groups", s->name);
    *(void **)list = more;
    return EVN_OK;
}

/* A name between quotes; 1 if there was one. */
static int quoted(struct source *s, char *name, size_t size) {
    source_skip(s, 0);
    const char *begin = s->data + s->at, *end = *begin == '"' ? strchr(begin + 1, '"') : NULL;
    if (!end || memchr(begin, '\n', (size_t)(end - begin))) return 0;
    const size_t length = (size_t)(end - begin - 1);
    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), begin + 1);
    s->at += length + 2;
    return 1;
}

evn_status msh_names(struct msh_parts *p, struct source *s) {
    long long count, dimension;
    evn_status status = EVN_OK;
    if (!source_integer(s, &count) || !source_holds(s, count, 6))
        return source_bad(s, "expected the number of physical names");
    for (long long n = 0; n < count && !status; n++) {
        struct msh_name is;
        if (!source_integer(s, &dimension) || !source_integer(s, &is.group) ||
            !quoted(s, is.name, sizeof is.name))
            return source_bad(s, "expected physical name %lld of %lld, as 2 1 \"wall\"", n + 1,
                              count);
        if (dimension != 2) continue;
        status = grow(&p->name, sizeof *p->name, p->names, s);
        if (!status) p->name[p->names++] = is;
    }
    return status;
}

evn_status msh_entity(struct msh_parts *p, const struct source *s, long long entity,
                      long long group) {
    evn_status status = grow(&p->surface, sizeof *p->surface, p->surfaces, s);
    if (!status) p->surface[p->surfaces++] = (struct msh_surface){entity, group};
    return status;
}

long long msh_group_of(const struct msh_parts *p, long long entity) {
    for (size_t i = 0; i < p->surfaces; i++)
        if (p->surface[i].entity == entity) return p->surface[i].group;
    return 0;
}

evn_status msh_part(const struct msh_parts *p, struct source *s, long long group) {
    char number[MESH_PART_NAME];
    snprintf(number, sizeof number, "%lld", group);
    s->part = 0;
    if (!group) return EVN_OK;
    for (size_t i = 0; i < p->names; i++)
        if (p->name[i].group == group) return source_part(s, p->name[i].name);
    return source_part(s, number);
}
