/* Arguments and resources of a code object's kernels, from its metadata, a MessagePack document in
 * a note of the ELF file (LLVM, "User Guide for AMDGPU Backend", Code Object Metadata;
 * msgpack/spec.md).
 *
 * The document is a map whose "amdhsa.kernels" is an array of maps, one a kernel. */
#include "device/gpu/elf.h"
#include "device/hip/hiprtc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_METADATA = 32, DEPTH = 32 };

/* A position in the document. `wrong`: the document ended early, or has an invalid form. */
struct pack {
    const unsigned char *at, *end;
    int wrong;
};

enum form { PACK_OTHER, PACK_NUMBER, PACK_TEXT, PACK_ARRAY, PACK_MAP };

/* One item: its form, and its value `n`, or the number of its bytes, elements or pairs. `text`
 * points to a text's bytes, and the position is behind them. */
struct item {
    enum form form;
    unsigned long long n;
    const char *text;
};

static unsigned long long big_endian(struct pack *p, int bytes) {
    unsigned long long n = 0;
    if (p->end - p->at < bytes) {
        p->wrong = 1;
        return 0;
    }
    while (bytes--) n = n << 8 | *p->at++;
    return n;
}

static struct item bytes_of(struct pack *p, enum form form, unsigned long long n) {
    struct item i = {form, n, (const char *)p->at};
    if (n > (unsigned long long)(p->end - p->at))
        p->wrong = 1;
    else
        p->at += n;
    return i;
}

