/* Images of machine code for devices: ELF files of 64 bits in memory. Nothing outside of an image
 * is read, whatever its content. */
#pragma once

#include <elf.h>
#include <stddef.h>

struct elf {
    const unsigned char *image;
    size_t bytes;
    Elf64_Ehdr head;
};

/* Begins to read an image; 0: it is no ELF file of 64 bits. */
int elf_open(struct elf *e, const void *image, size_t bytes);

/* 1 if all that the headers name is inside. */
int elf_is_whole(const void *image, size_t bytes);

/* `bytes` at `at` of the image; NULL if they are not inside. */
const void *elf_inside(const struct elf *e, size_t at, size_t bytes);

/* Section `i`, and its bytes in *data; 0 if it is not inside. */
int elf_section(const struct elf *e, int i, Elf64_Shdr *out, const unsigned char **data);

/* Finds the section called `name`. */
int elf_named(const struct elf *e, const char *name, Elf64_Shdr *out, const unsigned char **data);

/* The 0-ended text at `at` of a string section; "" if there is none. */
const char *elf_text(const unsigned char *data, size_t bytes, size_t at);
