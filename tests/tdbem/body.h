/* Bodies of tests, and what is computed of them. */
#pragma once

#include "check.h"
#include "tdbem/layout/layout.h"
#include "tdbem/matrices/slices.h"
#include "tdbem/mesh/mesh.h"

OWNED(mesh, struct mesh, mesh_close)
OWNED(slices, struct slices, slices_close)
OWNED(layout, struct layout, layout_close)

static inline struct mesh *body(const char *what) {
    struct mesh *m;
    ok(mesh_open(&m, what));
    return m;
}
