/* Images of machine code: reading their headers and sections, whatever their content. */
#include "device/gpu/elf.h"
#include <string.h>

const void *elf_inside(const struct elf *e, size_t at, size_t bytes) {
    return at <= e->bytes && bytes <= e->bytes - at ? e->image + at : NULL;
}

/* Section `i`, and its bytes in *data; 0 if it is not inside. */
int elf_section(const struct elf *e, int i, Elf64_Shdr *out, const unsigned char **data) {
    const void *at =
        elf_inside(e, e->head.e_shoff + (size_t)i * e->head.e_shentsize, sizeof(Elf64_Shdr));
    if (!at || e->head.e_shoff > e->bytes) return 0;
    memcpy(out, at, sizeof *out);
    *data = out->sh_type == SHT_NOBITS ? e->image : elf_inside(e, out->sh_offset, out->sh_size);
    return *data != NULL;
}

/* The 0-ended text at `at` of a string section; "" if there is none. */
const char *elf_text(const unsigned char *data, size_t bytes, size_t at) {
    return at < bytes && memchr(data + at, 0, bytes - at) ? (const char *)data + at : "";
}

/* Finds the section called `name`. */
int elf_named(const struct elf *e, const char *name, Elf64_Shdr *out, const unsigned char **data) {
    Elf64_Shdr names;
    const unsigned char *text;
    if (!elf_section(e, e->head.e_shstrndx, &names, &text)) return 0;
    for (int i = 1; i < e->head.e_shnum; i++)
        if (elf_section(e, i, out, data) &&
            !strcmp(elf_text(text, names.sh_size, out->sh_name), name))
            return 1;
    return 0;
}

/* Begins to read an image; 0: it is no ELF file of 64 bits. */
int elf_open(struct elf *e, const void *image, size_t bytes) {
    *e = (struct elf){.image = image, .bytes = bytes};
    if (bytes < sizeof e->head) return 0;
    memcpy(&e->head, image, sizeof e->head);
    return !memcmp(e->head.e_ident, ELFMAG, SELFMAG) && e->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           e->head.e_shentsize == sizeof(Elf64_Shdr);
}

int elf_is_whole(const void *image, size_t bytes) {
    struct elf e;
    if (!elf_open(&e, image, bytes) || e.head.e_phoff > bytes ||
        !elf_inside(&e, e.head.e_phoff, (size_t)e.head.e_phnum * e.head.e_phentsize))
        return 0;
    Elf64_Shdr header;
    const unsigned char *data;
    for (int i = 0; i < e.head.e_shnum; i++)
        if (!elf_section(&e, i, &header, &data)) return 0;
    return 1;
}
