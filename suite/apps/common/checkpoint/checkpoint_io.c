/* Common parts of checkpoint files. */
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/hash.h"
#include "common/cli/message.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <evener/cluster.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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

int kept_write(int fd, const void *data, size_t bytes, uint64_t at) {
    for (const char *p = data; bytes;) {
        const ssize_t n = pwrite(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

int kept_read(int fd, void *data, size_t bytes, uint64_t at) {
    for (char *p = data; bytes;) {
        const ssize_t n = pread(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

int kept_mark(struct kept_place *place, int fd, uint64_t at) {
    *place = (struct kept_place){.process = getpid(), .descriptor = fd, .at = at};
    if (getrandom(place->word, sizeof place->word, 0) != sizeof place->word)
        place->word[0] = (uint64_t)getpid();
    return kept_write(fd, place->word, sizeof place->word, at);
}

int kept_look(const struct kept_place *place) {
    char path[64];
    uint64_t word[2];
    struct stat is;
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)place->process, place->descriptor);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return -1;
    if (!fstat(fd, &is) && S_ISREG(is.st_mode) && !kept_read(fd, word, sizeof word, place->at) &&
        !memcmp(word, place->word, sizeof word))
        return fd;
    close(fd);
    return -1;
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
    if (evn_cluster_launched(NULL) >= 0) command(text, sizeof text);
    /* a command that is too long for a message is the user's to know */
    if (!*text || strlen(text) == sizeof text - 1)
        return evn_fail(EVN_STOPPED, "%s; %s with --restart %s", evn_message(), verb, file);
    return evn_fail(EVN_STOPPED, "%s; %s with: mpirun .. %s--restart %s", evn_message(), verb, text,
                    file);
}
