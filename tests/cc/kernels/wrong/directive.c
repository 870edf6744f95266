/* 5:1: error: no directive but simd and parallel for may stand in the body of a kernel's loop */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        u[0] += 1;
    }
}
