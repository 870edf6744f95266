/* 6:9: error: "s" is written by all iterations; declare it in the loop, or name it in reduction */
void f(int n, double *u) {
    double s;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        s = u[i];
        u[i] = s;
    }
}
