/* Kernels of loops as a device compiles them: the line that says so comes while one is compiled,
 * and once; and kernels of the program are compiled while another one is. */
#include "cu/internal.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) break;                                                                      \
        printf("%d: %s\n", __LINE__, #condition);                                                  \
        exit(1);                                                                                   \
    } while (0)

enum { PATIENCE_S = 30 };

static int from_stderr, cores = 1;
static char line[400];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int begun, refused; /* compilations of kernels "beside .." */

int evn_machine_cores(const evn_machine *machine) {
    (void)machine;
    return cores;
}

evn_status evn_machine_keep_to(const evn_machine *machine) {
    (void)machine;
    return EVN_SYSTEM; /* as where the system refuses it: helpers work all the same */
}

evn_status evn_fail(evn_status status, const char *format, ...) {
    (void)format;
    return status;
}

/* Is not done before somebody has said that kernels are compiled. */
static void compile_slowly(void) {
    size_t length = 0;
    while (length < sizeof line - 1 && read(from_stderr, line + length, 1) == 1)
        if (line[length++] == '\n') break;
    line[length] = 0;
}

/* Is not done before as many compilations have begun as there are cores. */
static evn_status compile_beside_others(void) {
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&lock);
    begun++;
    pthread_cond_broadcast(&change);
    while (begun < cores && !code) code = pthread_cond_timedwait(&change, &lock, &until);
    pthread_mutex_unlock(&lock);
    return code ? EVN_SYSTEM : EVN_OK;
}

/* A device's compiler. */
evn_status evn_kernel_get(evn_device *device, const evn_kernel_source *source, const char *name,
                          evn_kernel **out) {
    (void)device, (void)out;
    CHECK(!strcmp(name, "evn_loop") && !strncmp(source->text, "dialect ", 8));
    const char *text = source->text + 8;
    if (!strcmp(text, "slow")) compile_slowly();
    if (!strncmp(text, "beside", 6)) return compile_beside_others();
    if (strcmp(text, "wrong")) return EVN_OK;
    refused++;
    return EVN_SYSTEM;
}

static void test_line(void) {
    static evn_cu_kernel quick, slow, after;
    evn_machine *const machine = (evn_machine *)line;
    evn_kernel *out;
    int ends[2];
    quick = (evn_cu_kernel){.file = "zones.c", .line = 48, .dialect = "dialect ", .text = "quick"};
    slow = after = quick;
    slow.text = "slow";
    CHECK(!pipe(ends));
    const int before = dup(2);
    from_stderr = ends[0];
    dup2(ends[1], 2);
    CHECK(!cu_kernel_get(&quick, NULL, 0, machine, &out));
    CHECK(!cu_kernel_get(&slow, NULL, 0, machine, &out));
    CHECK(!cu_kernel_get(&after, NULL, 0, machine, &out));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    char rest;
    const int more = read(ends[0], &rest, 1) == 1;
    dup2(before, 2);
    CHECK(!more);
    CHECK(!strcmp(line, "evener: kernels of loops are compiled for the device, now that of "
                        "zones.c:48; later runs find them in the cache\n"));
}

/* The first is wanted, the others come with it; a copy of one is not compiled twice, and one that
 * cannot be compiled is a failure when it is wanted, and no other time. */
static void test_side_by_side(void) {
    static const char *const text[] = {"beside 1", "beside 2", "beside 2", "wrong", "beside 3"};
    enum { KERNELS = sizeof text / sizeof *text };
    static evn_cu_kernel kernel[KERNELS];
    evn_kernel *out;
    cores = 3;
    for (int i = 0; i < KERNELS; i++) {
        kernel[i] =
            (evn_cu_kernel){.file = "zones.c", .line = i, .dialect = "dialect ", .text = text[i]};
        evn_cu_kernel_announce(&kernel[i]);
    }
    evn_machine *const machine = (evn_machine *)line;
    CHECK(!cu_kernel_get(&kernel[1], NULL, 0, machine, &out));
    CHECK(begun == 3 && refused <= 1);
    CHECK(cu_kernel_get(&kernel[3], NULL, 0, machine, &out) == EVN_SYSTEM);
    CHECK(refused <= 2);
    begun = 0;
    CHECK(!cu_kernel_get(&kernel[4], NULL, 1, machine, &out)); /* another device */
    CHECK(begun == 3);
}

int main(void) {
    test_line();
    test_side_by_side();
    return 0;
}
