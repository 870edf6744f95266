/* Counters of kernels and of their instructions. */
#include "counters.h"
#include <algorithm>
#include <map>

copy_counters copied;
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
    few<64> sectors, lines;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            for (u64 x = at[l] >> 5; x <= (at[l] + bytes - 1) >> 5; x++) sectors.add(x);
    for (size_t i = 0; i < sectors.count; i++) lines.add(sectors.number[i] >> 2);
    site_counters &t = k->site[(size_t)s->number];
    const u64 lanes = (u64)__builtin_popcount(mask);
    t.requests++;
    t.lanes += lanes;
    t.sectors += sectors.count;
    t.lines += lines.count;
    t.least_sectors += (lanes * bytes + 31) / 32;
}

/* A wavefront serves each of 32 banks of 4 bytes once; 8 bytes a lane go by half warps, 16 by
 * quarters. Lanes that want the same word share it. */
void count_shared(kernel_counters *k, u32 mask, const u64 *at, const site *s) {
    const u64 bytes = (u64)s->bytes * (u64)s->count;
    const int part = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    site_counters &t = k->site[(size_t)s->number];
    t.requests++;
    t.lanes += (u64)__builtin_popcount(mask);
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

static std::map<std::string, long> calls;
void count_call(const char *name) { calls[name]++; }

static double over(u64 a, u64 b) { return b ? (double)a / (double)b : 0; }

static void add(site_counters &sum, const site_counters &s) {
    sum.requests += s.requests;
    sum.lanes += s.lanes;
    sum.sectors += s.sectors;
    sum.least_sectors += s.least_sectors;
    sum.lines += s.lines;
    sum.waves += s.waves;
    sum.least_waves += s.least_waves;
}

/* One kernel as a line of NAME=FIGURE; suite/bench/kernels_counted.py reads them. */
static void report_kernel(FILE *f, const kernel_counters *k) {
    const kernel_info *i = k->info;
    u64 all = 0, lanes = 0, mix[MIX] = {0}, diverged = 0, branches = 0;
    for (size_t b = 0; b < (size_t)i->blocks; b++) {
        all += k->runs[b] * (u64)i->mix[b][0];
        lanes += k->lanes[b] * (u64)i->mix[b][0];
        for (int x = 0; x < MIX; x++) mix[x] += k->lanes[b] * (u64)i->mix[b][x];
        diverged += k->diverged[b];
        branches += k->runs[b] * (i->mix[b][7] > 0);
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
        {"items", k->items},
        {"groups_at_a_time", groups_per_processor(i, k->items, 0)},
        {"launches", (double)k->launches},
        {"groups", (double)k->groups},
        {"threads", (double)k->threads},
        {"warp_instructions", (double)all},
        {"lanes", over(lanes, all)},
        {"branches", (double)branches},
        {"diverged", (double)diverged},
        {"barriers", (double)k->barriers},
        {"fp64", (double)(mix[1] + mix[2] + mix[3] + mix[4])},
        {"fma64", (double)mix[1]},
        {"fp32", (double)mix[5]},
        {"integer", (double)mix[6]},
        {"control", (double)mix[7]},
        {"moves", (double)mix[8]},
        {"conversions", (double)mix[11]},
        {"load_requests", (double)load.requests},
        {"load_sectors", (double)load.sectors},
        {"load_least", (double)load.least_sectors},
        {"store_requests", (double)store.requests},
        {"store_sectors", (double)store.sectors},
        {"store_least", (double)store.least_sectors},
        {"read_by_group", (double)k->read_by_group},
        {"read_once", (double)k->read_once},
        {"written_by_group", (double)k->written_by_group},
        {"written_once", (double)k->written_once},
        {"shared_requests", (double)shared.requests},
        {"shared_waves", (double)shared.waves},
        {"shared_least", (double)shared.least_waves},
        {"host_seconds", k->seconds},
    };
    for (auto &x : figures) fprintf(f, " %s=%.12g", x.first, x.second);
    fprintf(f, "\n");
}

/* The instructions that take most beyond what they would with their lanes side by side */
static void report_sites(FILE *f, const kernel_counters *k) {
    std::vector<std::pair<u64, size_t>> worst;
    for (size_t x = 0; x < (size_t)k->info->sites; x++) {
        const site_counters &s = k->site[x];
        const u64 excess = (s.sectors > s.least_sectors ? s.sectors - s.least_sectors : 0) +
                           s.waves - s.least_waves;
        if (excess) worst.push_back({excess, x});
    }
    std::sort(worst.rbegin(), worst.rend());
    for (size_t n = 0; n < worst.size() && n < 8; n++) {
        const site_counters &s = k->site[worst[n].second];
        fprintf(f,
                "site %s excess=%llu requests=%llu lanes=%.2f sectors=%.2f/%.2f lines=%.2f "
                "waves=%.2f/%.2f %s\n",
                k->name.c_str(), (unsigned long long)worst[n].first, (unsigned long long)s.requests,
                over(s.lanes, s.requests), over(s.sectors, s.requests),
                over(s.least_sectors, s.requests), over(s.lines, s.requests),
                over(s.waves, s.requests), over(s.least_waves, s.requests),
                k->info->site_text[worst[n].second]);
    }
}

void counters_report(const char *file) {
    FILE *f = fopen(file, "w");
    if (!f) return;
    fprintf(f, "calls");
    for (auto &c : calls) fprintf(f, " %s=%ld", c.first.c_str(), c.second);
    fprintf(f,
            "\ncopies in=%llu out=%llu within=%llu peer=%llu unwritten_out=%llu prefetches=%llu "
            "prefetches_outside=%llu\n",
            (unsigned long long)copied.in, (unsigned long long)copied.out,
            (unsigned long long)copied.within, (unsigned long long)copied.peer,
            (unsigned long long)copied.unwritten_out, (unsigned long long)copied.prefetches,
            (unsigned long long)copied.prefetches_outside);
    for (auto &k : kernels)
        if (k.second->launches) report_kernel(f, k.second);
    for (auto &k : kernels) report_sites(f, k.second);
    fclose(f);
}
