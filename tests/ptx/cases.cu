/* Kernels of the executor's self-test (test_executor.py): some right, each of the others wrong in
 * one way. What has no name in all compilers is PTX in asm. */
#define KERNEL(items) extern "C" __global__ void __launch_bounds__(items)
#define ITEM ((int)threadIdx.x)
#define GROUP ((int)blockIdx.x)

/* ---- memory and barriers ---- */

KERNEL(128) good(double *x, int n) {
    __shared__ double s[128];
    int at = GROUP * 128 + ITEM;
    s[ITEM] = at < n ? x[at] : 0;
    __syncthreads();
    if (at < n) x[at] = s[127 - ITEM];
}
KERNEL(128) no_barrier(double *x, int n) {
    __shared__ double s[128];
    s[ITEM] = x[ITEM];
    x[ITEM] = s[127 - ITEM];
}
KERNEL(128) outside(double *x, int n) {
    if (ITEM == 5) x[n + 3] = 1;
}
KERNEL(128) skewed(double *x, int n) {
    if (ITEM == 5) *(double *)((char *)x + 4) = 1;
}
KERNEL(128) unwritten(double *x, int n) {
    __shared__ double s[128];
    if (ITEM) s[ITEM] = x[ITEM];
    __syncthreads();
    x[ITEM] = s[0];
}
KERNEL(128) groups(double *x, int n) { x[ITEM] = GROUP; }
KERNEL(128) others_read(double *x, int n) {
    double a = x[(GROUP * 128 + ITEM + 128) % n];
    x[GROUP * 128 + ITEM] = a;
}
KERNEL(128) diverged(double *x, int n) {
    if (x[ITEM] > 0)
        __syncthreads();
    else
        x[ITEM] = 2;
}
KERNEL(128) constant(const double *__restrict__ x, double *__restrict__ y, int n) {
    double a = x[ITEM];
    y[(ITEM + 1) % 128] = a + 1;
}
/* within a warp, with a barrier of the warp and without */
KERNEL(128) warp_good(double *x, int n) {
    __shared__ double s[128];
    s[ITEM] = x[ITEM];
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    double a = s[ITEM ^ 1];
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    s[ITEM] = a;
    x[ITEM] = s[ITEM];
}
KERNEL(128) warp_race(double *x, int n) {
    __shared__ double s[128];
    s[ITEM] = x[ITEM];
    asm volatile("" ::: "memory");
    x[ITEM] = s[ITEM ^ 1];
}

/* ---- atomic operations: each word of x is changed by all items of 8 groups ---- */

#define RED(operation, type, at, value, letter)                                                    \
    asm volatile("red.global." operation "." type " [%0], %1;" ::"l"(at), letter(value) : "memory")
KERNEL(128) atomics(double *x, int n) {
    int *i = (int *)(x + 1), item = GROUP * 128 + ITEM, a = (item * 7919) % 1021 - 500;
    RED("add", "f64", x, (double)a, "d");
    RED("add", "u32", i, a, "r");
    RED("min", "s32", i + 1, a, "r");
    RED("max", "s32", i + 2, a, "r");
    RED("max", "u32", i + 3, a, "r");
    RED("and", "b32", i + 4, ~(1 << item % 7), "r");
    RED("or", "b32", i + 5, 1 << item % 11, "r");
    RED("xor", "b32", i + 6, a, "r");
    RED("inc", "u32", i + 7, 99, "r");
    RED("dec", "u32", i + 8, 99, "r");
    RED("add", "u64", x + 8, (long long)a << 33, "l");
    RED("min", "u32", i + 9, a, "r");
}
/* each item takes another ticket; the last one adds what is there */
KERNEL(128) tickets(double *x, int n) {
    unsigned ticket;
    unsigned long long was;
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(x) : "memory");
    if (ticket < 1000) x[1 + ticket] = ticket;
    asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(was)
                 : "l"(x + 1020), "l"((long long)7), "l"((long long)ticket)
                 : "memory");
    if (was == 7) x[1021] = ticket;
}
KERNEL(128) atomic_shared(double *x, int n) {
    __shared__ unsigned sum;
    if (ITEM == 0) sum = 0;
    __syncthreads();
    unsigned at, old;
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(at) : "l"(&sum));
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(ITEM) : "memory");
    __syncthreads();
    x[ITEM] = sum;
}
KERNEL(128) atomic_mixed(double *x, int n) {
    if (ITEM == 64) *(int *)x = 3;
    RED("add", "u32", x, 1, "r");
}

