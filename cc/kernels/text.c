/* The text of a kernel, as devices' compilers get it and as C for the emulated device: what it is
 * told, what an item does, what becomes of reductions. */
#include "text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum type types[TYPES] = KERNEL_TYPES;

/* The type whose buffer an array lies in: structures lie in one of numbers of their alignment. */
enum type kernel_unit(const struct kernel *k, const struct name *n) {
    if (n->shape.type == TYPE_BOOL) return TYPE_UCHAR; /* OpenCL has no arguments of bool */
    if (n->shape.type < TYPE_STRUCTURE) return n->shape.type;
    switch (type_alignment(k->s, n->shape.type)) {
    case 8: return TYPE_LONG;
    case 4: return TYPE_INT;
    case 2: return TYPE_SHORT;
    default: return TYPE_UCHAR;
    }
}

/* A small array of a structure's, which is only read: it goes along with the values. */
long kernel_by_value(const struct kernel *k, const struct name *n) {
    if (n->role != NAME_ARRAY || !n->member || n->written || n->in_memory) return 0;
    const long count = shape_count(k->s, &n->shape, 0);
    return count <= SMALL ? count : 0;
}

int kernel_is_array(const struct kernel *k, const struct name *n) {
    return n->role == NAME_ARRAY && !kernel_by_value(k, n);
}

int kernel_uses(const struct kernel *k, enum type type) {
    EACH(k, n) if (kernel_is_array(k, n) && kernel_unit(k, n) == type) return 1;
    return 0;
}

/* The type in which the value of loop i's variable is computed. */
static enum type kernel_wide(const struct kernel *k, int i) {
    return k->type[i] < TYPE_INT ? TYPE_INT : k->type[i];
}

static int has_structures(const struct kernel *k) {
    EACH(k, n) if (kernel_is_array(k, n) && n->shape.type >= TYPE_STRUCTURE) return 1;
    return 0;
}

/* Whether a reduction begins with what the variable is: with it none is lost, and none counted
 * twice. */
int kernel_begins_with_itself(const struct name *n) {
    return n->by != BY_SUM && n->by != BY_PRODUCT && n->by != BY_XOR;
}

int kernel_is_told(const struct kernel *k, const struct name *n) {
    return n->role == NAME_SCALAR || n->first || kernel_by_value(k, n) ||
           (n->role == NAME_SUM && kernel_begins_with_itself(n));
}

/* Members of what is told whose alignment is this. */
static void put_told(struct kernel *k, struct text *out, int bytes) {
    EACH(k, n) {
        if (!kernel_is_told(k, n) || type_alignment(k->s, n->shape.type) != bytes) continue;
        const enum type type = n->shape.type == TYPE_BOOL ? TYPE_UCHAR : n->shape.type;
        put(out, "%s u_%s", type_name(k->s, type), n->id);
        if (n->role == NAME_ARRAY) put(out, "[%ld]", kernel_by_value(k, n));
        put(out, ";\n");
    }
}

/* Declares the struct of the kernel's values, larger members first. */
static void put_values(struct kernel *k, struct text *out) {
    put(out, "struct evn_%d_values {\n", k->n);
    EACH(k, n) {
        if (kernel_is_array(k, n)) put(out, "evn_cu_int at_%s;\n", n->id);
        for (int i = 0; n->role == NAME_ARRAY && i + 1 < n->dimensions; i++)
            put(out, "evn_cu_int s%d_%s;\n", i, n->id);
    }
    for (int i = 0; i < k->nest.loops; i++) {
        const char *wide = type_name(k->s, kernel_wide(k, i));
        if (type_alignment(k->s, kernel_wide(k, i)) == 8) put(out, "%s from%d;\n", wide, i);
        if (loop_is_stepped(&k->nest.loop[i])) put(out, "evn_cu_int step%d;\n", i);
    }
    put_told(k, out, 8);
    put_told(k, out, 4);
    put(out, "int trips");
    for (int i = 0; i < k->nest.loops; i++) put(out, ", n%d", i);
    put(out, ";\n");
    for (int i = 0; i < k->nest.loops; i++)
        if (type_alignment(k->s, kernel_wide(k, i)) == 4)
            put(out, "%s from%d;\n", type_name(k->s, kernel_wide(k, i)), i);
    put_told(k, out, 2);
    put_told(k, out, 1);
    put(out, "};\n");
}

/* Names that the body has for what it is told. */
static void put_known(struct kernel *k, struct text *out) {
    EACH(k, n) {
        const char *type = type_name(k->s, n->shape.type);
        for (int i = 0; n->role == NAME_ARRAY && i + 1 < n->dimensions; i++)
            put(out, "const evn_cu_int evn_s%d_%s = evn_v.s%d_%s;\n", i, n->id, i, n->id);
        if (n->role == NAME_SCALAR) put(out, "const %s u_%s = evn_v.u_%s;\n", type, n->id, n->id);
        if (kernel_by_value(k, n))
            put(out, "const %s *const evn_a_%s = (const %s *)evn_v.u_%s;\n", type, n->id, type,
                n->id);
    }
}

