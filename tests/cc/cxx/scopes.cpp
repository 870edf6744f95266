// Heads, bodies without braces and names in clauses in all the words of C++: each part prints what
// a compiler that does not see the directives prints.
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace far {
int g = 1;
namespace near {
long h = 2;
template <class T> T of(T x) { return x + 1; }
constexpr int units = 2, cores = 1;
struct limits {
    template <class A, class B> static int sum(A a, B b) { return static_cast<int>(a + b); }
};
int most = -7;
} // namespace near
} // namespace far
template <class T, int n> struct counter { static constexpr int size = n; };
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
static double o[64];
static long long operator"" _twice(unsigned long long x) { return static_cast<long long>(2 * x); }
struct point {
    int x, y;
    int operator[](int i) const { return i ? y : x; }
    int operator()(int i) const { return x * i + y; }
    bool operator<(const point &other) const { return x < other.x; }
};
static int tried(int x) try {
    if (x > 6) throw std::runtime_error("six");
    return x;
} catch (const std::exception &) {
    return -1;
}

static void print(const char *what) {
    double all = 0;
    for (int i = 0; i < 64; i++) all = all * 3 / 2 + o[i] * (i + 1);
    std::printf("%s %.17g\n", what, all);
    for (double &x : o) x = 0;
}

static void lambdas() {
    const int k = 3;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        o[i] += [](int z) {
            if (z > 3) return z;
            return 0;
        }(i);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        o[i] -= [&](auto z) mutable noexcept -> double {
            for (;;) {
                z += k;
                break;
            }
            return z;
        }(i);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) [&, j = i]() { o[j] *= 2; }();
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        o[i] = o[i] > 5 ? [] { return 1.5; }()
                        : [](double a, double b) { return a > b ? a : b; }(o[i], k);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) o[i] = o[i] + [=] { return [=](int q) { return q + k; }; }()(i);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) std::function<void(int)>([&](int z) { o[z] += z; })(i);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        o[i + 10] += std::array<int, 3>{{1, 2, i}}[2] + point{i, 2}(3) + (point{1, 2})[1];
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) o[i + 20] += decltype(i){4} + int{i} + std::vector<int>(3, i)[1];
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        decltype(point{i, 2}){i, 2} < point{1, 1} ? o[i + 20] += 1 : o[i + 20] += 2;
    print("lambdas");
}

static void statements() {
    std::vector<int> v{3, 1, 2};
    std::map<int, int> m{{1, 2}, {3, 4}};
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        if constexpr (sizeof(int) > 2)
            o[i] += 1;
        else
            o[i] += 2;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        if (auto it = m.find(i); it != m.end()) {
            o[i] += it->second;
        } else if (i > 5)
            o[i] += 7;
        else {
            o[i] = 1;
        }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        for (auto &[a, b] : std::map<int, int>{{i, 2}, {3, 4}}) o[i] += a * b;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++)
        for (int x : {1, 2, i})
            if (x == 2)
                break;
            else
                o[i] += x;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) try {
            if (i > 4) throw i;
            o[i] += 1;
        } catch (int x) {
            o[i] += x;
        } catch (...) {
            o[i] = -1;
        }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) switch (int q = i % 3; q) {
        case 0: o[i] += 1; [[fallthrough]];
        case 1: {
            o[i] += 10;
            break;
        }
        default: o[i] += tried(i);
        }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) do {
            o[i] += 1;
        } while (o[i] < 20);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) [[maybe_unused]] again : if (i > 3) {
            o[i] += 0.5;
        }
    else {
        o[i] += 0.25;
    }
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 10; i++) {
        struct local {
            int a;
            explicit local(int x) : a{x} {}
            int get() const { return a; }
        } l{i};
        auto [p, q] = std::pair<int, int>{i, 2};
        enum class e { one = 1, two };
        using std::vector;
        int a[]{1, 2, 3}, b{4};
        point pt{i, 1}, *at = &pt;
        const char *text = R"x(}" ; ) { )x", c = '\'', *u = "}";
        static_assert(sizeof(l) == sizeof(int), "}");
        o[i] += l.get() + p * q + static_cast<int>(e::two) + a[1] + b + at->y + text[0] + c + u[0] +
                1'000'000 % 77 + 21_twice + 0x1'F;
        if (i == 3) continue;
        for (auto x{0}; x < 4; ++x) {
            if (x == 2) break;
            o[i] += x;
        }
        o[i] += far::near::limits::sum<int, long>(i, 2);
        if (auto f =
                [&](int x) {
                    while (true) {
                        if (x++ > 5) break;
                    }
                    return x;
                };
            f(i) > 7)
            o[i] += f(i);
        [&] {
            for (int j = 0; j < 3; j++) {
                if (j == 1) break;
                o[i] += j;
            }
        }();
    }
    print("statements");
}

