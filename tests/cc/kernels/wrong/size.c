/* 5:18: error: the size of an array in a kernel is a number */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        double a[n];
        u[i] = a[0];
    }
}
