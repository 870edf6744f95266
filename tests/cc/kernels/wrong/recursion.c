/* 5:16: error: "g" cannot be called in a kernel; functions of math.h can, and functions that are defined in this file and do not call themselves */
#pragma omp declare target
static double g(double x) {
    if (x < 1) return x;
        return g(x - 1);
}
#pragma omp end declare target
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = g(u[i]);
}
