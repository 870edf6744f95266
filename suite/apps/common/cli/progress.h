/* Progress: one line on a terminal, with an estimate of the time left; nothing on a pipe. */
#pragma once

struct progress {
    int shown;   /* standard error is a terminal and not --quiet */
    double last; /* when it was drawn */
    const char *what;
};

void progress_begin(struct progress *p, const char *what, int quiet);
void progress_step(struct progress *p, int step, int steps, double seconds);
void progress_end(struct progress *p);