static struct item next(struct pack *p) {
    const unsigned byte = (unsigned)big_endian(p, 1);
    if (p->wrong) return (struct item){PACK_OTHER, 0, NULL};
    if (byte < 0x80) return (struct item){PACK_NUMBER, byte, NULL};
    if (byte < 0x90) return (struct item){PACK_MAP, byte & 15, NULL};
    if (byte < 0xa0) return (struct item){PACK_ARRAY, byte & 15, NULL};
    if (byte < 0xc0) return bytes_of(p, PACK_TEXT, byte & 31);
    if (byte >= 0xe0) return (struct item){PACK_OTHER, 0, NULL}; /* a small negative number */
    switch (byte) {
    case 0xc0:
    case 0xc2:
    case 0xc3: return (struct item){PACK_OTHER, 0, NULL};
    case 0xc4:
    case 0xc5:
    case 0xc6: return bytes_of(p, PACK_OTHER, big_endian(p, 1 << (byte - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9: return bytes_of(p, PACK_OTHER, 1 + big_endian(p, 1 << (byte - 0xc7)));
    case 0xca: return bytes_of(p, PACK_OTHER, 4);
    case 0xcb: return bytes_of(p, PACK_OTHER, 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return (struct item){PACK_NUMBER, big_endian(p, 1 << (byte - 0xcc)), NULL};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return bytes_of(p, PACK_OTHER, 1ull << (byte - 0xd0));
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: return bytes_of(p, PACK_OTHER, 1 + (1ull << (byte - 0xd4)));
    case 0xd9:
    case 0xda:
    case 0xdb: return bytes_of(p, PACK_TEXT, big_endian(p, 1 << (byte - 0xd9)));
    case 0xdc:
    case 0xdd: return (struct item){PACK_ARRAY, big_endian(p, 2 << (byte - 0xdc)), NULL};
    case 0xde:
    case 0xdf: return (struct item){PACK_MAP, big_endian(p, 2 << (byte - 0xde)), NULL};
    }
    p->wrong = 1; /* 0xc1 is never used in MessagePack */
    return (struct item){PACK_OTHER, 0, NULL};
}

/* Skips the contents of an item whose head was read. */
static void skip(struct pack *p, struct item i, int depth) {
    if (i.form != PACK_ARRAY && i.form != PACK_MAP) return;
    if (depth == DEPTH) p->wrong = 1;
    const unsigned long long count = i.form == PACK_MAP ? 2 * i.n : i.n;
    for (unsigned long long k = 0; k < count && !p->wrong; k++) skip(p, next(p), depth + 1);
}

static int is_called(struct item key, const char *name) {
    return key.form == PACK_TEXT && key.n == strlen(name) && !memcmp(key.text, name, key.n);
}

static int number(struct item i) { return i.form == PACK_NUMBER && i.n < INT_MAX ? (int)i.n : -1; }

static void read_kernel(struct pack *p, struct item map, struct rtc_kernel *k) {
    int spilled = 0, accumulators = 0;
    *k = (struct rtc_kernel){"", -1, -1, -1, -1, -1, -1};
    for (unsigned long long i = 0; i < map.n && !p->wrong; i++) {
        const struct item key = next(p), value = next(p);
        if (is_called(key, ".name") && value.form == PACK_TEXT && value.n < sizeof k->name)
            snprintf(k->name, sizeof k->name, "%.*s", (int)value.n, value.text);
        if (is_called(key, ".vgpr_count")) k->registers = number(value);
        if (is_called(key, ".agpr_count")) accumulators = number(value);
        if (is_called(key, ".sgpr_count")) k->scalar_registers = number(value);
        if (is_called(key, ".vgpr_spill_count")) spilled = number(value);
        if (is_called(key, ".private_segment_fixed_size")) k->local_bytes = number(value);
        if (is_called(key, ".group_segment_fixed_size")) k->group_bytes = number(value);
        if (is_called(key, ".wavefront_size")) k->wavefront = number(value);
        skip(p, value, 0);
    }
    k->spill_bytes = spilled < 0 ? -1 : 4 * spilled;
    if (accumulators > 0 && k->registers < accumulators) k->registers = accumulators;
}

/* The kernels of the document `p`. */
static evn_status read_document(struct rtc_program *program, struct pack p) {
    struct item map = next(&p);
    for (unsigned long long i = 0; map.form == PACK_MAP && i < map.n && !p.wrong; i++) {
        const struct item key = next(&p), value = next(&p);
        if (!is_called(key, "amdhsa.kernels") || value.form != PACK_ARRAY) {
            skip(&p, value, 0);
            continue;
        }
        if (value.n > (unsigned long long)(p.end - p.at)) break;
        program->kernel = calloc((size_t)value.n + 1, sizeof *program->kernel);
        if (!program->kernel) return evn_fail(EVN_MEMORY, "not enough memory for its kernels");
        for (unsigned long long k = 0; k < value.n && !p.wrong; k++) {
            const struct item kernel = next(&p);
            if (kernel.form != PACK_MAP) p.wrong = 1;
            if (!p.wrong) read_kernel(&p, kernel, &program->kernel[program->kernels]);
            program->kernels += !p.wrong;
        }
        return p.wrong ? evn_fail(EVN_SYSTEM, "a code object's metadata is damaged") : EVN_OK;
    }
    return evn_fail(EVN_SYSTEM, "a code object of %zu bytes has no table of its kernels",
                    program->bytes);
}

/* The metadata among the notes of a section. */
static int find_note(const unsigned char *data, size_t bytes, struct pack *out) {
    Elf64_Nhdr head;
    for (size_t at = 0; at + sizeof head <= bytes;) {
        memcpy(&head, data + at, sizeof head);
        const size_t name = at + sizeof head,
                     text = name + (((size_t)head.n_namesz + 3) & ~(size_t)3);
        if (text > bytes || head.n_descsz > bytes - text) return 0;
        if (head.n_type == NOTE_METADATA && head.n_namesz == 7 &&
            !memcmp(data + name, "AMDGPU", 7)) {
            *out = (struct pack){data + text, data + text + head.n_descsz, 0};
            return 1;
        }
        at = text + (((size_t)head.n_descsz + 3) & ~(size_t)3);
    }
    return 0;
}

evn_status hiprtc_measure(struct rtc_program *program) {
    struct elf e;
    Elf64_Shdr notes;
    const unsigned char *data;
    struct pack document;
    free(program->kernel);
    program->kernel = NULL;
    program->kernels = 0;
    if (!elf_open(&e, program->image, program->bytes))
        return evn_fail(EVN_SYSTEM, "%zu bytes are not a code object", program->bytes);
    for (int i = 1; i < e.head.e_shnum; i++)
        if (elf_section(&e, i, &notes, &data) && notes.sh_type == SHT_NOTE &&
            find_note(data, notes.sh_size, &document))
            return read_document(program, document);
    return evn_fail(EVN_SYSTEM, "a code object of %zu bytes has no metadata", program->bytes);
}