static void names() {
    namespace n = far::near;
    int last = 0;
#pragma omp teams distribute num_teams(2:CPU:1) reduction(+ : far::g, n::h) reduction(max : far::near::most)
    for (int i = 0; i < 12; i++) {
        far::g += i;
        n::h += 2 * i;
        if (i * 3 % 7 > far::near::most) far::near::most = i * 3 % 7;
    }
#pragma omp teams distribute num_teams(n::units:CPU : far::near::cores) lastprivate(::far::g)
    for (int i = 0; i < 12; i++) ::far::g = i * 5;
#pragma omp teams distribute num_teams(counter <int, 3>::size:CPU                                  \
                                       : n::of <int>(0), 1 ::CPU::1) lastprivate(last)             \
    dist_schedule(dynamic, n::limits::sum <int, int>(1, 1)) weight(n::of(i) + 1.0)                 \
        speed(CPU                                                                                  \
              : n::units, GPU                                                                      \
              : n::limits::sum <int, int>(1, 2)) thread_limit(n::units)
    for (int i = 0; i < 12; i++) last = i * i;
    std::printf("%d %ld %d %d\n", far::g, n::h, n::most, last);
#pragma omp teams num_teams(2 : CPU : 1) reduction(+ : far::g)
    {
#pragma omp distribute
        for (int i = 0; i < 5; i++) o[i] += 1;
        far::g += 0;
    }
    std::printf("%d\n", far::g);
    print("names");
}

template <class T, int n> static void heads() {
    std::array<T, 16> a{};
    std::vector<double> v(16, 1);
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (auto i = std::size_t{0}; i < std::size_t{20}; ++i) o[i] += 1;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = int(0); i < static_cast<int>(20); i += int{1}) o[i] += 2;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for ([[maybe_unused]] int i = 0; (i) < 1'0; (++i)) o[i] += 3;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i [[maybe_unused]] = 0; ((i) < (std::min<int>(10, 20))); i = n + i) o[i] += 3;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (typename std::array<T, 16>::size_type i = 0; far::near::limits::sum<int, int>(n, 9) > i;
         ++i)
        o[i] += 4;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = counter<T, 3>::size; counter<T, 16>::size >= i; i += counter<T, 2>::size)
        o[i] += 5;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (typename std::array<T, 16>::iterator it = a.begin(); (it) != (a.end()); (it)++) *it += 6;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (std::vector<double>::iterator it = v.begin(); it < v.end() - 1; it = 1 + it) *it += 7;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (const std::pair<int, int> &p : std::vector<std::pair<int, int>>{{1, 2}, {3, 4}})
        o[p.first] += p.second;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (auto [p, q] : std::vector<std::pair<int, int>>{{1, 2}, {3, 4}}) o[p] += q;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (std::remove_reference_t<decltype(v[0])> &x : v) x += 1;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < (n << 3 >> 1); i++) o[i] += 8;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i = 0; i < 64 >> 1; i++) o[i] += 9;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (int i(0); i < 9; i++) o[i] += 10;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for (unsigned long i{n}; i < 9; i++) o[i] += 11;
#pragma omp teams distribute num_teams(2 : CPU : 1) collapse(2)
    for (int i = 0; i < 3; ++(i))
        for (int j = (3 < 4) ? 3 : 0; j > -2; j = j - (n > 0 ? 1 : 1)) o[3 * i + j + 5] += i * j;
    int k;
#pragma omp teams distribute num_teams(2 : CPU : 1)
    for ((k) = 1; (k < 9); (k += 2)) o[k] += k;
    for (int i = 0; i < 16; i++) o[i] += a[i] + v[i];
    print("heads");
}
int main() {
    heads<int, 1>();
    heads<long, 1>();
    lambdas();
    statements();
    names();
}
