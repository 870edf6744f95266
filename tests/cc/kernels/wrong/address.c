/* 6:35: error: pointers cannot be used in a kernel; only elements of arrays can */
static void g(double *p) { *p = 1; }
void f(int n, double *u) {
    double w = 2;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) g(&w), u[i] = 1;
}
