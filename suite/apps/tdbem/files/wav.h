/* Sound in WAV files of 32-bit floats (RIFF, format tag 3), little-endian. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Channels that a file can have; rates are whole numbers up to WAV_RATE, all samples together up to
 * FORMAT_BYTES. */
enum { WAV_CHANNELS = 16383, WAV_RATE = 65536000 };

/* value[i * stride + c * step]: sample i of channel c; NAN is silence. Errors stay the stream's. */
void wav_write(FILE *out, double rate, int channels, size_t samples, const double *value,
               size_t stride, size_t step);
