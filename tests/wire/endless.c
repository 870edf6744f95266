/* A run of forked ranks for test_death.py: they agree again and again until one of them is told to
 * end, or does what the word says. usage: test-endless RANKS WORD [RANK [STATUS]]
 *
 *     work     until SIGINT or SIGTERM; then 130 from all
 *     plain    without handlers
 *     deaf     all ignore both
 *     leave    RANK calls exit(STATUS) after some rounds, in the middle of everything
 *     every    all of them do
 *     fault    RANK writes to nowhere
 *     busy     the same, and the others wait for nobody and do not end by themselves
 *     broken   RANK cannot agree, and ends the others
 *     return   all come to the end; RANK returns STATUS, the others 0
 *     hang     RANK waits for what never comes, and is told to end */
#include "cluster/cluster.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told;
static int *volatile nowhere;
static void on_signal(int number) { told = number; }

static void listen_to_signals(const char *word) {
    const struct sigaction hear = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    if (!strcmp(word, "plain")) return;
    if (!strcmp(word, "deaf")) {
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        return;
    }
    sigaction(SIGINT, &hear, NULL);
    sigaction(SIGTERM, &hear, NULL);
}

/* What one rank does in the middle of it. */
static void go_wrong(evn_cluster *c, const char *word, int status) {
    if (!strcmp(word, "leave") || !strcmp(word, "every")) exit(status);
    if (!strcmp(word, "fault") || !strcmp(word, "busy")) *nowhere = 1;
    if (!strcmp(word, "broken")) {
        evn_fail(EVN_MEMORY, "channel: no room");
        cluster_abort(c);
    }
    if (!strcmp(word, "hang")) {
        evn_channel *channel;
        const void *data;
        size_t bytes;
        cluster_channel_open(c, &channel, 0, 32000, 0, 8);
        if (cluster_kind(c)->wait(channel, &data, &bytes) == EVN_STOPPED) exit(130);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const char *word = argv[2];
    const int chosen = argc > 3 ? atoi(argv[3]) : -1, status = argc > 4 ? atoi(argv[4]) : 0;
    char how[40];
    evn_cluster *c;
    snprintf(how, sizeof how, "processes:%s", argv[1]);
    if (evn_cluster_open(&c, how)) {
        fprintf(stderr, "evener: %s\n", evn_message());
        return 2;
    }
    listen_to_signals(word);
    evn_cluster_stop_on(c, &told);
    const int me = evn_cluster_rank(c);
    printf("%d", me); /* each has a buffer of its own, and what was in it before is not here */
    fflush(stdout);
    evn_status agreed = EVN_OK;
    for (long round = 0; !agreed; round++) {
        if (round == 50 && me != chosen && !strcmp(word, "busy"))
            for (;;) pause();
        if (round == 50 && (me == chosen || !strcmp(word, "every"))) go_wrong(c, word, status);
        if (round == 50 && !strcmp(word, "return")) break;
        if (round % 100 == 0) usleep(1000);
        agreed = evn_cluster_agree(c, told ? evn_fail(EVN_STOPPED, "told to") : EVN_OK);
    }
    evn_cluster_close(c, agreed);
    if (agreed) return 130;
    return me == chosen ? status : 0;
}
