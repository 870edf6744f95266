/* 4:33: error: pointers cannot be used in a kernel; only elements of arrays can */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) *u = i;
}
