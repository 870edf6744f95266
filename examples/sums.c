/* A kernel of one's own on whatever device there is: sums.kernel.c on CUDA, OpenCL or the emulated
 * device, from the same text.
 *
 *     build/examples/sums              the best device there is
 *     build/examples/sums opencl       OpenCL's
 */
#include <evener.h>
#include <evener/device.h>
#include <stdio.h>
#include <stdlib.h>

extern const evn_kernel_source sums_kernels; /* made from sums.kernel.c by evener_kernels() */

enum { N = 1000000, GROUPS = 64 };

static evn_status sum_on(evn_device *device, const double *x, double *sum) {
    evn_queue *queue = NULL;
    evn_kernel *kernel = NULL;
    evn_buffer *values = NULL, *sums = NULL;
    double part[GROUPS];
    const int n = N;
    evn_status status = evn_queue_open(&queue, device);
    if (!status) status = evn_kernel_get(device, &sums_kernels, "partial_sums", &kernel);
    if (!status) status = evn_buffer_open(&values, device, N * sizeof *x);
    if (!status) status = evn_buffer_open(&sums, device, sizeof part);
    if (!status) status = evn_copy_to_device(queue, values, 0, x, N * sizeof *x);
    if (!status) {
        const evn_argument argument[] = {
            {.buffer = values}, {.buffer = sums}, {.value = &n, .bytes = sizeof n}};
        status = evn_launch(queue, kernel, GROUPS, 0, argument, 3);
    }
    if (!status) status = evn_copy_to_host(queue, part, sums, 0, sizeof part);
    if (!status) status = evn_queue_finish(queue);
    *sum = 0;
    for (int g = 0; !status && g < GROUPS; g++) *sum += part[g];
    evn_buffer_close(sums);
    evn_buffer_close(values);
    evn_queue_close(queue);
    return status;
}

int main(int argc, char **argv) {
    double *x = malloc(N * sizeof *x), sum = 0;
    evn_device *device = NULL;
    for (int i = 0; x && i < N; i++) x[i] = i;
    evn_status status = x ? evn_device_open(&device, argc > 1 ? argv[1] : "best", 0) : EVN_MEMORY;
    if (!status) status = sum_on(device, x, &sum);
    if (status)
        fprintf(stderr, "sums: %s\n", evn_message());
    else
        printf("%s: 0 + 1 + .. + %d = %.0f\n", evn_device_traits(device)->name, N - 1, sum);
    evn_device_close(device);
    free(x);
    return status || sum != 0.5 * N * (N - 1.0);
}
