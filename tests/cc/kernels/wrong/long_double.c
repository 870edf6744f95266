/* 4:40: error: "m" is of a type that kernels do not have; they have integers, float and double, and structures of them */
void f(int n, double *u, long double m) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = m;
}
