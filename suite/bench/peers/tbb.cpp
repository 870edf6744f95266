/* TBB: parallel_for() in each step. Modes are its partitioners: auto, affinity, simple, static. */
#include "work.h"
#include <cstdio>
#include <cstring>
#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

template <typename Partitioner> static void run(const work &w, Partitioner &&by) {
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) work_begin();
        tbb::parallel_for(
            tbb::blocked_range<int>(0, w.tasks),
            [&w, s](const tbb::blocked_range<int> &some) {
                for (int t = some.begin(); t < some.end(); t++) w.task(&w, s, t);
            },
            by);
    }
    work_end();
}

int main(int argc, char **argv) {
    static work w;
    work_prepare(&w, argc, argv);
    std::unique_ptr<tbb::global_control> limit;
    if (work_threads())
        limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      (std::size_t)work_threads());
    tbb::affinity_partitioner kept;
    if (!std::strcmp(w.mode, "auto"))
        run(w, tbb::auto_partitioner());
    else if (!std::strcmp(w.mode, "affinity"))
        run(w, kept);
    else if (!std::strcmp(w.mode, "simple"))
        run(w, tbb::simple_partitioner());
    else if (!std::strcmp(w.mode, "static"))
        run(w, tbb::static_partitioner());
    else
        return std::fprintf(stderr, "%s: expected auto, affinity, simple or static\n", w.mode), 2;
    work_print(&w);
    return 0;
}
