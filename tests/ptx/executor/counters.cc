/* Counters of kernels and of their instructions. */
#include "counters.h"
#include <algorithm>
#include <map>

static std::map<std::string, kernel_counters *> kernels;

kernel_counters *counters_of(const std::string &name, const kernel_info *info) {
    kernel_counters *&k = kernels[name];
    if (k) return k;
    k = new kernel_counters{};
    k->name = name;
    k->info = info;
    for (auto list : {&k->runs, &k->lanes, &k->diverged}) list->resize((size_t)info->blocks + 1);
    k->site.resize((size_t)info->sites + 1);
    return k;
}

template <size_t n> struct few { /* different numbers, few of them */
    u64 number[n];
    size_t count = 0;
    void add(u64 x) {
        if (std::find(number, number + count, x) == number + count && count < n)
            number[count++] = x;
    }
};

void count_global(kernel_counters *k, u32 mask, const u64 *at, const site *s) {
    const u64 bytes = (u64)s->bytes * (u64)s->count;
    few<64> sectors;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            for (u64 x = at[l] >> 5; x <= (at[l] + bytes - 1) >> 5; x++) sectors.add(x);
    site_counters &t = k->site[(size_t)s->number];
    t.requests++;
    t.sectors += sectors.count;
}

/* A wavefront serves each of 32 banks of 4 bytes once; 8 bytes a lane go by half warps, 16 by
 * quarters. Lanes that want the same word share it. */
void count_shared(kernel_counters *k, u32 mask, const u64 *at, const site *s) {
    const u64 bytes = (u64)s->bytes * (u64)s->count;
    const int part = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    site_counters &t = k->site[(size_t)s->number];
    t.requests++;
    for (int first = 0; first < LANES; first += part) {
        few<32> bank[32];
        size_t most = 0;
        for (int l = first; l < first + part; l++)
            if (mask >> l & 1)
                for (u64 x = at[l] >> 2; x <= (at[l] + bytes - 1) >> 2; x++) {
                    bank[x & 31].add(x);
                    most = std::max(most, bank[x & 31].count);
                }
        t.waves += most;
        t.least_waves += most > 0;
    }
}

/* What a multiprocessor of compute capability 9.0 has */
enum { WARPS = 64, GROUPS = 32, REGISTERS = 65536, SHARED = 233472, SHARED_OF_SYSTEM = 1024 };

int registers_of_group(const kernel_info *k, int items) {
    const int of_warp = (k->registers * LANES + 255) / 256 * 256;
    return of_warp * ((items + LANES - 1) / LANES);
}

int groups_per_processor(const kernel_info *k, int items, size_t more_shared) {
    const int warps = (items + LANES - 1) / LANES;
    int n = std::min<int>(GROUPS, WARPS / warps);
    n = std::min(n, REGISTERS / std::max(1, registers_of_group(k, items)));
    return std::min(n, SHARED / (k->shared_bytes + (int)more_shared + SHARED_OF_SYSTEM));
}

/* ---- the report ---- */

static void add(site_counters &sum, const site_counters &s) {
    sum.requests += s.requests;
    sum.sectors += s.sectors;
    sum.waves += s.waves;
    sum.least_waves += s.least_waves;
}

/* One kernel as a line of NAME=FIGURE; suite/bench/kernels_counted.py reads them. */
static void report_kernel(FILE *f, const kernel_counters *k) {
    const kernel_info *i = k->info;
    u64 all = 0, mix[MIX] = {0}, diverged = 0;
    for (size_t b = 0; b < (size_t)i->blocks; b++) {
        all += k->runs[b] * (u64)i->mix[b][0];
        for (int x = 0; x < MIX; x++) mix[x] += k->lanes[b] * (u64)i->mix[b][x];
        diverged += k->diverged[b];
    }
    site_counters load{}, store{}, shared{};
    for (size_t x = 0; x < (size_t)i->sites; x++) {
        const std::string text = i->site_text[x];
        const bool is_load = text.find("ld.") != std::string::npos;
        add(text.find(".shared") != std::string::npos ? shared
            : is_load                                 ? load
                                                      : store,
            k->site[x]);
    }
    fprintf(f, "kernel %s", k->name.c_str());
    const std::pair<const char *, double> figures[] = {
        {"registers", i->registers},
        {"shared_bytes", i->shared_bytes},
        {"groups_at_a_time", groups_per_processor(i, k->items, 0)},
        {"launches", (double)k->launches},
        {"warp_instructions", (double)all},
        {"diverged", (double)diverged},
        {"fp64", (double)(mix[1] + mix[2] + mix[3] + mix[4])},
        {"integer", (double)mix[6]},
        {"load_requests", (double)load.requests},
        {"load_sectors", (double)load.sectors},
        {"store_requests", (double)store.requests},
        {"store_sectors", (double)store.sectors},
        {"read_by_group", (double)k->read_by_group},
        {"read_once", (double)k->read_once},
        {"written_once", (double)k->written_once},
        {"shared_requests", (double)shared.requests},
        {"shared_waves", (double)shared.waves},
        {"shared_least", (double)shared.least_waves},
    };
    for (auto &x : figures) fprintf(f, " %s=%.12g", x.first, x.second);
    fprintf(f, "\n");
}

void counters_report(const char *file) {
    FILE *f = fopen(file, "w");
    if (!f) return;
    for (auto &k : kernels)
        if (k.second->launches) report_kernel(f, k.second);
    fclose(f);
}
