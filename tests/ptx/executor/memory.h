/* Device memory. Addresses that the program sees are reserved and cannot be touched by the host;
 * the bytes, a state for each byte and a record for each granule of 4 bytes and each sector of 32
 * are elsewhere, at the same distance from their beginning. Beside each buffer is a gap. */
#pragma once

#include "kernel.h"
#include <cstddef>
#include <map>

enum : u8 { BYTE_OUTSIDE = 0, BYTE_UNWRITTEN = 1, BYTE_WRITTEN = 3 };

/* One access of a granule, the last of its kind. An item's number counts over the whole launch. */
struct access {
    u32 operation; /* 0: none yet */
    u32 item;
    u32 epoch; /* barriers that its group had passed */
    u32 syncs; /* barriers that its warp had passed */
    u32 era;   /* releases of its group */
    u32 line;
};
enum : u32 { READ_BY_ITEMS = 1, READ_BY_GROUPS = 2, READ_BY_WARPS = 4 };
struct granule {
    access write, read;
    u32 readers;   /* more than one: READ_BY_.. */
    u32 constant;  /* operation that has read all of it by ld.global.nc */
    u32 is_atomic; /* the write was */
};

/* Operation and group that were the last to read and write it: for counting each sector once. */
struct sector {
    u32 read_operation, write_operation, read_group, write_group;
};

struct allocation {
    u64 bytes;
    int device;
    bool is_freed;
};

extern std::map<u64, allocation> allocations; /* by address; freed ones stay */

void memory_open();
u64 memory_allocate(u64 bytes, int device); /* 0: no addresses are left */
void memory_free(u64 address);
u64 memory_used(int device);
bool is_device_memory(u64 address);
const allocation *allocation_around(u64 address, u64 bytes); /* NULL: not inside of one */
u64 offset_in_buffer(u64 address);

u8 *bytes_at(u64 address);
u8 *states_at(u64 address); /* BYTE_.. */
granule *granule_at(u64 address);
sector *sector_at(u64 address);
