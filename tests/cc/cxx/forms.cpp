// Directives in all that C++ puts around loops: each part prints what a compiler that does not see
// them prints, on any units.
#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#define SUM 2 : CPU : 1

static long long total(const std::vector<int> &v) {
    return std::accumulate(v.begin(), v.end(), 0LL);
}

// a template, whose loop variable has a dependent type, and whose range is a container of it
template <class T, class C> T weighted(const C &values, T first) {
    T sum = first;
    const auto n = values.size();
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : sum) weight(static_cast<double>(i) + 1)
    for (typename C::size_type i = 0; i < n; ++i)
        sum += static_cast<T>(values[i]) * static_cast<T>(i);
    return sum;
}

template <int rows, int columns> struct grid {
    std::array<std::array<double, columns>, rows> at{};
    std::unique_ptr<int[]> marks{new int[rows]()};
    // in a member function, by this
    void fill(double by) {
#pragma omp teams distribute num_teams(1 : CPU : 1, 1 : CPU : 1) collapse(2)
        for (int r = 0; r < rows; r++)
            for (auto c = 0; c < columns; c++) at[r][c] = by * r + c;
#pragma omp teams distribute num_teams(3 : CPU : 1) dist_schedule(dynamic, 2)
        for (int r = rows - 1; r >= 0; --r) this->marks[r] += r % 3;
    }
    // distribute in a member function, called from a teams block
    void scale(double by) {
#pragma omp distribute
        for (int r = 0; r < rows; r++)
            for (double &x : at[r]) x *= by;
    }
    double sum() const {
        double all = 0;
        for (auto &row : at) all = std::accumulate(row.begin(), row.end(), all);
        return std::accumulate(marks.get(), marks.get() + rows, all);
    }
};

struct mesh {
    struct zone {
        int id;
        double value;
    };
    std::vector<zone> zones;
    explicit mesh(int n) {
        for (int i = 0; i < n; i++) zones.push_back({i, 0});
    }
    void step() {
#pragma omp teams distribute num_teams(2 : CPU : 1) weight(1.0 + z.id)
        for (zone &z : zones) z.value += z.id * 0.5;
#pragma omp teams distribute num_teams(2 : CPU : 1)
        for (auto &[id, value] : zones) value -= id % 2;
    }
};

static void iterators() {
    std::vector<int> v(23);
    std::iota(v.begin(), v.end(), 1);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (auto it = v.begin(); it != v.end(); ++it) *it = *it * 2;
    std::printf("%lld\n", total(v));
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (std::vector<int>::iterator it = v.begin() + 1; it < v.end() - 1; it += 3) {
        if (*it % 4 == 0) continue;
        *it += 1;
    }
    std::printf("%lld\n", total(v));
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int *p = v.data(); p < v.data() + v.size(); ++p) *p += 1;
    std::printf("%lld\n", total(v));
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int *p = &v.back(); p >= v.data(); p -= 2) *p ^= 1;
    std::printf("%lld\n", total(v));
    std::deque<std::string> words{"a", "bb", "ccc", "dddd"};
#pragma omp teams distribute num_teams(3 : CPU : 1)
    for (auto it = words.rbegin(); it != words.rend(); it++) it->append("!");
    for (const auto &w : words) std::printf("%s ", w.c_str());
    int fixed[6] = {1, 2, 3, 4, 5, 6};
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int &x : fixed) {
        if (x == 3) continue;
        x = -x;
    }
    std::printf("%d\n", std::accumulate(fixed, fixed + 6, 0));
    long all = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : all)
    for (const long x : {5L, 6L, 7L}) all += x;
    const std::vector<short> none;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : all)
    for (auto x : none) all += x;
    std::printf("%ld\n", all);
}

static void lambdas() {
    std::vector<int> out(20);
    const auto run = [&out](int by) {
#pragma omp teams distribute num_teams(2 : CPU : 1)
        for (std::size_t i = 0; i < out.size(); i++) {
            const auto add = [&, i](int more) {
                for (int k = 0;; k++)
                    if (k == more) break;
                out[i] += by * static_cast<int>(i) + more;
            };
            add(3);
            std::for_each(out.begin(), out.begin(), [](int) { return; });
        }
    };
    run(1), run(2);
    std::printf("%lld\n", total(out));
    const std::function<int(int)> twice = [](int x) { return 2 * x; };
    int most = -1;
    auto key = 0;
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(max : most) lastprivate(key)
    for (auto i = 0u; i < 1'0u; i++) {
        key = twice(static_cast<int>(i)) % 13;
        most = std::max(most, key);
    }
    std::printf("%d %d\n", most, key);
}

static void texts() {
    std::vector<std::string> out(4);
    std::string last;
#pragma omp teams distribute num_teams(2 : CPU : 1) lastprivate(last)
    for (int i = 0; i < 4; i++) {
        out[i] = R"(} ) ] " \)" + std::to_string(i) + R"x(
)" #pragma omp teams distribute num_teams(2:CPU:1)
)x";
        last = out[i] + std::to_string(sizeof(u8R"y('{)y"));
    }
    std::printf("%s%s%s", out[0].c_str(), out[3].c_str(), last.c_str());
    std::map<int, std::vector<::mesh::zone>> by; /* <:: is no digraph */
    if (const int n = 3; n > 2) {
        std::vector<std::unique_ptr<double>> own(n);
#pragma omp teams distribute num_teams(2 : CPU : 1) firstprivate(n)
        for (int i = 0; i < n; i++) {
            try {
                own[i] = std::make_unique<double>(i);
                if (i == 1) throw i;
            } catch (const int &) {
                *own[i] += 10;
            } catch (...) {
                *own[i] -= 10;
            }
            if constexpr (sizeof(int) == 4)
                *own[i] += 0.5;
            else
                own.clear();
            switch (std::vector<int>::size_type(i)) {
            case 0: *own[i] += 100; break;
            default: break;
            }
        }
        std::printf("\n%g %g %g\n", *own[0], *own[1], *own[2]);
    }
}

int main() {
    std::printf("%d\n", weighted<int>(std::vector<int>{3, 1, 4, 1, 5}, 2));
    std::printf("%.3f\n", weighted<double>(std::array<float, 3>{1.5f, 2.5f, 3.5f}, 0));
    grid<7, 5> g;
    g.fill(0.5);
#pragma omp teams num_teams(SUM)
    {
        std::vector<double> own(3);
        g.scale(2);
        g.scale(0.25);
    }
    std::printf("%.4f\n", g.sum());
    mesh m(9);
    m.step(), m.step();
    double all = 0;
    for (auto &z : m.zones) all += z.value * (z.id + 1);
    std::printf("%.2f\n", all);
    iterators();
    lambdas();
    texts();
}
