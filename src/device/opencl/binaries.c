/* Programs of a folder. */
#include "device/opencl/binaries.h"
#include "device/cache.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find_path(struct binary_file *f) {
    const char *const part[] = {f->options, f->head, f->text};
    const struct cache_key key = cache_key(part, 3);
    snprintf(f->path, sizeof f->path, "%s/%s-%02x%02x%02x%02x.bin", f->folder, f->name, key.byte[0],
             key.byte[1], key.byte[2], key.byte[3]);
}

static evn_status wrong(const char *path, const char *how) {
    return evn_fail(EVN_SYSTEM, "%s cannot be %s: %s", path, how, strerror(errno));
}

/* The rest of a stream, to be freed; NULL: it cannot be read. */
static void *read_all(FILE *in, size_t *size) {
    char *data = NULL;
    size_t room = 0, got;
    for (*size = 0;; *size += got) {
        if (*size == room) {
            char *more = realloc(data, room = 2 * room + 65536);
            if (!more) break;
            data = more;
        }
        got = fread(data + *size, 1, room - *size, in);
        if (!got && !ferror(in)) return data;
        if (!got) break;
    }
    free(data);
    return NULL;
}

int binary_find(struct binary_file *f, void **data, size_t *size) {
    find_path(f);
    FILE *in = fopen(f->path, "rb");
    if (!in && errno == ENOENT) return 0;
    *data = in ? read_all(in, size) : NULL;
    if (!*data) wrong(f->path, "read");
    if (in) fclose(in);
    return *data ? 1 : -1;
}

static evn_status write_file(const char *path, const char *const *part, const size_t *size,
                             int parts) {
    FILE *out = fopen(path, "wb");
    int failed = !out;
    for (int i = 0; !failed && i < parts; i++) failed = fwrite(part[i], 1, size[i], out) != size[i];
    if (out && fclose(out)) failed = 1;
    return failed ? wrong(path, "written") : EVN_OK;
}

static evn_status write_text(const struct binary_file *f, char path[512]) {
    const char *const part[] = {"/* options: ", f->options, " */\n", f->head, f->text};
    size_t size[5];
    for (int i = 0; i < 5; i++) size[i] = strlen(part[i]);
    const size_t stem = strlen(f->path) - strlen(".bin");
    snprintf(path, 512, "%.*s.cl", (int)stem, f->path);
    return write_file(path, part, size, 5);
}

evn_status binary_keep(const struct binary_file *f, const void *data, size_t size) {
    char path[512];
    const char *const part[] = {data};
    evn_status status = write_text(f, path);
    return status ? status : write_file(f->path, part, &size, 1);
}

evn_status binary_ask(const struct binary_file *f, const char *device) {
    char path[512];
    evn_status status = write_text(f, path);
    if (status) return status;
    return evn_fail(EVN_MISSING,
                    "%s is not there, and \"%s\" has no compiler; make it of %s, where its text is "
                    "now",
                    f->path, device, path);
}
