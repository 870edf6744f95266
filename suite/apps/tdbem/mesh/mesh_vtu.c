/* VTK's format in XML, .vtu and .vtp: arrays as text, as base64 in their place, or behind all else
 * as base64 or bytes; not compressed. One piece. */
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_vtk.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vtu {
    struct source *s;
    size_t end;      /* of the XML; what follows are appended arrays */
    size_t appended; /* where these begin; 0: there are none */
    int raw;         /* they are bytes */
    int header;      /* bytes of an array's length */
};

/* Where the tag `<name` begins between two places; `to`: nowhere. */
static size_t find_tag(const struct source *s, size_t from, size_t to, const char *name) {
    const size_t n = strlen(name);
    for (size_t i = from; i + n + 1 < to; i++)
        if (s->data[i] == '<' && !memcmp(s->data + i + 1, name, n) &&
            strchr(" \t\r\n>/", s->data[i + 1 + n]))
            return i;
    return to;
}

static size_t tag_end(const struct source *s, size_t tag, size_t to) {
    const char *end = memchr(s->data + tag, '>', to - tag);
    return end ? (size_t)(end - s->data) : to;
}

/* An attribute of the tag; "" if it has none. */
static const char *attribute(const struct source *s, size_t tag, size_t to, const char *name,
                             char value[64]) {
    const size_t end = tag_end(s, tag, to), n = strlen(name);
    *value = 0;
    for (size_t i = tag + 1; i + n + 2 < end; i++) {
        if (!strchr(" \t\r\n", s->data[i - 1]) || memcmp(s->data + i, name, n)) continue;
        size_t at = i + n;
        while (at < end && strchr(" \t\r\n=", s->data[at])) at++;
        const char quote = s->data[at++];
        size_t length = 0;
        if (quote != '"' && quote != '\'') continue;
        while (at < end && s->data[at] != quote && length < 63) value[length++] = s->data[at++];
        value[length] = 0;
        break;
    }
    return value;
}

static int find_type(const char *name, struct scalar *type) {
    static const char *const kinds[] = {"Int", "UInt", "Float"};
    for (int k = 0; k < 3; k++) {
        const size_t n = strlen(kinds[k]);
        if (strncmp(name, kinds[k], n)) continue;
        const int bits = atoi(name + n);
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return 0;
        *type = (struct scalar){"iuf"[k], bits / 8};
        return k < 2 || bits >= 32;
    }
    return 0;
}

/* ---- base64 ---- */

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* `count` bytes from text at `from`; how many there were. What ends with = may go on. */
static size_t decode(const struct source *s, size_t from, char *to, size_t count) {
    unsigned bits = 0;
    int held = 0;
    size_t done = 0;
    for (size_t i = from; i < s->size && done < count; i++) {
        const char c = s->data[i];
        if (c == '=') held = 0;
        if (c == '=' || strchr(" \t\r\n", c)) continue;
        const int digit = digit_of(c);
        if (digit < 0) break;
        bits = bits << 6 | (unsigned)digit;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        to[done++] = (char)(bits >> held & 255);
    }
    return done;
}

/* ---- arrays ---- */

/* The bytes of an array that is not text, to be freed, in whole numbers of the type. */
static evn_status bytes_of(struct vtu *v, size_t at, int raw, const char *name, char **data,
                           size_t *size) {
    struct source *s = v->s;
    char head[8] = {0};
    const size_t h = (size_t)v->header;
    const size_t have = raw ? (at < s->size && s->size - at >= h ? h : 0) : decode(s, at, head, h);
    if (have < h) return source_bad(s, "array %s: the file ends before it", name);
    if (raw) memcpy(head, s->data + at, h);
    const double length = scalar_value(s, (struct scalar){'u', v->header}, head);
    if (length > (double)s->size)
        return source_bad(s, "array %s: %g bytes are more than the file holds", name, length);
    *size = (size_t)length;
    *data = malloc(*size + h + 1);
    if (!*data) return evn_fail(EVN_MEMORY, "%s: no memory for %zu bytes", s->name, *size);
    size_t found = s->size - at < *size + h ? s->size - at : *size + h;
    if (raw)
        memcpy(*data, s->data + at, found);
    else
        found = decode(s, at, *data, *size + h);
    if (found < *size + h)
        return source_bad(s, "array %s: expected %zu bytes, found %zu", name, *size, found - h);
    memmove(*data, *data + h, *size);
    return EVN_OK;
}

