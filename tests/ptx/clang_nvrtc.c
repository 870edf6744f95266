/* The run-time compiler's names over clang, which makes PTX without CUDA: so kernels are executed
 * on machines without an NVRTC. Used by the tests of tests/ptx alone (EVENER_NVRTC=FILE). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default"))) int

enum { OK, NO_MEMORY = 1, COMPILATION_FAILED = 6 };
static const int architectures[] = {80, 86};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

struct program {
    char *text, *ptx, *log;
};

API nvrtcVersion(int *major, int *minor) {
    *major = 11;
    *minor = 5;
    return OK;
}

API nvrtcGetNumSupportedArchs(int *count) {
    *count = ARCHITECTURES;
    return OK;
}

API nvrtcGetSupportedArchs(int *list) {
    memcpy(list, architectures, sizeof architectures);
    return OK;
}

__attribute__((visibility("default"))) const char *nvrtcGetErrorString(int code) {
    return code == COMPILATION_FAILED ? "clang failed" : code ? "not enough memory" : "no error";
}

API nvrtcCreateProgram(struct program **out, const char *text, const char *name, int headers,
                       const char *const *header, const char *const *header_name) {
    (void)name, (void)headers, (void)header, (void)header_name;
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->text = strdup(text);
    return *out && (*out)->text ? OK : NO_MEMORY;
}

API nvrtcDestroyProgram(struct program **program) {
    free((*program)->text);
    free((*program)->ptx);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return OK;
}

/* a file's text ended by a 0; NULL: there is none */
static char *read_all(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f) return NULL;
    size_t bytes = 0;
    char *text = malloc(1 << 24);
    if (text) bytes = fread(text, 1, (1 << 24) - 1, f);
    if (text) text[bytes] = 0;
    fclose(f);
    return text;
}

static void arguments(char *line, size_t room, int options, const char *const *option) {
    size_t n = 0;
    for (int i = 0; i < options; i++) {
        if (!strncmp(option[i], "-D", 2))
            n += (size_t)snprintf(line + n, room - n, " '%s'", option[i]);
        else if (!strncmp(option[i], "--fmad=", 7))
            n += (size_t)snprintf(line + n, room - n, " -ffp-contract=%s",
                                  strcmp(option[i] + 7, "false") ? "fast" : "off");
        else if (!strncmp(option[i], "--gpu-architecture=", 19))
            n += (size_t)snprintf(line + n, room - n, " --cuda-gpu-arch=sm_%s",
                                  strchr(option[i], '_') + 1);
    }
}

API nvrtcCompileProgram(struct program *p, int options, const char *const *option) {
    char folder[] = "/tmp/clang-nvrtc-XXXXXX", file[3][64], line[4096], extra[2048] = "";
    if (!mkdtemp(folder)) return COMPILATION_FAILED;
    static const char *const part[] = {"text.cu", "text.ptx", "log"};
    for (int i = 0; i < 3; i++) snprintf(file[i], sizeof file[i], "%s/%s", folder, part[i]);
    FILE *f = fopen(file[0], "w");
    if (f) {
        fputs(p->text, f);
        fclose(f);
    }
    arguments(extra, sizeof extra, options, option);
    snprintf(line, sizeof line,
             CLANG " -x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version"
                   " -w -O3 -include " PRELUDE "%s -S %s -o %s > %s 2>&1",
             extra, file[0], file[1], file[2]);
    const int status = system(line);
    p->ptx = read_all(file[1]);
    p->log = read_all(file[2]);
    for (int i = 0; i < 3; i++) unlink(file[i]);
    rmdir(folder);
    return status || !p->ptx ? COMPILATION_FAILED : OK;
}

static int size_of(const char *text, size_t *bytes) {
    *bytes = text ? strlen(text) + 1 : 1;
    return OK;
}

static int copy_of(const char *text, char *to) {
    strcpy(to, text ? text : "");
    return OK;
}

API nvrtcGetProgramLogSize(struct program *p, size_t *bytes) { return size_of(p->log, bytes); }
API nvrtcGetProgramLog(struct program *p, char *log) { return copy_of(p->log, log); }
API nvrtcGetPTXSize(struct program *p, size_t *bytes) { return size_of(p->ptx, bytes); }
API nvrtcGetPTX(struct program *p, char *ptx) { return copy_of(p->ptx, ptx); }
API nvrtcGetCUBINSize(struct program *p, size_t *bytes) {
    (void)p;
    *bytes = 0;
    return COMPILATION_FAILED;
}
API nvrtcGetCUBIN(struct program *p, char *cubin) {
    (void)p, (void)cubin;
    return COMPILATION_FAILED;
}
