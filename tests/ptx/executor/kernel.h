/* Interface between translated kernels (translate/) and the executor: a kernel runs one warp until
 * it ends, reaches a barrier or acquires, and hands every access to memory to the executor, which
 * checks and counts it. C and C++. */
#pragma once

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef __int128 s128;
typedef unsigned __int128 u128;

enum { LANES = 32, DEPTH = 128 };

/* how a warp's turn ended */
enum { TURN_END, TURN_BARRIER, TURN_YIELD };

/* of an instruction that accesses memory */
enum {
    IS_NC = 1, /* ld.global.nc: the kernel does not write there */
    IS_ACQUIRE = 2,
    IS_VOLATILE = 4, /* or relaxed */
    IS_RELEASE = 8,
    IS_SIGNED = 16,
    IS_ATOMIC = 32,
};

/* Windows of generic addresses; everything above is global memory. */
#define SHARED_WINDOW ((u64)1 << 24)
#define LOCAL_WINDOW  ((u64)1 << 25)
#define WINDOW_BYTES  ((u64)1 << 24)

enum atomic_operation {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC,
};
enum value_type { TYPE_U32, TYPE_S32, TYPE_F32, TYPE_U64, TYPE_S64, TYPE_F64 };
enum shuffle_mode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

/* Entry of the stack by which diverged lanes reconverge: lanes of `mask` are at basic block `at`
 * and meet the others at `join`. */
struct entry {
    int at, join;
    u32 mask;
};

struct group;
struct warp {
    struct group *group;
    int number; /* within the group */
    u32 live;   /* lanes that have not ended */
    u32 syncs;  /* barriers among the lanes of this warp */
    int depth;  /* of the stack */
    struct entry stack[DEPTH];
    void *registers;
    u8 *local; /* local_bytes for each lane */
    int local_bytes;
    u32 item[LANES];   /* number within the group, all dimensions counted */
    u32 tid[3][LANES]; /* x, y, z */
    u32 ctaid[3], ntid[3], nctaid[3];
    const u8 *parameters;
    u64 *block_runs, *block_lanes; /* counters by basic block */
    u64 *diverged;                 /* branches, by basic block */
};

/* one instruction that accesses memory */
struct site {
    int number, line, bytes, count, register_bytes, flags;
};

/* Lanes of mask m access at[lane]; to[j] and from[j] are registers of 32 lanes, of each of the
 * site's `count` values; NULL: not wanted. */
struct executor {
    void (*load)(struct warp *, u32 m, const u64 *at, const struct site *, void *const *to);
    void (*store)(struct warp *, u32 m, const u64 *at, const struct site *, void *const *from);
    void (*load_shared)(struct warp *, u32 m, const u64 *at, const struct site *, void *const *to);
    void (*store_shared)(struct warp *, u32 m, const u64 *at, const struct site *,
                         void *const *from);
    void (*load_generic)(struct warp *, u32 m, const u64 *at, const struct site *, void *const *to);
    void (*store_generic)(struct warp *, u32 m, const u64 *at, const struct site *,
                          void *const *from);
    /* Atomic read, change and write; `to`: the value before, or NULL. Operands are bits of the
     * type. */
    void (*atomic)(struct warp *, u32 m, const u64 *at, const struct site *, int is_shared,
                   enum atomic_operation, enum value_type, const u64 *a, const u64 *b, u64 *to);
    void (*prefetch)(struct warp *, u32 m, const u64 *at, const struct site *);
    void (*barrier)(struct warp *, u32 m, int line);
    /* Lanes of m exchange `from`; returns the lanes whose source was in range. */
    u32 (*shuffle)(struct warp *, u32 m, int line, enum shuffle_mode, const u32 *from, const u32 *b,
                   const u32 *c, const u32 *members, u32 *to);
    /* Checks that the lanes that take part in a vote or a barrier of the warp are those named. */
    void (*meet)(struct warp *, u32 m, int line, const char *instruction, const u32 *members);
};

enum { MIX = 12 }; /* kinds of instructions, as translate/flow.py counts them */

struct kernel_info {
    const char *name;
    int (*run)(struct warp *);
    u64 register_bytes;
    int local_bytes, shared_bytes, most_items, parameters, blocks, registers, does_acquire, sites;
    int has_fence; /* of the device: atomic operations order what is around them */
    int parameter_bytes;
    const int *parameter_at, *parameter_size;
    const int (*mix)[MIX]; /* by basic block */
    const char *const *site_text;
};