/* ---- shuffles and votes ---- */

#define SHUFFLE(mode, to, in, a, b, c, members)                                                    \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, %5; selp.u32 %1, 1, 0, p; }"   \
                 : "=r"(to), "=r"(in)                                                               \
                 : "r"(a), "r"(b), "r"(c), "r"(members))
KERNEL(32) shuffles(double *x, int n) {
    int *i = (int *)x + 2 * ITEM, to, in;
    const int full = -1;
    SHUFFLE("up", to, in, ITEM, 3, 0, full);
    i[0] = to, i[1] = in;
    SHUFFLE("down", to, in, ITEM, 5, 0x1f, full);
    i[64] = to, i[65] = in;
    SHUFFLE("bfly", to, in, ITEM, 6, 0x1f, full);
    i[128] = to, i[129] = in;
    SHUFFLE("idx", to, in, ITEM, ITEM * 3, 0x181f, full); /* segments of 8 lanes */
    i[192] = to, i[193] = in;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 9; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(to) : "r"(ITEM));
    i[256] = to, i[257] = 0;
    SHUFFLE("up", to, in, ITEM, 3, 0x1800, full); /* in segments of 8, too */
    i[320] = to, i[321] = in;
}
KERNEL(32) shuffle_absent(double *x, int n) {
    int to = 0, in = 0;
    if (ITEM < 16) SHUFFLE("down", to, in, ITEM, 8, 0x1f, 0xffff);
    ((int *)x)[ITEM] = to + in;
    if (ITEM < 16) SHUFFLE("down", to, in, ITEM, 12, 0x1f, -1);
    ((int *)x)[ITEM] = to + in;
}
KERNEL(32) shuffle_outside(double *x, int n) {
    int to = 0, in = 0;
    if (ITEM < 16) SHUFFLE("down", to, in, ITEM, 8, 0x1f, 0xffff);
    ((int *)x)[ITEM] = to + in;
}

/* ---- two dimensions ---- */

KERNEL(128) plane(double *x, int n) {
    int across = (int)blockIdx.x * 16 + (int)threadIdx.x, down = (int)blockIdx.y * 8 + (int)threadIdx.y;
    if ((int)blockDim.x == 16 && (int)blockDim.y == 8 && (int)gridDim.x == 2 && (int)gridDim.y == 4)
        x[down * 32 + across] = across + 100 * down;
}

/* ---- generic addresses: the compiler does not know in which memory */
KERNEL(32) generic(double *x, int n) {
    __shared__ double s[32];
    double own[32];
    for (int i = 0; i < 32; i++) own[i] = i + x[i];
    s[ITEM] = 100 + ITEM;
    __syncthreads();
    double *from = ITEM % 3 == 0 ? x + 64 : ITEM % 3 == 1 ? s : own;
    x[ITEM + 128] = *(volatile double *)(from + (ITEM + n) % 32);
}

/* ---- registers declared by their size alone: the bits of a number, moved, added, converted */
KERNEL(32) sizes(double *x, int n) {
    unsigned long long word, sum, number;
    unsigned half;
    asm volatile("mov.b64 %0, %1;" : "=l"(word) : "d"(x[ITEM]));
    asm volatile("add.f64 %0, %1, %2;" : "=l"(sum) : "l"(word), "d"(x[ITEM + 1]));
    asm volatile("cvt.rn.f64.s32 %0, %1;" : "=l"(number) : "r"(ITEM - n));
    asm volatile("cvt.rn.f32.s32 %0, %1;" : "=r"(half) : "r"(ITEM));
    asm volatile("{ .reg .pred p; setp.lt.f64 p, %1, 0d0000000000000000; selp.f64 %0, %1, %2, p; }" : "=l"(word) : "l"(word), "l"(number));
    unsigned long long *to = (unsigned long long *)x + 128;
    to[ITEM] = sum, to[ITEM + 32] = number, to[ITEM + 64] = word;
    *(unsigned *)(to + ITEM + 96) = half;
}
