/* Mesh files: which format a name means, and a file's way into memory. */
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_mend.h"
#include "common/cli/input.h"
#include "common/run/free_all.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { FILE_BYTES = 1 << 30 };

evn_status source_load(struct source *s, const char *path) {
    FILE *file = input_open(path);
    if (!file) return evn_fail(EVN_SYSTEM, "%s: %s", path, strerror(errno));
    size_t room = 0;
    for (;;) {
        if (s->size > FILE_BYTES) {
            fclose(file);
            return evn_fail(EVN_USAGE, "%s: the file is larger than %d MiB", s->name,
                            FILE_BYTES >> 20);
        }
        if (s->size + 1 >= room) {
            room = room ? 2 * room : 65536;
            char *more = realloc(s->data, room);
            if (!more) {
                fclose(file);
                return evn_fail(EVN_MEMORY, "%s: no memory for the file", s->name);
            }
            s->data = more;
        }
        size_t n = fread(s->data + s->size, 1, room - 1 - s->size, file);
        if (!n) break;
        s->size += n;
    }
    int bad = ferror(file), reason = errno;
    fclose(file);
    if (bad) return evn_fail(EVN_SYSTEM, "%s: %s", s->name, strerror(reason));
    s->data[s->size] = 0;
    if (!s->size) return evn_fail(EVN_USAGE, "%s: the file is empty", s->name);
    return EVN_OK;
}

static const struct {
    const char *end;
    evn_status (*read)(struct source *s);
} formats[] = {{".msh", read_msh}, {".off", read_off}, {".stl", read_stl}, {".obj", read_obj},
               {".ply", read_ply}, {".vtk", read_vtk}, {".vtu", read_vtu}, {".vtp", read_vtu},
               {".unv", read_unv}, {".bdf", read_bdf}, {".nas", read_bdf}, {".inp", read_inp}};

evn_status mesh_read(struct mesh **out, const char *file) {
    *out = NULL;
    evn_status (*reader)(struct source *) = NULL;
    const char *end = strrchr(file, '.');
    for (size_t f = 0; end && f < sizeof formats / sizeof *formats; f++)
        if (!strcasecmp(end, formats[f].end)) reader = formats[f].read;
    struct stat is;
    const int folder = !stat(file, &is) && S_ISDIR(is.st_mode);
    if (folder) reader = read_numcalc;
    if (!reader)
        return evn_fail(EVN_USAGE,
                        "mesh: \"%s\": expected a file %s, NumCalc's folder, sphere:L, "
                        "box:a,b,c,h, or aircraft:N",
                        file, MESH_ENDS);
    struct source s = {.name = file};
    evn_status status = folder ? EVN_OK : source_load(&s, file);
    if (!status) status = reader(&s);
    if (!status) status = mesh_mend(out, &s);
    free_all(s.data, s.x, s.polygon, s.corner, s.tag, s.part_name);
    return status;
}
