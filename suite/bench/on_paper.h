/* What a call over ranks sends through the control tree (src/ranks/cluster/tree.h), on paper: each
 * rank but the first sends one record up, its own and those behind it, and gets one down. The
 * test `ranks` counts the same in runs. */
#pragma once

/* Bytes: of a message, its record's length in front of the first; of a rank's record, and of the
 * answer, without data; of what a loop answers; of a task's time on its way up; of its owner on its
 * way down. */
enum { PAPER_PIECE = 16 << 10, PAPER_LENGTH = 8, PAPER_UP = 65, PAPER_DOWN = 12 };
enum { PAPER_DECISION = 28, PAPER_TIME = 16, PAPER_OWNER = 4 };

/* Seconds that rank 0 works for each rank's record, some 250 instructions (callgrind, 4 and 16
 * ranks), and in a lesson for each task (bench-settle). */
#define PAPER_RECORD_S 8e-8
#define PAPER_TASK_S   1.5e-7

/* A call: the bytes that each rank says, and those of the answer. */
struct on_paper {
    double ranks, says, answer;
};

static inline double paper_messages(double bytes) {
    const double rest = bytes + PAPER_LENGTH - PAPER_PIECE;
    return 1 + (rest > 0 ? (double)(long long)((rest + PAPER_PIECE - 1) / PAPER_PIECE) : 0);
}

struct paper_sum {
    double messages, bytes;
};

static inline void paper_add(struct paper_sum *sum, double bytes) {
    sum->messages += paper_messages(bytes);
    sum->bytes += PAPER_LENGTH + bytes;
}

/* What rank `rank` sends: its record with those of the ranks behind it, and the answer to each
 * child. */
static inline struct paper_sum paper_sends(const struct on_paper *p, long rank) {
    struct paper_sum sum = {0};
    long step = 1;
    for (; step < p->ranks && rank % (2 * step) == 0; step *= 2)
        if (rank + step < p->ranks) paper_add(&sum, PAPER_DOWN + p->answer);
    const double left = p->ranks - (double)rank, behind = left < (double)step ? left : (double)step;
    if (rank) paper_add(&sum, behind * (PAPER_UP + p->says));
    return sum;
}

/* Seconds of a message and of a byte. */
struct way {
    double latency, per_byte;
};

/* Seconds until rank 0 has all records and all ranks have its answer, each level of the tree after
 * the one before; the messages of one record follow each other at once. */
static inline double paper_seconds(const struct on_paper *p, const struct way *way) {
    const double down = PAPER_DOWN + p->answer;
    double seconds = 0;
    for (double behind = 1; behind < p->ranks; behind *= 2) {
        const double most = p->ranks - behind, records = behind < most ? behind : most;
        const double up = records * (PAPER_UP + p->says);
        seconds += 2 * way->latency + (up + down) * way->per_byte;
    }
    return seconds;
}
