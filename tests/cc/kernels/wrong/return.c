/* 5:23: error: return cannot leave a kernel's loop */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        if (u[i] > 0) return;
        u[i] = 1;
    }
}
