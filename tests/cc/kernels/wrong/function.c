/* 4:40: error: "g" is no parameter and no variable of this function; what kernels call knows no others */
#pragma omp declare target
static double g;
static double h(double x) { return x + g; }
#pragma omp end declare target
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = h(u[i]);
}
