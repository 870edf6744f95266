/* 5:40: error: "exp" cannot be called in a kernel; sqrt, fabs, fma, fmin, fmax and abs can, and functions that are defined in this file and do not call themselves */
double exp(double);
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = exp(u[i]);
}
