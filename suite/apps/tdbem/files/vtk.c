/* VTK's XML format for unstructured grids, with appended data. */
#include "tdbem/files/vtk.h"
#include <errno.h>
#include <evener/output.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a file of the folder. */
static evn_status open_in(evn_output **out, const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return evn_fail(EVN_MEMORY, "%s: not enough memory", folder);
    evn_status status = evn_output_open(out, NULL, path);
    free(path);
    return status;
}

static evn_status commit(evn_output *out) {
    evn_status status = evn_output_commit(out);
    evn_output_close(out);
    return status;
}

evn_status vtk_folder(const char *folder) {
    evn_output *out;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return evn_fail(EVN_USAGE, "%s: this folder cannot be made: %s", folder, strerror(errno));
    if (open_in(&out, folder, "surface.pvd")) return evn_fail(EVN_USAGE, "%s", evn_message());
    evn_output_close(out);
    return EVN_OK;
}

struct array {
    const char *type, *name;
    int components;
    const void *data;
    uint64_t bytes;
};

/* Writes arrays' heads; *offset is that of the next one's data. */
static void put_heads(FILE *out, const struct array *a, int count, uint64_t *offset) {
    for (int i = 0; i < count; i++) {
        fprintf(out,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                "offset=\"%llu\"/>\n",
                a[i].type, a[i].name, a[i].components, (unsigned long long)*offset);
        *offset += sizeof a[i].bytes + a[i].bytes;
    }
}

static void put_piece(FILE *out, const struct vtk_piece *p, const int32_t *ends,
                      const uint8_t *kinds) {
    const uint64_t points = (uint64_t)p->points, cells = (uint64_t)p->cells;
    const uint64_t corners = cells * (uint64_t)p->corners;
    struct array a[VTK_FIELDS + 5];
    int count = 0, fields;
    for (int f = 0; f < VTK_FIELDS && p->field[f].name; f++)
        a[count++] = (struct array){"Float64", p->field[f].name, 1, p->field[f].value,
                                    points * sizeof(double)};
    if (p->number) a[count++] = (struct array){"Int32", "number", 1, p->number, points * 4};
    fields = count;
    a[count++] = (struct array){"Float64", "Points", 3, p->x, points * sizeof *p->x};
    a[count++] = (struct array){"Int32", "connectivity", 1, p->corner, corners * 4};
    a[count++] = (struct array){"Int32", "offsets", 1, ends, cells * 4};
    a[count++] = (struct array){"UInt8", "types", 1, kinds, cells};
    uint64_t offset = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n"
            "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<PointData Scalars=\"%s\">\n",
            p->points, p->cells, p->field[0].name);
    put_heads(out, a, fields, &offset);
    fputs("</PointData>\n<Points>\n", out);
    put_heads(out, a + fields, 1, &offset);
    fputs("</Points>\n<Cells>\n", out);
    put_heads(out, a + fields + 1, 3, &offset);
    fputs("</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", out);
    for (int i = 0; i < count; i++) {
        fwrite(&a[i].bytes, sizeof a[i].bytes, 1, out);
        fwrite(a[i].data, 1, a[i].bytes, out);
    }
    fputs("\n</AppendedData>\n</VTKFile>\n", out);
}

evn_status vtk_write(const char *folder, const char *name, int step, const struct vtk_piece *p) {
    static const uint8_t kind[] = {[1] = 1, [3] = 5, [4] = 9}; /* vertex, triangle, quadrangle */
    char file[64];
    snprintf(file, sizeof file, "%s_%06d.vtu", name, step);
    const size_t cells = (size_t)p->cells;
    int32_t *ends = malloc((cells + 1) * sizeof *ends);
    uint8_t *kinds = malloc(cells + 1);
    evn_output *out = NULL;
    evn_status status = ends && kinds ? open_in(&out, folder, file)
                                      : evn_fail(EVN_MEMORY, "%s: not enough memory", folder);
    if (!status) {
        for (int c = 0; c < p->cells; c++) ends[c] = (c + 1) * p->corners;
        memset(kinds, kind[p->corners], cells);
        put_piece(evn_output_stream(out), p, ends, kinds);
        status = commit(out);
    }
    free(ends);
    free(kinds);
    return status;
}

/* Whether a file of the folder is there. */
static int is_in(const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return 0;
    const int there = access(path, R_OK) == 0;
    free(path);
    return there;
}

evn_status vtk_collect(const char *folder, const char *name, int every, int last, double before,
                       double dt) {
    evn_output *output;
    char file[64];
    snprintf(file, sizeof file, "%s.pvd", name);
    evn_status status = open_in(&output, folder, file);
    if (status) return status;
    FILE *out = evn_output_stream(output);
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",
          out);
    for (int n = every; n <= last; n += every) {
        snprintf(file, sizeof file, "%s_%06d.vtu", name, n);
        if (is_in(folder, file))
            fprintf(out, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s\"/>\n",
                    (n - before) * dt, file);
        if (n > INT_MAX - every) break;
    }
    fputs("</Collection>\n</VTKFile>\n", out);
    return commit(output);
}

int *vtk_cells(int points, const int grid[2], int closed, const int *row, int *cells,
               int *corners) {
    const int list = !grid[0], down = list ? points : grid[0] - 1;
    const int across = list ? 1 : grid[1] - !closed;
    int *corner = malloc(((size_t)points * 4 + 1) * sizeof *corner);
    *corners = list ? 1 : 4;
    *cells = 0;
    for (int i = 0; corner && i < down; i++)
        for (int j = 0; j < across; j++) {
            const int next = list ? 0 : (j + 1) % grid[1], columns = list ? 1 : grid[1];
            const int of[4] = {i * columns + j, i * columns + next, (i + 1) * columns + next,
                               (i + 1) * columns + j};
            int there = 1;
            for (int c = 0; c < *corners; c++) there &= row[of[c]] >= 0;
            if (there) memcpy(corner + *corners * (*cells)++, of, sizeof *of * (size_t)*corners);
        }
    return corner;
}
