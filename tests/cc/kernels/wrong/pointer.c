/* 4:41: error: "u" is an array; a kernel uses its elements, with all 1 subscripts */
void f(int n, double *u) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) u[i] = (u != 0);
}
