/* Resources of the kernels of BT, SP, LU, FT and of TD-BEM's summation (8 steps at a time) on a
 * GPU, as NVRTC compiles them; no GPU is needed.
 *
 * A line is a kernel on an architecture: registers and spilled bytes of an item, memory of a group,
 * groups and warps that a multiprocessor has at a time (tests/device/occupancy.h), and what the
 * machine code consists of: instructions, of these double precision, loads and stores of device
 * memory, of the group's memory, selects, barriers; and how often a warp must wait for what it has
 * loaded from device memory if it runs through the text once, from beginning to end. Loads that
 * are waited for together are one wait; loops count once.
 *
 * How an instruction of 16 bytes is read: its operation is in the low 9 bits; six marks (bits 110
 * to 112, 7: none) say which counter a load will count down, and bits 116 to 121 on which counters
 * an instruction waits. That is not documented; tests on small kernels show it.
 *
 * Run: bench-kernels [hip] [NAME ..], part of a kernel's name; EVENER_NVRTC names the library. With
 * hip first: what AMD's HIPRTC (EVENER_HIPRTC) makes for gfx906 and gfx90a, from the metadata of
 * its code objects: vector and scalar registers, bytes that an item spills and has of its own,
 * group memory, groups that a compute unit's 64 KiB leave room for, and the share of wavefronts'
 * lanes that have an item. */
#include "device/cuda/nvrtc.h"
#include "device/hip/hiprtc.h"
#include "device/occupancy.h"
#include <elf.h>
#include <evener/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source ft_kernels, bt_kernels, sp_kernels, lu_kernels, lu_resident_kernels,
    summation_float_8_kernels, summation_double_8_kernels;
static const evn_kernel_source *const sources[] = {&ft_kernels,
                                                   &bt_kernels,
                                                   &sp_kernels,
                                                   &lu_kernels,
                                                   &lu_resident_kernels,
                                                   &summation_float_8_kernels,
                                                   &summation_double_8_kernels};
static const int architectures[] = {80, 90, 100};
enum { SOURCES = 6, ARCHITECTURES = 3, MARKS = 6 };

struct code {
    int all, real, load, store, local, select, barrier, waits, cycles;
};

enum {
    SEL = 0x007,
    FSEL = 0x008,
    DMUL = 0x028,
    DADD = 0x029,
    DSETP = 0x02a,
    DFMA = 0x02b,
    LDG = 0x181,
    LDS = 0x184,
    STG = 0x186,
    STS = 0x188,
    BAR = 0x11d,
    NOP = 0x118
};

static void count_one(struct code *c, const unsigned long long word[2], int *pending) {
    const int operation = (int)(word[0] & 0x1ff), mark = (int)(word[1] >> 46 & 7);
    const int awaited = (int)(word[1] >> 52 & 63);
    if (operation == NOP) return;
    c->all++;
    c->real += operation >= DMUL && operation <= DFMA;
    c->load += operation == LDG;
    c->store += operation == STG;
    c->local += operation == LDS || operation == STS;
    c->select += operation == SEL || operation == FSEL;
    c->barrier += operation == BAR;
    c->waits += (*pending & awaited) != 0;
    *pending &= ~awaited;
    c->cycles += (int)(word[1] >> 41 & 15);
    if (operation == LDG && mark < MARKS) *pending |= 1 << mark;
}

/* The machine code of `kernel` in the cubin of rtc_compile(), which is not damaged. */
static struct code count(const struct rtc_program *p, const char *kernel) {
    const unsigned char *image = p->image;
    struct code c = {0};
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    char section[128];
    int pending = 0;
    snprintf(section, sizeof section, ".text.%s", kernel);
    memcpy(&head, image, sizeof head);
    memcpy(&names, image + head.e_shoff + (size_t)head.e_shstrndx * sizeof names, sizeof names);
    for (int i = 0; i < head.e_shnum; i++) {
        memcpy(&s, image + head.e_shoff + (size_t)i * sizeof s, sizeof s);
        if (strcmp((const char *)image + names.sh_offset + s.sh_name, section)) continue;
        for (size_t at = 0; at + 16 <= s.sh_size; at += 16) {
            unsigned long long word[2];
            memcpy(word, image + s.sh_offset + at, sizeof word);
            count_one(&c, word, &pending);
        }
    }
    return c;
}

static int is_wanted(const char *kernel, int names, char **name) {
    int wanted = names == 0;
    for (int i = 0; i < names; i++) wanted |= strstr(kernel, name[i]) != NULL;
    return wanted;
}

