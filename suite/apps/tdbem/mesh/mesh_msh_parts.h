/* Physical groups of Gmsh's surfaces: their names, and which entity is of which. */
#pragma once

#include "tdbem/mesh/mesh_source.h"

struct msh_parts {
    struct msh_name {
        long long group;
        char name[MESH_PART_NAME];
    } * name;
    struct msh_surface {
        long long entity, group;
    } * surface;
    size_t names, surfaces;
};
void msh_parts_close(struct msh_parts *p);

/* Section $PhysicalNames, which is text in any file. */
evn_status msh_names(struct msh_parts *p, struct source *s);
/* A surface's group, 0: none. */
evn_status msh_entity(struct msh_parts *p, const struct source *s, long long entity,
                      long long group);
long long msh_group_of(const struct msh_parts *p, long long entity);

/* Polygons that follow are of this group: its name, or its number where it has none. */
evn_status msh_part(const struct msh_parts *p, struct source *s, long long group);
