/* 5:40: error: "exp" cannot be called in a kernel; sqrt, fabs, fma, fmin, fmax and abs can, and functions under declare target that are defined before it */
double exp(double);
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = exp(u[i]);
}