static void print(const evn_kernel_source *source, int architecture, const struct rtc_program *p,
                  const struct rtc_kernel *k) {
    int items = 0;
    for (const evn_kernel_entry *e = source->entry; e->name; e++)
        if (!strcmp(e->name, k->name)) items = e->items;
    const int groups = groups_at_a_time(architecture, items, k->registers, k->group_bytes);
    const struct code c = count(p, k->name);
    printf("%-12s %3d %5d %5d %5d %6d %4d %4d  %5d %5d %4d %4d %4d %4d %4d %5d %6d  %s\n", k->name,
           architecture, items, k->registers, k->spill_bytes, k->group_bytes, groups,
           groups * ((items + 31) / 32), c.all, c.real, c.load, c.store, c.local, c.select,
           c.barrier, c.waits, c.cycles, source->name);
}

/* ---- AMD's ---- */

enum { UNIT_LOCAL_BYTES = 65536 };

static void print_hip(const evn_kernel_source *source, const char *target,
                      const struct rtc_kernel *k) {
    int items = 0;
    for (const evn_kernel_entry *e = source->entry; e->name; e++)
        if (!strcmp(e->name, k->name)) items = e->items;
    const int waves = (items + k->wavefront - 1) / k->wavefront;
    char groups[16] = "any";
    if (k->group_bytes > 0)
        snprintf(groups, sizeof groups, "%d", UNIT_LOCAL_BYTES / k->group_bytes);
    printf("%-14s %-7s %5d %6d %6d %5d %5d %6d %6s  %3d %%  %s\n", k->name, target, items,
           k->registers, k->scalar_registers, k->spill_bytes, k->local_bytes, k->group_bytes,
           groups, 100 * items / (waves * k->wavefront), source->name);
}

static int table_hip(int names, char **name) {
    static const char *const targets[] = {"gfx906", "gfx90a"};
    struct rtc *compiler;
    if (hiprtc_open(&compiler, 0, NULL)) {
        printf("skipped: %s\n", evn_message());
        return 77;
    }
    printf("kernel         target  items vector scalar spill   own  group groups  lanes  of\n");
    for (int s = 0; s < SOURCES; s++)
        for (int t = 0; t < 2; t++) {
            struct rtc_program p;
            int wanted = 0;
            for (const evn_kernel_entry *e = sources[s]->entry; e->name; e++)
                wanted |= is_wanted(e->name, names, name);
            if (!wanted) continue;
            if (rtc_compile(compiler, &p, sources[s]->name, sources[s]->text, targets[t],
                            sources[s]->defines, sources[s]->contract) ||
                hiprtc_measure(&p)) {
                fprintf(stderr, "bench-kernels: %s\n", evn_message());
                return 1;
            }
            for (int k = 0; k < p.kernels; k++)
                if (is_wanted(p.kernel[k].name, names, name))
                    print_hip(sources[s], targets[t], &p.kernel[k]);
            rtc_program_close(&p);
        }
    rtc_close(compiler);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "hip")) return table_hip(argc - 2, argv + 2);
    struct rtc *compiler;
    if (nvrtc_open(&compiler, 0)) {
        printf("skipped: %s\n", evn_message());
        return 77;
    }
    printf(
        "kernel       arch items  regs spill  group  at a time   code  real load store local sel  "
        "bar waits cycles  of\n");
    for (int s = 0; s < SOURCES; s++)
        for (int a = 0; a < ARCHITECTURES; a++) {
            int wanted = 0;
            for (const evn_kernel_entry *e = sources[s]->entry; e->name; e++)
                wanted |= is_wanted(e->name, argc - 1, argv + 1);
            char target[32];
            struct rtc_program p;
            if (!wanted || nvrtc_target(compiler, architectures[a], target)) continue;
            if (strncmp(target, "sm_", 3)) continue; /* no machine code */
            if (rtc_compile(compiler, &p, sources[s]->name, sources[s]->text, target,
                            sources[s]->defines, sources[s]->contract) ||
                nvrtc_measure(&p)) {
                fprintf(stderr, "bench-kernels: %s\n", evn_message());
                return 1;
            }
            for (int k = 0; k < p.kernels; k++)
                if (is_wanted(p.kernel[k].name, argc - 1, argv + 1))
                    print(sources[s], architectures[a], &p, &p.kernel[k]);
            rtc_program_close(&p);
        }
    rtc_close(compiler);
    return 0;
}
