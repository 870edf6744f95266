// A directive in a template and in a lambda, over iterators, and an exception that leaves the loop.
#include <cstdio>
#include <stdexcept>
#include <vector>

template <class T> static T total(const std::vector<T> &values) {
    T sum = 0;
#ifdef BEFORE
#    pragma omp parallel for reduction(+ : sum)
#else
#    pragma omp teams distribute num_teams(auto) reduction(+ : sum)
#endif
    for (auto v = values.begin(); v < values.end(); v++) sum += *v;
    return sum;
}

int main() {
    std::vector<long> values(300);
    auto fill = [&](long factor) {
#ifdef BEFORE
#    pragma omp parallel for
#else
#    pragma omp teams distribute num_teams(auto)
#endif
        for (size_t i = 0; i < values.size(); i++) values[i] = factor * static_cast<long>(i);
    };
    fill(3);
    const char *caught = "none";
    try {
#ifdef BEFORE // an exception must not leave a region of OpenMP
        throw std::runtime_error("seven");
#else
#    pragma omp teams distribute num_teams(auto)
        for (int i = 0; i < 20; i++)
            if (i == 7) throw std::runtime_error("seven");
#endif
    } catch (const std::exception &e) {
        caught = e.what()[0] == 's' ? "seven" : "another";
    }
    std::printf("%ld %s\n", total(values), caught);
}
