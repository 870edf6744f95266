/* What files of kept states have in common. */
#include "common/kept.h"
#include "common/hash.h"
#include "common/message.h"
#include <endian.h>
#include <evener/cluster.h>
#include <stdio.h>
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

/* The command that was given, without the state that it went on from itself. */
static void command(char *text, size_t size) {
    static const char option[] = "--restart";
    const size_t long_ = sizeof option - 1;
    size_t at = 0;
    for (const char *p = command_line; *p;) {
        size_t word = strcspn(p, " ");
        const int is = !strncmp(p, option, long_) && (word == long_ || p[long_] == '=');
        if (is && word == long_ && p[word]) word += 1 + strcspn(p + word + 1, " ");
        if (!is && at < size) at += (size_t)snprintf(text + at, size - at, "%.*s ", (int)word, p);
        p += word;
        p += *p == ' ';
    }
}

evn_status kept_stopped(const char *verb, const char *file) {
    char text[600] = "";
    if (evn_cluster_launched() >= 0) command(text, sizeof text);
    /* a command that is too long for a message is the user's to know */
    if (!*text || strlen(text) == sizeof text - 1)
        return evn_fail(EVN_STOPPED, "%s; %s with --restart %s", evn_message(), verb, file);
    return evn_fail(EVN_STOPPED, "%s; %s with: mpirun .. %s--restart %s", evn_message(), verb, text,
                    file);
}
