/* 5:40: error: "erand" cannot be called in a kernel; functions of math.h can, and functions that are defined in this file and do not call themselves */
double erand(double);
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = erand(u[i]);
}
