// Heat in a pipe of 64 blocks of uneven length, as heat.c, in C++17:
//     EVENER_UNITS=1:CPU:1,2:GPU:1 EVENER_DEVICES=emulated EVENER_RECORD=heat.json ./heat
// and over ranks:  EVENER_PROCESSES=2 ./heat   or   mpirun -n 2 ./heat
#include "heat.h"
#include <algorithm>
#include <cstdio>
#include <evener.hpp>

extern "C" const evn_kernel_source heat_kernels; // made from heat.kernel.c by evener_kernels()
constexpr int blocks = 64, steps = 101;

static void move(const double *u, double *v, int rows) {
    for (int at = ROW; at < (rows + 1) * ROW; at++) v[at] = MOVED(u, at);
}

// A row of one task that another one gets, of field f.
static evn_face row_to(int from, int to, int from_at, int to_at, int f) {
    return evn::face({1, 1, ROW}, {from, f, from_at, {0, 0, 1}}, {to, f, to_at, {0, 0, 1}});
}

int main() try {
    int rows = 0;
    double *top[blocks][2]; // each block in the plain loop's fields
    std::vector<double> size, whole[2];
    for (int t = 0; t < blocks; rows += ROWS(t++)) size.push_back(ROWS(t));
    for (int f : {0, 1}) {
        for (int at = 0; at < (rows + 2) * ROW; at++) whole[f].push_back(at % 11);
        double *next = whole[f].data();
        for (int t = 0; t < blocks; next += ROWS(t++) * ROW) top[t][f] = next;
    }

    evn::session session(evn::over_ranks);
    evn::loop loop = session.open_loop(size, steps);
    evn::place place = session.open_place();
    const evn::kernel<evn_buffer *, evn_buffer *, int> step_on_device(heat_kernels, "heat_step");
    std::vector<double> block[blocks][2];
    std::vector<int> region;
    std::vector<evn_face> face[2]; // the last row to the next block, its first one back
    for (int t = 0; t < blocks; t++)
        for (int f : {0, 1}) {
            const int end = ROWS(t) * ROW;
            block[t][f].assign(top[t][f], top[t][f] + end + 2 * ROW);
            region.push_back(place.add(block[t][f]));
            if (t == blocks - 1) continue;
            face[f].push_back(row_to(t, t + 1, end, 0, f));
            face[f].push_back(row_to(t + 1, t, ROW, end + ROW, f));
        }
    loop.use(place, region, {evn::access::both, evn::access::both});
    evn::exchange exchange[] = {loop.open_exchange<double>(face[0]),
                                loop.open_exchange<double>(face[1])};

    int from = 0;
    for (int step = 0; step < steps; step++, from = 1 - from) {
        loop.run([&](const evn::batch &batch) {
            if (batch.on_device())
                batch.launch(step_on_device, batch.size(), batch.buffer(), batch.table(), from);
            else
                for (int t : batch)
                    move(batch.host<double>(t, from), batch.host<double>(t, 1 - from), ROWS(t));
        });
        exchange[1 - from].run();
        move(whole[from].data(), whole[1 - from].data(), rows);
    }
    loop.collect(); // to rank 0
    int wrong = 0;
    for (int t = 0; t < blocks && session.rank() == 0; t++)
        wrong += !std::equal(block[t][from].begin(), block[t][from].end(), top[t][from]);
    if (session.rank() == 0) std::printf("%s: %d blocks are wrong\n", session.text(), wrong);
    session.close();
    return wrong > 0;
} catch (const std::exception &failure) {
    return evn::complain("heat", failure);
}
