/* Checkpoint identity: workload parameters plus compile options that change rounding. */
#include "common/simd/lanes.h"
#include "common/checkpoint/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Whether the compiler makes one operation of a product and a sum. */
static int contracts(void) {
    volatile double a = 1 + 0x1p-30, c = -(1 + 0x1p-29);
    const double b = a;
    return b * b + c != 0;
}

void states_identify(struct states *s, const char *format, ...) {
    va_list words;
    va_start(words, format);
    vsnprintf(s->identity, sizeof s->identity, format, words);
    va_end(words);
    const size_t length = strlen(s->identity);
    snprintf(s->identity + length, sizeof s->identity - length, " contraction=%d lanes=%d",
             contracts(), LANES);
}
