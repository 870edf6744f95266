/* Device memory: reserved addresses, and what is known about each byte. */
#include "memory.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sys/mman.h>

static const u64 REGION = 64ull << 30, GAP = 1 << 16, PAGE = 4096;
static u64 base, next_address;
static u8 *bytes, *states;
static granule *granules;
static sector *sectors;
std::map<u64, allocation> allocations;

static void *reserve(u64 size, int protection) {
    void *p = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("ptxrun: address space");
        abort();
    }
    madvise(p, size, MADV_NOHUGEPAGE); /* most of it is never touched */
    return p;
}

void memory_open() {
    base = (u64)reserve(REGION, PROT_NONE);
    bytes = (u8 *)reserve(REGION, PROT_READ | PROT_WRITE);
    states = (u8 *)reserve(REGION, PROT_READ | PROT_WRITE);
    granules = (granule *)reserve(REGION / 4 * sizeof(granule), PROT_READ | PROT_WRITE);
    sectors = (sector *)reserve(REGION / 32 * sizeof(sector), PROT_READ | PROT_WRITE);
    next_address = base + GAP;
}

u8 *bytes_at(u64 address) { return bytes + (address - base); }
u8 *states_at(u64 address) { return states + (address - base); }
granule *granule_at(u64 address) { return granules + ((address - base) >> 2); }
sector *sector_at(u64 address) { return sectors + ((address - base) >> 5); }
bool is_device_memory(u64 address) { return address >= base && address < base + REGION - 64; }

u64 memory_allocate(u64 size, int device) {
    const u64 address = next_address, next = (address + size + GAP + 511) & ~511ull;
    if (next > base + REGION - GAP) return 0;
    next_address = next;
    allocations[address] = {size, device, false};
    memset(states_at(address), BYTE_UNWRITTEN, size);
    memset(bytes_at(address), 0xff, size); /* NaN */
    return address;
}

void memory_free(u64 address) {
    allocation &a = allocations[address];
    a.is_freed = true;
    memset(states_at(address), BYTE_OUTSIDE, a.bytes);
    const u64 from = (address + PAGE - 1) & ~(PAGE - 1), to = (address + a.bytes) & ~(PAGE - 1);
    if (to <= from) return;
    madvise(bytes_at(from), to - from, MADV_DONTNEED);
    static_assert(PAGE / 4 * sizeof(granule) % PAGE == 0,
                  "granules of whole pages are whole pages");
    madvise(granule_at(from), (to - from) / 4 * sizeof(granule), MADV_DONTNEED);
}

u64 memory_used(int device) {
    u64 sum = 0;
    for (auto &a : allocations)
        if (a.second.device == device && !a.second.is_freed) sum += a.second.bytes;
    return sum;
}

const allocation *allocation_around(u64 address, u64 size) {
    auto i = allocations.upper_bound(address);
    if (i == allocations.begin()) return nullptr;
    --i;
    const allocation &a = i->second;
    return !a.is_freed && address + size <= i->first + a.bytes ? &a : nullptr;
}

u64 offset_in_buffer(u64 address) {
    auto i = allocations.upper_bound(address);
    return i == allocations.begin() ? 0 : address - std::prev(i)->first;
}
