/* The archivers beside the compiler: gcc-ar, gcc-nm and gcc-ranlib know gcc's objects of link-time
 * optimisation, llvm-ar and its kin clang's. */
#include "tools.h"
#include "options.h"
#include "source.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "x86_64-linux-gnu-gcc-ar-12" for x86_64-linux-gnu-gcc-12, "llvm-ar-14" for clang-14; NULL: the
 * compiler has another name. */
static char *tool_of(const char *compiler, const char *maker, const char *tool) {
    const int llvm = !strcmp(maker, "llvm");
    const char *slash = strrchr(compiler, '/'), *base = slash ? slash + 1 : compiler;
    const char *found = strstr(base, llvm ? "clang" : "gcc");
    if (!found) return NULL;
    const char *behind = found + (llvm ? strlen("clang") : strlen("gcc"));
    struct text t = {0};
    put(&t, "%.*s%s-%s%s", (int)(found - compiler), compiler, maker, tool, behind);
    return t.at;
}

static void try(const char *name, char **argv) {
    argv[0] = (char *)name;
    execvp(name, argv);
}

int run_tool(const char *name, char **argv) {
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const int llvm = !strncmp(base, "evener-llvm-", 12);
    if (!llvm && strncmp(base, "evener-gcc-", 11) != 0) return -1;
    const char *tool = base + (llvm ? 12 : 11), *wanted = getenv("EVENER_CC");
    const char *maker = llvm ? "llvm" : "gcc";
    struct words compiler = {0};
    words_split(&compiler, wanted && *wanted ? wanted : EVENER_CC_COMPILER);
    char *own = compiler.count ? tool_of(compiler.at[compiler.count - 1], maker, tool) : NULL;
    char *usual = tool_of(llvm ? "clang" : "gcc", maker, tool);
    if (own) try(own, argv);
    try(usual, argv);
    try(tool, argv); /* without link-time optimisation */
    fprintf(stderr, "evener-cc: %s: %s\n", tool, strerror(errno));
    free(own);
    free(usual);
    words_free(&compiler);
    return 127;
}
