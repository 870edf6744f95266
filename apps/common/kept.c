/* What files of kept states have in common. */
#include "common/kept.h"
#include "common/hash.h"
#include <endian.h>
#include <string.h>

uint64_t kept_sum(uint64_t sum, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (; bytes >= 8; p += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        sum = hash_word(sum, le64toh(word));
        sum ^= sum >> 32;
    }
    return hash_bytes(sum, p, bytes);
}

evn_status kept_compare(const char *path, const char *there, const char *here) {
    if (!strcmp(there, here)) return EVN_OK;
    while (*there || *here) {
        const size_t a = strcspn(there, " "), b = strcspn(here, " ");
        if (a != b || strncmp(there, here, a) != 0)
            return evn_fail(
                EVN_USAGE, "%s: this checkpoint is of another run: %.*s there and %.*s here", path,
                a ? (int)a : 7, a ? there : "nothing", b ? (int)b : 7, b ? here : "nothing");
        there += a + (there[a] == ' ');
        here += b + (here[b] == ' ');
    }
    return evn_fail(EVN_USAGE, "%s: this checkpoint is of another run", path);
}
