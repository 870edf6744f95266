/* WAV: a RIFF file of three chunks. */
#include "tdbem/files/wav.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

static void put(FILE *out, const char *name, const uint32_t *number, const int *bytes, int count) {
    fwrite(name, 1, strlen(name), out);
    for (int n = 0; n < count; n++)
        for (int i = 0; i < bytes[n]; i++) fputc((int)(number[n] >> 8 * i & 255), out);
}

void wav_write(FILE *out, double rate, int channels, size_t samples, const double *value,
               size_t stride, size_t step) {
    const uint32_t hertz = (uint32_t)rate, block = 4 * (uint32_t)channels;
    const uint32_t data = (uint32_t)samples * block;
    put(out, "RIFF", (uint32_t[]){4 + 26 + 12 + 8 + data}, (int[]){4}, 1);
    put(out, "WAVEfmt ",
        (uint32_t[]){18, 3, (uint32_t)channels, hertz, hertz * block, block, 32, 0},
        (int[]){4, 2, 2, 4, 4, 2, 2, 2}, 8);
    put(out, "fact", (uint32_t[]){4, (uint32_t)samples}, (int[]){4, 4}, 2);
    put(out, "data", &data, (int[]){4}, 1);
    for (size_t i = 0; i < samples; i++)
        for (int c = 0; c < channels; c++) {
            const double v = value[i * stride + (size_t)c * step];
            const float f = isnan(v) ? 0 : (float)v;
            uint32_t bits;
            memcpy(&bits, &f, sizeof bits);
            put(out, "", &bits, (int[]){4}, 1);
        }
}