static void put_arrays_known(struct kernel *k, struct text *out, const char *space) {
    EACH(k, n) {
        if (!kernel_is_array(k, n)) continue;
        const char *type = type_name(k->s, n->shape.type);
        const char *how = n->written || n->in_memory ? "" : "const ";
        put(out, "%s%s%s *evn_a_%s = ", space, how, type, n->id);
        if (n->shape.type != kernel_unit(k, n)) put(out, "(%s%s%s *)", space, how, type);
        put(out, "(evn_b%d + evn_v.at_%s);\n", (int)kernel_unit(k, n), n->id);
    }
}

/* A text of the dialect; for the host without the dialect's words. */
static void put_dialect(struct text *out, const char *text, int host) {
    static const char function[] = "EVN_DEVICE_FUNCTION ", space[] = "EVN_GLOBAL ";
    for (const char *c = text; *c;) {
        const int fresh = c == text || (!strchr("_$", c[-1]) && !isalnum((unsigned char)c[-1]));
        if (host && fresh && !strncmp(c, function, sizeof function - 1)) {
            put(out, "static inline ");
            c += sizeof function - 1;
        } else if (host && fresh && !strncmp(c, space, sizeof space - 1)) {
            c += sizeof space - 1;
        } else {
            put_bytes(out, c++, 1);
        }
    }
}

/* Writes the code of an item, for iteration number evn_t. */
static void put_item(struct kernel *k, struct text *out, int host) {
    EACH(k, n) {
        if (n->role != NAME_SUM) continue;
        put(out, "%s u_%s = ", type_name(k->s, n->shape.type), n->id);
        if (kernel_begins_with_itself(n))
            put(out, "evn_v.u_%s;\n", n->id);
        else
            put(out, "%d;\n", n->by == BY_PRODUCT);
    }
    if (k->body.asserts) put(out, "int evn_failed = 0;\n");
    put(out, "if (evn_t < evn_v.trips)\n");
    if ((k->sums[0] || k->sums[1] || k->body.asserts) && k->body.continues)
        put(out, "for (int evn_once = 1; evn_once; evn_once = 0)\n");
    put(out, "{\n");
    if (k->body.asserts) put(out, "{\n");
    for (int i = 0; i < k->nest.loops; i++) {
        const char *type = type_name(k->s, k->type[i]), *wide = type_name(k->s, kernel_wide(k, i));
        put(out, "const %s u_%.*s = (%s)(evn_v.from%d + (%s)(evn_t", type,
            LETTERS(k, &k->nest.loop[i].variable), type, i, wide);
        for (int under = i + 1; under < k->nest.loops; under++) put(out, " / evn_v.n%d", under);
        if (i) put(out, " %% evn_v.n%d", i);
        put(out, ")");
        if (loop_is_stepped(&k->nest.loop[i])) put(out, " * (%s)evn_v.step%d", wide, i);
        put(out, ");\n");
    }
    for (int i = 0; i < k->nest.loops; i++)
        put(out, "(void)u_%.*s;\n", LETTERS(k, &k->nest.loop[i].variable));
    EACH(k, n) {
        if (n->role != NAME_LOCAL) continue;
        put(out, "%s u_%s ", type_name(k->s, n->shape.type), n->id);
        put_sizes(k->s, out, &n->shape, 0);
        if (n->first) put(out, "= evn_v.u_%s", n->id);
        put(out, ";\n");
    }
    put_dialect(out, k->body.out.at, host);
    put(out, k->body.asserts ? "}\nevn_end:;\n}\n" : "}\n");
    int sum = 0;
    EACH(k, n) {
        if (n->role == NAME_SUM) put(out, "evn_part%d[evn_item] = u_%s;\n", sum++, n->id);
    }
    if (k->body.asserts) put(out, "evn_part%d[evn_item] = evn_failed;\n", sum);
}

/* Two numbers of a reduction as one, to the first. */
static void put_combined(struct text *out, enum combine by, const char *a, const char *b) {
    static const char *const operators[] = {"+=", "*=", "<", ">", "&=", "|=", "^="};
    if (by == BY_MIN || by == BY_MAX)
        put(out, "if (%s %s %s) %s = %s;\n", b, operators[by], a, a, b);
    else
        put(out, "%s %s %s;\n", a, operators[by], b);
}

static void put_group_sum(struct text *out, const char *type, enum combine by, int part,
                          const char *to, const char *as) {
    const int first = by != BY_SUM;
    char one[40];
    snprintf(one, sizeof one, "evn_part%d[evn_i]", part);
    put(out, "{\n%s evn_sum = ", type);
    put(out, first ? "evn_part%d[0];\n" : "0;\n", part);
    put(out, "for (int evn_i = %d; evn_i < %d; evn_i++) ", first, (int)GROUP);
    put_combined(out, by, "evn_sum", one);
    put(out, "%s = (%s)evn_sum;\n}\n", to, as);
}