static evn_status numbers_of_text(struct vtu *v, size_t from, const char *name, size_t count,
                                  double *to) {
    struct source *s = v->s;
    const char *end = memchr(s->data + from, '<', v->end - from);
    struct source text = *s;
    if (!end) return source_bad(s, "array %s: no end", name);
    char *last = s->data + (end - s->data);
    *last = 0; /* numbers end there */
    text.size = (size_t)(end - s->data);
    text.at = from;
    text.binary = 0;
    size_t n = 0;
    while (n < count && source_number(&text, to + n)) n++;
    source_skip(&text, 0);
    const int more = text.at < text.size;
    *last = '<';
    if (n < count || more)
        return source_bad(s, "array %s: expected %zu numbers, found %zu%s", name, count, n,
                          more ? " and more text" : "");
    return EVN_OK;
}

/* The array whose tag is at `tag`, of `count` numbers; to be freed. */
static evn_status array(struct vtu *v, size_t tag, const char *name, size_t count, double **to) {
    struct source *s = v->s;
    char word[64], format[64], *data = NULL;
    struct scalar type;
    size_t size = 0;
    s->at = tag;
    if (!find_type(attribute(s, tag, v->end, "type", word), &type))
        return source_bad(s, "array %s: \"%s\" is no type of numbers", name, word);
    if (count > s->size)
        return source_bad(s, "array %s: %zu numbers are more than the file holds", name, count);
    *to = malloc((count + 1) * sizeof **to);
    if (!*to) return evn_fail(EVN_MEMORY, "%s: no memory for %zu numbers", s->name, count);
    attribute(s, tag, v->end, "format", format);
    const size_t inside = tag_end(s, tag, v->end) + 1;
    if (!strcmp(format, "ascii")) return numbers_of_text(v, inside, name, count, *to);
    const int appended = !strcmp(format, "appended");
    if (!appended && strcmp(format, "binary"))
        return source_bad(s, "array %s: format \"%s\", expected ascii, binary or appended", name,
                          format);
    if (appended && !v->appended) return source_bad(s, "array %s: no AppendedData", name);
    const double offset = appended ? atof(attribute(s, tag, v->end, "offset", word)) : 0;
    if (!(offset >= 0 && offset < (double)s->size))
        return source_bad(s, "array %s: offset %s is not in the file", name, word);
    evn_status status = bytes_of(v, appended ? v->appended + (size_t)offset : inside,
                                 appended && v->raw, name, &data, &size);
    if (!status && size != count * (size_t)type.bytes)
        status = source_bad(s, "array %s: %zu bytes, expected %zu numbers of %d", name, size, count,
                            type.bytes);
    for (size_t i = 0; i < count && !status; i++)
        (*to)[i] = scalar_value(s, type, data + i * (size_t)type.bytes);
    free(data);
    return status;
}

/* The tag of the array of that name in a section; any one for NULL. */
static evn_status find_array(struct vtu *v, const char *section, const char *name, size_t *tag) {
    struct source *s = v->s;
    const size_t from = find_tag(s, 0, v->end, section);
    char close[32], word[64];
    snprintf(close, sizeof close, "/%s", section);
    const size_t to = find_tag(s, from, v->end, close);
    for (*tag = from; from < v->end; (*tag)++) {
        *tag = find_tag(s, *tag, to, "DataArray");
        if (*tag >= to) break;
        if (!name || !strcmp(attribute(s, *tag, v->end, "Name", word), name)) return EVN_OK;
    }
    return evn_fail(EVN_USAGE, "%s: no DataArray%s%s in %s", s->name, name ? " " : "",
                    name ? name : "", section);
}

/* ---- the file ---- */

