/* Drawing the line of progress. */
#include "common/cli/progress.h"
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *p, const char *what, int quiet) {
    *p = (struct progress){.shown = !quiet && isatty(STDERR_FILENO), .last = -1, .what = what};
}

void progress_step(struct progress *p, int step, int steps, double seconds) {
    if (!p->shown || (p->last >= 0 && seconds - p->last < 0.1 && step < steps)) return;
    p->last = seconds;
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i * (long)steps < (long)step * WIDTH ? '#' : '.';
    bar[WIDTH] = 0;
    double left = step ? seconds / step * (steps - step) : 0;
    fprintf(stderr, "\r%s [%s] step %d of %d, %.1f s, %.0f s left \033[K", p->what, bar, step,
            steps, seconds, left);
    fflush(stderr);
}

void progress_end(struct progress *p) {
    if (p->shown && p->last >= 0) fprintf(stderr, "\r\033[K");
    p->shown = 0;
}