/* The group's sums, item after item. */
static void put_group_sums(struct kernel *k, struct text *out, const char *group) {
    int part = 0, number[2] = {0};
    char to[80];
    EACH(k, n) {
        if (n->role != NAME_SUM) continue;
        const int integer = !type_is_real(n->shape.type);
        snprintf(to, sizeof to, "%s[%d * %s + %d]", integer ? "evn_counts" : "evn_sums",
                 k->sums[integer], group, number[integer]++);
        put_group_sum(out, type_name(k->s, n->shape.type), n->by, part++, to,
                      integer ? "evn_cu_int" : "double");
    }
    if (!k->body.asserts) return;
    snprintf(to, sizeof to, "evn_counts[%d * %s + %d]", k->sums[1], group, number[1]);
    put_group_sum(out, "int", BY_MAX, part, to, "evn_cu_int");
}

static void put_part(struct text *out, int host, const char *type, int part) {
    if (host)
        put(out, "%s evn_part%d[%d];\n", type, part, (int)GROUP);
    else
        put(out, "EVN_LOCAL_ARRAY(%s, evn_part%d, %d);\n", type, part, (int)GROUP);
}

static void put_parts(struct kernel *k, struct text *out, int host) {
    int part = 0;
    EACH(k, n) {
        if (n->role == NAME_SUM) put_part(out, host, type_name(k->s, n->shape.type), part++);
    }
    if (k->body.asserts) put_part(out, host, "int", part);
}

static void put_functions(struct kernel *k, struct text *out, int host) {
    if (!k->functions.count) return;
    put_dialect(out, k->functions.heads.at, host);
    put_dialect(out, k->functions.bodies.at, host);
}

void kernel_put_device(struct kernel *k, struct text *out) {
    const char *buffer = has_structures(k) ? "EVN_COMMON" : "EVN_BUFFER";
    static const unsigned long long none[2];
    math_put(k->s, out, k->functions.math, none, 0);
    atomic_put(k->s, out, k->functions.swaps, 0);
    put_layouts(k->s, out);
    put_values(k, out);
    put_functions(k, out, 0);
    put(out, "\nEVN_KERNEL(evn_loop, %d, (", (int)GROUP);
    for (int i = 0; i < TYPES; i++)
        if (kernel_uses(k, types[i]))
            put(out, "%s(%s, evn_b%d), ", buffer, type_name(k->s, types[i]), (int)types[i]);
    put(out, "EVN_VALUE(struct evn_%d_values, evn_v)", k->n);
    if (k->sums[0]) put(out, ", EVN_BUFFER(double, evn_sums)");
    if (k->sums[1]) put(out, ", EVN_BUFFER(evn_cu_int, evn_counts)");
    put(out, ")) {\n");
    put_parts(k, out, 0);
    put_arrays_known(k, out, "EVN_GLOBAL ");
    put_known(k, out);
    put(out, "EVN_ITEMS(evn_item) {\nconst int evn_t = EVN_GROUP * %d + evn_item;\n", (int)GROUP);
    put_item(k, out, 0);
    put(out, "}\n");
    if (k->sums[0] + k->sums[1]) {
        put(out, "EVN_BARRIER;\nEVN_FIRST {\n");
        put_group_sums(k, out, "EVN_GROUP");
        put(out, "}\n");
    }
    put(out, "}\n");
}

/* The kernel for the emulated device, without macros. */
void kernel_put_host(struct kernel *k, struct text *out) {
    put_layouts(k->s, out);
    put_values(k, out);
    put_functions(k, out, 1);
    put(out,
        "static void evn_%d_run(const void *const *evn_argument, int evn_groups, int evn_group, "
        "int evn_items) {\n(void)evn_groups, (void)evn_items;\n",
        k->n);
    int at = 0;
    for (int i = 0; i < TYPES; i++) {
        const char *type = type_name(k->s, types[i]);
        if (kernel_uses(k, types[i]))
            put(out, "%s *const evn_b%d = (%s *)evn_argument[%d];\n", type, (int)types[i], type,
                at++);
    }
    put(out,
        "const struct evn_%d_values evn_v = *(const struct evn_%d_values *)evn_argument[%d];\n",
        k->n, k->n, at++);
    if (k->sums[0]) put(out, "double *const evn_sums = (double *)evn_argument[%d];\n", at++);
    if (k->sums[1])
        put(out, "evn_cu_int *const evn_counts = (evn_cu_int *)evn_argument[%d];\n", at);
    put_parts(k, out, 1);
    put_arrays_known(k, out, "");
    put_known(k, out);
    put(out,
        "#pragma omp simd\nfor (int evn_item = 0; evn_item < %d; evn_item++) {\nconst int "
        "evn_t = evn_group * %d + evn_item;\n",
        (int)GROUP, (int)GROUP);
    put_item(k, out, 1);
    put(out, "}\n");
    put_group_sums(k, out, "evn_group");
    put(out, "}\n");
}
