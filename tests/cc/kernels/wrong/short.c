/* 4:40: error: "m" is of a type that kernels do not have; they have int, long, float and double */
void f(int n, double *u, short m) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = m;
}
