// Sparse matrix times vector over all M_k with Eigen, for evener bench td-bem: reads the matrices
// from the file that the command has written and prints the least time of one pass, in seconds.
#include <Eigen/Sparse>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;

static bool read(FILE *in, void *to, size_t bytes) { return fread(to, 1, bytes, in) == bytes; }

int main(int argc, char **argv) {
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : nullptr;
    int32_t head[2];
    if (!in || !read(in, head, sizeof head)) return 1;
    const int n = head[0], count = head[1];
    std::vector<Matrix> m(count, Matrix(n, n));
    std::vector<Eigen::VectorXd> x(count, Eigen::VectorXd::Random(n));
    for (Matrix &a : m) {
        std::vector<int32_t> start(n + 1);
        if (!read(in, start.data(), sizeof(int32_t) * start.size())) return 1;
        a.resizeNonZeros(start[n]);
        std::copy(start.begin(), start.end(), a.outerIndexPtr());
        if (!read(in, a.innerIndexPtr(), sizeof(int32_t) * start[n]) ||
            !read(in, a.valuePtr(), sizeof(double) * start[n]))
            return 1;
    }
    fclose(in);
    Eigen::VectorXd y = Eigen::VectorXd::Zero(n);
    double best = 1e9;
    const clock_t begin = clock(); // processor time
    for (int r = 0; r < 4 || clock() - begin < 0.3 * CLOCKS_PER_SEC; r++) {
        const clock_t since = clock();
        for (int k = 0; k < count; k++) y.noalias() += m[k] * x[k];
        const double took = double(clock() - since) / CLOCKS_PER_SEC;
        if (r && took < best) best = took;
    }
    printf("%.9g\n", best);
    return y.sum() == 12345; // so that nothing of it can be left out
}