static evn_status open_file(struct vtu *v) {
    struct source *s = v->s;
    char word[64];
    static const char last[] = "</VTKFile";
    if (!memmem(s->data, s->size, last, sizeof last - 1))
        return evn_fail(EVN_USAGE, "%s: the file has no end, expected </VTKFile>", s->name);
    const size_t append = find_tag(s, 0, s->size, "AppendedData");
    v->end = append;
    const size_t file = find_tag(s, 0, v->end, "VTKFile");
    if (file == v->end) return source_bad(s, "expected a VTKFile");
    s->at = file;
    if (*attribute(s, file, v->end, "compressor", word))
        return source_bad(s, "compressed arrays are not read; save it without a compressor, or as "
                             "ascii (ParaView: Data Mode)");
    const uint16_t one = 1;
    const int little = *(const unsigned char *)&one == 1;
    s->swap = little != !strcmp(attribute(s, file, v->end, "byte_order", word), "LittleEndian");
    v->header = !strcmp(attribute(s, file, v->end, "header_type", word), "UInt64") ? 8 : 4;
    if (append == s->size) return EVN_OK;
    v->raw = !strcmp(attribute(s, append, s->size, "encoding", word), "raw");
    const size_t inside = tag_end(s, append, s->size);
    const char *begin = memchr(s->data + inside, '_', s->size - inside);
    v->appended = begin ? (size_t)(begin - s->data) + 1 : 0;
    return EVN_OK;
}

static evn_status count_of(const struct vtu *v, size_t piece, const char *name, size_t *count) {
    char word[64], *end;
    const double n = strtod(attribute(v->s, piece, v->end, name, word), &end);
    if (!*word || *end || !(n >= 0 && n <= (double)v->s->size))
        return source_bad(v->s, "%s=\"%s\", expected how many", name, word);
    *count = (size_t)n;
    return EVN_OK;
}

static evn_status read_points(struct vtu *v, size_t piece) {
    size_t count, tag;
    double *x = NULL;
    evn_status status = count_of(v, piece, "NumberOfPoints", &count);
    if (!status) status = find_array(v, "Points", NULL, &tag);
    if (!status) status = array(v, tag, "Points", 3 * count, &x);
    for (size_t p = 0; p < count && !status; p++) status = source_point(v->s, x + 3 * p);
    free(x);
    return status;
}

static evn_status read_cells(struct vtu *v, size_t piece, int grid, struct vtk_cells *c) {
    const char *section = grid ? "Cells" : "Polys";
    size_t tag;
    evn_status status = count_of(v, piece, grid ? "NumberOfCells" : "NumberOfPolys", &c->cells);
    if (!status) status = find_array(v, section, "offsets", &tag);
    if (!status) status = array(v, tag, "offsets", c->cells, &c->end);
    if (status) return status;
    const double last = c->cells ? c->end[c->cells - 1] : 0;
    if (!(last >= 0 && last <= (double)v->s->size))
        return source_bad(v->s, "offsets end with %g", last);
    c->corners = (size_t)last;
    status = find_array(v, section, "connectivity", &tag);
    if (!status) status = array(v, tag, "connectivity", c->corners, &c->corner);
    if (!status && grid) status = find_array(v, section, "types", &tag);
    if (!status && grid) status = array(v, tag, "types", c->cells, &c->type);
    return status ? status : vtk_cells_add(v->s, c, VTK_POLYGON);
}

evn_status read_vtu(struct source *s) {
    struct vtu v = {.s = s};
    evn_status status = open_file(&v);
    if (status) return status;
    const int grid = find_tag(s, 0, v.end, "UnstructuredGrid") < v.end;
    if (!grid && find_tag(s, 0, v.end, "PolyData") == v.end)
        return source_bad(s, "expected UnstructuredGrid or PolyData");
    const size_t piece = find_tag(s, 0, v.end, "Piece");
    if (piece == v.end || find_tag(s, piece + 1, v.end, "Piece") < v.end)
        return source_bad(s, "expected one Piece (ParaView: Merge Blocks)");
    char word[64];
    if (!grid && atof(attribute(s, piece, v.end, "NumberOfStrips", word)) > 0)
        return source_bad(s, "strips are not read (ParaView: Triangulate)");
    struct vtk_cells cells = {0};
    status = read_points(&v, piece);
    if (!status) status = read_cells(&v, piece, grid, &cells);
    vtk_cells_free(&cells);
    return status;
}
