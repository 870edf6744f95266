// Loops that are C in C++ clothes, with --kernels: references to arrays, constexpr sizes, auto,
// conversions, functions of std, structures without their keyword, members of a class, a namespace.
#include "omp_cu.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>

constexpr int rows = 23, columns = 41, zones = 5;
struct cell {
    double a;
    int n;
};

static double half(double x) { return 0.5 * x; }

namespace field {
class zone {
  public:
    double (*u)[columns];
    cell *c;
    float *f;

    double step(const double &dt) {
        double s = 1, most = -1e9;
        int odd = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : s, odd) reduction(max : most)
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < columns; i++) {
                const auto d = u[j][i] * dt + c[j].a;
                auto k = c[j].n % 3;
                u[j][i] = std::max(std::abs(d), std::sqrt(half(d * d))) + static_cast<double>(k) +
                          double(std::min(i, j)) * 0.01;
                if (std::abs(k - i) > 4) u[j][i] -= 1;
                const bool far = std::floor(d) > 1;
                f[j] = static_cast<float>(std::fmax(c[j].a, 0.25)) + (far ? std::sqrt(f[j]) : 0);
                assert(k < 3 && d == d);
                s += u[j][i];
                odd += k % 2;
                most = u[j][i] > most ? u[j][i] : most;
            }
        return s + odd * 1000.0 + most;
    }
};
} // namespace field

static void smooth(double (&u)[rows][columns], const double (&v)[rows][columns]) {
#pragma omp target teams distribute parallel for
    for (int j = 1; j < rows - 1; j++)
        for (auto i = 1; i < columns - 1; i++) {
            const double *below = v[j - 1], *above = v[j + 1];
            u[j][i] = 0.25 * (below[i] + above[i] + v[j][i - 1] + v[j][i + 1]);
        }
}

// From 1 on, as programs from other languages count.
struct numbered {
    double *p, &by;
    void add(int n) {
#pragma omp target data map(tofrom : p [1:n])
        {
#pragma omp target teams distribute parallel for
            for (int i = 1; i <= n; i++) p[i] += i * by;
        }
#pragma omp target teams distribute parallel for map(tofrom : p [2:n - 1])
        for (int i = 2; i <= n; i++) p[i] *= by;
    }
};

static double u[zones][rows][columns], v[zones][rows][columns];
static cell cells[zones][rows];
static float f[zones][rows];
static double mine[zones][columns];

int main() {
    double sum = 0;
    for (int z = 0; z < zones; z++)
        for (int j = 0; j < rows; j++) {
            cells[z][j] = {0.01 * z + j, z * 7 + j};
            for (int i = 0; i < columns; i++)
                u[z][j][i] = v[z][j][i] = (z * 31 + j * 17 + i) % 13 - 6;
        }
    for (int z = 0; z < zones; z++)
        if (omp_register(u[z], sizeof u[z]) || omp_register(v[z], sizeof v[z]) ||
            omp_register(cells[z], sizeof cells[z]) || omp_register(f[z], sizeof f[z]))
            return 1;
    double part[zones];
    for (int step = 0; step < 3; step++) {
#pragma omp teams distribute num_teams(2 : CPU : 1)
        for (int z = 0; z < zones; z++) {
            field::zone here{u[z], cells[z], f[z]};
            part[z] = here.step(0.5 + 0.125 * step);
            smooth(v[z], u[z]);
            smooth(u[z], v[z]);
            double factor = 1.5 + z, *volatile first = mine[z];
            numbered{first - 1, factor}.add(columns);
        }
        for (double p : part) sum = 0.9 * sum + p;
    }
    for (int z = 0; z < zones; z++) {
        omp_migrate(u[z]);
        omp_migrate(f[z]);
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < columns; i++) sum = 0.99 * sum + u[z][j][i] + f[z][j] + mine[z][i];
    }
    std::printf("%.9g\n", sum);
}
