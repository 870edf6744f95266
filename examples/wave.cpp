// Sound in a box cut into 6 x 5 blocks of unequal size, in C++17: pressure and velocity are a
// region each, half a step computes one of them, and then its cells at the blocks' edges are
// exchanged.
//     EVENER_UNITS=1:CPU:1,2:GPU:1 EVENER_DEVICES=emulated EVENER_TRACE=wave.prv ./wave
// and over ranks:  EVENER_PROCESSES=2 ./wave   or   mpirun -n 2 ./wave
#include "wave.h"
#include <array>
#include <cstdio>
#include <evener.hpp>

extern "C" const evn_kernel_source wave_kernels; // made from wave.kernel.c by evener_kernels()
constexpr int columns = 6, lines = 5, steps = 60;
constexpr int cut_x[] = {0, 31, 40, 77, 101, 125, 160}, cut_y[] = {0, 11, 40, 58, 97, 120};

using shape = std::array<int, SHAPE>;
struct block {
    int x, y; // of its first cell, in the box
    shape of;
    std::vector<double> pressure, velocity;

    block(int x0, int x1, int y0, int y1) : x(x0), y(y0), of{x1 - x0, y1 - y0, x0 == 0, y0 == 0} {
        pressure.resize(std::size_t(row() * (of[NY] + 2)));
        velocity.resize(2 * pressure.size());
        for (int j = 0; j < of[NY]; j++)
            for (int i = 0; i < of[NX]; i++)
                pressure[std::size_t(at(i, j))] = (x + i) % 40 < 20 && (y + j) % 50 < 9;
    }
    int row() const { return of[NX] + 2; }
    int at(int i, int j) const { return (j + 1) * row() + i + 1; }
    int plane() const { return row() * (of[NY] + 2); }
};

// Half a step of one block; the plain version's is the whole box.
static void press(double *p, const double *u, const shape &of) {
    const int row = of[NX] + 2;
    const double *v = u + row * (of[NY] + 2);
    for (int j = 0; j < of[NY]; j++)
        for (int at = (j + 1) * row + 1; at < (j + 2) * row - 1; at++)
            p[at] = PRESSURE(p, u, v, at, row);
}
static void push(const double *p, double *u, const shape &of) {
    const int row = of[NX] + 2;
    double *v = u + row * (of[NY] + 2);
    for (int j = 0; j < of[NY]; j++)
        for (int i = 0, at = (j + 1) * row + 1; i < of[NX]; i++, at++) {
            if (i || !of[AT_LEFT]) u[at] = ALONG_X(p, u, at);
            if (j || !of[AT_BOTTOM]) v[at] = ALONG_Y(p, v, at, row);
        }
}

// Cells of an edge, upwards or to the right: (i, j) of task `from` becomes (to_i, to_j) of task
// `to`.
static evn_face edge(const std::vector<block> &all, int region, int plane, int from, int i, int j,
                     int to, int to_i, int to_j, bool upwards) {
    const block &a = all[std::size_t(from)], &b = all[std::size_t(to)];
    return evn::face(
        {1, 1, upwards ? a.of[NY] : a.of[NX]},
        {from, region, plane * a.plane() + a.at(i, j), {0, 0, upwards ? a.row() : 1}},
        {to, region, plane * b.plane() + b.at(to_i, to_j), {0, 0, upwards ? b.row() : 1}});
}

int main() try {
    std::vector<block> blocks;
    block whole(0, cut_x[columns], 0, cut_y[lines]);
    std::vector<double> cells;
    for (int y = 0; y < lines; y++)
        for (int x = 0; x < columns; x++) {
            blocks.emplace_back(cut_x[x], cut_x[x + 1], cut_y[y], cut_y[y + 1]);
            cells.push_back(blocks.back().of[NX] * blocks.back().of[NY]);
        }

    evn::session session(evn::over_ranks);
    evn::loop loop = session.open_loop(cells, 2 * steps);
    evn::place place = session.open_place();
    std::vector<int> region;
    std::vector<evn_face> of_pressure, of_velocity;
    for (int t = 0; t < columns * lines; t++) {
        block &b = blocks[std::size_t(t)];
        for (int number : {place.add(b.pressure), place.add(b.velocity), place.add(b.of)})
            region.push_back(number);
        const int right = t + 1, above = t + columns, nx = b.of[NX], ny = b.of[NY];
        if (right % columns) {
            of_pressure.push_back(edge(blocks, 0, 0, t, nx - 1, 0, right, -1, 0, true));
            of_velocity.push_back(edge(blocks, 1, 0, right, 0, 0, t, nx, 0, true));
        }
        if (above < columns * lines) {
            of_pressure.push_back(edge(blocks, 0, 0, t, 0, ny - 1, above, 0, -1, false));
            of_velocity.push_back(edge(blocks, 1, 1, above, 0, 0, t, 0, ny, false));
        }
    }
    loop.use(place, region, {evn::access::both, evn::access::both, evn::access::read});
    evn::exchange pressures = loop.open_exchange<double>(of_pressure),
                  velocities = loop.open_exchange<double>(of_velocity);
    const evn::kernel<evn_buffer *, evn_buffer *, evn_buffer *> press_on_device(wave_kernels,
                                                                                "wave_pressure"),
        push_on_device(wave_kernels, "wave_velocity");

    for (int step = 0; step < steps; step++) {
        loop.run([&](const evn::batch &batch) {
            if (batch.on_device())
                batch.launch(press_on_device, batch.size(), batch.buffer(), batch.buffer(),
                             batch.table());
            else
                for (int t : batch)
                    press(batch.host<double>(t), batch.host<double>(t, 1),
                          blocks[std::size_t(t)].of);
        });
        pressures.run();
        loop.run([&](const evn::batch &batch) {
            if (batch.on_device())
                batch.launch(push_on_device, batch.size(), batch.buffer(), batch.buffer(),
                             batch.table());
            else
                for (int t : batch)
                    push(batch.host<double>(t), batch.host<double>(t, 1),
                         blocks[std::size_t(t)].of);
        });
        velocities.run();
        press(whole.pressure.data(), whole.velocity.data(), whole.of);
        push(whole.pressure.data(), whole.velocity.data(), whole.of);
    }

    loop.collect(); // to rank 0
    int wrong = 0;
    for (const block &b : blocks)
        for (int j = 0; j < b.of[NY] && session.rank() == 0; j++)
            for (int i = 0; i < b.of[NX]; i++) {
                const auto here = std::size_t(b.at(i, j)),
                           there = std::size_t(whole.at(b.x + i, b.y + j));
                wrong += b.pressure[here] != whole.pressure[there];
                for (int plane : {0, 1})
                    wrong += b.velocity[here + std::size_t(plane * b.plane())] !=
                             whole.velocity[there + std::size_t(plane * whole.plane())];
            }
    if (session.rank() == 0) std::printf("%s: %d values are wrong\n", session.text(), wrong);
    session.close();
    return wrong > 0;
} catch (const std::exception &failure) {
    return evn::complain("wave", failure);
}
